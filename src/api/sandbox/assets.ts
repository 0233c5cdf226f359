/** The five assets of the sandbox (SPEC 1.5), each with its input for the classification. */
import { type Static, Type } from "@sinclair/typebox";
import { ClassificationRequest } from "../../law/classification/request.ts";

export const SandboxAsset = Type.Object({
  asset_id: Type.String(),
  name: Type.String(),
  intended_purpose: Type.String(),
  affected_person: Type.String(),
  oversight: Type.String(),
  model: Type.String(),
  asset_version: Type.String(),
  operator_role: Type.String(),
  retention: Type.String(),
  profile: ClassificationRequest,
});

const profile = (
  ai_type: string,
  domain: string,
  decision_autonomy: string,
  user_impact: string,
  processes_personal_data: boolean,
): ClassificationRequest => ({ ai_type, domain, decision_autonomy, user_impact, processes_personal_data });

export const SANDBOX_ASSETS: readonly Static<typeof SandboxAsset>[] = [
  {
    asset_id: "sandbox_credit_chatbot",
    name: "Loan eligibility assistant",
    intended_purpose: "Answers questions about personal loans and decides beforehand who is eligible.",
    affected_person: "Loan applicant",
    oversight: "A credit officer, on objection or for a score in the grey band",
    model: "demo-llm-large",
    asset_version: "2026.04",
    operator_role: "KR: AI utilization business operator; EU: deployer",
    retention: "5 years",
    profile: profile("llm", "finance_credit_evaluation", "full_auto", "high", true),
  },
  {
    asset_id: "sandbox_hiring_scorer",
    name: "Résumé scorer",
    intended_purpose: "Scores résumés for openings in New York City; the lowest third is not forwarded.",
    affected_person: "Job candidate who lives in New York City",
    oversight: "A recruiter, on request of the candidate",
    model: "gbm-resume",
    asset_version: "3.2",
    operator_role: "Deployer",
    retention: "5 years",
    profile: profile("predictive_ml", "employment_recruitment", "full_auto", "high", true),
  },
  {
    asset_id: "sandbox_medtriage",
    name: "Emergency intake triage assistant",
    intended_purpose: "Proposes a triage level, which a nurse confirms each time.",
    affected_person: "Patient",
    oversight: "The triage nurse, in every case",
    model: "demo-llm-med",
    asset_version: "1.4",
    operator_role: "Deployer",
    retention: "5 years",
    profile: profile("llm", "healthcare_triage", "human_in_the_loop", "high", true),
  },
  {
    asset_id: "sandbox_content_gen",
    name: "Image studio",
    intended_purpose: "Makes marketing images from text.",
    affected_person: "Viewer of the image",
    oversight: "A brand editor looks at samples",
    model: "demo-diffusion",
    asset_version: "5",
    operator_role: "Provider and deployer",
    retention: "1 year",
    profile: profile("generative_image", "content_generation", "none", "low", false),
  },
  {
    asset_id: "sandbox_general_chatbot",
    name: "Help centre",
    intended_purpose: "Answers questions about a product.",
    affected_person: "Visitor of the website",
    oversight: "None",
    model: "demo-llm-small",
    asset_version: "12",
    operator_role: "Deployer",
    retention: "6 months",
    profile: profile("llm", "general_chatbot", "none", "low", false),
  },
];

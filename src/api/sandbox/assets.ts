/** The five assets of the sandbox (SPEC 1.5), each with what the classification is asked about it. */
import type { ClassificationRequest } from "../../law/classification/request.ts";

export interface SandboxAsset {
  readonly asset_id: string;
  readonly name: string;
  readonly intended_purpose: string;
  readonly affected_person: string;
  readonly oversight: string;
  readonly model: string;
  readonly asset_version: string;
  readonly operator_role: string;
  readonly retention: string;
  readonly profile: ClassificationRequest;
}

export const SANDBOX_ASSETS: readonly SandboxAsset[] = [
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
    profile: {
      ai_type: "llm",
      domain: "finance_credit_evaluation",
      decision_autonomy: "full_auto",
      user_impact: "high",
      processes_personal_data: true,
    },
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
    profile: {
      ai_type: "predictive_ml",
      domain: "employment_recruitment",
      decision_autonomy: "full_auto",
      user_impact: "high",
      processes_personal_data: true,
    },
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
    profile: {
      ai_type: "llm",
      domain: "healthcare_triage",
      decision_autonomy: "human_in_the_loop",
      user_impact: "high",
      processes_personal_data: true,
    },
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
    profile: {
      ai_type: "generative_image",
      domain: "content_generation",
      decision_autonomy: "none",
      user_impact: "low",
      processes_personal_data: false,
    },
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
    profile: {
      ai_type: "llm",
      domain: "general_chatbot",
      decision_autonomy: "none",
      user_impact: "low",
      processes_personal_data: false,
    },
  },
];

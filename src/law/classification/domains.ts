/** What a system is used for, and where the laws name that use. One row per domain. */

export interface Domain {
  /** The item of article 2(4) of the Korean act. */
  readonly kr?: string;
  /** The item concerns natural persons, so it requires personal data. */
  readonly krNeedsPerson?: true;
  /** The point of Annex III of the EU act. */
  readonly annexIII?: string;
  /** Points 5(b) and 5(c) concern natural persons. */
  readonly annexNeedsPerson?: true;
  /** A product of Annex I, article 6(1). */
  readonly annexI?: string;
  /** Deployers must assess the impact on fundamental rights: public bodies, and Annex III 5(b), 5(c) (article 27). */
  readonly needsRightsAssessment?: true;
  /** A consequential area of the Colorado act. */
  readonly colorado?: true;
  /** The point of article 5(1) that prohibits it. */
  readonly practice?: string;
  /** People talk to the system. */
  readonly isInteractive?: true;
  /** Its output is generated content, whatever kind of AI generates it. */
  readonly isGenerative?: true;
  /** A public authority decides: PIPA 37-2 does not apply to administrative dispositions. */
  readonly isPublicAuthority?: true;
  /** Not under the GDPR but under Directive (EU) 2016/680. */
  readonly isLawEnforcement?: true;
  /** For the operator's own work: exempt by article 23(4) of the Korean decree. */
  readonly isInternal?: true;
  readonly aliases?: readonly string[];
}

const employment = { kr: "사", krNeedsPerson: true, colorado: true } as const;
const scoring = { ...employment, annexNeedsPerson: true, needsRightsAssessment: true } as const;
const police = { isPublicAuthority: true, isLawEnforcement: true, needsRightsAssessment: true } as const;

export const DOMAINS: Readonly<Record<string, Domain>> = {
  finance_credit_evaluation: {
    ...scoring,
    annexIII: "5(b)",
    aliases: ["credit", "credit_scoring", "loan", "lending", "finance"],
  },
  finance_fraud_detection: { aliases: ["fraud", "aml"] },
  insurance_life_health_pricing: { ...scoring, annexIII: "5(c)", aliases: ["insurance"] },
  employment_recruitment: {
    ...employment,
    annexIII: "4(a)",
    aliases: ["hiring", "recruitment", "resume_screening", "employment", "hr"],
  },
  employment_management: {
    ...employment,
    annexIII: "4(b)",
    aliases: ["promotion", "termination", "worker_monitoring"],
  },
  healthcare_triage: {
    kr: "다",
    annexIII: "5(d)",
    colorado: true,
    aliases: ["medical_triage", "medical", "healthcare"],
  },
  healthcare_diagnosis: {
    kr: "다, 라",
    annexI: "medical devices",
    colorado: true,
    aliases: ["diagnosis", "medical_device"],
  },
  healthcare_admin: {},
  education_admission: { annexIII: "3(a), (c)", colorado: true, aliases: ["admissions"] },
  education_assessment: { kr: "차", annexIII: "3(b)", colorado: true, aliases: ["grading", "education"] },
  education_proctoring: { annexIII: "3(d)", aliases: ["exam_monitoring"] },
  education_tutoring: { isInteractive: true },
  biometric_remote_identification: { annexIII: "1(a)", aliases: ["facial_recognition", "biometric"] },
  biometric_categorisation: { annexIII: "1(b)" },
  emotion_recognition: { annexIII: "1(c)" },
  biometric_verification: { aliases: ["face_unlock", "kyc_verification"] },
  law_enforcement_biometrics: { ...police, kr: "바", annexIII: "1(a), 6", aliases: ["law_enforcement"] },
  law_enforcement_risk_assessment: { ...police, annexIII: "6(d)" },
  law_enforcement_evidence: { ...police, annexIII: "6(c)" },
  critical_infrastructure_energy: { kr: "가", annexIII: "2", aliases: ["energy", "critical_infrastructure"] },
  critical_infrastructure_water: { kr: "나", annexIII: "2", aliases: ["water"] },
  critical_infrastructure_digital: { annexIII: "2" },
  nuclear_safety: { kr: "마" },
  transport_operation: { kr: "아", annexI: "vehicles and machinery", aliases: ["autonomous_driving"] },
  public_services_eligibility: {
    kr: "자",
    annexIII: "5(a)",
    needsRightsAssessment: true,
    colorado: true,
    isPublicAuthority: true,
    aliases: ["welfare", "benefits", "public_services"],
  },
  emergency_dispatch: { annexIII: "5(d)", needsRightsAssessment: true },
  migration_border_control: { kr: "자", annexIII: "7", needsRightsAssessment: true, isPublicAuthority: true },
  justice_administration: {
    annexIII: "8(a)",
    needsRightsAssessment: true,
    isPublicAuthority: true,
    aliases: ["court", "legal"],
  },
  election_influence: { annexIII: "8(b)" },
  /** Not listed in Korea: the open clause of item 사 applies (rule H4). */
  housing_tenancy: { colorado: true, aliases: ["housing", "tenant_screening"] },
  content_generation: { isGenerative: true, aliases: ["image_generation", "marketing_content"] },
  synthetic_media_realistic: { isGenerative: true, aliases: ["deepfake"] },
  general_chatbot: { isInteractive: true, aliases: ["chatbot", "qa"] },
  customer_support: { isInteractive: true },
  public_services_information: { isInteractive: true },
  internal_productivity: { isInternal: true },
  software_development: { isInternal: true },
  recommendation_entertainment: {},
  marketing_personalisation: {},
  spam_filtering: {},
  manufacturing_quality: {},
  other: {},
  social_scoring: { practice: "5(1)(c)" },
  subliminal_manipulation: { practice: "5(1)(a)" },
  vulnerability_exploitation: { practice: "5(1)(b)" },
  predictive_policing_profiling: { practice: "5(1)(d)", isPublicAuthority: true, isLawEnforcement: true },
  facial_image_scraping: { practice: "5(1)(e)" },
  biometric_categorisation_sensitive: { practice: "5(1)(g)" },
  realtime_remote_biometric_law_enforcement: {
    practice: "5(1)(h)",
    isPublicAuthority: true,
    isLawEnforcement: true,
  },
  nonconsensual_intimate_imagery: { practice: "5(1)(ba), inserted by Regulation (EU) 2026/1744" },
};

const ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries(DOMAINS).flatMap(([name, { aliases = [] }]) =>
    aliases.map((alias) => [alias, name] as const),
  ),
);

/** The canonical name of a domain, for its name or an alias. */
export const domainNamed = (word: string): string | undefined =>
  Object.hasOwn(DOMAINS, word) ? word : ALIASES.get(word);

export const DOMAIN_WORDS: readonly string[] = [...Object.keys(DOMAINS), ...ALIASES.keys()];

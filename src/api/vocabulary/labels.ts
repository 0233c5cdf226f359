/**
 * English and Korean labels for the names in events and answers: one table for every client. It imports only types,
 * so that a page can bundle it alone. The types require a label for each name; a test does for names without a type.
 */
import type { SYSTEM_EVENTS } from "../../access/administration/system-events.ts";
import type { EVENT_TYPES_BY_GROUP } from "../../event/event-types.ts";
import type { RiskTier } from "../../event/risk-tiers.ts";
import type { LinkedBy } from "../../law/cases/links.ts";
import type { DeadlineId } from "../../law/obligations/deadline-table.ts";
import type { ObligationState } from "../../law/obligations/obligation.ts";
import type { AssessmentState } from "../../views/assessments/tables.ts";
import type { AssetStatus } from "../../views/assets/tables.ts";
import type { DecisionStep } from "../../views/cases/registers/decisions.ts";
import type { HumanReviewState } from "../../views/cases/registers/human-reviews.ts";
import type { IncidentState } from "../../views/cases/registers/incidents.ts";
import type { NoticeState } from "../../views/cases/registers/notices.ts";
import type { ObjectionState } from "../../views/cases/registers/objections.ts";
import type { CoverageState } from "../../views/coverage/coverage.ts";
import type { ModelState } from "../../views/models/tables.ts";

export interface Label {
  readonly en: string;
  readonly ko: string;
}

type Labels<Name extends string = string> = Readonly<Record<Name, Label>>;

type TypesByGroup = typeof EVENT_TYPES_BY_GROUP;
type EventType = {
  [Group in keyof TypesByGroup]: keyof TypesByGroup[Group];
}[keyof TypesByGroup];

export const label = (en: string, ko: string): Label => ({ en, ko });

/** By the name under which `GET /v1/vocabulary` lists them. */
export const LABELS = {
  /** The groups by which events are filtered: `decision.*`. */
  event_groups: {
    transparency: label("Notices and labels", "고지와 표시"),
    decision: label("Decisions", "결정"),
    objection: label("Objections", "이의 제기"),
    assessment: label("Assessments", "평가"),
    model: label("Models", "모델"),
    asset: label("Systems", "시스템"),
    incident: label("Incidents", "사고"),
    legacy: label("Older types", "이전 유형"),
    system: label("Administration", "관리"),
  },
  event_types: {
    ai_inference: label("AI output produced", "AI 결과 산출"),
    objection: label("Objection", "이의 제기"),
    human_review: label("Human review", "인적 검토"),
    disclosure_shown: label("Use of AI disclosed", "AI 사용 안내"),
    disclosure_acknowledged: label("Disclosure acknowledged", "AI 사용 안내 확인"),
    watermark_applied: label("Watermark applied", "워터마크 적용"),
    "transparency.notice_shown": label("Notice shown", "고지 표시"),
    "transparency.notice_dismissed": label("Notice dismissed", "고지 닫음"),
    "transparency.result_labeled": label("Output labeled as AI-made", "AI 생성물 표시"),
    "transparency.policy_disclosed": label("AI policy disclosed", "AI 정책 공개"),
    "decision.automated_decision_made": label("Automated decision made", "자동화된 결정"),
    "decision.explanation_provided": label("Explanation given", "설명 제공"),
    "decision.human_review_triggered": label("Human review requested", "인적 검토 요청"),
    "decision.human_review_completed": label("Human review completed", "인적 검토 완료"),
    "decision.decision_reversed": label("Decision reversed", "결정 번복"),
    "objection.received": label("Objection received", "이의 제기 접수"),
    "objection.acknowledged": label("Objection acknowledged", "이의 제기 접수 통지"),
    "objection.resolved": label("Objection answered", "이의 제기 답변"),
    "objection.escalated": label("Objection escalated", "이의 제기 상위 이관"),
    "assessment.impact_assessment_started": label("Impact assessment started", "영향평가 시작"),
    "assessment.impact_assessment_completed": label("Impact assessment completed", "영향평가 완료"),
    "assessment.impact_assessment_updated": label("Impact assessment updated", "영향평가 갱신"),
    "assessment.risk_classification_changed": label("Risk tier changed", "위험 등급 변경"),
    "model.model_deployed": label("Model deployed", "모델 배포"),
    "model.model_retired": label("Model retired", "모델 사용 종료"),
    "model.performance_degraded": label("Model performance degraded", "모델 성능 저하"),
    "asset.created": label("System registered", "시스템 등록"),
    "asset.updated": label("System details changed", "시스템 정보 변경"),
    "asset.archived": label("System archived", "시스템 운영 종료"),
    "incident.detected": label("Incident detected", "사고 인지"),
    "incident.reported_to_authority": label("Incident reported to the authority", "사고 당국 보고"),
    "incident.mitigated": label("Incident mitigated", "사고 수습"),
    "system.key_created": label("API key created", "API 키 생성"),
    "system.key_revoked": label("API key revoked", "API 키 폐기"),
    "system.key_rotated": label("API key rotated", "API 키 교체"),
    "system.retention_changed": label("Retention policy changed", "보존 정책 변경"),
    "system.hold_placed": label("Hold placed", "보존 명령 설정"),
    "system.hold_released": label("Hold released", "보존 명령 해제"),
    "system.export_taken": label("Export started", "내보내기 시작"),
    "system.evidence_made": label("Evidence bundle created", "증거 자료 생성"),
    "system.session_started": label("Signed in to the console", "콘솔 로그인"),
    "system.viewed": label("Seen by an auditor", "감사인 열람"),
    "system.restored": label("Restored log accepted", "복원된 로그 승인"),
    "system.obligation_waived": label("Obligation waived", "의무 면제"),
    "system.obligation_unwaived": label("Waiver withdrawn", "의무 면제 철회"),
    "system.action_failed": label("Action failed", "작업 실패"),
  },
  risk_tiers: {
    low: label("low risk", "저위험"),
    limited: label("limited risk", "제한적 위험"),
    high: label("high risk", "고위험"),
    prohibited: label("prohibited", "금지"),
  },
  /** Any other legal basis of an event has no label. */
  laws: {
    ai_basic_law_kr: label("AI Basic Act (Korea)", "인공지능기본법"),
    pipa_37_2_kr: label("Personal Information Protection Act art. 37-2 (Korea)", "개인정보 보호법 제37조의2"),
    credit_info_36_2_kr: label("Credit Information Act art. 36-2 (Korea)", "신용정보법 제36조의2"),
    eu_ai_act_art_5: label("EU AI Act art. 5, prohibited practices", "EU AI법 제5조(금지되는 행위)"),
    eu_ai_act_art_6: label("EU AI Act art. 6, high-risk systems", "EU AI법 제6조(고위험 시스템)"),
    eu_ai_act_art_26: label("EU AI Act art. 26, deployers", "EU AI법 제26조(배포자의 의무)"),
    eu_ai_act_art_50: label("EU AI Act art. 50, transparency", "EU AI법 제50조(투명성)"),
    eu_ai_act_art_51: label("EU AI Act art. 51, systemic risk", "EU AI법 제51조(구조적 위험)"),
    eu_ai_act_art_73: label("EU AI Act art. 73, serious incidents", "EU AI법 제73조(중대 사고)"),
    gdpr_art_22: label("GDPR art. 22, automated decisions", "GDPR 제22조(자동화된 의사결정)"),
    nyc_ll144: label("New York City Local Law 144", "뉴욕시 지방법 제144호"),
    colorado_sb26_189: label("Colorado SB 26-189", "콜로라도주 SB 26-189"),
    feha_ads_us_ca: label("California FEHA, automated decisions", "캘리포니아주 FEHA(자동화된 의사결정)"),
    any: label("Any law", "모든 법령 공통"),
    policy: label("Own policy", "내부 정책"),
  },
  rules: {
    "PIPA-EXPL": label("Explain the decision", "결정에 대한 설명"),
    "PIPA-REFUSE": label("Act on the refusal of the decision", "결정 거부에 대한 조치"),
    "PIPA-REVIEW": label("Consider what the person brought forward", "제출된 의견 검토 및 결과 통지"),
    "PIPA-DENY": label("Give the reason for the denial", "거절 사유 통지"),
    "CIA-EXPL": label("Explain the automated evaluation", "자동화평가에 대한 설명"),
    "GDPR-12-3": label("Answer the objection", "이의 제기에 답변"),
    "CO-ADVERSE": label("Explain the adverse outcome", "불리한 결정에 대한 설명"),
    "LL144-NOTICE": label("Notice before the decision", "결정 전 고지"),
    "EU73-GEN": label("Report the serious incident", "중대 사고 보고"),
    "EU73-DEATH": label("Report the death of a person", "사망 사고 보고"),
    "EU73-CRIT": label(
      "Report the widespread infringement or disruption",
      "광범위한 침해 또는 핵심 기반시설 장애 보고",
    ),
    "EU26-5": label("Inform the provider", "제공자에게 통지"),
    "HR-CLOSE": label("Complete the human review", "인적 검토 완료"),
    "OBJ-ACK": label("Acknowledge the objection", "이의 제기 접수 통지"),
  },
  /** What coverage counts, and what no log can show. */
  duties: {
    notice: label("Notice", "고지"),
    explanation: label("Explanation", "설명"),
    objection: label("Answer to the objection", "이의 제기 답변"),
    denial_reason: label("Reason for the denial", "거절 사유 통지"),
    objection_acknowledgement: label("Acknowledgement of the objection", "이의 제기 접수 통지"),
    human_review: label("Human review", "인적 검토"),
    incident_report: label("Report of the incident", "사고 보고"),
    provider_informed: label("Provider informed", "제공자 통지"),
    labeling: label("Labeling of AI output", "AI 생성물 표시"),
    lifecycle: label("Registration of the system", "시스템 등록"),
    bias_audit: label("Bias audit", "편향 감사"),
    policy_disclosure: label("Disclosure of the policy", "정책 공개"),
    impact_assessment: label("Impact assessment", "영향평가"),
    risk_review: label("Review of the risk tier", "위험 등급 재검토"),
    information_request: label("Answer to a request for information", "정보 요청 답변"),
    high_impact_confirmation: label("Confirmation of high impact", "고영향 인공지능 확인"),
  },
  obligation_states: {
    open: label("open", "진행 중"),
    extended: label("extended", "연장됨"),
    due_soon: label("due soon", "기한 임박"),
    overdue: label("overdue", "기한 경과"),
    breached: label("breached", "위반"),
    met: label("met", "이행"),
    met_late: label("met late", "지연 이행"),
    waived: label("waived", "면제"),
  },
  coverage_states: {
    covered: label("covered", "충족"),
    partial: label("partly covered", "일부 충족"),
    missing: label("no evidence", "증거 없음"),
    stale: label("out of date", "유효기간 경과"),
    pending: label("not due yet", "기한 전"),
    not_applicable: label("not required", "해당 없음"),
  },
  objection_states: {
    received: label("received", "접수"),
    acknowledged: label("acknowledged", "접수 통지"),
    escalated: label("escalated", "상위 이관"),
    resolved: label("answered", "답변 완료"),
    orphan: label("never received", "접수 기록 없음"),
  },
  human_review_states: {
    open: label("open", "진행 중"),
    completed: label("completed", "완료"),
    orphan: label("never requested", "요청 기록 없음"),
  },
  incident_states: {
    detected: label("detected", "인지"),
    reported: label("reported", "보고 완료"),
    mitigated: label("under control", "수습"),
    orphan: label("never detected", "인지 기록 없음"),
  },
  notice_states: {
    shown: label("shown", "표시"),
    dismissed: label("dismissed", "닫음"),
    acknowledged: label("acknowledged", "확인"),
    orphan: label("never shown", "표시 기록 없음"),
  },
  assessment_states: {
    started: label("started", "시작"),
    completed: label("completed", "완료"),
    orphan: label("never started", "시작 기록 없음"),
  },
  asset_statuses: {
    seen: label("seen in events", "이벤트로 확인됨"),
    active: label("in use", "운영 중"),
    retired: label("retired", "사용 종료"),
    archived: label("archived", "운영 종료"),
  },
  model_states: {
    seen: label("seen in events", "이벤트로 확인됨"),
    deployed: label("deployed", "배포됨"),
    retired: label("retired", "사용 종료"),
  },
  /** What `missing` and `pending` of a decision name. */
  steps: {
    decision: label("Decision", "결정"),
    notice: label("Notice before the decision", "결정 전 고지"),
    explanation: label("Explanation", "설명"),
    objection: label("Objection", "이의 제기"),
    objection_resolution: label("Answer to the objection", "이의 제기 답변"),
    human_review: label("Human review", "인적 검토"),
    human_review_trigger: label("Request for human review", "인적 검토 요청"),
  },
  linked_by: {
    decision_id: label("by the decision it names", "결정 ID로 연결"),
    original_decision_id: label("by the original decision it names", "원 결정 ID로 연결"),
    objection_id: label("by the objection it names", "이의 제기 ID로 연결"),
    incident_id: label("by the incident it names", "사고 ID로 연결"),
    correlation_id: label("by its case", "사건 ID로 연결"),
    subject: label("by the person, shown before the decision", "결정 전 동일인에게 표시되어 연결"),
  },
  /** `metadata.objection_type`; events may name others. */
  objection_types: {
    automated_decision_refusal: label("Refusal of the automated decision", "자동화된 결정 거부"),
    explanation_request: label("Request for an explanation", "설명 요구"),
    appeal: label("Appeal", "재심 청구"),
  },
  /** `metadata.incident_class`; events may name others. */
  incident_classes: {
    death: label("Death of a person", "사망"),
    critical_infrastructure: label("Disruption of critical infrastructure", "핵심 기반시설 장애"),
    widespread_infringement: label("Widespread infringement", "광범위한 침해"),
  },
} as const satisfies Readonly<Record<string, Labels>> & Typed;

/** Names that have a type: each has a label. */
interface Typed {
  readonly event_types: Labels<EventType | keyof typeof SYSTEM_EVENTS>;
  readonly risk_tiers: Labels<RiskTier>;
  readonly rules: Labels<DeadlineId>;
  readonly obligation_states: Labels<ObligationState>;
  readonly coverage_states: Labels<CoverageState>;
  readonly objection_states: Labels<ObjectionState>;
  readonly human_review_states: Labels<HumanReviewState>;
  readonly incident_states: Labels<IncidentState>;
  readonly notice_states: Labels<NoticeState>;
  readonly assessment_states: Labels<AssessmentState>;
  readonly asset_statuses: Labels<AssetStatus>;
  readonly model_states: Labels<ModelState>;
  readonly steps: Labels<DecisionStep>;
  readonly linked_by: Labels<LinkedBy>;
}

/** The label, or the name itself without one, as for an operator's own event type or law. */
export const labelOf = (kind: keyof typeof LABELS, name: unknown, language: keyof Label): string => {
  const labels: Readonly<Record<string, Label>> = LABELS[kind];
  const text = String(name ?? "");
  return (Object.hasOwn(labels, text) ? labels[text]?.[language] : undefined) ?? text;
};

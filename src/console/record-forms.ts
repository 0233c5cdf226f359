/** What people record by hand: the types, their fields, and the event that becomes of them. */

import { addressOf, type Parameters } from "./address.ts";
import type { Obligation } from "./answers.ts";
import type { LabelKind } from "./labels.ts";
import type { Word } from "./words.ts";

export interface RecordField {
  /** The key in `metadata`, unless it is a member of the event itself. */
  readonly name: string;
  readonly title: Word;
  readonly kind: "text" | "number" | "day" | "time";
  readonly labels?: LabelKind;
  readonly choices?: Readonly<Record<string, Word>>;
  readonly isRequired?: true;
}

const text = (name: string, title: Word): RecordField => ({ name, title, kind: "text" });
const required = (field: RecordField): RecordField => ({ ...field, isRequired: true });

const DECISION = text("decision_id", "decision_id");
const OBJECTION = text("objection_id", "objection_id");
const INCIDENT = text("incident_id", "incident_id");
const CHANNEL = text("channel", "record_channel");
const REASON = text("reason", "record_reason");
const ASSESSMENT = text("assessment_id", "assessment_id");
const ASSESSMENT_TYPE = text("assessment_type", "assessment_type");
const LAW: RecordField = { ...text("legal_bases", "law"), labels: "laws" };

export const RECORD_FORMS: Readonly<Record<string, readonly RecordField[]>> = {
  "objection.received": [
    DECISION,
    required({ ...text("objection_type", "type"), labels: "objection_types" }),
    OBJECTION,
    CHANNEL,
    REASON,
    LAW,
  ],
  "objection.acknowledged": [
    required(OBJECTION),
    DECISION,
    CHANNEL,
    { ...text("extension_days", "extension_days"), kind: "number" },
    REASON,
  ],
  "objection.resolved": [
    required(OBJECTION),
    DECISION,
    required({
      ...text("resolution", "resolution"),
      choices: {
        upheld: "resolution_upheld",
        partial: "resolution_partial",
        denied: "resolution_denied",
        withdrawn: "resolution_withdrawn",
      },
    }),
    REASON,
    CHANNEL,
  ],
  "decision.explanation_provided": [required(DECISION), OBJECTION, CHANNEL, REASON],
  "decision.human_review_triggered": [required(DECISION), OBJECTION, text("triggered_by", "triggered_by")],
  "decision.human_review_completed": [
    required(DECISION),
    required(text("final_outcome", "record_outcome")),
    required(text("reviewer_id", "record_reviewer")),
    REASON,
  ],
  "decision.decision_reversed": [required(DECISION), REASON],
  "transparency.notice_shown": [DECISION, CHANNEL, text("locale", "locale"), LAW],
  "incident.detected": [
    INCIDENT,
    { ...text("incident_class", "incident_class"), labels: "incident_classes" },
    { ...text("aware_at", "aware"), kind: "time" },
    text("severity", "severity"),
    LAW,
  ],
  "incident.reported_to_authority": [
    required(INCIDENT),
    {
      ...text("report_type", "report_type"),
      choices: { initial: "report_initial", complete: "report_complete" },
    },
    text("authority", "authority"),
  ],
  "incident.mitigated": [required(INCIDENT), text("root_cause", "cause")],
  "assessment.impact_assessment_started": [ASSESSMENT, ASSESSMENT_TYPE],
  "assessment.impact_assessment_completed": [
    ASSESSMENT,
    ASSESSMENT_TYPE,
    { ...text("valid_until", "valid_until"), kind: "day" },
  ],
};

export const fieldsOf = (type: string): readonly RecordField[] | undefined =>
  Object.hasOwn(RECORD_FORMS, type) ? RECORD_FORMS[type] : undefined;

const EXPLAINED = ["decision.explanation_provided"];
const ANSWERED = ["objection.resolved"];
const REPORTED = ["incident.reported_to_authority"];

/** The events that meet an obligation, by its rule. A refusal asks for a new decision by a person, and then the answer. `EU26-5` has none of its own. */
const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  "PIPA-EXPL": EXPLAINED,
  "CIA-EXPL": EXPLAINED,
  "CO-ADVERSE": EXPLAINED,
  "PIPA-REFUSE": ["decision.human_review_completed", ...ANSWERED],
  "PIPA-REVIEW": ANSWERED,
  "GDPR-12-3": ANSWERED,
  "PIPA-DENY": ANSWERED,
  "OBJ-ACK": ["objection.acknowledged"],
  "HR-CLOSE": ["decision.human_review_completed"],
  "LL144-NOTICE": ["transparency.notice_shown"],
  "EU73-GEN": REPORTED,
  "EU73-DEATH": REPORTED,
  "EU73-CRIT": REPORTED,
};

/** The forms with their fields filled in; none where nothing is left to record. */
export const answersTo = (
  obligation: Obligation,
): readonly { readonly type: string; readonly address: string }[] => {
  const { rule, stopped_at, asset_id, decision_id, objection_id, incident_id } = obligation;
  if (stopped_at !== null || !Object.hasOwn(ANSWERS, rule)) return [];
  const ids: Parameters = {
    decision_id: decision_id ?? undefined,
    objection_id: objection_id ?? undefined,
    incident_id: incident_id ?? undefined,
  };
  return (ANSWERS[rule] ?? []).map((type) => ({
    type,
    address: addressOf("record", { what: type, asset_id, ...ids }),
  }));
};

/** The sender of what people record: it counts nothing, so no number of it can be missing. */
const SOURCE = "console";

export interface Filled {
  readonly eventId: string;
  readonly type: string;
  readonly by: string;
  readonly assetId: string;
  readonly subjectHash: string;
  /** Local time, as the field gives it. */
  readonly when: string;
  /** By the names of the fields. */
  readonly values: Readonly<Record<string, string>>;
}

/** As it is shown, and then sent. */
export const eventText = ({ eventId, type, by, assetId, subjectHash, when, values }: Filled): string => {
  const law = values.legal_bases;
  const said = (fieldsOf(type) ?? []).flatMap(({ name, kind }) => {
    const value = values[name]?.trim() ?? "";
    return value === "" || name === "legal_bases" ? [] : [[name, saidOf(kind, value)] as const];
  });
  const event = {
    event_id: eventId,
    timestamp: utcOf(when),
    asset_id: assetId,
    event_type: type,
    ...(law && { legal_bases: [law] }),
    ...(subjectHash !== "" && { subject_hash: subjectHash }),
    metadata: { ...Object.fromEntries(said), recorded_by: by, source_id: SOURCE },
  };
  return JSON.stringify(event, null, 2);
};

const saidOf = (kind: RecordField["kind"], value: string): string | number => {
  if (kind === "number") return Number(value);
  return kind === "time" ? utcOf(value) : value;
};

/** What is no time is shown as it is, and the service says what it expects. */
const utcOf = (local: string): string => {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? local : time.toISOString();
};

/** The field to which a path of a problem points. */
export const fieldOf = (path: string): string => path.replace(/^\/(metadata\/)?/, "").split("/")[0] ?? "";

/** The words for names in answers, from `GET /v1/vocabulary`. A name without a label is shown as it is. */
import { signal } from "@preact/signals";
import { ask, type One } from "./api.ts";
import { language } from "./language.ts";
import { LAW_TEXTS_KO } from "./law-words.ts";
import { say } from "./words.ts";

interface Label {
  readonly en: string;
  readonly ko: string;
}

interface RuleLabel extends Label {
  /** The zone in which the clock runs. */
  readonly zone?: string | null;
}

type Vocabulary = Readonly<Record<string, Readonly<Record<string, RuleLabel>>>>;

const vocabulary = signal<Vocabulary>({});

export const readLabels = async (): Promise<void> => {
  const answer = await ask<One<Vocabulary>>("v1/vocabulary");
  if (answer.kind === "answered") vocabulary.value = answer.body.data;
};

export type LabelKind =
  | "event_groups"
  | "event_types"
  | "risk_tiers"
  | "laws"
  | "rules"
  | "duties"
  | "obligation_states"
  | "coverage_states"
  | "objection_states"
  | "human_review_states"
  | "incident_states"
  | "notice_states"
  | "assessment_states"
  | "asset_statuses"
  | "model_states"
  | "steps"
  | "linked_by"
  | "objection_types"
  | "incident_classes";

/** Own members only: an id may be called `constructor`. */
const find = (kind: LabelKind, name: string): RuleLabel | undefined => {
  const labels = vocabulary.value[kind];
  return labels !== undefined && Object.hasOwn(labels, name) ? labels[name] : undefined;
};

export const labelOf = (kind: LabelKind, name: string): string =>
  // The service knows it only from EXTRA_EVENT_TYPES, without a label.
  name === "sdk.heartbeat" ? say("heartbeat") : (find(kind, name)?.[language.value] ?? name);

/** An article or a reason as answers have it; several are joined by semicolons. */
export const lawText = (text: string | null): string => {
  if (text === null || language.value !== "ko") return text ?? "";
  const known = (each: string) => (Object.hasOwn(LAW_TEXTS_KO, each) ? LAW_TEXTS_KO[each] : undefined);
  return (
    known(text) ??
    text
      .split("; ")
      .map((each) => known(each) ?? each)
      .join("; ")
  );
};

export const namesOf = (kind: LabelKind): readonly string[] => Object.keys(vocabulary.value[kind] ?? {});

export const zoneOfRule = (rule: string): string => find("rules", rule)?.zone ?? "UTC";

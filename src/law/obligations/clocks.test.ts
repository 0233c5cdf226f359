/**
 * Clocks of the law, as stories. An event is `id type time member=value …`: times are of 2026, at 10:00 UTC, unless they say more. ` / ` parts events, a line
 * that begins with `+` goes on with the story before it, and ` => ` is followed by what is owed: a rule or an id, its status, and what else counts.
 */
import { expect, test } from "bun:test";
import { fact } from "../../../test/support/facts.ts";
import { caseOf } from "../cases/case.ts";
import type { Fact } from "../cases/fact.ts";
import { obligationsOf } from "./clocks.ts";
import { type Obligation, type Rules, soonBefore, stateAt } from "./obligation.ts";
import { readRules, STANDARD_RULES } from "./overrides.ts";

const TYPES: Readonly<Record<string, string>> = {
  made: "decision.automated_decision_made",
  explained: "decision.explanation_provided",
  reversed: "decision.decision_reversed",
  triggered: "decision.human_review_triggered",
  completed: "decision.human_review_completed",
  received: "objection.received",
  acked: "objection.acknowledged",
  escalated: "objection.escalated",
  resolved: "objection.resolved",
  shown: "transparency.notice_shown",
  labeled: "transparency.result_labeled",
  detected: "incident.detected",
  reported: "incident.reported_to_authority",
  mitigated: "incident.mitigated",
  waived: "system.obligation_waived",
  unwaived: "system.obligation_unwaived",
};

const KEYS: Readonly<Record<string, string>> = {
  o: "objection_id",
  d: "decision_id",
  i: "incident_id",
  type: "objection_type",
  res: "resolution",
  class: "incident_class",
  ext: "extension_days",
  why: "reason",
};

const MEMBERS: Readonly<Record<string, (value: string) => object>> = {
  laws: (value) => ({ legal_bases: value.split(",") }),
  c: (value) => ({ correlation_id: value }),
  asset: (value) => ({ asset_id: value }),
  person: (value) => ({ subject_hash: `sha256:${value.repeat(64)}` }),
};

/** What only a fact has: when it was recorded, and the decision to which rule 3 links a notice. */
const FACTS: Readonly<Record<string, (value: string) => Partial<Fact>>> = {
  rec: (value) => ({ recorded: timeIn(value) }),
  borrowed: (value) => ({ links: { decision: value }, bySubject: true }),
};

const timeIn = (text: string): string => {
  const [date = "", clock = "10"] = text.split("T");
  const whole = clock.length < "10:00:00".length ? clock + ":00:00".slice(clock.length - 2) : clock;
  return `${date.length === "01-20".length ? `2026-${date}` : date}T${whole}`;
};

const factIn = (text: string): Fact => {
  const [id = "", type = "", at = "", ...said] = text.trim().split(" ");
  let [metadata, members, own]: [object, object, Partial<Fact>] = [{}, {}, {}];
  for (const part of said) {
    const [key = "", ...value] = part.split("=");
    const [member, only] = [MEMBERS[key], FACTS[key]];
    if (member) members = { ...members, ...member(value.join("=")) };
    else if (only) own = { ...own, ...only(value.join("=")) };
    else metadata = { ...metadata, [KEYS[key] ?? key]: value.join("=") };
  }
  const made = {
    ...fact(`${id} ${TYPES[type] ?? type} ${timeIn(at)}Z`, { ...metadata }, { ...members }),
    ...own,
  };
  if (!made.type.startsWith("system.")) return made;
  const on = said.find((part) => part.startsWith("on="))?.slice("on=".length);
  return {
    ...made,
    sequence: Number(id.slice(1)),
    says: { obligation_id: on ?? "", actor: "key_1", reason: id },
  };
};

const SHOWN: Readonly<Record<string, (obligation: Obligation) => string>> = {
  id: ({ id }) => id,
  from: ({ startedBy }) => startedBy.id,
  by: ({ stoppedBy }) => stoppedBy?.id ?? "-",
  at: ({ startedAt }) => startedAt,
  rec: ({ startedRecorded }) => startedRecorded,
  due: ({ dueAt }) => dueAt,
  day: ({ dueAt }) => dueAt.slice(0, "2026-01-20".length),
  earliest: ({ earliestDecisionAt }) => earliestDecisionAt ?? "-",
  ext: ({ extensions }) => `${extensions}`,
  extrec: ({ extendedRecorded }) => extendedRecorded ?? "-",
  late: ({ isRecordedLate }) => `${isRecordedLate}`,
  asset: ({ asset }) => asset,
  d: ({ decisionId }) => decisionId ?? "-",
  waiver: ({ waiver }) =>
    (waiver && `${waiver.reason} by ${waiver.by} at ${waiver.at}`.replaceAll(" ", "_")) || "-",
};

const expectOwed = (found: readonly Obligation[], expected: string): void => {
  const [name = "", ...others] = expected.trim().split(" ");
  const listed = name === "only" ? found.map(({ id }) => id) : found.map(({ rule }) => `${rule}`);
  if (name === "only" || name === "rules") {
    expect([...new Set(listed)].sort()).toEqual(others.sort());
    return;
  }
  const [status, ...parts] = others;
  const one = found.findLast(({ id, rule }) => id === name || rule === name);
  const said = Object.fromEntries(parts.map((part) => part.split("=")));
  const shown = Object.keys(said).map((key) => [key, one && SHOWN[key]?.(one)]);
  expect({ expected, status: one?.status ?? "none", ...Object.fromEntries(shown) }).toEqual({
    expected,
    status,
    ...said,
  });
};

const rulesIn = (text: string): Rules => {
  const read = readRules(text);
  if (read.kind !== "rules") throw new Error(read.errors.join());
  return read.rules;
};

const play = (lines: readonly string[]): void => {
  let story: readonly Fact[] = [];
  let rules = STANDARD_RULES;
  for (const line of lines) {
    if (line.startsWith("rules {")) rules = rulesIn(line.slice("rules ".length));
    else if (line.startsWith("grace "))
      rules = { ...rules, lateRecordGraceMs: Number(line.slice("grace ".length)) };
    else {
      const [events = "", owed = ""] = line.split(" => ");
      const told = events.replace(/^\+ /, "").split(" / ").map(factIn);
      story = events.startsWith("+ ") ? [...story, ...told] : told;
      const waiving = story.filter(({ type }) => type.startsWith("system."));
      const facts = story.filter((each) => !waiving.includes(each));
      for (const arrived of [facts, facts.toReversed()])
        for (const each of owed.split(", ")) expectOwed(obligationsOf(caseOf(arrived), rules, waiving), each);
    }
  }
};

/** Each story has a name, and its lines behind it. */
const storiesIn = (text: string): readonly (readonly [name: string, lines: readonly string[]])[] =>
  text
    .trim()
    .replaceAll(/\n\s+(?=\/ |=> )/g, " ")
    .split(/\n(?=\S)/)
    .map((story) => {
      const [name = "", ...lines] = story.split("\n").map((line) => line.trim());
      return [name, lines] as const;
    });

test.each(
  storiesIn(`
D1 and D2: an explanation is due after 30 days, counted in Seoul
  o received 04-18T09 o=o1 type=explanation_request => PIPA-EXPL open due=2026-05-18T14:59:59
  o received 04-18T15:30 o=o1 type=explanation_request => PIPA-EXPL open due=2026-05-19T14:59:59
D4 to D6: an incident is reported within the days of its class, which end in Brussels
  i detected 09-01 class=property => EU73-GEN open due=2026-09-16T21:59:59
  i detected 09-01 class=death => EU73-DEATH open due=2026-09-11T21:59:59
  i detected 09-01 class=critical_infrastructure => EU73-CRIT open due=2026-09-03T21:59:59
  i detected 09-01 class=widespread_infringement => EU73-CRIT open due=2026-09-03T21:59:59
D9: an adverse decision must be explained within 30 days, counted in Denver
  d made 2027-02-01T12 outcome=denied laws=colorado_sb26_189 => CO-ADVERSE open due=2027-03-04T06:59:59
D10: a limit of one month ends on the last day of a shorter month
  o received 01-31T12 o=o1 type=appeal laws=gdpr_art_22 => GDPR-12-3 open due=2026-02-28T22:59:59, PIPA-REVIEW none
an acknowledgement is due in 3 business days, not counting the weekend
  o received 11-19T12 o=o1 type=appeal => OBJ-ACK open due=2026-11-24T23:59:59
the first day of a law is counted in its own zone
  e detected 08-01T22:30 laws=eu_ai_act_art_73 => EU73-GEN open
  e detected 08-01T21:59:59 laws=eu_ai_act_art_73 => EU73-GEN none
  e detected 2027-12-01T23 role=deployer laws=eu_ai_act_art_26 => EU26-5 open
  e detected 11-20 role=deployer laws=eu_ai_act_art_26 => EU26-5 none
  e received 2024-03-14T15 laws=pipa_37_2_kr => PIPA-REVIEW open
  e received 2024-03-14T14:59:59 laws=pipa_37_2_kr => PIPA-REVIEW none
  e received 2018-05-24T22 laws=gdpr_art_22 => GDPR-12-3 open
  e received 2018-05-24T21:59:59 laws=gdpr_art_22 => GDPR-12-3 none
  e received 2020-08-04T15 laws=credit_info_36_2_kr => CIA-EXPL open
  e received 2015-08-05T00 laws=credit_info_36_2_kr => CIA-EXPL none
  e made 2027-01-01T07 outcome=denied laws=colorado_sb26_189 => CO-ADVERSE open
  e made 2027-01-01T05 outcome=denied laws=colorado_sb26_189 => CO-ADVERSE none
  e made 2026-12-31T12 outcome=denied laws=colorado_sb26_189 => CO-ADVERSE none
  e made 2023-07-05T04 laws=nyc_ll144 => LL144-NOTICE breached
  e made 2023-07-05T02 laws=nyc_ll144 => LL144-NOTICE none
a law that does not apply here starts no clock
  o received 09-02 o=o1 type=appeal laws=pipa_37_2_kr => GDPR-12-3 none, PIPA-REVIEW open
  i detected 09-03 laws=pipa_37_2_kr => EU73-GEN none
an extension lasts as many days as announced, at most 30, and counts twice at most
  o received 04-18T09 o=o1 type=explanation_request / a acked 05-01T00 o=o1 ext=10 why=many => PIPA-EXPL open day=2026-05-28 ext=1
  o received 04-18T09 o=o1 type=explanation_request / a acked 05-01T00 o=o1 ext=90 why=many => PIPA-EXPL open day=2026-06-17 ext=1
  o received 04-18T09 o=o1 type=explanation_request / a acked 05-01T00 o=o1 ext=30 why=many
    / b acked 06-01T00 o=o1 ext=30 why=more / c acked 07-01T00 o=o1 ext=30 why=more => PIPA-EXPL open day=2026-07-17 ext=2
an extension without a reason, after the limit, from the person who objects, or of a nonsensical length does not count
  o received 04-18T09 o=o1 type=explanation_request / a acked 05-01T00 o=o1 ext=30 => PIPA-EXPL open day=2026-05-18 ext=0
  o received 04-18T09 o=o1 type=explanation_request / a acked 05-19T00 o=o1 ext=30 why=late => PIPA-EXPL open day=2026-05-18 ext=0
  o received 04-18T09 o=o1 type=explanation_request / p received 04-20T00 o=o1 ext=30 why=mine => PIPA-EXPL open day=2026-05-18 ext=0
  o received 04-18T09 o=o1 type=explanation_request / p objection 04-20T00 o=o1 ext=30 why=mine => PIPA-EXPL open day=2026-05-18 ext=0
  o received 04-18T09 o=o1 type=explanation_request / a acked 05-01T00 o=o1 ext=-5 why=x => PIPA-EXPL open day=2026-05-18 ext=0
  o received 04-18T09 o=o1 type=explanation_request / a acked 05-01T00 o=o1 ext=0 why=x => PIPA-EXPL open day=2026-05-18 ext=0
  o received 04-18T09 o=o1 type=explanation_request / a acked 05-01T00 o=o1 ext=0.5 why=x => PIPA-EXPL open day=2026-05-18 ext=0
  o received 04-18T09 o=o1 type=explanation_request / a acked 05-01T00 o=o1 ext=soon why=x => PIPA-EXPL open day=2026-05-18 ext=0
an extension too long for any calendar is as long as the law allows
  o received 09-02 o=o1 type=explanation_request / x acked 09-10 o=o1 ext=1e15 why=many => PIPA-EXPL open due=2026-11-01T14:59:59 ext=1
  o received 01-10T09 o=o1 type=appeal laws=gdpr_art_22 / x acked 01-20T09 o=o1 ext=5 why=many => GDPR-12-3 open day=2026-02-15
  o received 01-10T09 o=o1 type=appeal laws=gdpr_art_22 / x acked 01-20T09 o=o1 ext=1000 why=many => GDPR-12-3 open day=2026-04-10
months of an extension are counted from the start, as the limit itself is
  o received 01-31T12 o=o1 type=appeal laws=gdpr_art_22 / x acked 02-10T09 o=o1 ext=1000 why=many => GDPR-12-3 open day=2026-04-30
an extension has its own unit, not that of the operator's limit
  rules {"rules":{"GDPR-12-3":{"limit":{"count":30,"unit":"days"}}}}
  o received 01-10T09 o=o1 type=appeal laws=gdpr_art_22 / x acked 01-20T09 o=o1 ext=60 why=many => GDPR-12-3 open day=2026-04-09
  rules {"rules":{"PIPA-EXPL":{"limit":{"count":1,"unit":"months"}}}}
  o received 01-10T09 o=o1 type=explanation_request / x acked 01-20T09 o=o1 ext=30 why=many => PIPA-EXPL open day=2026-03-12
  rules {"rules":{"PIPA-EXPL":{"limit":{"count":10,"unit":"business_days"}}}}
  o received 01-10T09 o=o1 type=explanation_request / x acked 01-20T09 o=o1 ext=30 why=many => PIPA-EXPL open day=2026-02-22
an extension that is announced after the answer extends nothing, but one announced with the answer does
  o received 01-10T09 o=o1 type=explanation_request / e explained 01-19T09 o=o1 / x acked 01-20T09 o=o1 ext=30 why=many => PIPA-EXPL met ext=0 day=2026-02-09
  o received 01-10T09 o=o1 type=explanation_request / e explained 01-20T09 o=o1 / x acked 01-20T09 o=o1 ext=30 why=many => PIPA-EXPL met ext=1 day=2026-03-11
the reason of an extension is not the reason of a denial
  o received 01-10T09 o=o1 type=appeal / r resolved 01-15T09 o=o1 res=denied / x acked 01-20T09 o=o1 ext=30 why=many => PIPA-DENY open
  o received 01-10T09 o=o1 type=appeal / r resolved 01-15T09 o=o1 res=denied why=no ext=30 => PIPA-DENY met by=r
an explanation, or a denial with its reason, answers a request for an explanation made before it
  d made 09-01 d=d1 outcome=denied / o received 09-02 o=o1 d=d1 type=explanation_request => PIPA-EXPL open
  + e explained 09-03 d=d1 => PIPA-EXPL met from=o by=e
  o received 09-02 o=o1 d=d1 type=explanation_request / r resolved 09-04 o=o1 res=denied why=x => PIPA-EXPL met
  o received 09-02 o=o1 d=d1 type=explanation_request / r resolved 09-04 o=o1 res=denied => PIPA-EXPL open
  o received 09-02 o=o1 d=d1 type=explanation_request / e explained 09-01 d=d1 => PIPA-EXPL open
an answer at the time of the request counts
  o received 09-02 d=d1 o=o1 type=explanation_request / e explained 09-02 d=d1 o=o1 => PIPA-EXPL met by=e
  o received 09-02 d=d1 o=o1 type=explanation_request / r resolved 09-02 d=d1 o=o1 res=denied why=no => PIPA-EXPL met by=r
a late denial does not undo an explanation in time, and a late explanation does not undo a denial in time
  o received 09-02 o=o1 d=d1 type=explanation_request / e explained 09-10 d=d1 o=o1 / r resolved 12-01 o=o1 res=denied why=no => PIPA-EXPL met by=e
  o received 09-02 o=o1 d=d1 type=explanation_request / r resolved 09-10 o=o1 res=denied why=no / e explained 12-01 d=d1 o=o1 => PIPA-EXPL met by=r
an explanation that names another objection does not answer this one
  d made 09-01 d=d1 / a received 09-02 d=d1 o=A type=explanation_request / b received 09-03 d=d1 o=B type=explanation_request
    / e explained 09-04 d=d1 o=A => PIPA-EXPL:a met, PIPA-EXPL:b open
where a denial says no reason, the event that tells it later answers
  o received 09-02 o=o1 type=explanation_request / r resolved 09-04 o=o1 res=denied / x escalated 09-06 o=o1 why=letter => PIPA-EXPL met by=x
  o received 09-02 o=o1 type=automated_decision_refusal / r resolved 09-04 o=o1 res=denied / x escalated 09-06 o=o1 why=letter => PIPA-REFUSE met by=x
the reasons of an extension, of what was done before the denial, and of another result are others
  o received 09-02 o=o1 type=explanation_request / r resolved 09-04 o=o1 res=denied / x escalated 09-06 o=o1 why=ill ext=10 => PIPA-EXPL open
  o received 09-02 o=o1 type=explanation_request / r resolved 09-04 o=o1 res=denied / x escalated 09-03 o=o1 why=letter => PIPA-EXPL open
  o received 09-02 o=o1 type=explanation_request / r resolved 09-04 o=o1 res=denied / u resolved 09-06 o=o1 res=upheld why=letter => PIPA-EXPL open
  o received 09-02 o=o1 type=automated_decision_refusal / r resolved 09-04 o=o1 res=denied / x escalated 09-06 o=o1 why=ill ext=10 => PIPA-REFUSE open
  o received 09-02 o=o1 type=automated_decision_refusal / r resolved 09-04 o=o1 res=denied / x escalated 09-03 o=o1 why=letter => PIPA-REFUSE open
  o received 09-02 o=o1 type=automated_decision_refusal / r resolved 09-04 o=o1 res=denied / u resolved 09-06 o=o1 res=upheld why=letter => PIPA-REFUSE open
a refusal is met only if the decision is reversed or taken again by a person and the result is told
  d made 09-01 d=d1 / o received 09-02 o=o1 d=d1 type=automated_decision_refusal / r resolved 09-05 o=o1 res=upheld => PIPA-REFUSE open
  d made 09-01 d=d1 / o received 09-02 o=o1 d=d1 type=automated_decision_refusal / v reversed 09-04 d=d1 => PIPA-REFUSE open
  + r resolved 09-05 o=o1 res=upheld => PIPA-REFUSE met by=r
a refusal is answered when the decision is taken again, not by what was said before
  o received 09-02 o=o1 d=d1 type=automated_decision_refusal / r resolved 09-10 o=o1 d=d1 res=upheld / v reversed 12-01 o=o1 d=d1 => PIPA-REFUSE met_late by=v
nothing is owed any more to who withdraws what was asked for
  o received 09-02 o=o1 type=explanation_request / r resolved 09-10 o=o1 res=Withdrawn => PIPA-EXPL met by=r, PIPA-DENY none
  o received 09-02 o=o1 type=automated_decision_refusal / r resolved 09-10 o=o1 res=Withdrawn => PIPA-REFUSE met by=r, PIPA-DENY none
  o received 09-02 o=o1 type=appeal / r resolved 09-10 o=o1 res=Withdrawn => PIPA-REVIEW met by=r, PIPA-DENY none
a denial with its reason answers a refusal of automation
  o received 09-02 o=o1 type=automated_decision_refusal / r resolved 09-10 o=o1 res=denied why=no => PIPA-REFUSE met by=r
a refusal that was answered in time stays answered when it is resolved again
  o received 09-02 d=d1 o=o1 type=automated_decision_refusal / r resolved 09-04 d=d1 o=o1 res=upheld / u reversed 09-05 d=d1 o=o1 => PIPA-REFUSE met by=u
  + s resolved 11-20 d=d1 o=o1 res=upheld => PIPA-REFUSE met by=u
after a denial, the person learns the result of a refusal only when told
  o received 09-02 d=d1 o=o1 type=automated_decision_refusal / n resolved 09-04 d=d1 o=o1 res=denied / u reversed 09-05 d=d1 o=o1 => PIPA-REFUSE open by=-
  + s resolved 11-20 d=d1 o=o1 res=upheld => PIPA-REFUSE met_late by=s
a refusal is answered once the first of several reviews is completed and the person is told
  o received 09-01 o=o1 type=automated_decision_refusal c=c1 / p escalated 09-01T11 o=o1 type=automated_decision_refusal c=c2
    / t1 triggered 09-02 c=c1 / t2 triggered 09-03 c=c2 / e2 completed 09-05 c=c2
    / r resolved 09-08 o=o1 type=automated_decision_refusal c=c1 / e1 completed 11-20 c=c1 => PIPA-REFUSE met by=r
a denial needs its reason, at once or in a later event, unless the objection is withdrawn after it
  o received 09-02 o=o1 type=appeal / r resolved 09-04 o=o1 res=denied => PIPA-DENY open
  + x escalated 09-06 o=o1 why=letter => PIPA-DENY met_late by=x
  o received 09-02 o=o1 type=appeal / r resolved 09-04 o=o1 res=upheld => PIPA-DENY none
  o received 09-02 o=o1 type=appeal / r resolved 09-04 o=o1 res=denied / w resolved 09-05 o=o1 res=withdrawn => PIPA-DENY met_late by=w
  o received 09-02 o=o1 type=appeal / r resolved 09-04 o=o1 res=denied / w resolved 09-03 o=o1 res=withdrawn => PIPA-DENY open
a denial needs a reason even if the objection was never received
  r resolved 09-10 o=o1 d=d1 res=denied => PIPA-DENY open from=r
a denial without a reason still requires one after a second denial or after the objection is upheld
  o received 09-02 o=o1 type=appeal / r1 resolved 09-05 o=o1 res=denied / r2 resolved 10-05 o=o1 res=denied why=no => PIPA-DENY met_late from=r1
  o received 09-02 o=o1 type=appeal / r1 resolved 09-05 o=o1 res=denied / r2 resolved 11-20 o=o1 res=upheld => PIPA-DENY open
the reason of what the person sent, of a review or of an explanation is not the reason of a denial
  o received 09-02 o=o1 type=appeal / r1 resolved 09-05 o=o1 res=denied / l received 09-05T11 o=o1 why=own => PIPA-DENY open
  o received 09-02 o=o1 type=appeal / r1 resolved 09-05 o=o1 res=denied / l triggered 09-05T11 o=o1 why=own => PIPA-DENY open
  o received 09-02 o=o1 type=appeal / r1 resolved 09-05 o=o1 res=denied / l explained 09-05T11 o=o1 why=own => PIPA-DENY open
a law that the denial names removes neither the duty to give a reason nor the duty to answer
  o received 09-10 o=o / r resolved 09-20 o=o res=denied laws=eu_ai_act_art_73 => PIPA-REVIEW met, PIPA-DENY open
  r resolved 09-20 o=o res=denied laws=eu_ai_act_art_73 => PIPA-DENY none
the first answer stops a clock, whatever later resolutions say
  o received 09-02 o=o1 type=appeal / r1 resolved 09-05 o=o1 res=denied why=no / r2 resolved 11-20 o=o1 res=upheld => PIPA-REVIEW met by=r1
  o received 09-02 o=o1 type=explanation_request / r1 resolved 09-05 o=o1 res=denied why=no / r2 resolved 11-20 o=o1 res=upheld => PIPA-EXPL met
an acknowledgement before the objection does not hide one after it
  o received 09-02 o=o1 type=appeal / a acked 09-02T09:59:59 o=o1 / b acked 09-02T11 o=o1 => OBJ-ACK met by=b
a resolution makes an acknowledgement, and an explanation under the credit law, unnecessary
  o received 09-02 o=o1 type=appeal laws=credit_info_36_2_kr / r resolved 09-03 o=o1 res=upheld => OBJ-ACK met by=r, CIA-EXPL met by=r
an explanation before an adverse decision does not explain it
  e explained 2027-01-31T12 d=d1 o=o1 / d made 2027-02-01T12 d=d1 outcome=declined laws=colorado_sb26_189 => CO-ADVERSE open from=d
a review that is triggered and completed at the same time is closed, whatever the ids are
  1 triggered 09-02 d=d1 / 2 completed 09-02 d=d1 => HR-CLOSE met
  2 triggered 09-02 d=d1 / 1 completed 09-02 d=d1 => HR-CLOSE met
the clock of an incident starts at the awareness and stops at the first report
  i detected 09-10 i=i1 aware_at=2026-09-01T10:00:00Z / p16 reported 09-16 i=i1 report_type=complete / p12 reported 09-12 i=i1 report_type=initial => EU73-GEN met at=2026-09-01T10:00:00 by=p12 due=2026-09-16T21:59:59
an incident whose class is learned later has the limit of that class
  i detected 09-01 i=i1 / j reported 09-20 i=i1 class=death => EU73-GEN none, EU73-DEATH met_late due=2026-09-11T21:59:59
an incident that turns out to be worse has the shorter limit, from when the incident was known
  i detected 09-01 i=i1 class=property / j detected 09-04 i=i1 class=death => rules EU73-DEATH, EU73-DEATH open due=2026-09-11T21:59:59
  + r reported 09-14 i=i1 => EU73-DEATH met_late
what is learned after a report that was in time does not make it late
  i detected 09-01 i=i1 class=property / r reported 09-14 i=i1 / m mitigated 09-15 i=i1 class=death => rules EU73-GEN, EU73-GEN met
  i detected 09-01 i=i1 / r reported 09-14 i=i1 / m mitigated 09-15 i=i1 class=death => rules EU73-GEN, EU73-GEN met
a report before the awareness counts unless one in time follows
  i detected 09-10 i=i1 / p reported 09-09 i=i1 => EU73-GEN met by=p
  + q reported 09-11 i=i1 => EU73-GEN met by=q
a late report does not undo a report in time, even if the clocks of both senders differ a little
  p reported 09-10T09:59:58 i=i1 report_type=initial / i detected 09-10 i=i1 / q reported 10-10 i=i1 report_type=complete => EU73-GEN met by=p
a report before an awareness that is stated later meets the obligation, however late the next report is
  i detected 09-01 i=i1 / p reported 09-05 i=i1 report_type=initial / q reported 11-01 i=i1 aware_at=2026-09-10T10:00:00Z => EU73-GEN met by=p due=2026-09-25T21:59:59
the first report after the detection counts, also where the awareness is stated later
  i detected 09-01 i=i1 / p reported 09-05 i=i1 / q reported 09-12 i=i1 aware_at=2026-09-10T10:00:00Z => EU73-GEN met by=p
a deployer must inform the provider on the same day, and not only the authority
  i detected 2028-03-10 i=i1 role=deployer => EU26-5 open
  + m mitigated 2028-03-10T11 i=i1 notified=authority => EU26-5 open
  + p mitigated 2028-03-11 i=i1 notified=provider => EU26-5 met_late
  i detected 2028-03-10 => EU26-5 none
the time of awareness may be in any zone, and in a leap second
  i detected 09-10 aware_at=2026-09-01T19:00:00.5+09:00 => EU73-GEN open at=2026-09-01T10:00:00.5 due=2026-09-16T21:59:59
  i detected 2027-01-10 aware_at=2026-12-31T23:59:60+00:00 => EU73-GEN open at=2026-12-31T23:59:60
a report may state the awareness if the detection did not, but never changes one that the detection stated
  i detected 09-10 i=i1 / r reported 09-20 i=i1 aware_at=2026-09-01T08:00:00Z => EU73-GEN met_late at=2026-09-01T08:00:00 due=2026-09-16T21:59:59
  i detected 09-10 i=i1 aware_at=2026-09-10T09:00:00Z / r reported 09-20 i=i1 aware_at=2026-09-01T08:00:00Z => EU73-GEN met at=2026-09-10T09:00:00
  i detected 09-10 i=i1 aware_at=Thursday / r reported 09-20 i=i1 aware_at=2026-09-01T08:00:00Z => EU73-GEN met_late at=2026-09-01T08:00:00
  i detected 09-10 i=i1 / r reported 09-20 i=i1 aware_at=2026-09-01T08:00:00Z / s reported 09-21 i=i1 aware_at=2026-09-02T08:00:00Z
    / t reported 09-21 i=i1 aware_at=Thursday => EU73-GEN met_late at=2026-09-02T08:00:00
an employer must give notice 10 business days before the tool is used
  n shown 11-02T15 d=d1 / d made 11-16T15 d=d1 laws=nyc_ll144 => LL144-NOTICE met
  n shown 11-02T15 d=d1 / d made 11-15T15 d=d1 laws=nyc_ll144 => LL144-NOTICE breached
  d made 11-16T15 d=d1 laws=nyc_ll144 => LL144-NOTICE breached from=d
a notice is owed by the tool that was used, from the first second of the first allowed day
  n shown 11-02T15 d=d1 asset=portal / d made 11-16T05 d=d1 laws=nyc_ll144 asset=scorer => LL144-NOTICE met due=2026-11-16T05:00:00 asset=scorer
  n shown 11-02T15 d=d1 asset=portal / d made 11-16T04:59:59 d=d1 laws=nyc_ll144 asset=scorer => LL144-NOTICE breached due=2026-11-16T04:59:59 asset=scorer
a notice counts even at the time of the use, and not after it
  n shown 11-16T15 d=d1 / d made 11-16T15 d=d1 laws=nyc_ll144 => LL144-NOTICE breached from=n
  d made 11-16T15 d=d1 laws=nyc_ll144 / n shown 11-17T15 d=d1 laws=nyc_ll144 => LL144-NOTICE breached id=LL144-NOTICE:d earliest=-
a notice has a row from then on, which says from when on the tool may be used, and keeps its id
  n shown 11-02T15 d=d1 laws=nyc_ll144 => LL144-NOTICE waiting id=LL144-NOTICE:n earliest=2026-11-16T05:00:00 d=d1 by=-
  n shown 11-02T15 d=d1 laws=nyc_ll144 / d made 11-16T05 d=d1 laws=nyc_ll144 => LL144-NOTICE met id=LL144-NOTICE:n earliest=2026-11-16T05:00:00
  n shown 11-02T15 d=d1 laws=nyc_ll144 / d made 11-16T04:59:59 d=d1 laws=nyc_ll144 => LL144-NOTICE breached id=LL144-NOTICE:n earliest=2026-11-16T05:00:00
of notices of which only the correlation is known the first has a row, and those that name nothing have none
  n shown 11-02T15 c=c laws=nyc_ll144 / again shown 11-03T15 c=c laws=nyc_ll144 => only LL144-NOTICE:n, LL144-NOTICE:n waiting
  n shown 11-02T15 person=a laws=nyc_ll144 / again shown 11-03T15 person=a laws=nyc_ll144 => only
a notice under a correlation of several decisions is linked to none of them, and waits for none
  n shown 11-02T15 c=c laws=nyc_ll144 / b made 11-18T15 d=b c=c laws=nyc_ll144 / a made 11-17T15 d=a c=c laws=nyc_ll144 => only LL144-NOTICE:a LL144-NOTICE:b, LL144-NOTICE:a breached, LL144-NOTICE:b breached
a notice that names nothing stands in a case of its own, so the obligation is named by the decision of its person
  n shown 11-02T15 person=a laws=nyc_ll144 borrowed=d1 / d made 11-17T15 d=d1 person=a laws=nyc_ll144 => LL144-NOTICE met id=LL144-NOTICE:d from=n
a limit before the use may end on the day of a clock change
  rules {"rules":{"LL144-NOTICE":{"limit":{"count":14,"unit":"days"}}}}
  n shown 02-22T15 d=d1 laws=nyc_ll144 / d made 03-20T15 d=d1 laws=nyc_ll144 => LL144-NOTICE met due=2026-03-08T05:00:00
  n shown 02-22T15 d=d1 laws=nyc_ll144 / d made 03-08T04:30 d=d1 laws=nyc_ll144 => LL144-NOTICE breached
a law applies if any event of the case names it, even if another names another law
  d made 09-01 d=d1 laws=gdpr_art_22 / o received 09-02 d=d1 o=o1 laws=pipa_37_2_kr => GDPR-12-3 open, PIPA-REVIEW open
the laws of a request for an explanation are those that the case names
  d made 09-01 d=d1 / o received 09-02 d=d1 o=o1 type=explanation_request => rules OBJ-ACK PIPA-EXPL
  d made 09-01 d=d1 laws=ai_basic_law_kr / o received 09-02 d=d1 o=o1 type=explanation_request => rules OBJ-ACK PIPA-EXPL
  d made 09-01 d=d1 / o received 09-02 d=d1 o=o1 type=explanation_request laws=our_own_rule => rules OBJ-ACK PIPA-EXPL
  d made 09-01 d=d1 laws=gdpr_art_22 / o received 09-02 d=d1 o=o1 type=explanation_request => rules GDPR-12-3 OBJ-ACK
  d made 09-01 d=d1 / o received 09-02 d=d1 o=o1 type=explanation_request laws=gdpr_art_22 => rules GDPR-12-3 OBJ-ACK
  d made 09-01 d=d1 laws=pipa_37_2_kr / o received 09-02 d=d1 o=o1 type=explanation_request laws=gdpr_art_22 => rules GDPR-12-3 OBJ-ACK PIPA-EXPL
  d made 09-01 d=d1 / o received 09-02 d=d1 o=o1 type=explanation_request laws=ai_basic_law_kr,gdpr_art_22 => rules GDPR-12-3 OBJ-ACK
a law that another event of the case names removes no obligation, and one that an answer names has its clock
  d made 09-01 d=d1 / o received 09-02 d=d1 o=o1 type=explanation_request / l labeled 12-04 d=d1 laws=eu_ai_act_art_50 => PIPA-EXPL open
  i detected 09-01 i=i1 class=death / m mitigated 12-01 i=i1 laws=pipa_37_2_kr => EU73-DEATH open
  o received 2027-01-01T00 type=appeal c=c / e explained 2027-01-05T00 c=c laws=gdpr_art_22 => GDPR-12-3 open
words of a vocabulary may be in upper or lower case
  o received 09-02 d=d1 o=o1 type=Explanation_Request / r resolved 09-03 d=d1 o=o1 res=Denied / i detected 09-01 class=Death role=Deployer => rules EU73-DEATH OBJ-ACK PIPA-DENY PIPA-EXPL
the type of an objection may be stated later
  o received 09-02 o=o1 / k acked 09-03 o=o1 type=explanation_request => rules OBJ-ACK PIPA-EXPL
where no decision is in the log, an explanation in the same case answers, and one that names a decision only for that
  o received 2027-01-01T00 type=explanation_request c=c / e explained 2027-01-05T00 c=c => PIPA-EXPL met
  o received 2027-01-01T00 type=explanation_request c=c / d1 explained 2027-01-05T00 d=d1 c=c / d2 explained 2027-01-05T00 d=d2 c=c => PIPA-EXPL open d=-
  o received 2027-01-01T00 type=automated_decision_refusal c=c / d1 completed 2027-01-05T00 d=d1 c=c / d2 completed 2027-01-05T00 d=d2 c=c
    / v resolved 2027-01-06T00 res=upheld c=c => PIPA-REFUSE open d=-
where no decision is in the log, a review in the same case together with a resolution meets a refusal
  o received 2027-01-01T00 type=automated_decision_refusal c=c / t triggered 2027-01-02T00 c=c / u completed 2027-01-03T00 c=c
    / v resolved 2027-01-05T00 res=upheld c=c => PIPA-REFUSE met by=v
what is done again for one objection answers only for that, and what names none of several answers none
  o1 received 2027-01-01T00 o=o1 type=automated_decision_refusal c=c / o2 received 2027-01-01T00 o=o2 type=automated_decision_refusal c=c
    / r1 resolved 2027-01-04T00 o=o1 c=c / r2 resolved 2027-01-04T00 o=o2 c=c / v reversed 2027-01-03T00 o=o2 c=c => PIPA-REFUSE:o1 open, PIPA-REFUSE:o2 met
  o1 received 2027-01-01T00 o=o1 type=automated_decision_refusal c=c / o2 received 2027-01-01T00 o=o2 type=automated_decision_refusal c=c
    / r1 resolved 2027-01-04T00 o=o1 c=c / r2 resolved 2027-01-04T00 o=o2 c=c / v completed 2027-01-03T00 o=o2 c=c => PIPA-REFUSE:o1 open, PIPA-REFUSE:o2 met
  o1 received 2027-01-01T00 o=o1 type=automated_decision_refusal c=c / o2 received 2027-01-01T00 o=o2 type=automated_decision_refusal c=c
    / r1 resolved 2027-01-04T00 o=o1 c=c / r2 resolved 2027-01-04T00 o=o2 c=c / t triggered 2027-01-02T00 o=o2 c=c / v completed 2027-01-03T00 c=c
    => PIPA-REFUSE:o1 open, PIPA-REFUSE:o2 open
  o1 received 2027-01-01T00 o=o1 type=automated_decision_refusal c=c / o2 received 2027-01-01T00 o=o2 type=automated_decision_refusal c=c
    / r1 resolved 2027-01-04T00 o=o1 c=c / r2 resolved 2027-01-04T00 o=o2 c=c / t triggered 2027-01-02T00 o=o2 c=c / v reversed 2027-01-03T00 c=c
    => PIPA-REFUSE:o1 open, PIPA-REFUSE:o2 open
an answer answers none of several objections in a correlation unless it names one, whoever it is about
  oa received 2027-01-01T00 type=explanation_request c=c person=a / ob received 2027-01-02T00 type=explanation_request c=c person=b
    / ra resolved 2027-01-06T00 o=oa res=upheld c=c / rb resolved 2027-01-06T00 o=ob res=upheld c=c / v explained 2027-01-05T00 c=c person=a
    => PIPA-EXPL:oa open, PIPA-EXPL:ob open
  oa received 2027-01-01T00 type=explanation_request c=c person=a / ob received 2027-01-02T00 type=explanation_request c=c person=b
    / ra resolved 2027-01-06T00 o=oa res=upheld c=c / rb resolved 2027-01-06T00 o=ob res=upheld c=c / v explained 2027-01-05T00 o=oa c=c
    => PIPA-EXPL:oa met, PIPA-EXPL:ob open
  ob received 2027-01-02T00 type=automated_decision_refusal c=c person=b / rb resolved 2027-01-06T00 o=ob res=upheld c=c / v reversed 2027-01-05T00 c=c => PIPA-REFUSE:ob met
  oa received 2027-01-01T00 type=automated_decision_refusal c=c person=a / ob received 2027-01-02T00 type=automated_decision_refusal c=c person=b
    / ra resolved 2027-01-06T00 o=oa res=upheld c=c / rb resolved 2027-01-06T00 o=ob res=upheld c=c / v completed 2027-01-05T00 c=c person=a
    => PIPA-REFUSE:oa open, PIPA-REFUSE:ob open
the whole last second counts, and a leap second is in it
  t triggered 12-21 d=d1 / c completed 12-31T23:59:60 d=d1 => HR-CLOSE met due=2026-12-31T23:59:59
  t triggered 12-21 d=d1 / c completed 12-31T23:59:59.7 d=d1 => HR-CLOSE met due=2026-12-31T23:59:59
a limit ends within the years of four digits
  t triggered 0001-01-01T00 d=d1 => HR-CLOSE open due=0001-01-11T23:59:59
  t triggered 0000-01-01T00 d=d1 => HR-CLOSE open due=0000-01-11T23:59:59
  t triggered 9999-12-31T00 d=d1 => HR-CLOSE open due=9999-12-31T23:59:59
a holiday of the operator is not a business day
  rules {"holidays":["2026-11-20"]}
  o received 11-19T12 o=o1 => OBJ-ACK open day=2026-11-25
an objection that is received again after its resolution has new clocks, one set for each time that it is open
  a received 2027-01-01T00 o=o d=d / ra resolved 2027-01-05T00 o=o d=d res=upheld / b received 2027-02-01T00 o=o d=d => only OBJ-ACK:a OBJ-ACK:b PIPA-REVIEW:a PIPA-REVIEW:b, PIPA-REVIEW:a met, OBJ-ACK:a met, PIPA-REVIEW:b open, OBJ-ACK:b open
  + c received 2027-02-02T00 o=o d=d => only OBJ-ACK:a OBJ-ACK:b PIPA-REVIEW:a PIPA-REVIEW:b
  + rb resolved 2027-04-01T00 o=o d=d res=upheld => PIPA-REVIEW:a met, PIPA-REVIEW:b met_late
an objection that is received again while it is open keeps its clocks
  a received 2027-01-01T00 o=o d=d / b received 2027-01-02T00 o=o d=d => only OBJ-ACK:a PIPA-REVIEW:a, PIPA-REVIEW:a open, OBJ-ACK:a open
what is asked for again is not answered by the earlier answer
  a received 2027-01-01T00 o=o d=d type=explanation_request / e explained 2027-01-20T00 d=d / ra resolved 2027-01-21T00 o=o d=d res=upheld / b received 2027-02-01T00 o=o d=d => PIPA-EXPL:a met, PIPA-EXPL:b open
a denial without a reason may still get its reason after the objection is received again
  a received 2027-01-01T00 o=o d=d / ra resolved 2027-01-05T00 o=o d=d res=denied / b received 2027-02-01T00 o=o d=d => PIPA-DENY:ra open
  + k acked 2027-02-02T00 o=o d=d why=why => PIPA-DENY:ra met_late
after a denial without a reason, what ends the same request the next time ends it both times
  a received 2027-01-01T00 o=o d=d type=explanation_request / ra resolved 2027-01-05T00 o=o d=d res=denied / b received 2027-01-06T00 o=o d=d => PIPA-EXPL:a open, PIPA-EXPL:b open
  + rb resolved 2027-02-02T00 o=o d=d res=denied why=why => PIPA-EXPL:a met_late, PIPA-EXPL:b met
  a received 2027-01-01T00 o=o d=d type=explanation_request / ra resolved 2027-01-05T00 o=o d=d res=denied / b received 2027-01-06T00 o=o d=d / rb resolved 2027-02-02T00 o=o d=d res=withdrawn => PIPA-EXPL:a met_late, PIPA-EXPL:b met
  a received 2027-01-01T00 o=o d=d type=automated_decision_refusal / ra resolved 2027-01-05T00 o=o d=d res=denied / b received 2027-01-06T00 o=o d=d => PIPA-REFUSE:a open, PIPA-REFUSE:b open
  + rb resolved 2027-02-02T00 o=o d=d res=denied why=why => PIPA-REFUSE:a met_late, PIPA-REFUSE:b met
  a received 2027-01-01T00 o=o d=d type=automated_decision_refusal / ra resolved 2027-01-05T00 o=o d=d res=denied / b received 2027-01-06T00 o=o d=d / rb resolved 2027-02-02T00 o=o d=d res=withdrawn => PIPA-REFUSE:a met_late, PIPA-REFUSE:b met
a refusal is answered both times when the person is told that the decision was reversed
  a received 2027-01-01T00 o=o d=d type=automated_decision_refusal / ra resolved 2027-01-05T00 o=o d=d res=denied / b received 2027-01-06T00 o=o d=d / u reversed 2027-01-07T00 d=d => PIPA-REFUSE:a open, PIPA-REFUSE:b open
  + rb resolved 2027-01-08T00 o=o d=d res=upheld => PIPA-REFUSE:a met, PIPA-REFUSE:b met
but not by what ends a request for something else
  a received 2027-01-01T00 o=o d=d type=explanation_request / ra resolved 2027-01-05T00 o=o d=d res=denied / b received 2027-01-06T00 o=o d=d type=appeal / rb resolved 2027-01-08T00 o=o d=d res=denied why=why => PIPA-EXPL:a open, PIPA-REVIEW:b met
an event that names no objection may close the only one under its correlation
  a received 2027-01-01T00 o=o c=c / ra resolved 2027-01-05T00 c=c / b received 2027-02-01T00 o=o c=c / rb resolved 2027-02-05T00 c=c => PIPA-REVIEW:b met
what the log received more than a day after the obligation fell due is recorded late
  o received 10-23 o=o1 laws=gdpr_art_22 / r resolved 10-23T11 o=o1 rec=11-28 => GDPR-12-3 met due=2026-11-23T22:59:59 late=true
  o received 10-23 o=o1 laws=gdpr_art_22 / r resolved 10-23T11 o=o1 rec=11-24T22:59:59.001 => GDPR-12-3 met late=true
  o received 10-23 o=o1 laws=gdpr_art_22 / r resolved 10-23T11 o=o1 rec=11-24T22:59:59 => GDPR-12-3 met late=false
  o received 10-23 o=o1 laws=gdpr_art_22 / r resolved 10-23T11 o=o1 rec=10-23T11 => GDPR-12-3 met late=false
  o received 10-23 o=o1 laws=gdpr_art_22 / r resolved 11-27T11 o=o1 rec=11-28 => GDPR-12-3 met_late late=false
the operator says how long a delay is usual
  grace 60000
  o received 10-23 o=o1 laws=gdpr_art_22 / r resolved 10-23T11 o=o1 rec=11-23T23:01 => GDPR-12-3 met late=true
  o received 10-23 o=o1 laws=gdpr_art_22 / r resolved 10-23T11 o=o1 rec=11-23T23:00 => GDPR-12-3 met late=false
of a notice before the use it is the notice that may be recorded late
  n shown 10-01T15 d=d1 laws=nyc_ll144 rec=10-01T15:00:01 / d made 11-16T15 d=d1 laws=nyc_ll144 rec=12-01T00 => LL144-NOTICE met late=false
  n shown 10-01T15 d=d1 laws=nyc_ll144 rec=11-28 / d made 11-16T15 d=d1 laws=nyc_ll144 rec=12-01T00 => LL144-NOTICE met late=true
an extension that was recorded after the due time counts by its own time, and the obligation shows it
  o received 10-22T09 o=o1 laws=gdpr_art_22 / x acked 11-10T09 o=o1 ext=60 why=many rec=11-29T09 => GDPR-12-3 open ext=1 extrec=2026-11-29T09:00:00 late=true
  + r resolved 11-29T10 o=o1 res=upheld => GDPR-12-3 met ext=1 extrec=2026-11-29T09:00:00 late=true
also where it met the obligation within the grace after the time that was known
  o received 10-22T09 o=o1 laws=gdpr_art_22 / x acked 11-10T09 o=o1 ext=60 why=many rec=11-29T09 / r resolved 11-24T05 o=o1 res=upheld => GDPR-12-3 met late=true
  o received 10-22T09 o=o1 laws=gdpr_art_22 / x acked 11-10T09 o=o1 ext=60 why=many rec=11-29T09 / r resolved 11-20T05 o=o1 res=upheld rec=11-29T05 => GDPR-12-3 met late=true
but not where it came in time, or where the answer needed none
  o received 10-22T09 o=o1 laws=gdpr_art_22 / x acked 11-10T09 o=o1 ext=60 why=many rec=11-10T09:00:01 / r resolved 11-29T10 o=o1 res=upheld => GDPR-12-3 met extrec=2026-11-10T09:00:01 late=false
  o received 10-22T09 o=o1 laws=gdpr_art_22 / x acked 11-10T09 o=o1 ext=60 why=many rec=11-29T09 / r resolved 11-20T10 o=o1 res=upheld => GDPR-12-3 met late=false
  o received 10-22T09 o=o1 laws=gdpr_art_22 / r resolved 11-20T10 o=o1 res=upheld => GDPR-12-3 met extrec=- late=false
of two extensions, the one that came in time gives the time that was known
  o received 10-22T09 o=o1 laws=gdpr_art_22 / x acked 11-10T09 o=o1 ext=60 why=many rec=11-29T09 / y acked 11-12T09 o=o1 ext=60 why=many rec=11-12T09
    / r resolved 11-29T10 o=o1 res=upheld => GDPR-12-3 met ext=1 late=false
an awareness that was recorded after the due time moves the start, and the obligation shows that it was late
  i detected 11-01 i=i1 / m mitigated 11-29T09 i=i1 aware_at=2026-11-27T00:00:00Z => EU73-GEN open at=2026-11-27T00:00:00 rec=2026-11-29T09:00:00 late=true
  i detected 11-01 i=i1 / m mitigated 11-29T09 i=i1 aware_at=2026-11-27T00:00:00Z / r reported 11-20T09 i=i1 => EU73-GEN met late=true
  i detected 11-01 i=i1 / m mitigated 11-29T09 i=i1 aware_at=2026-11-27T00:00:00Z / r reported 11-30T09 i=i1 => EU73-GEN met late=true
  i detected 11-01 i=i1 / m mitigated 11-29T09 i=i1 aware_at=2026-11-27T00:00:00Z / r reported 11-10T09 i=i1 => EU73-GEN met late=false
however many awarenesses there are; one in time moves the time that was known, and an earlier one leaves less time
  i detected 11-01 i=i1 / m mitigated 11-29T09 i=i1 aware_at=2026-11-27T00:00:00Z / n mitigated 11-29T09:00:01 i=i1 aware_at=2026-11-28T00:00:00Z => EU73-GEN open late=true
  i detected 11-01 i=i1 / m mitigated 11-15T09 i=i1 aware_at=2026-11-14T00:00:00Z => EU73-GEN open rec=2026-11-15T09:00:00 late=false
  + n mitigated 11-29T09:00:01 i=i1 aware_at=2026-11-28T00:00:00Z => EU73-GEN open late=false
  i detected 11-01 i=i1 / m mitigated 11-20T09 i=i1 aware_at=2026-10-30T00:00:00Z => EU73-GEN open at=2026-10-30T00:00:00 late=false
a waiver stands until it is taken back, and says who, why and when
  d made 11-16T15 d=d1 laws=nyc_ll144 / w18 waived 11-18T00 on=LL144-NOTICE:d => LL144-NOTICE waived waiver=w18_by_key_1_at_2026-11-18T00:00:00
  + w19 unwaived 11-19T00 on=LL144-NOTICE:d => LL144-NOTICE breached waiver=-
  + w20 waived 11-20T00 on=LL144-NOTICE:d => LL144-NOTICE waived waiver=w20_by_key_1_at_2026-11-20T00:00:00
  d made 11-16T15 d=d1 laws=nyc_ll144 / w18 waived 11-18T00 on=HR-CLOSE:d => LL144-NOTICE breached waiver=-
a waiver does not hide that the obligation was met
  t triggered 11-16T15 d=d1 / c completed 11-17T15 d=d1 / w18 waived 11-18T00 on=HR-CLOSE:t => HR-CLOSE met waiver=w18_by_key_1_at_2026-11-18T00:00:00
of several waivers the first in the log stands, whatever their clocks say
  e1 triggered 10-02T09 d=d / w6 waived 11-20T09:59:59 on=HR-CLOSE:e1 / w5 waived 11-20 on=HR-CLOSE:e1 => HR-CLOSE waived waiver=w5_by_key_1_at_2026-11-20T10:00:00
  + w7 unwaived 11-20 on=HR-CLOSE:e1 => HR-CLOSE open waiver=-
a waiver stays with what was waived, whichever event starts it by now
  e1 received 10-02T09 o=o laws=gdpr_art_22 / w5 waived 11-20 on=GDPR-12-3:e1 => GDPR-12-3:e1 waived
  + e0 received 10-01T09 o=o laws=gdpr_art_22 => GDPR-12-3:e0 waived, GDPR-12-3:e1 none
  + w6 unwaived 11-20 on=GDPR-12-3:e0 => GDPR-12-3:e0 open waiver=-
  + w7 waived 11-20 on=GDPR-12-3:e0 => GDPR-12-3:e0 waived waiver=w7_by_key_1_at_2026-11-20T10:00:00
  e1 triggered 10-02T09 d=d / w5 waived 11-20 on=HR-CLOSE:e1 / e0 triggered 10-01T09 d=d => HR-CLOSE:e0 waived
  e1 detected 10-02T09 i=i / w5 waived 11-20 on=EU73-GEN:e1 / e0 detected 10-01T09 i=i => EU73-GEN:e0 waived
  e1 made 2027-10-02T09 d=d outcome=denied laws=colorado_sb26_189 / w5 waived 11-20 on=CO-ADVERSE:e1
    / e0 made 2027-10-01T09 d=d outcome=denied laws=colorado_sb26_189 => CO-ADVERSE:e0 waived
  e1 made 10-02T09 d=d laws=nyc_ll144 / w5 waived 11-20 on=LL144-NOTICE:e1 / e0 shown 10-01T09 d=d laws=nyc_ll144 => LL144-NOTICE:e0 waived
but not with another time that an objection was open
  e1 received 10-01T09 o=o laws=gdpr_art_22 / e2 resolved 10-02T09 o=o / e3 received 10-03T09 o=o laws=gdpr_art_22 / w5 waived 11-20 on=GDPR-12-3:e3 => GDPR-12-3:e1 met waiver=-, GDPR-12-3:e3 waived
`),
)("%s", (_, lines) => play(lines));

test("whether an obligation is due soon or overdue depends on the time of the query", () => {
  const open = { status: "open", dueAt: "2026-11-20T14:59:59", extensions: 0 } as const;
  // The notifier looks again at that time and must find the obligation due soon.
  expect(soonBefore(open.dueAt)).toBe("2026-11-13T15:00:00");
  for (const [now, state] of [
    ["2026-11-01T00:00:00", "open"],
    ["2026-11-13T14:59:59", "open"],
    ["2026-11-13T15:00:00", "due_soon"],
    ["2026-11-20T14:59:59.5", "due_soon"],
    ["2026-11-20T15:00:00", "overdue"],
  ] as const)
    expect([now, stateAt(open, now)]).toEqual([now, state]);
  expect(stateAt({ ...open, extensions: 1 }, "2026-11-01T00:00:00")).toBe("extended");
  expect(stateAt({ ...open, status: "met_late" }, "2026-11-30T00:00:00")).toBe("met_late");
  // Nothing falls due until there is a decision.
  expect(stateAt({ ...open, status: "waiting" }, "2027-11-16T05:00:00")).toBe("open");
});

test("an objection that is received again at the time of its resolution, or first after it, is not open again", () => {
  const objectionsIn = (story: string) => caseOf(story.split(" / ").map(factIn)).objections;
  const again = "a received 2027-01-01T00 o=o / b resolved 2027-01-05T00 o=o / c received 2027-01-05T00 o=o";
  expect(objectionsIn(again)).toMatchObject([{ received: { id: "a" }, resolved: { id: "b" } }]);
  const before = "r resolved 2026-12-31T00 o=o / a received 2027-01-01T00 o=o";
  expect(objectionsIn(before)).toMatchObject([{ received: { id: "a" }, resolved: { id: "r" } }]);
  const open = "a received 2027-01-01T00 o=o / ra resolved 2027-01-05T00 o=o / b received 2027-02-01T00 o=o";
  expect(objectionsIn(open)).toMatchObject([{ received: { id: "b" }, resolved: undefined }]);
});

/** The sentences of summary.html in English and Korean. Labels of types, states, rules and laws are those of every client (src/api/vocabulary). */
import { label } from "../vocabulary/labels.ts";
import { html } from "./html.ts";

export const SUMMARY_LANGUAGES = ["en", "ko"] as const;
export type SummaryLanguage = (typeof SUMMARY_LANGUAGES)[number];

export const figure = (count: number): string => count.toLocaleString("en-US");
const counted = (count: number, what: string): string => `${figure(count)} ${what}${count === 1 ? "" : "s"}`;
const orNone = (count: number, state: string): string =>
  count === 0 ? `none ${state}` : `${figure(count)} ${state}`;

/** What the bundle covers. */
export const TERMS = {
  tenant: label("Tenant", "테넌트"),
  system: label("AI system", "AI 시스템"),
  case: label("Case", "사건"),
  decision: label("Decision", "결정"),
  person: label("Person", "정보주체"),
  period: label("Period", "기간"),
  records: label("Records", "기록"),
  tables: label("Tables", "표"),
  log: label("Log", "로그"),
  checkpoint: label("Checkpoint", "체크포인트"),
  signingKey: label("Signing key", "서명 키"),
  made: label("Created", "생성"),
  request: label("Request", "요청"),
};

export const COLUMNS = {
  time: label("Time", "시각"),
  received: label("Received", "수신"),
  event: label("Event", "이벤트"),
  system: label("AI system", "AI 시스템"),
  eventId: label("Event id", "이벤트 ID"),
  linkedBy: label("Linked", "연결"),
  sequence: label("Sequence", "순번"),
  leaf: label("Leaf", "리프"),
  state: label("State", "상태"),
  due: label("Due", "기한"),
  obligation: label("Obligation", "의무"),
  clause: label("Article", "근거 조항"),
  since: label("Since", "시작"),
  met: label("Met", "이행"),
  recorded: label("Recorded", "기록"),
  decision: label("Decision", "결정"),
  decided: label("Outcome", "결과"),
  happened: label("What happened", "경과"),
  missing: label("Missing", "빠진 단계"),
  oversight: label("Oversight", "감독 책임자"),
  owner: label("Owner", "담당"),
  tier: label("Risk tier", "위험 등급"),
  version: label("Version", "버전"),
};

const EN = {
  evidence: (subject: string) => `Evidence: ${subject}`,
  ofSystem: (id: string) => `AI system ${id}`,
  ofCase: (id: string) => `case ${id}`,
  ofDecision: (id: string) => `decision ${id}`,
  ofPerson: (hash: string) => `person ${hash}`,
  ofTenant: (tenant: string) => `tenant ${tenant}`,
  whole: (count: number, tenant: string, size: number) =>
    `${counted(count, "record")} of the tenant ${tenant}: every record of its log up to the signed checkpoint of ${size}.`,
  part: (count: number, tenant: string, size: number, period: string) =>
    `${counted(count, "record")} of the tenant ${tenant}, ${period}, each proven to be in the log of ${counted(size, "record")} that the checkpoint covers.`,
  withheld: (count: number) =>
    ` Of ${counted(count, "record")} only the hash is here, because the event has expired or the service does not understand it.`,
  period: (from: string | undefined, to: string | undefined) => {
    const bounds = [
      ...(from === undefined ? [] : [`from ${from}`]),
      ...(to === undefined ? [] : [`before ${to}`]),
    ];
    return bounds.length === 0 ? "without a time limit" : `${bounds.join(", ")} (as events say)`;
  },
  duties: (count: number, at: string, overdue: number, breached: number) =>
    `${counted(count, "obligation")} at ${at}: ${orNone(overdue, "overdue")}, ${orNone(breached, "breached")}.`,
  recordedLate: (count: number) =>
    count === 0
      ? html`None was recorded late.`
      : html`<strong>${counted(count, "obligation")} recorded late</strong>: the events say that ${count === 1 ? "it was" : "they were"} met in time or had more time, but the log received them only after the due time.`,
  times: "All times are UTC.",
  contents: "Contents",
  coverage: "What it covers",
  all: "all",
  count: (count: number) => counted(count, "record"),
  places: (leaves: readonly number[], sequences: readonly number[]) =>
    `leaf ${leaves[0]} to ${leaves[1]}, sequence ${sequences[0]} to ${sequences[1]}`,
  tablesAsOf: (sequence: number) =>
    `obligations, decisions and AI systems as of sequence ${sequence} of the log`,
  root: (count: number) => `${counted(count, "record")}, root`,
  made: (at: string, generator: string) => `${at} by ${generator}`,
  forKey: "for the API key",
  timeline: "Timeline",
  timelineNote:
    "In the order of the log. The time is the event's own. Linked is the rule that links it to a decision, objection or incident on this page.",
  hashesOnly: "Only the hashes of its records are here.",
  more: (shown: number, count: number, file: string) =>
    html`These are the first ${figure(shown)} of ${figure(count)}; all are in <code>${file}</code>.`,
  obligations: "Obligations",
  noObligation: "No event here starts an obligation that this service knows.",
  obligationsNote: (at: string) =>
    `From the events as of ${at}, overdue first. Recorded is when the log received the event that met it. All obligations are shown, even if the bundle covers only a period. Not legal advice: check the law.`,
  waived: (at: string, by: string, reason: string) => `Waived ${at} by ${by}: ${reason}`,
  late: "late",
  decisions: "What was decided",
  noDecision: "No event here names a decision.",
  decisionsNote:
    "From the events, decisions with a missing step first. Beside each time: when the log received the event, and the rule that links it to the decision.",
  moreDecisions: html`There are more: <code>GET /v1/decisions</code> lists all, with what is missing.`,
  moreSteps: (count: number) => `and ${counted(count, "event")} more`,
  received: (at: string) => `received ${at}`,
  reviewer: (name: string) => `reviewer ${name}`,
  notInLog: "Not in the log",
  notDue: "Not due yet",
  nothingMissing: "nothing",
  unlinked: "not linked",
  whoToAsk: "Who to ask",
  nobody: "none is recorded",
  nobodyToAsk: "The register of AI systems names no contact.",
  assetsNote: "From the register of AI systems, by the latest events.",
  moreAssets: html`There are more; <code>GET /v1/assets</code> lists all.`,
  howToVerify: "How to verify",
  verifier:
    "The verifier is one file, needs no network and no account, and runs on Node 20.15 or newer, Bun and Deno:",
  verifierKey: html`<code>log.key</code> is the answer of <code>GET /v1/log/key</code>, obtained through a channel that you trust, not from this bundle. <code>VERIFY.md</code> explains how to check without our verifier.`,
  notProven: "What it does not prove",
  limits: {
    truth:
      "That an event tells the truth. It proves that these bytes were in the log at this place, unchanged, when the checkpoint was signed.",
    sent: "That everything was sent. No log has what a system never sent.",
    filter:
      "That nothing else matches the filter. Only a bundle without a filter holds every record, and can be checked for gaps.",
    kept: (events: number, kept: number) =>
      `That its obligations follow from the whole case: it has ${counted(events, "event")}, and ${figure(kept)} of them are considered, up to a limit per name: the first decision and notice, then objections, explanations, reviews, reversals and incidents, then all else; the earliest of each kind.`,
    tables: html`The tables of this page, <code>obligations.csv</code> and <code>events.csv</code>: the service computed them from the records. The manifest, anchored in the system log, proves that they are unchanged.`,
    time: "When an event happened. Its own time is its sender's claim; the sequence is the order in which the log accepted it.",
  },
};

export type SummaryWords = typeof EN;

const KO: SummaryWords = {
  evidence: (subject) => `증거 자료: ${subject}`,
  ofSystem: (id) => `AI 시스템 ${id}`,
  ofCase: (id) => `사건 ${id}`,
  ofDecision: (id) => `결정 ${id}`,
  ofPerson: (hash) => `정보주체 ${hash}`,
  ofTenant: (tenant) => `테넌트 ${tenant}`,
  whole: (count, tenant, size) =>
    `테넌트 ${tenant}의 기록 ${figure(count)}건: 서명된 체크포인트(${figure(size)}건)까지 로그의 모든 기록입니다.`,
  part: (count, tenant, size, period) =>
    `테넌트 ${tenant}의 기록 ${figure(count)}건, ${period}. 각 기록이 체크포인트가 포함하는 로그(${figure(size)}건)에 있음이 증명됩니다.`,
  withheld: (count) =>
    ` 그중 ${figure(count)}건은 해시만 있습니다. 이벤트가 만료되었거나 서비스가 해석할 수 없는 기록입니다.`,
  period: (from, to) => {
    const bounds = [
      ...(from === undefined ? [] : [`${from}부터`]),
      ...(to === undefined ? [] : [`${to} 전까지`]),
    ];
    return bounds.length === 0 ? "전체 기간" : `${bounds.join(" ")} (이벤트에 기재된 시각 기준)`;
  },
  duties: (count, at, overdue, breached) =>
    `${at} 현재 의무 ${figure(count)}건: 기한 경과 ${figure(overdue)}건, 위반 ${figure(breached)}건.`,
  recordedLate: (count) =>
    count === 0
      ? html`늦게 기록된 의무는 없습니다.`
      : html`<strong>의무 ${figure(count)}건은 늦게 기록되었습니다</strong>: 이벤트에는 기한 내에 이행한 것으로 되어 있으나, 로그는 기한이 지난 뒤에 이를 수신했습니다.`,
  times: "모든 시각은 UTC입니다.",
  contents: "목차",
  coverage: "자료의 범위",
  all: "전체",
  count: (count) => `${figure(count)}건`,
  places: (leaves, sequences) => `리프 ${leaves[0]}–${leaves[1]}, 순번 ${sequences[0]}–${sequences[1]}`,
  tablesAsOf: (sequence) => `로그 순번 ${sequence} 시점의 의무, 결정, AI 시스템`,
  root: (count) => `${figure(count)}건, 루트`,
  made: (at, generator) => `${at}, ${generator}`,
  forKey: "API 키",
  timeline: "시간순 기록",
  timelineNote:
    "로그의 순서입니다. 시각은 이벤트에 기재된 시각이며, ‘연결’은 이 페이지의 결정, 이의 제기, 사고에 연결한 규칙입니다.",
  hashesOnly: "모든 기록이 해시로만 포함되어 있습니다.",
  more: (shown, count, file) =>
    html`${figure(count)}건 중 처음 ${figure(shown)}건입니다. 전체는 <code>${file}</code>에 있습니다.`,
  obligations: "의무",
  noObligation: "이 서비스가 아는 의무를 발생시키는 이벤트가 없습니다.",
  obligationsNote: (at) =>
    `${at} 현재 이벤트에 따른 상태이며, 기한이 지난 의무가 먼저 나옵니다. ‘기록’은 의무를 이행한 이벤트를 로그가 수신한 시각입니다. 자료에 기간이 정해져 있어도 전체 기간의 의무를 보여 줍니다. 법률 자문이 아니므로 해당 조항을 확인하십시오.`,
  waived: (at, by, reason) => `${at}에 ${by}이(가) 면제: ${reason}`,
  late: "늦음",
  decisions: "결정 내용",
  noDecision: "결정을 가리키는 이벤트가 없습니다.",
  decisionsNote:
    "이벤트에 따른 내용이며, 빠진 단계가 있는 결정이 먼저 나옵니다. 각 시각 옆에 로그가 수신한 시각과 결정에 연결한 규칙을 적었습니다.",
  moreDecisions: html`더 있습니다. <code>GET /v1/decisions</code>에서 빠진 단계와 함께 전체를 볼 수 있습니다.`,
  moreSteps: (count) => `외 ${figure(count)}건`,
  received: (at) => `수신 ${at}`,
  reviewer: (name) => `검토자 ${name}`,
  notInLog: "로그에 없음",
  notDue: "기한 전",
  nothingMissing: "없음",
  unlinked: "연결되지 않음",
  whoToAsk: "문의할 사람",
  nobody: "기록 없음",
  nobodyToAsk: "AI 시스템 대장에 문의할 사람이 없습니다.",
  assetsNote: "AI 시스템 대장에서 가져온, 이벤트에 마지막으로 기재된 내용입니다.",
  moreAssets: html`더 있습니다. <code>GET /v1/assets</code>에서 전체를 볼 수 있습니다.`,
  howToVerify: "검증 방법",
  verifier:
    "검증 프로그램은 파일 하나이며 네트워크와 계정이 필요 없고, Node 20.15 이상, Bun, Deno에서 실행됩니다.",
  verifierKey: html`<code>log.key</code>는 <code>GET /v1/log/key</code>의 응답으로, 이 자료가 아니라 신뢰할 수 있는 경로로 받아야 합니다. 저희 프로그램 없이 확인하는 방법은 <code>VERIFY.md</code>에 있습니다.`,
  notProven: "증명하지 않는 것",
  limits: {
    truth:
      "이벤트의 내용이 사실이라는 것. 체크포인트에 서명할 때 이 바이트가 이 위치에 변경 없이 로그에 있었다는 것만 증명합니다.",
    sent: "모든 것이 전송되었다는 것. 시스템이 보내지 않은 것은 어떤 로그에도 없습니다.",
    filter:
      "조건에 맞는 다른 기록이 없다는 것. 조건 없이 만든 자료만 모든 기록을 담고 있어 누락을 확인할 수 있습니다.",
    kept: (events, kept) =>
      `의무가 사건 전체에서 도출되었다는 것. 이 사건의 이벤트는 ${figure(events)}건이고, 그중 ${figure(kept)}건만 의무 판단에 쓰였습니다. 이름별 한도 안에서 첫 결정과 고지, 이의 제기·설명·검토·번복·사고, 그 밖의 이벤트 순이며, 각 종류에서 이른 것부터입니다.`,
    tables: html`이 페이지의 표, <code>obligations.csv</code>, <code>events.csv</code>. 서비스가 기록에서 계산한 것입니다. 시스템 로그에 있는 매니페스트는 이것들이 만들어진 그대로임을 말해 줍니다.`,
    time: "이벤트가 일어난 시각. 이벤트에 기재된 시각은 보낸 쪽의 주장이며, 순번은 로그가 받은 순서입니다.",
  },
};

export const SUMMARY_WORDS: Readonly<Record<SummaryLanguage, SummaryWords>> = { en: EN, ko: KO };

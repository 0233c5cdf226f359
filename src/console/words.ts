/** What the console itself says, in English and Korean. Labels of names in answers come from the service (labels.ts). */
import { ADMINISTRATION_WORDS } from "./administration-words.ts";
import { DEADLINE_WORDS } from "./deadline-words.ts";
import { EVENT_WORDS } from "./event-words.ts";
import { EVIDENCE_WORDS } from "./evidence-words.ts";
import { language } from "./language.ts";
import { RECORD_WORDS } from "./record-words.ts";
import { SIGN_IN_WORDS } from "./sign-in-words.ts";

const WORDS = {
  ...ADMINISTRATION_WORDS,
  ...DEADLINE_WORDS,
  ...EVENT_WORDS,
  ...EVIDENCE_WORDS,
  ...RECORD_WORDS,
  ...SIGN_IN_WORDS,

  // Navigation and the frame.
  main_navigation: ["Main", "주 메뉴"],
  menu: ["Menu", "메뉴"],
  skip: ["Skip to the content", "본문으로 건너뛰기"],
  overview: ["Overview", "개요"],
  events: ["Events", "이벤트"],
  event: ["Event", "이벤트"],
  decisions: ["Decisions", "결정"],
  decision: ["Decision", "결정"],
  obligations: ["Obligations", "의무"],
  coverage: ["Coverage", "충족 현황"],
  registers: ["Registers", "대장"],
  systems: ["Systems", "시스템"],
  system: ["System", "시스템"],
  models: ["Models", "모델"],
  notices: ["Notices", "고지"],
  objections: ["Objections", "이의 제기"],
  objection: ["Objection", "이의 제기"],
  reviews: ["Human reviews", "인적 검토"],
  incidents: ["Incidents", "사고"],
  incident: ["Incident", "사고"],
  assessments: ["Assessments", "영향평가"],
  risk_changes: ["Changes of risk", "위험 등급 변경"],
  more: ["More", "기타"],
  verify: ["Verify evidence", "증거 검증"],
  api: ["API", "API"],
  sandbox: ["Sandbox", "샌드박스"],
  sign_out: ["Sign out", "로그아웃"],
  other_language: ["한국어", "English"],
  search: ["Search", "검색"],
  search_hint: ["Search events: words or an id  ( / )", "이벤트 검색: 단어 또는 ID  ( / )"],
  sealed: ["Sealed: {n} [record|records]", "봉인됨: 기록 {n}건"],
  tenant: ["Tenant", "테넌트"],

  // States of a page.
  loading: ["Loading…", "불러오는 중…"],
  offline: ["The service does not answer.", "서비스가 응답하지 않습니다."],
  offline_hint: [
    "Nothing is lost. Check that it runs and that this browser reaches it.",
    "데이터는 안전합니다. 서비스가 실행 중인지, 이 브라우저에서 연결되는지 확인하세요.",
  ],
  failed: ["This could not be shown.", "표시할 수 없습니다."],
  not_found: ["It does not exist here, or it has expired.", "해당 항목이 없거나 보존 기간이 지났습니다."],
  no_screen: ["There is no such page.", "없는 페이지입니다."],
  try_again: ["Try again", "다시 시도"],
  request: ["Request", "요청"],
  no_rows: ["Nothing matches these filters.", "조건에 맞는 항목이 없습니다."],
  clear_filters: ["Clear the filters", "조건 지우기"],
  empty_hint: ["It fills with events of these types:", "다음 유형의 이벤트가 쌓이면 채워집니다:"],
  empty_send: ["Send one:", "보내는 방법:"],

  // Lists.
  filters: ["Filters", "조건"],
  apply: ["Apply", "적용"],
  any: ["any", "전체"],
  columns: ["Columns", "열"],
  next_page: ["Next page", "다음 페이지"],
  first_page: ["First page", "첫 페이지"],
  export_as: ["Export", "내보내기"],
  as_command: ["As a command", "명령으로 보기"],
  remove_filter: ["Remove the filter", "조건 제거"],
  count_exact: ["{n} in all", "총 {n}건"],
  count_more: ["more than {n}", "{n}건 이상"],
  from: ["From", "시작일"],
  to: ["To", "종료일"],
  person: ["Person", "정보주체"],
  person_hint: [
    "Name, number or hash. It is hashed in this browser; only the hash is sent.",
    "이름, 번호 또는 해시. 이 브라우저에서 해시로 바꾸며 해시만 전송합니다.",
  ],
  hash_key: ["Secret of the hash (HMAC), if your senders use one", "해시 비밀값(HMAC), 사용하는 경우"],

  // Fields and columns.
  state: ["State", "상태"],
  what: ["What", "내용"],
  due: ["Due", "기한"],
  law: ["Law", "법령"],
  type: ["Type", "유형"],
  time: ["Time", "시각"],
  received: ["Received", "수신"],
  outcome: ["Outcome", "결과"],
  missing: ["Missing", "누락"],
  pending: ["Not due yet", "기한 전"],
  notice: ["Notice", "고지"],
  explanation: ["Explanation", "설명"],
  review: ["Human review", "인적 검토"],
  reversed: ["Reversed", "번복"],
  case: ["Case", "사건"],
  risk: ["Risk", "위험 등급"],
  version: ["Version", "버전"],
  started: ["Started", "시작"],
  rule: ["Rule", "규칙"],
  words: ["Words", "단어"],
  late: ["Late", "지연"],
  late_only: ["late only", "지연만"],
  yes: ["yes", "예"],
  no: ["no", "아니요"],
  reason: ["Reason", "사유"],
  resolution: ["Resolution", "처리 결과"],
  reviewer: ["Reviewer", "검토자"],
  changed: ["Changed the outcome", "결과 변경"],
  channel: ["Channel", "매체"],
  locale: ["Language", "언어"],
  incident_class: ["Class", "분류"],
  severity: ["Severity", "심각도"],
  detected: ["Detected", "인지"],
  report_due: ["Report due", "보고 기한"],
  reported: ["Reported", "보고"],
  mitigated: ["Under control", "수습"],
  affected: ["Persons affected", "영향받은 사람"],
  authority: ["Authority", "당국"],
  cause: ["Cause", "원인"],
  aware: ["Known since", "인지 시점"],
  valid_until: ["Valid until", "유효기간"],
  completed: ["Completed", "완료"],
  from_tier: ["From", "이전"],
  to_tier: ["To", "이후"],
  actor: ["By", "수행자"],
  model: ["Model", "모델"],
  deployed: ["Deployed", "배포"],
  retired: ["Retired", "사용 종료"],
  owner: ["Owner", "담당"],
  role: ["Role", "역할"],
  domain: ["Domain", "분야"],
  oversight: ["Oversight", "감독자"],
  last_event: ["Last event", "최근 이벤트"],
  event_count: ["Events", "이벤트 수"],
  shown: ["Shown", "표시"],
  acknowledged: ["Acknowledged", "접수 통지"],
  resolved: ["Answered", "답변"],
  triggered: ["Requested", "요청"],
  assessment: ["Assessment", "평가"],
  received_at: ["received {t}", "수신 {t}"],
  recorded_late: ["recorded only after it was due", "기한이 지난 뒤에 기록됨"],

  // Overview.
  head_overdue: ["{n} [obligation is|obligations are] overdue", "기한이 지난 의무 {n}건"],
  head_due: ["{n} [falls|fall] due soon", "곧 기한인 의무 {n}건"],
  head_nothing: ["Nothing needs you", "처리할 일이 없습니다"],
  balanced: ["Log, views and acknowledgements agree.", "로그, 뷰, 수신 확인이 일치합니다."],
  not_balanced: [
    "Log, views and acknowledgements differ: tell your operator.",
    "로그, 뷰, 수신 확인이 서로 다릅니다. 운영자 확인이 필요합니다.",
  ],
  balance_unknown: ["Acknowledgements were not counted.", "수신 확인 수가 집계되지 않았습니다."],
  breached_some: ["{n} [obligation was|obligations were] breached.", "위반된 의무가 {n}건 있습니다."],
  needs_you: ["Needs you", "처리할 일"],
  all_obligations: ["All obligations", "전체 의무"],
  events_by_day: ["Events by day", "일별 이벤트"],
  open_in_events: ["Open in Events", "이벤트에서 열기"],
  chart_text: [
    "{n} [event|events] in 30 days, at most {m} on one day",
    "30일 동안 이벤트 {n}건, 하루 최대 {m}건",
  ],
  next_due: ["Due next", "다음 기한"],
  senders: ["Who sends", "전송 현황"],
  no_senders: ["No source numbers its events.", "번호를 매기는 전송 시스템이 없습니다."],
  every_number: ["no number missing", "누락 번호 없음"],
  numbers_missing: ["numbers {a}–{b} missing since {t}", "{t}부터 번호 {a}–{b} 누락"],
  some_missing: ["{n} [number|numbers] missing", "번호 {n}개 누락"],
  newest: ["Newest", "최근 이벤트"],
  no_events: ["No events yet", "아직 이벤트가 없습니다"],
  no_events_lede: [
    "The console fills as soon as the first event arrives.",
    "첫 이벤트가 도착하면 화면이 채워집니다.",
  ],
  group_decisions: ["decisions", "결정"],
  group_notices: ["notices", "고지"],
  group_objections: ["objections and incidents", "이의 제기와 사고"],
  group_other: ["other", "기타"],

  // Events.
  live: ["Follow live", "실시간 보기"],
  live_on: ["Live: new events appear on top.", "실시간: 새 이벤트가 위에 표시됩니다."],
  live_filters: [
    "The live view filters by type, system and risk only.",
    "실시간 보기는 유형, 시스템, 위험 등급 조건만 지원합니다.",
  ],

  // One event.
  event_lede: ["Event {id} of {system}, {time}.", "{system}의 이벤트 {id}, {time}."],
  about_person: ["About person {p}.", "정보주체 {p}."],
  in_case: ["Case {c}.", "사건 {c}."],
  facts: ["What it says", "내용"],
  exact_bytes: ["The exact bytes of the record", "기록의 원본 바이트"],
  exact_lede: [
    "As received, and as stored in the log. The proof covers these bytes.",
    "수신된 그대로 로그에 저장된 바이트이며, 증명의 대상입니다.",
  ],
  proof: ["Proof", "증명"],
  verifying: ["Verifying in this browser…", "이 브라우저에서 검증하는 중…"],
  verified: ["Verified in this browser", "이 브라우저에서 검증됨"],
  not_verified: ["Not verified", "검증되지 않음"],
  proof_says: [
    "The record is leaf {l} of a log with {n} [record|records], and its tree head has the service's signature.",
    "이 기록은 기록 {n}건으로 된 로그의 리프 {l}번이며, 트리 헤드에 서비스의 서명이 있습니다.",
  ],
  not_sealed: ["Not sealed yet. It takes a few seconds.", "아직 봉인되지 않았습니다. 몇 초 걸립니다."],
  leaf: ["Leaf", "리프"],
  tree_head: ["Tree head", "트리 헤드"],
  signed_by: ["Signed by", "서명"],
  records_n: ["{n} [record|records]", "기록 {n}건"],
  neighbours: ["Its case", "관련 사건"],
  all_of_case: ["All events of the case", "사건의 모든 이벤트"],
  to_decision: ["The decision", "해당 결정"],
  warnings: ["Accepted with warnings", "경고와 함께 수신됨"],
  sequence: ["Sequence", "순번"],

  // One decision.
  decision_head: ["Decision: {o}", "결정: {o}"],
  decision_unknown: ["Decision without an outcome", "결과가 없는 결정"],
  decision_never: ["A decision without its own event", "결정 이벤트가 없는 결정"],
  decision_lede: ["Decision {id} of {system}, {time}.", "{system}의 결정 {id}, {time}."],
  happened: ["What happened", "경과"],
  expired: ["Event at {n}, expired", "{n}번 이벤트 (보존 기간 만료)"],
  more_events: ["There may be more events: find all", "이벤트가 더 있을 수 있습니다: 모두 찾기"],
  linked: ["Linked {how}.", "{how}됨."],
  missing_step: ["{step}: missing", "{step}: 누락"],
  pending_step: ["{step}: not due yet", "{step}: 기한 전"],
  due_since: ["Due since {t} in {z}.", "기한 {t} ({z}) 경과."],
  due_by: ["Due by {t} in {z}.", "기한 {t} ({z})."],
  closed_by: ["The event that closes it:", "종결 이벤트:"],
  unlinked: ["Not linked", "연결되지 않음"],
  unlinked_lede: [
    "These events may belong here, but nothing links them. They are not counted.",
    "관련될 수 있으나 연결 근거가 없는 이벤트입니다. 집계하지 않습니다.",
  ],
  candidates: ["It may belong to {c}.", "가능한 연결 대상: {c}."],
  no_obligations: ["No obligation follows from it.", "발생한 의무가 없습니다."],
  due_on: ["due {t}, {z}", "기한 {t}, {z}"],
  clock_started: ["started {t}", "시작 {t}"],
  clock_stopped: ["{a} → {b}", "{a} → {b}"],
  clock_met: ["met {t}", "이행 {t}"],
  extended_n: ["extended {n}×", "{n}회 연장"],
  waived_because: ["waived by {w}: {r}", "{w} 면제: {r}"],
  waive: ["Waive", "면제"],
  waive_reason: [
    "Why it will not be met; this is written to the log",
    "이행하지 않는 이유 (로그에 기록됩니다)",
  ],
  ruleset: ["rules of {v}", "규칙 {v}"],
  print: ["Print", "인쇄"],

  // The letter to the person.
  letter: ["Letter to the person", "당사자에게 보내는 통지"],
  letter_head: ["A decision about you", "귀하에 관한 결정 안내"],
  letter_what: [
    "On {t} an automated system, {s}, made a decision about you. The result: {o}.",
    "{t} 자동화된 시스템({s})이 귀하에 관하여 결정을 하였습니다. 결과: {o}.",
  ],
  letter_why: ["Why", "결정 이유"],
  letter_no_reason: [
    "The decision was recorded without a reason. You may ask for one.",
    "결정 이유가 기록되어 있지 않습니다. 이유에 대한 설명을 요구할 수 있습니다.",
  ],
  letter_explained: ["The decision was explained to you on {t}.", "{t} 이 결정에 대해 설명해 드렸습니다."],
  letter_rights: ["What you can do", "귀하의 권리"],
  letter_how: [
    "You may ask for an explanation, comment on the decision, object to it, and ask for a review by a person.",
    "귀하는 결정에 대한 설명을 요구하고, 의견을 제출하며, 이의를 제기하고, 사람에 의한 재검토를 요구할 수 있습니다.",
  ],
  letter_to: ["Contact: {c}.", "문의처: {c}."],
  letter_id: ["Please quote decision {id}.", "결정 번호 {id}을(를) 알려 주십시오."],
  letter_laws: ["Rules that apply: {l}.", "적용 법령: {l}."],

  // Obligations, coverage, registers.
  coverage_lede: [
    "What the log can show for each system and obligation. A cell opens its evidence.",
    "시스템과 의무별로 로그가 보여 줄 수 있는 것입니다. 칸을 열면 증거가 보입니다.",
  ],
  coverage_cell: ["{i} of {d} in time", "{d}건 중 {i}건 기한 내"],
  coverage_detail: ["{duty} · {system}", "{duty} · {system}"],
  coverage_counts: [
    "{d} were due: {i} in time, {l} late, {u} not met, {w} waived. {p} not due yet.",
    "기한 도래 {d}건: 기한 내 {i}, 지연 {l}, 미이행 {u}, 면제 {w}. 기한 전 {p}.",
  ],
  cannot_show: ["What no log can show", "로그로 보여 줄 수 없는 것"],
  newest_evidence: ["Newest evidence", "최근 증거"],
  close: ["Close", "닫기"],
  clocks: ["Due dates", "보고 기한"],
  about_system: ["About the system", "시스템 정보"],
  see_also: ["See also", "함께 보기"],
  initial_report: ["First report", "최초 보고"],
  complete_report: ["Complete report", "최종 보고"],
  not_yet: ["not yet", "아직 없음"],
  none: ["none", "없음"],
} as const satisfies Readonly<Record<string, readonly [en: string, ko: string]>>;

export type Word = keyof typeof WORDS;

/** `{name}` is replaced by its value, `[one|several]` by what suits `{n}`. */
export const say = (word: Word, values: Readonly<Record<string, string | number>> = {}): string => {
  const text: string = WORDS[word][language.value === "ko" ? 1 : 0];
  const suiting = text.replaceAll(/\[(.+?)\|(.+?)\]/g, (_, one: string, several: string) =>
    String(values.n) === "1" ? one : several,
  );
  return suiting.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
};

/** The sentence cut at its `{name}`s, for values that are elements. */
export const piecesOf = (word: Word): readonly { readonly text?: string; readonly name?: string }[] => {
  const text: string = WORDS[word][language.value === "ko" ? 1 : 0];
  return text
    .split(/(\{\w+\})/)
    .map((piece) => (/^\{\w+\}$/.test(piece) ? { name: piece.slice(1, -1) } : { text: piece }));
};

/** The words of the screens for whoever runs the log. */
export const ADMINISTRATION_WORDS = {
  administration: ["Administration", "관리"],

  // Sources.
  sources: ["Sources", "전송 시스템"],
  source: ["Source", "전송 시스템"],
  sources_lede: [
    "Programs that number their events, so that a lost one shows as a missing number.",
    "이벤트에 번호를 매기는 프로그램입니다. 유실된 이벤트는 누락 번호로 나타납니다.",
  ],
  last_heard: ["Last event", "최근 이벤트"],
  heartbeat: ["Heartbeat", "하트비트"],
  never: ["never", "없음"],
  numbers_lost: ["{n} missing", "{n}개 누락"],
  outbox: ["Waiting to be sent", "전송 대기"],
  queue: ["Waiting in memory", "메모리 대기"],
  dropped: ["Dropped", "폐기"],
  circuit: ["Delivery", "전송 상태"],
  sdk: ["SDK", "SDK"],
  last_number: ["Last number", "마지막 번호"],
  received_numbers: ["Received", "수신"],
  gaps: ["Missing numbers", "누락 번호"],
  gaps_none: ["No number is missing.", "누락된 번호가 없습니다."],
  numbers: ["Numbers", "번호"],
  how_many: ["How many", "개수"],
  noticed: ["Noticed", "발견"],
  sources_empty: [
    "No program numbers its events yet. The SDK does so for a client with a source, and its heartbeat says what waits:",
    "번호를 매기는 프로그램이 아직 없습니다. SDK에서 source를 지정하면 번호를 매기고, heartbeat가 대기 건수를 알려 줍니다:",
  ],
  sources_empty_http: ["Without the SDK, send a heartbeat yourself:", "SDK 없이 하트비트 보내기:"],
  sources_empty_type: [
    "The service must admit the type of heartbeats:",
    "서비스에서 하트비트 유형을 허용해야 합니다:",
  ],
} as const satisfies Readonly<Record<string, readonly [en: string, ko: string]>>;

/** Words of the screens Events and Event. */
export const EVENT_WORDS = {
  query_line: ["Query", "조회식"],
  completions: ["Completions", "자동 완성"],
  line_unknown_name: [
    "Unknown filter. Known filters: {f}. To search for it as a word, put it in quotation marks.",
    "없는 조건입니다. 사용 가능: {f}. 단어로 검색하려면 따옴표로 묶으세요.",
  ],
  line_no_value: ["A value is missing.", "값이 없습니다."],
  line_open_quote: ["The quotation mark is not closed.", "닫는 따옴표가 없습니다."],
  line_stray_quote: [
    "A quotation mark is inside a word: put all of it in quotation marks.",
    "단어 안에 따옴표가 있습니다. 전체를 따옴표로 묶으세요.",
  ],
  line_minus_word: [
    "A minus works only before a filter. To search for it as a word, put it in quotation marks.",
    "빼기 기호는 조건 앞에서만 쓸 수 있습니다. 단어로 검색하려면 따옴표로 묶으세요.",
  ],
  line_minus_time: ["A time takes no minus.", "시각에는 빼기 기호를 쓸 수 없습니다."],
  line_second_time: ["This time is given twice.", "같은 시각 조건이 두 번 있습니다."],
  line_bad_time: [
    "Write a day, 2026-11-20, or a time in UTC, 2026-11-20T10:00:00Z.",
    "날짜(2026-11-20) 또는 UTC 시각(2026-11-20T10:00:00Z)을 입력하세요.",
  ],
  line_bad_value: ["This filter has no such value.", "이 조건에 쓸 수 없는 값입니다."],
  line_bad_person: [
    "Only a hash, sha256:…, goes here. Enter names in the field Person, which hashes them.",
    "여기에는 해시(sha256:…)만 쓸 수 있습니다. 이름은 정보주체 칸에 입력하면 해시로 바뀝니다.",
  ],
  filter_not: ["Not {f}", "제외: {f}"],
  trace: ["Trace", "추적"],
  value_only: ["only", "이것만"],
  value_not: ["not", "제외"],
  filter_by: ["Filter by", "값으로 필터"],
  filter_by_row: ["Filter by the values of: {e}", "값으로 필터: {e}"],

  histogram: ["Events by time", "시간별 이벤트"],
  histogram_text: [
    "{a} to {b}: {n} [event|events], at most {m} in one bar ({s}).",
    "{a}부터 {b}까지: 이벤트 {n}건, 막대({s})당 최대 {m}건.",
  ],
  histogram_whole: [
    "Bars are whole, so the first and last may count events outside the range.",
    "막대는 전체 구간을 세므로 처음과 마지막 막대에는 범위 밖 이벤트가 포함될 수 있습니다.",
  ],
  histogram_hint: [
    "Drag to choose a time; or arrow keys, with Shift for several bars, then Enter.",
    "끌어서 기간을 선택하거나, 화살표 키(여러 막대는 Shift와 함께)로 고른 뒤 Enter를 누르세요.",
  ],
  histogram_none: [
    "No chart: events are counted by type, system and risk, not by the other filters.",
    "차트 없음: 유형, 시스템, 위험 등급 외의 조건으로는 집계하지 않습니다.",
  ],
  bar_text: ["{a} to {b}: {n}", "{a}부터 {b}까지: {n}건"],

  live_end: ["Stop following", "실시간 보기 종료"],
  live_pause: ["Pause", "일시 정지"],
  live_resume: ["Continue", "계속"],
  live_paused: ["Paused: {n} new [event waits|events wait].", "일시 정지: 새 이벤트 {n}건 대기 중."],
  live_broken: [
    "Connection lost. Reconnecting; no event is lost.",
    "연결이 끊겼습니다. 다시 연결하는 중이며, 누락되는 것은 없습니다.",
  ],
  live_resumed: [
    "Not connected from {a} to {b}. The events of this time are here.",
    "{a}부터 {b}까지 연결 끊김. 이 시간의 이벤트는 모두 표시됩니다.",
  ],
  live_left_out: [
    "{n} [event|events] left out here; the list has them.",
    "여기서 {n}건 생략됨. 목록에는 모두 있습니다.",
  ],
  live_gap_lost: [
    "Not connected from {a} to {b}, and the log could not be continued from there: events may be missing here. The list has them.",
    "{a}부터 {b}까지 연결이 끊겼고 이어서 받을 수 없었습니다. 여기에 빠진 이벤트가 있을 수 있으며, 목록에는 모두 있습니다.",
  ],

  copy_link: ["Copy link of this view", "이 화면의 링크 복사"],
  saved_views: ["Saved views", "저장된 보기"],
  saved_views_lede: [
    "Kept in this browser only. To share a view, copy its link.",
    "이 브라우저에만 저장됩니다. 공유하려면 링크를 복사하세요.",
  ],
  view_name: ["Name of this view", "이 보기의 이름"],
  save_view: ["Save", "저장"],
  delete_view: ["Delete {n}", "{n} 삭제"],
  view_not_kept: ["This browser cannot save it.", "이 브라우저에 저장할 수 없습니다."],
  commands_lede: [
    "Both read the API key from the variable PROOFTRAIL_API_KEY.",
    "두 명령 모두 환경 변수 PROOFTRAIL_API_KEY에서 API 키를 읽습니다.",
  ],
  copy_command: ["Copy: {c}", "복사: {c}"],

  warning_unknown_field: ["An unknown member", "의미가 없는 항목"],
  warning_unknown_legal_basis: ["A legal basis that no rule names", "어떤 규칙에도 없는 법적 근거"],
  warning_unknown_metadata_key: ["An unknown name in metadata", "의미가 없는 metadata 이름"],
  warning_timestamp_in_future: ["Later than the service's clock", "서비스 시각보다 미래"],
  warning_timestamp_long_ago: ["Long before it was received", "수신보다 한참 이전"],
  warning_asset_id_not_normalised: [
    "A system id that looks like another one",
    "다른 ID처럼 보이는 시스템 ID",
  ],
  warnings_lede: [
    "It was kept as sent. Today's rules warn:",
    "보낸 그대로 저장되었습니다. 현재 규칙에 따른 경고:",
  ],
  this_event: ["this event", "현재 이벤트"],
} as const;

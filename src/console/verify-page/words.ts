/** The page in Korean. In English it stands in page.html; what the verifier says has one spelling, that of `prooftrail verify`. */

/** By `data-word`. */
export const KOREAN_PAGE: Readonly<Record<string, string>> = {
  heading: "기록된 그대로입니까?",
  lede: "증거 자료, 이벤트의 증명 또는 접수증을 넣으면 모든 해시와 서명을 이 브라우저에서 검증합니다. 아무것도 전송하지 않으며 네트워크가 필요 없습니다.",
  fromDisk:
    "이 페이지는 파일로, 아마도 증거 자료와 함께 받은 것입니다. 자료를 만든 쪽이 이 페이지도 만들었을 수 있습니다. 그들에게 의존하지 않는 판정을 원하면 신뢰하는 서비스의 /verify 또는 prooftrail verify를 사용하십시오.",
  files: "검증할 파일",
  filesHint:
    "또는 여기에 놓으십시오: 증거 자료(ZIP 또는 압축을 푼 파일), 증명(JSON 또는 tlog-proof), 이벤트에 대한 202 응답과 그 이벤트. 있다면 함께: 로그의 키, 보관해 둔 체크포인트와 그 일관성 증명.",
  keys: "신뢰하는 키",
  keysHint:
    "신뢰하는 경로로 받은 GET /v1/log/key의 응답. 없으면 자료 안의 키를 사용하며, 그만큼 덜 증명됩니다.",
  tenant: "테넌트",
  tenantHint: "누구의 증거여야 하는지.",
  verify: "검증",
  cancel: "취소",
  clear: "다시 시작",
};

export interface Said {
  readonly valid: string;
  readonly invalid: string;
  readonly undecided: string;
  readonly facts: string;
  readonly event: string;
  readonly compare: string;
  readonly notes: string;
  readonly nothing: string;
  readonly cancelled: string;
  readonly reading: (file: string, size: string) => string;
  readonly starting: string;
  readonly rows: Readonly<Record<string, string>>;
}

export const ENGLISH: Said = {
  valid: "VALID",
  invalid: "INVALID",
  undecided: "NOT DECIDED",
  facts: "What was verified",
  event: "The event as it was sent",
  compare: "Compare each line with GET /v1/log/key, or give that as a key that you trust:",
  notes: "Notes",
  nothing: "Choose a file first.",
  cancelled: "Cancelled. Nothing was decided.",
  reading: (file, size) => `Reading ${file}: ${size} so far.`,
  starting: "Reading the files.",
  rows: {},
};

export const KOREAN: Said = {
  valid: "유효 (VALID)",
  invalid: "무효 (INVALID)",
  undecided: "판정 불가 (NOT DECIDED)",
  facts: "검증한 내용",
  event: "전송된 그대로의 이벤트",
  compare: "각 줄을 GET /v1/log/key와 비교하거나, 그것을 신뢰하는 키로 넣으십시오:",
  notes: "참고",
  nothing: "먼저 파일을 고르십시오.",
  cancelled: "취소했습니다. 아무것도 판정하지 않았습니다.",
  reading: (file, size) => `${file} 읽는 중: ${size}`,
  starting: "파일을 읽는 중입니다.",
  rows: {
    tenant: "테넌트",
    about: "대상",
    period: "기간",
    records: "기록",
    record: "기록",
    log: "로그",
    checkpoint: "체크포인트",
    "signed by": "서명",
    made: "작성",
    anchored: "고정",
    "your checkpoint": "보관한 체크포인트",
    event: "이벤트",
    received: "접수",
    receipt: "접수증",
  },
};

/** What the screens Evidence and Record say, in English and Korean. */

export const EVIDENCE_WORDS = {
  evidence: ["Evidence", "증거 자료"],
  evidence_lede: [
    "A bundle is a file that can be verified without this service. Choose what it is about. A case or decision stands alone; systems, person and time combine.",
    "증거 자료는 이 서비스 없이도 스스로 증명되는 하나의 파일입니다. 대상을 고르세요. 사건이나 결정은 단독으로, 시스템·정보주체·기간은 함께 지정할 수 있습니다.",
  ],
  evidence_all: ["Everything of the tenant", "테넌트 전체"],
  evidence_of_case: ["Evidence of this case", "이 사건의 증거 자료"],
  preview: ["What is in it", "포함 내용"],
  preview_records: [
    "{r} of the {n} sealed [record|records], {b} of events. The file will be about {f}.",
    "봉인된 기록 {n}건 중 {r}건, 이벤트 {b}. 파일 크기는 약 {f}입니다.",
  ],
  preview_complete: [
    "It has every record of the tenant, so gaps would show.",
    "테넌트의 모든 기록이 들어 있어 누락이 있으면 드러납니다.",
  ],
  preview_withheld: [
    "{n} of them [has|have] expired: the bundle has only the [hash|hashes].",
    "그중 {n}건은 보존 기간이 지나 해시만 들어갑니다.",
  ],
  preview_sealed: [
    "Everything received so far is sealed. Nothing waits.",
    "지금까지 수신된 모든 기록이 봉인되었습니다.",
  ],
  preview_none: [
    "No event matches, so there is nothing to prove. What has expired cannot be found any more.",
    "조건에 맞는 이벤트가 없어 증명할 것이 없습니다. 보존 기간이 지난 이벤트는 찾을 수 없습니다.",
  ],
  left_out: ["What is left out", "제외되는 것"],
  left_outside_time: [
    "{n} [event|events] before or after the time asked for.",
    "지정한 기간 밖의 이벤트 {n}건.",
  ],
  left_other_system: ["Events of the person about other systems.", "지정하지 않은 시스템의 정보주체 이벤트."],
  left_expired: [
    "Events whose retention has ended. They can no longer be found by a filter.",
    "보존 기간이 끝난 이벤트. 더 이상 조건으로 찾을 수 없습니다.",
  ],
  left_repeated: [
    "Repeats: only the first record of a repeated event is in.",
    "중복: 두 번 전송된 이벤트는 첫 기록만 들어갑니다.",
  ],
  left_sandbox: ["The sandbox: its events are never evidence.", "샌드박스: 증거가 될 수 없습니다."],
  make_bundle: ["Create the bundle", "증거 자료 만들기"],
  bundle_waiting: ["Collecting and sealing…", "수집 및 봉인 확인 중…"],
  bundle_receiving: ["Received {b}. You may go on working.", "{b} 수신됨. 다른 작업을 계속할 수 있습니다."],
  bundle_received: ["Saved as {f}, {b}.", "{f}(으)로 저장됨, {b}."],
  bundle_broken: [
    "Connection lost after {b}. Nothing was saved. Create the bundle again.",
    "{b} 수신 후 연결이 끊겼습니다. 저장된 것은 없습니다. 다시 만드세요.",
  ],
  cancel: ["Cancel", "취소"],
  bundles: ["Past bundles", "만든 증거 자료"],
  bundles_lede: [
    "Each is logged with the hash of its manifest, which identifies the file.",
    "각 증거 자료는 목록 파일의 해시와 함께 로그에 기록되며, 해시로 파일을 확인할 수 있습니다.",
  ],
  no_bundles: ["No bundles yet.", "아직 만든 증거 자료가 없습니다."],
  made_at: ["Created", "생성"],
  about: ["About", "대상"],
  everything: ["everything", "전체"],
  record_count: ["Records", "기록 수"],
  made_by: ["By", "생성자"],
  manifest_hash: ["SHA-256 of the manifest", "목록 파일의 SHA-256"],
  several_hint: ["Several: hold Ctrl or ⌘", "여러 개 선택: Ctrl 또는 ⌘"],
} as const;

/** The words of signing in, with a key and with a provider. */
export const SIGN_IN_WORDS = {
  sign_in: ["Sign in", "로그인"],
  sign_in_lede: [
    "Use an API key that may read events. The key is turned into a session and is not kept in this browser.",
    "이벤트 읽기 권한이 있는 API 키를 사용하세요. 키는 세션으로 바뀌며 이 브라우저에 저장되지 않습니다.",
  ],
  api_key: ["API key", "API 키"],
  sign_in_link: ["Signing in with the link…", "링크로 로그인하는 중…"],
  no_key: [
    "This key is not valid. It may be mistyped, revoked or expired, or the link was used before.",
    "유효하지 않은 키입니다. 잘못 입력되었거나, 폐기 또는 만료되었거나, 이미 사용된 링크일 수 있습니다.",
  ],
  no_scope: [
    "This key may not read events. Use one with the scope events:read.",
    "이 키에는 이벤트 읽기 권한이 없습니다. events:read 범위가 있는 키를 사용하세요.",
  ],
  no_cookie: [
    "The browser did not keep the session. Open the console over HTTPS, or on the machine itself as localhost.",
    "브라우저가 세션을 유지하지 못했습니다. HTTPS로 열거나 해당 컴퓨터에서 localhost로 여세요.",
  ],
  not_recorded: [
    "The service could not record the sign-in, so there is none. Try again in a moment.",
    "로그인 기록을 남길 수 없어 로그인하지 못했습니다. 잠시 후 다시 시도하세요.",
  ],
  sign_in_with: ["Sign in with {issuer}", "{issuer}(으)로 로그인"],
  provider_away: [
    "The sign-in provider does not answer. Try again in a moment, or use an API key.",
    "로그인 제공자가 응답하지 않습니다. 잠시 후 다시 시도하거나 API 키를 사용하세요.",
  ],
  provider_refused: [
    "The sign-in provider refused. Try again; if it goes on, ask whoever runs it.",
    "로그인 제공자가 로그인을 거부했습니다. 다시 시도하고, 계속되면 제공자 관리자에게 문의하세요.",
  ],
  provider_clock: [
    "The clocks of the service and of the sign-in provider differ by more than a minute, so nobody can sign in. Ask whoever runs the service to correct them.",
    "서비스와 로그인 제공자의 시계가 1분 넘게 차이 나 로그인할 수 없습니다. 서비스 관리자에게 시계를 맞춰 달라고 요청하세요.",
  ],
  provider_answer: [
    "The sign-in provider's answer was not valid, so nobody was signed in. The service's log has the reason.",
    "로그인 제공자의 응답이 유효하지 않아 로그인하지 못했습니다. 원인은 서비스 로그에 있습니다.",
  ],
  sign_in_expired: [
    "This sign-in took too long, was used before, or began in another browser. Sign in again.",
    "로그인 시간이 지났거나, 이미 사용되었거나, 다른 브라우저에서 시작되었습니다. 다시 로그인하세요.",
  ],
  no_role: [
    "You have no role here. Ask whoever assigns roles at your sign-in provider.",
    "이곳에 부여된 역할이 없습니다. 로그인 제공자에서 역할을 관리하는 담당자에게 문의하세요.",
  ],
  seat_ended: [
    "Your seat was revoked or has expired. Ask whoever manages keys and people for a new one.",
    "접근 권한이 폐기되었거나 만료되었습니다. 키와 사용자를 관리하는 담당자에게 새 권한을 요청하세요.",
  ],
  no_key_yet: [
    "No key yet? The admin key is in admin.key, in the data folder of the service. Or run this there:",
    "키가 없으면 서비스의 데이터 폴더에 있는 admin.key를 사용하거나, 그곳에서 실행하세요:",
  ],
} as const;

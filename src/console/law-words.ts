/** What answers say in English about the law, in Korean. Text of an operator's own rules file is not here, and stays as it is. */
export const LAW_TEXTS_KO: Readonly<Record<string, string>> = {
  "Policy of the operator": "운영자 내부 정책",
  "PIPA Enforcement Decree art. 44-3(1), (5)": "개인정보 보호법 시행령 제44조의3제1항 및 제5항",
  "PIPA Enforcement Decree art. 44-3(2), (5)": "개인정보 보호법 시행령 제44조의3제2항 및 제5항",
  "PIPA Enforcement Decree art. 44-3(3), (5)": "개인정보 보호법 시행령 제44조의3제3항 및 제5항",
  "PIPA Enforcement Decree art. 44-3(4)": "개인정보 보호법 시행령 제44조의3제4항",
  "PIPA Enforcement Decree art. 44-4": "개인정보 보호법 시행령 제44조의4",
  "Credit Information Act art. 36-2; the days are policy of the operator, the law names none":
    "신용정보법 제36조의2; 법에 기한이 없어 일수는 운영자가 정합니다",
  "AI Basic Act art. 31(1)": "인공지능기본법 제31조제1항",
  "AI Basic Act art. 31(1), Enforcement Decree art. 23(1)": "인공지능기본법 제31조제1항, 시행령 제23조제1항",
  "AI Basic Act art. 31(2), (3)": "인공지능기본법 제31조제2항 및 제3항",
  "AI Basic Act art. 33(1)": "인공지능기본법 제33조제1항",
  "AI Basic Act art. 35(1)": "인공지능기본법 제35조제1항",
  "AI Basic Act Enforcement Decree art. 25(3), (4)": "인공지능기본법 시행령 제25조제3항 및 제4항",
  "AI Basic Act Enforcement Decree art. 27(1)": "인공지능기본법 시행령 제27조제1항",
  "AI Basic Act (Korea), Enforcement Decree art. 27(2): evidence of the measures of art. 34(1)":
    "인공지능기본법 시행령 제27조제2항: 법 제34조제1항에 따른 조치의 증거",
  "GDPR art. 12(3)": "GDPR 제12조제3항",
  "EU AI Act art. 6(4), 9": "EU AI법 제6조제4항 및 제9조",
  "EU AI Act art. 26(5)": "EU AI법 제26조제5항",
  "EU AI Act art. 26(11)": "EU AI법 제26조제11항",
  "EU AI Act art. 26(11), 50(1)": "EU AI법 제26조제11항 및 제50조제1항",
  "EU AI Act art. 27": "EU AI법 제27조",
  "EU AI Act art. 49": "EU AI법 제49조",
  "EU AI Act art. 50(1), (3), (5)": "EU AI법 제50조제1항, 제3항, 제5항",
  "EU AI Act art. 50(2), (4)": "EU AI법 제50조제2항 및 제4항",
  "EU AI Act art. 73(2)": "EU AI법 제73조제2항",
  "EU AI Act art. 73(3)": "EU AI법 제73조제3항",
  "EU AI Act art. 73(4)": "EU AI법 제73조제4항",
  "EU AI Act, art. 19(1) and 26(6): logs of high-risk systems are kept at least six months":
    "EU AI법 제19조제1항 및 제26조제6항: 고위험 시스템의 로그는 6개월 이상 보존",
  "EU AI Act, art. 19(1) for providers and 26(6) for deployers: automatically generated logs":
    "EU AI법 제19조제1항(제공자), 제26조제6항(배포자): 자동 생성 로그",
  "Colorado SB 26-189": "콜로라도주 SB 26-189",
  "Colorado SB 26-189, C.R.S. § 6-1-1702(4) for developers and § 6-1-1703 for deployers: records that show compliance":
    "콜로라도주 SB 26-189, C.R.S. § 6-1-1702(4)(개발자), § 6-1-1703(배포자): 준수를 보여 주는 기록",
  "California FEHA regulations on automated-decision systems, 2 CCR § 11013(c)":
    "캘리포니아주 FEHA 자동화된 의사결정 시스템 규정, 2 CCR § 11013(c)",
  "NYC Administrative Code § 20-871(a) (Local Law 144)": "뉴욕시 행정법전 § 20-871(a)(지방법 제144호)",
  "NYC Administrative Code § 20-871(b) (Local Law 144)": "뉴욕시 행정법전 § 20-871(b)(지방법 제144호)",
  "NYC Administrative Code § 20-871(a)(2) (Local Law 144): a summary of the bias audit":
    "뉴욕시 행정법전 § 20-871(a)(2)(지방법 제144호): 편향 감사 요약",
  "NYC Administrative Code § 20-871(b)(3) (Local Law 144): within 30 days of a written request":
    "뉴욕시 행정법전 § 20-871(b)(3)(지방법 제144호): 서면 요청 후 30일 이내",
  // Why no log can show an obligation.
  "transparency.policy_disclosed events record that a policy was disclosed. No event says which systems need one, or which of their versions it covers.":
    "transparency.policy_disclosed 이벤트는 정책이 공개되었음을 기록합니다. 어느 시스템에 필요한지, 어느 버전에 적용되는지를 말하는 이벤트는 없습니다.",
  "The register of assessments has those that were made. No event says which systems need one, or which of their changes are substantial.":
    "영향평가 대장에는 실시된 평가가 있습니다. 어느 시스템에 평가가 필요한지, 어느 변경이 중대한지를 말하는 이벤트는 없습니다.",
  "The register of risk changes has each change of a classification. A review that changes nothing leaves no event, and none says when one was due.":
    "위험 등급 변경 대장에는 등급의 모든 변경이 있습니다. 등급을 바꾸지 않은 재검토는 이벤트를 남기지 않으며, 그 기한을 말하는 이벤트도 없습니다.",
  "No event type covers a written request for the data that is collected, its source and its retention, or the answer.":
    "수집 데이터, 그 출처, 보존에 관한 서면 요청이나 그 답변을 위한 이벤트 유형이 없습니다.",
  "No event type covers a request to the Ministry of Science and ICT to confirm whether a system is high-impact, or its reply.":
    "고영향 여부 확인을 과학기술정보통신부에 요청하거나 그 회신을 받은 것을 위한 이벤트 유형이 없습니다.",
};

/** Values for the parameters in a path of the OpenAPI document, for one event, evt_1, of one case and decision. */
const MEMBERS: Readonly<Record<string, string>> = {
  event_id: "evt_1",
  asset_id: "credit_model",
  correlation_id: "case-1",
  decision_id: "dec_1",
  level: "0",
  number: "000.p/1",
};

/** A valid request for each GET of the document. */
export const filledIn = (path: string): string =>
  path
    .replace("{number}/{width}", "{number}")
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => MEMBERS[name] ?? "unknown") +
  (path === "/v1/log/consistency" ? "?from=0" : "");

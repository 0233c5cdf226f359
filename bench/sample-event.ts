/** The event that every run here sends, some 520 bytes of ASCII. `digits` stand at the end of its event_id. */
export const DIGITS = 12;

export const sampleEvent = (run: string, digits = "0".repeat(DIGITS)): string =>
  `{"event_id":"evt_${run}_${digits}","timestamp":"2026-11-20T10:00:00.123Z","asset_id":"credit_model","event_type":"decision.automated_decision_made","risk_tier":"high","legal_bases":["ai_basic_law_kr"],"correlation_id":"case-17","tags":{"team":"credit","canary":false},"metadata":{"model":"scorer-7","duration_ms":41,"decision_id":"dec_42","note":"${"x".repeat(170)}"}}`;

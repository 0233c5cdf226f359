import { expect, test } from "bun:test";
import { reportJson, reportText } from "./report.ts";

test("neither a file's name nor a bundle's content can make a terminal show another verdict", () => {
  const path = "evidence.zip\u001b[1A\u001b[2K\rVALID  evidence.zip";
  const invalid = reportText(path, {
    kind: "invalid",
    finding: { code: "other_files", detail: "it is not there" },
  });
  const undecided = reportText(path, { kind: "undecided", detail: "It is none of prooftrail\u009b2K/acme." });
  for (const text of [invalid, undecided]) expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  expect(invalid).toStartWith("INVALID  evidence.zip\\u{1b}[1A");
});

test("a name cannot begin a new line, even with Unicode's separators of lines and paragraphs", () => {
  const text = reportText("bundle.zip", {
    kind: "invalid",
    finding: { code: "outside_filter", detail: "it is none", eventId: "evt\u2028VALID\u2029x\u0085y" },
  });
  expect(text).toContain("evt\\u{2028}VALID\\u{2029}x\\u{85}y");
});

test("the report for programs uses the API's spelling", () => {
  const finding = {
    code: "not_in_log",
    detail: "it is none",
    leafIndex: 4,
    eventId: "evt_aB",
    line: 5,
  } as const;
  expect(JSON.parse(reportJson({ kind: "invalid", finding }))).toEqual({
    kind: "invalid",
    finding: { code: "not_in_log", detail: "it is none", leaf_index: 4, event_id: "evt_aB", line: 5 },
  });
});

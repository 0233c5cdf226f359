/** summary.html, opened from disk as an auditor does it. */
import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readObligations } from "../../src/api/evidence/obligations.ts";
import { type SummaryParts, summaryPage, timelineRow } from "../../src/api/evidence/summary-page.ts";
import { caseOf } from "../../src/law/cases/case.ts";
import { STANDARD_RULES } from "../../src/law/obligations/overrides.ts";
import { EVIDENCE_SUMMARY_ROWS_MAX } from "../../src/limits.ts";
import type { Row } from "../../src/views/store/tables.ts";
import { noBrowserReason, openPage, screenshotPath, startBrowser } from "../support/browser.ts";
import { dataFolder } from "../support/process.ts";

const LONG = "a_name_that_never_ends_".repeat(8);

const event = (index: number) => ({
  event_id: index === 3 ? `evt_${LONG}` : `evt_019dd0a2-0000-7000-8000-00000000000${index}`,
  timestamp: `2026-11-20T10:0${index}:00.5Z`,
  asset_id: index === 4 ? LONG : "credit_model",
  event_type: "decision.automated_decision_made",
});

const recordsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ sequence: 100 + index, leafIndex: 40 + index, isWithheld: false },
  }));

const PARTS: SummaryParts = {
  tenant: "acme",
  filter: { assetIds: ["credit_model"], from: "2026-11-01T00:00:00Z" },
  selection: {
    head: { note: "", size: 12_345, root: new Uint8Array(32).fill(9) },
    records: recordsOf(6),
    isComplete: false,
    bytes: 0,
    outsideTime: 0,
    end: 105,
    case: undefined,
    readAt: new Date("2026-11-21T09:00:00Z"),
    obligations: {
      csv: () => [],
      count: 2,
      overdue: 1,
      breached: 0,
      recordedLate: 0,
      shown: ["overdue", "met"].map((state) => ({
        state,
        due_at: "2026-12-20T10:00:00Z",
        rule: "PIPA-EXPL",
        duty: "Explain the decision, and what it rests on, in words that the person understands",
        // One longer and one shorter than the label before it.
        clause: state === "met" ? "EU 86" : "PIPA art. 37-2(2), Enforcement Decree art. 44-3(2)",
        asset_id: "credit_model",
        started_at: "2026-11-20T10:00:00Z",
        stopped_at: state === "met" ? "2026-11-25T10:00:00Z" : null,
      })),
    },
    subjects: {
      assets: [
        {
          asset_id: "credit_model",
          owner: "Credit risk team",
          oversight_person: "Kim Seo-yeon, seo-yeon@example.com",
          risk_tier: "high",
          version: "7.1",
        },
        { asset_id: LONG, owner: "<img src=x onerror=alert(1)>", risk_tier: null, version: null },
      ],
      hasMoreAssets: true,
      decisions: [
        {
          decision_id: "dec_42",
          asset_id: "credit_model",
          made_at: "2026-11-20T10:00:00Z",
          outcome: "denied",
          subject_hash: `sha256:${"ab".repeat(32)}`,
          missing: ["notice", "objection_resolution"],
          pending: ["human_review"],
          legal_bases: ["gdpr_art_22", "a_law_of_our_own"],
          steps: [
            {
              id: "evt_made",
              type: "decision.automated_decision_made",
              at: "2026-11-20T10:00:00",
              recorded: "2026-11-22T08:00:00.25",
              says: { outcome: "denied", reason: "The income is below the limit" },
              linkedBy: "decision_id",
            },
            {
              id: "evt_reviewed",
              type: "decision.human_review_completed",
              at: "2026-11-24T10:00:00",
              recorded: "2026-11-24T10:00:01",
              says: { final_outcome: "upheld", reviewer_id: "kim.hj", reason: "<b>checked</b>" },
              linkedBy: "correlation_id",
            },
          ],
          furtherSteps: 3,
        },
      ],
      hasMoreDecisions: false,
    },
  },
  serviceName: "prooftrail",
  generator: "prooftrail 0.1.0",
  language: "en",
  by: {
    principal: { keyId: "8gEqErD5906f", tenant: "acme", scopes: [], isAdmin: false },
    requestId: "01a1fde2-ca9b-71a1-9a82-e121e39b29a5",
  },
  keys: "prooftrail/acme+981ba7a1+AcIz92sbyhjC4teX8aMamxgUK59++EUdx0WoKp7O19Tt\n",
  timeline: recordsOf(6).map((record, index) =>
    timelineRow(record, {
      receivedAt: "2026-11-20T10:00:01.512Z",
      eventText: JSON.stringify(event(index)),
    }),
  ),
};

/** Combining grapheme joiner, Hangul filler, variation selector: text rendering ignores them (UAX #44, Default_Ignorable_Code_Point). */
test.each([
  ["a\u202e</style><script>b\u0000", "a\\u{202e}&lt;/style&gt;&lt;script&gt;b\\u{0}"],
  ["credit\u034f_\u3164model\ufe00", "<h1>Evidence: AI system credit\\u{34f}_\\u{3164}model\\u{fe00}</h1>"],
])(
  "a name that reverses text, closes a tag or is invisible is shown as text, and has no effect: %j",
  (name, shown) => {
    const page = summaryPage({ ...PARTS, filter: { assetIds: [name] } });
    expect(page).toContain(shown);
    expect(page).not.toContain("<script");
  },
);

test("the page does not say that a record without an event has expired, because somebody else may have written it into the log", () => {
  const records = PARTS.selection.records.map((record) => ({ ...record, isWithheld: true }));
  const selection = { ...PARTS.selection, records, isComplete: true };
  const page = summaryPage({ ...PARTS, filter: {}, selection, timeline: [] });
  expect(page).toContain(
    "Of 6 records only the hash is here, because the event has expired or the service does not understand it.",
  );
  expect(page).not.toContain("have expired");
});

/** On a narrow screen a label stands before its value and has its own width there: the test writes it again to measure its height. */
const LABELS_CUT_OFF = `[...document.querySelectorAll("td[data-label]")].flatMap((cell) => {
  const style = getComputedStyle(cell, "::before");
  if (style.content === "none") return [];
  const label = document.createElement("div");
  label.textContent = cell.dataset.label;
  label.style.cssText = "position: absolute; width: " + style.width + "; font: " + style.font;
  document.body.append(label);
  const { height } = label.getBoundingClientRect();
  label.remove();
  return height > cell.getBoundingClientRect().height ? [cell.dataset.label] : [];
})`;

/** Opens the page from disk. */
const opened = async (html: string, width: number) => {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(await dataFolder());
  const path = join(folder.path, "summary.html");
  await writeFile(path, html);
  const browser = stack.use(await startBrowser({ origin: "null", width }));
  return {
    ...(await openPage(browser, `file://${path}`)),
    foreignRequests: browser.foreignRequests,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

test.skipIf(noBrowserReason !== undefined).each([
  [1280, "en", "Evidence: AI system credit_model"],
  [390, "en", "Evidence: AI system credit_model"],
  [1280, "ko", "증거 자료: AI 시스템 credit_model"],
  [390, "ko", "증거 자료: AI 시스템 credit_model"],
] as const)(
  "at %p pixels the page for people in the language %s fits, requests nothing and reports no error",
  async (width, language, title) => {
    await using parts = await opened(summaryPage({ ...PARTS, language }), width);
    const { page, complaints, foreignRequests } = parts;
    const seen = await screenshotPath(`evidence-${width}-${language}.png`);
    if (seen) await page.screenshot({ path: seen, fullPage: true });
    expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
    expect(await page.evaluate(LABELS_CUT_OFF)).toEqual([]);
    expect(await page.locator("h1").textContent()).toBe(title);
    expect(await page.evaluate("document.documentElement.lang")).toBe(language);
    expect(await page.locator("tbody tr").count()).toBe(6 + 2 + 1 + 2);
    expect([foreignRequests, complaints]).toEqual([[], []]);
  },
);

test.skipIf(noBrowserReason !== undefined)(
  "a letter with many combining marks covers nothing beside it",
  async () => {
    const asset_id = `Z${"\u0321\u0315\u0489".repeat(80)}`;
    const timeline = PARTS.timeline.slice(0, 1).map((row) => ({ ...row, asset_id }));
    await using parts = await opened(summaryPage({ ...PARTS, timeline }), 1280);
    const wide = await parts.page.evaluate(
      `[...document.querySelectorAll("td")].filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => getComputedStyle(cell).overflowX)`,
    );
    expect(wide).toEqual(["hidden"]);
  },
);

test("if a case has more events than the page keeps, it keeps the most telling ones, not the earliest, and says which", () => {
  const found = {
    ...{ tenant: "acme", is: caseOf([]), obligations: [], rules: STANDARD_RULES, events: 1300 },
    ...{ firstAt: undefined, lastAt: undefined, hasExpired: false, isShared: false },
  };
  const page = summaryPage({ ...PARTS, selection: { ...PARTS.selection, case: found } });
  expect(page).toContain("it has 1,300 events, and 0 of them are considered");
  expect(page).toContain("the first decision and notice, then objections");
});

/** Without tags, each run of white space as one blank. */
const textOfPage = (page: string): string =>
  page
    .replaceAll("<wbr>", "")
    .replaceAll(/<style>.*<\/style>/gs, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ");

test("the page says what was decided: outcome, reason, reviewer, laws, when it was received, and the rule that linked each event", () => {
  const text = textOfPage(summaryPage(PARTS));
  for (const said of [
    "denied The income is below the limit",
    "GDPR art. 22, automated decisions",
    "a_law_of_our_own",
    "2026-11-20 10:00:00, received 2026-11-22 08:00:00, by the decision it names",
    "Human review completed: upheld, reviewer kim.hj, &lt;b&gt;checked&lt;/b&gt;",
    "received 2026-11-24 10:00:01, by its case",
    "and 3 events more",
    "Not in the log: Notice before the decision, Answer to the objection",
    "Not due yet: Human review",
  ])
    expect(text).toContain(said);
});

test("in Korean no sentence of the page stays English", () => {
  const [en, ko] = (["en", "ko"] as const).map((language) =>
    textOfPage(summaryPage({ ...PARTS, language, selection: { ...PARTS.selection, isComplete: true } })),
  );
  expect(ko).toContain("로그에 없음: 결정 전 고지, 이의 제기 답변");
  expect(ko).toContain("인적 검토 완료: upheld, 검토자 kim.hj");
  // What stays are names: of files, paths, runtimes, and of events.
  const words = (text = ""): readonly string[] => text.match(/\b[A-Za-z]{3,}(?: [a-z]{2,}){3,}/g) ?? [];
  const ofEvents = ["income is below the limit", "file, needs"];
  expect(words(ko).filter((run) => !ofEvents.some((name) => run.includes(name)))).toEqual([]);
  expect(words(en).length).toBeGreaterThan(20);
});

test("obligations come first, and the page begins with its contents where it is about more than 50 records", () => {
  const headings = (page: string) => [...page.matchAll(/<h2[^>]*>([^<]*)</g)].map(([, heading]) => heading);
  const expected = [
    "Obligations",
    "What was decided",
    "Timeline",
    "Who to ask",
    "What it covers",
    "How to verify",
    "What it does not prove",
  ];
  expect(headings(summaryPage(PARTS))).toEqual(expected);
  const long = summaryPage({ ...PARTS, selection: { ...PARTS.selection, records: recordsOf(51) } });
  expect(headings(long)).toEqual(["Contents", ...expected]);
  for (const [, id] of long.matchAll(/href="#([^"]*)"/g)) expect(long).toContain(`<h2 id="${id}">`);
});

test("of many obligations the page shows the overdue ones first, then the breached, and those that were met last", async () => {
  const rows: readonly Row[] = Array.from({ length: 3 * EVIDENCE_SUMMARY_ROWS_MAX }, (_, index) => ({
    rule: "OBJ-ACK",
    due_at: `2026-01-01T00:00:${String(index % 60).padStart(2, "0")}`,
    status: ["met", "met", "breached"][index % 3] ?? "",
    extensions: 0,
    recorded_late: 0,
  }));
  const overdue: Row = { ...rows[0], status: "open", due_at: "2026-06-01T00:00:00" };
  const { shown } = await readObligations([...rows, overdue], STANDARD_RULES, "2026-11-29T00:00:00");
  const states = shown.map(({ state }) => state);
  expect(states.slice(0, 2)).toEqual(["overdue", "breached"]);
  expect(states).toHaveLength(EVIDENCE_SUMMARY_ROWS_MAX);
});

test.skipIf(noBrowserReason !== undefined)(
  "on A4 the contents end the first page, no column is cut off, and a table repeats its head",
  async () => {
    const records = recordsOf(60);
    const [row] = PARTS.timeline;
    if (!row) throw new Error("no row");
    const timeline = records.map(({ sequence, leafIndex }) => ({ ...row, sequence, leaf_index: leafIndex }));
    const html = summaryPage({ ...PARTS, selection: { ...PARTS.selection, records }, timeline });
    // A4 at 96 dots per inch, without its margins.
    await using parts = await opened(html, 688);
    const { page } = parts;
    await page.emulateMedia({ media: "print" });
    const styleOf = (element: string) => `getComputedStyle(document.querySelector("${element}"))`;
    expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
    expect(await page.evaluate(`${styleOf("thead")}.display`)).toBe("table-header-group");
    expect(await page.evaluate(`${styleOf("nav")}.breakAfter`)).toBe("page");
    const pdf = await page.pdf({ preferCSSPageSize: true });
    const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g) ?? [];
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.length).toBeLessThan(11);
  },
);

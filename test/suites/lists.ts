/** What every list answers alike: several values in a filter, times, counts, and all rows as a file. Each database runs it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { COUNT_EXACT_MAX, FILTER_COMBINATIONS_MAX, PAGE_ROWS_MAX } from "../../src/limits.ts";
import { readCsv } from "../http/csv-reader.ts";
import { callUntilSeen } from "../support/call-until-seen.ts";
import { asTheyArrive } from "../support/histories/chance.ts";
import { HEARTBEAT } from "../support/histories/source-life.ts";
import { makeHistory } from "../support/histories.ts";
import { allPages } from "../support/pages.ts";
import { event, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

type Entry = Readonly<Record<string, unknown>>;

/** Filters of each list, and a member that names a row. */
const LISTS = [
  ["/v1/decisions", ["asset_id", "outcome", "subject_hash", "missing", "late", "risk_tier"], "decision_id"],
  ["/v1/registers/transparency", ["asset_id", "state", "subject_hash", "decision_id"], "notice_id"],
  [
    "/v1/registers/objections",
    ["asset_id", "state", "late", "objection_type", "decision_id"],
    "objection_id",
  ],
  ["/v1/registers/human-reviews", ["asset_id", "state", "changed", "subject_hash"], "review_id"],
  ["/v1/registers/incidents", ["asset_id", "state", "incident_class", "severity"], "incident_id"],
  ["/v1/registers/assessments", ["asset_id", "state"], "assessment_id"],
  ["/v1/registers/risk-changes", ["asset_id"], "event_id"],
  ["/v1/registers/models", ["asset_id", "state"], undefined],
  ["/v1/obligations", ["rule", "law", "asset_id", "state", "recorded_late", "subject_hash"], "obligation_id"],
  ["/v1/assets", ["asset_id", "status", "risk_tier"], "asset_id"],
  ["/v1/coverage", ["asset_id", "law", "duty"], undefined],
  ["/v1/sources", ["source_id"], "source_id"],
  ["/v1/sources/gaps", ["source_id"], undefined],
] as const;

/** Filters of one value. */
const SINGLE: readonly string[] = ["recorded_late"];

/** What a list is ordered by, where entries show it. */
const TIMES: Readonly<Record<string, string>> = {
  "/v1/decisions": "made_at",
  "/v1/registers/objections": "received_at",
  "/v1/registers/incidents": "detected_at",
  "/v1/registers/risk-changes": "at",
  "/v1/obligations": "due_at",
  "/v1/assets": "last_at",
  "/v1/sources/gaps": "since",
};

const valuesOf = (row: Entry, name: string): readonly string[] =>
  [row[name]].flat().flatMap((value) => (value === null || value === undefined ? [] : [String(value)]));

const parameters = (asked: Readonly<Record<string, string>>): string => new URLSearchParams(asked).toString();

/** As a value among several. */
const escaped = (value: string): string => value.replaceAll(/[\\,]/g, "\\$&");

export const listsSuite = (
  environment: () => Promise<Readonly<Record<string, string>>>,
  /** Without: events by the ten thousand, which take a while. */
  { isWhole = true } = {},
): void => {
  let service: TestService;
  let sequence = 0;
  const history = makeHistory({ seed: 11, assets: 4, cases: 20 });

  const send = async (key: string | undefined, events: readonly object[]): Promise<number> => {
    let last = 0;
    for (let start = 0; start < events.length; start += 1000) {
      const body = { events: events.slice(start, start + 1000) };
      const { json } = await service.call("/v1/events/batch", { body, ...(key !== undefined && { key }) });
      expect(json.data).toMatchObject({ rejected: 0 });
      last = json.data.sequence;
    }
    return last;
  };

  beforeAll(async () => {
    service = await startTestService({ EXTRA_EVENT_TYPES: HEARTBEAT, ...(await environment()) });
    sequence = await send(undefined, asTheyArrive(history.events, 11));
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const get = (path: string, query: string, key?: string) =>
    callUntilSeen(
      service.call,
      `${path}?${query}${query && "&"}min_sequence=${sequence}`,
      key === undefined ? {} : { key },
    );

  const all = (path: string, query = "", limit = PAGE_ROWS_MAX): Promise<readonly Entry[]> =>
    allPages(async (cursor) => {
      const page = await get(path, `${query}${query && "&"}limit=${limit}${cursor}`);
      expect(page.json.data.length).toBeLessThanOrEqual(limit);
      return page;
    });

  describe.each(LISTS)("%s", (path, filters, key) => {
    test.each(filters)(
      "%s of one value or several finds exactly the rows that show one of them, in both orders and page by page",
      async (name) => {
        const rows = await all(path, "order=asc");
        const known = [...new Set(rows.flatMap((row) => valuesOf(row, name)))];
        expect([name, known.length > 0]).toEqual([name, true]);
        const [first = ""] = known;
        for (const values of SINGLE.includes(name)
          ? known.map((value) => [value])
          : [[first], known.slice(0, 3)]) {
          const expected = rows.filter((row) => valuesOf(row, name).some((value) => values.includes(value)));
          for (const order of ["asc", "desc"]) {
            const asked = parameters({ order, [name]: values.map(escaped).join(",") });
            expect([name, values, await all(path, asked, Math.ceil(expected.length / 3))]).toEqual([
              name,
              values,
              order === "asc" ? expected : expected.toReversed(),
            ]);
          }
          const counting = parameters({ count: "true", limit: "1", [name]: values.map(escaped).join(",") });
          const { json } = await get(path, counting);
          expect(json.count).toEqual({ value: expected.length, exact: true });
        }
      },
    );

    test("several filters of several values hold together", async () => {
      const rows = await all(path);
      const some = (name: string): readonly string[] =>
        [...new Set(rows.flatMap((row) => valuesOf(row, name)))].slice(0, SINGLE.includes(name) ? 1 : 2);
      const asked = Object.fromEntries(filters.slice(0, 4).map((name) => [name, some(name)]));
      const expected = rows.filter((row) =>
        Object.entries(asked).every(([name, values]) =>
          valuesOf(row, name).some((value) => values.includes(value)),
        ),
      );
      const query = parameters(
        Object.fromEntries(
          Object.entries(asked).map(([name, values]) => [name, values.map(escaped).join(",")]),
        ),
      );
      expect(await all(path, query, 3)).toEqual(expected);
    });

    test("as NDJSON and as CSV it has the rows that are listed, also of a filter", async () => {
      const [name] = filters;
      const rows = await all(path);
      const [value = ""] = rows.flatMap((row) => valuesOf(row, name));
      for (const query of ["", `order=asc&${parameters({ [name]: escaped(value) })}`]) {
        const listed = await all(path, query);
        const form = (format: string) => get(path, `${query}${query && "&"}format=${format}`);
        const ndjson = await form("ndjson");
        expect(ndjson.headers.get("content-type")).toBe("application/x-ndjson");
        const lines = ndjson.text.split("\n").slice(0, -1);
        expect(lines.map((line): Entry => JSON.parse(line))).toEqual([...listed]);
        const csv = await form("csv");
        expect(csv.headers.get("content-disposition")).toMatch(
          /^attachment; filename="prooftrail-default-.+\.csv"$/,
        );
        const [columns = [], ...cells] = readCsv(csv.text.replace("\uFEFF", ""));
        expect(cells.length).toBe(listed.length);
        for (const row of listed)
          expect(Object.keys(row).filter((member) => !columns.includes(member))).toEqual([]);
        if (key !== undefined)
          expect(cells.map((row) => row[columns.indexOf(key)])).toEqual(
            listed.map((row) => String(row[key])),
          );
      }
    });

    test("a file takes no page, and a count no other value", async () => {
      for (const query of [
        "format=csv&limit=5",
        "format=ndjson&count=true",
        "format=xml",
        "count=yes",
        "limit=1001",
      ])
        expect([query, (await service.call(`${path}?${query}`)).status]).toEqual([query, 400]);
    });
  });

  test.each(Object.entries(TIMES))("%s: from and to part the rows by %s", async (path, member) => {
    const rows = (await all(path, "order=asc")).filter((row) => row[member] !== null);
    const times = rows.map((row) => String(row[member]));
    const middle = times[Math.floor(times.length / 2)] ?? "";
    const shown = async (query: string): Promise<readonly Entry[]> =>
      (await all(path, `order=asc&${query}`)).filter((row) => row[member] !== null);
    const isBefore = (row: Entry): boolean => Date.parse(String(row[member])) < Date.parse(middle);
    expect(await shown(parameters({ to: middle }))).toEqual(rows.filter(isBefore));
    expect(await shown(parameters({ from: middle }))).toEqual(rows.filter((row) => !isBefore(row)));
    expect(await shown(parameters({ from: middle, to: middle }))).toEqual([]);
  });

  test("decisions of a person within a time", async () => {
    const rows = await all("/v1/decisions", "order=asc");
    const subjects = [...new Set(rows.flatMap((row) => valuesOf(row, "subject_hash")))].slice(0, 2);
    for (const subject_hash of [...subjects, subjects.join(",")]) {
      const own = rows.filter((row) => subject_hash.includes(String(row.subject_hash)));
      for (const { made_at } of own) {
        const isBefore = (row: Entry): boolean =>
          Date.parse(String(row.made_at)) < Date.parse(String(made_at));
        for (const order of ["asc", "desc"]) {
          const expected = (wanted: readonly Entry[]) => (order === "asc" ? wanted : wanted.toReversed());
          const asked = (query: Readonly<Record<string, string>>) =>
            all("/v1/decisions", parameters({ subject_hash, order, ...query }), 2);
          expect(await asked({ from: String(made_at) })).toEqual(
            expected(own.filter((row) => !isBefore(row))),
          );
          expect(await asked({ to: String(made_at) })).toEqual(expected(own.filter(isBefore)));
        }
      }
    }
  });

  test("more combinations of values than are answered at once are refused", async () => {
    const ids = Array.from({ length: FILTER_COMBINATIONS_MAX + 1 }, (_, index) => `a${index}`).join(",");
    for (const path of ["/v1/decisions", "/v1/events", "/v1/coverage", "/v1/obligations"]) {
      const { status, json } = await service.call(`${path}?asset_id=${ids}`);
      expect([path, status, json.errors[0].path]).toEqual([path, 400, "query:asset_id"]);
    }
  });

  test("a cursor belongs to its filters", async () => {
    const first = await get("/v1/decisions", "missing=notice,explanation&limit=1");
    const cursor = first.json.next_cursor;
    const other = await service.call(`/v1/decisions?missing=notice&limit=1&cursor=${cursor}`);
    expect(other.json.errors[0].path).toBe("query:cursor");
  });

  test("a comma or a backslash inside a value is found when it is escaped", async () => {
    const key = await service.makeKey("commas");
    const names = ["a,b", "a", "b", "c\\d", "e\\"];
    sequence = await send(
      key,
      names.map((asset_id, index) => event({ event_id: `evt_${index}`, asset_id })),
    );
    const found = async (path: string, asked: string): Promise<readonly string[]> => {
      const { json } = await get(path, parameters({ asset_id: asked }), key);
      const ids: readonly string[] = json.data.map(
        (row: { asset_id?: string; event?: { asset_id: string } }) =>
          String(row.asset_id ?? row.event?.asset_id),
      );
      return [...ids].sort();
    };
    for (const path of ["/v1/events", "/v1/assets"]) {
      expect(await found(path, "a,b")).toEqual(["a", "b"]);
      expect(await found(path, "a\\,b")).toEqual(["a,b"]);
      expect(await found(path, "c\\d")).toEqual(["c\\d"]);
      expect(await found(path, "e\\\\,b")).toEqual(["b", "e\\"]);
    }
  });

  test("events: several types, assets and laws, each event once, in pages, as files and in the timeline", async () => {
    const key = await service.makeKey("several");
    const types = [
      "objection.received",
      "decision.automated_decision_made",
      "incident.detected",
      "objection",
    ];
    const events = Array.from({ length: 300 }, (_, index) =>
      event({
        event_id: `evt_${index}`,
        asset_id: `asset_${index % 4}`,
        event_type: types[index % 3 === 0 ? 3 : index % 4],
        legal_bases: index % 2 ? ["gdpr_art_22", "pipa_37_2_kr"] : ["nyc_ll144"],
        tags: { n: index % 5 },
      }),
    );
    sequence = await send(key, events);
    const wanted = (test: (each: (typeof events)[number] & Entry) => boolean) =>
      events.filter(test).map(({ event_id }) => event_id);
    const idsOf = (rows: readonly Entry[]) =>
      rows.map(({ event: stored }) => JSON.parse(JSON.stringify(stored)).event_id);
    const pages = async (query: string) =>
      idsOf(await allPages((cursor) => get("/v1/events", `${query}&order=asc&limit=70${cursor}`, key)));
    const laws = wanted(({ legal_bases }) => String(legal_bases).includes("gdpr_art_22"));
    expect(await pages("legal_basis=gdpr_art_22,pipa_37_2_kr")).toEqual(laws);
    const both = wanted(
      ({ asset_id, event_type, tags }) =>
        ["asset_1", "asset_2"].includes(String(asset_id)) &&
        /^objection|^incident\./.test(String(event_type)) &&
        JSON.stringify(tags) === '{"n":1}',
    );
    expect(both.length).toBeGreaterThan(5);
    const query =
      "asset_id=asset_1,asset_2&event_type=objection.*,objection,incident.*,incident.detected&tag.n=1";
    expect(await pages(query)).toEqual(both);
    expect((await get("/v1/events", `${query}&count=true&limit=1`, key)).json.count).toEqual({
      value: both.length,
      exact: true,
    });
    for (const path of ["/v1/events?format=ndjson&", "/v1/export?"]) {
      const { text } = await service.call(`${path}${query}&min_sequence=${sequence}`, { key });
      expect(
        idsOf(
          text
            .split("\n")
            .slice(0, -1)
            .map((line) => JSON.parse(line)),
        ),
      ).toEqual(both);
    }
    const timeline = await get(
      "/v1/assets/asset_1/timeline",
      "event_type=objection,incident.*&count=true",
      key,
    );
    const ofAsset = wanted(
      ({ asset_id, event_type }) =>
        asset_id === "asset_1" && /^(objection|incident\.detected)$/.test(String(event_type)),
    );
    expect(timeline.json.count).toEqual({ value: ofAsset.length, exact: true });
    const others = wanted(
      ({ asset_id, event_type, legal_bases }) =>
        asset_id !== "asset_1" && event_type === "objection" && !String(legal_bases).includes("nyc_ll144"),
    );
    expect(others.length).toBeGreaterThan(5);
    const without =
      "not_asset_id=asset_1,nowhere&not_event_type=decision.*,incident.*,objection.*&not_legal_basis=nyc_ll144";
    expect(await pages(without)).toEqual(others);
    expect((await get("/v1/events", `${without}&count=true`, key)).json.count).toEqual({
      value: others.length,
      exact: true,
    });
    const file = await service.call(`/v1/events?format=csv&${without}`, { key });
    expect(readCsv(file.text.replace("\uFEFF", "")).length).toBe(1 + others.length);
    const many = Array.from({ length: 101 }, (_, index) => index).join(",");
    for (const wrong of ["not_risk_tier=huge", "not_event_type=*", "not_asset_id=", `not_asset_id=${many}`])
      expect([wrong, (await service.call(`/v1/events?${wrong}`, { key })).status]).toEqual([wrong, 400]);
    const excluded = `not_asset_id=1&not_correlation_id=${many.split(",").slice(0, 64)}`;
    expect((await service.call(`/v1/events?${excluded}`, { key })).json).toMatchObject({
      errors: [{ path: "query:not_correlation_id" }],
    });
    const csv = await service.call("/v1/assets/asset_1/timeline?format=csv&event_type=objection", { key });
    expect(readCsv(csv.text.replace("\uFEFF", "")).length).toBe(
      1 + wanted(({ asset_id, event_type }) => asset_id === "asset_1" && event_type === "objection").length,
    );
  });

  test.if(isWhole)("what is more than can be counted exactly is said to be more", async () => {
    const key = await service.makeKey("many");
    sequence = await send(
      key,
      Array.from({ length: COUNT_EXACT_MAX + 1 }, (_, index) =>
        event({ event_id: `evt_${index}`, asset_id: "one" }),
      ),
    );
    const count = async (path: string, query: string) =>
      (await get(path, `${query}&count=true&limit=1`, key)).json.count;
    expect(await count("/v1/events", "asset_id=one,two")).toEqual({ value: COUNT_EXACT_MAX, exact: false });
    expect(await count("/v1/decisions", "")).toEqual({ value: COUNT_EXACT_MAX, exact: false });
    expect(await count("/v1/decisions", "missing=notice")).toEqual({ value: COUNT_EXACT_MAX, exact: false });
    expect(await count("/v1/decisions", "missing=explanation")).toEqual({ value: 0, exact: true });
    const page = await get("/v1/decisions", "missing=notice&limit=1000", key);
    expect(page.json.data).toHaveLength(1000);
  });

  test("activity takes several assets, and several types or groups", async () => {
    const sum = async (query: string): Promise<number> => {
      const { json } = await get("/v1/activity", `from=2020-01-01T00:00:00Z&${query}`);
      return json.data.reduce((total: number, { events }: { readonly events: number }) => total + events, 0);
    };
    const assets = ["asset_11_0", "asset_11_1"];
    const each = await Promise.all(assets.map((asset_id) => sum(parameters({ asset_id }))));
    expect(each.every((count) => count > 0)).toBe(true);
    expect(await sum(parameters({ asset_id: assets.join(",") }))).toBe((each[0] ?? 0) + (each[1] ?? 0));
    const groups = await sum("event_type=decision.*,objection.*");
    expect(groups).toBe((await sum("event_type=decision.*")) + (await sum("event_type=objection.*")));
    expect((await service.call("/v1/activity?event_type=decision.*,objection.received")).status).toBe(400);
  });

  test("an export of a list is an event of the system, with its list and its filters", async () => {
    const key = await service.makeKey("looking");
    sequence = await send(key, [event({ event_id: "evt_seen" })]);
    await get("/v1/decisions", "format=csv&missing=notice,explanation", key);
    const systemKey = await service.makeKey("prooftrail-system", ["events:read"]);
    const metadata = await until("the export is in the view", async () => {
      const { json } = await service.call("/v1/events?event_type=system.export_taken&q=looking", {
        key: systemKey,
      });
      return json.data[0]?.event.metadata;
    });
    expect(metadata).toMatchObject({
      tenant: "looking",
      list: "decisions",
      format: "csv",
      filters: { missing: ["notice,explanation"] },
    });
  });

  test("keys and holds: times, count and files", async () => {
    for (const reason of ["first", "second", "third"])
      await service.call("/v1/holds", { body: { tenant: "held", asset_id: "a", reason } });
    const { json } = await service.call("/v1/holds?tenant=held&count=true&limit=2");
    expect([json.data.length, json.count]).toEqual([2, { value: 3, exact: true }]);
    const from = json.data[1].created_at;
    const later = await service.call(`/v1/holds?tenant=held&from=${from}&count=true`);
    expect(later.json.data.length).toBe(later.json.count.value);
    expect(later.json.data.every(({ created_at }: { created_at: string }) => created_at >= from)).toBe(true);
    const { text } = await service.call("/v1/holds?tenant=held&format=ndjson");
    expect(text.split("\n").slice(0, -1)).toHaveLength(3);
    const keys = await service.call("/v1/keys?tenant=commas&format=csv");
    expect(readCsv(keys.text.replace("\uFEFF", ""))).toHaveLength(2);
    expect(keys.text).not.toContain("ptk_");
  });
};

/**
 * Every kind of question that the views answer: each filter of events, every pair of them and all together; each list with each of its filters and
 * all their combinations. Values are taken from existing rows: all from one row, so that something is found, or each from another row, so that they
 * exist but hardly ever occur together. Asked for the first page, and for a page at a random place.
 */
import { type EventFacts, eventFacts } from "../src/event/facts.ts";
import { words } from "../src/event/words.ts";
import { ACTIVITY_GROUPS, readActivity } from "../src/views/activity/queries.ts";
import { assessmentList, riskChangeList } from "../src/views/assessments/tables.ts";
import { assetList } from "../src/views/assets/tables.ts";
import { decisionList } from "../src/views/cases/registers/decisions.ts";
import { humanReviewList } from "../src/views/cases/registers/human-reviews.ts";
import { incidentList } from "../src/views/cases/registers/incidents.ts";
import { noticeList } from "../src/views/cases/registers/notices.ts";
import { objectionList } from "../src/views/cases/registers/objections.ts";
import { obligationList } from "../src/views/cases/registers/obligations.ts";
import { COVERAGE_LISTS } from "../src/views/coverage/coverage.ts";
import { type EventFilter, matchesNone, searchQuery, storedEvent } from "../src/views/events/queries.ts";
import { type List, listQuery } from "../src/views/kit/list.ts";
import { modelList } from "../src/views/models/tables.ts";
import { sourceGapList, sourceList } from "../src/views/sources/tables.ts";
import type { Condition } from "../src/views/store/conditions.ts";
import type { Row } from "../src/views/store/tables.ts";
import type { TenantQuery } from "../src/views/store/tenant-query.ts";
import type { ViewStore } from "../src/views/store/view-store.ts";
import type { Chance } from "../test/support/histories/chance.ts";
import { subsets } from "../test/support/subsets.ts";

export interface Question {
  /** Kinds of one family share a goal. */
  readonly family: "events" | "words" | "lists" | "activity";
  readonly kind: string;
  readonly ask: (chance: Chance) => Promise<unknown>;
}

interface Asked {
  readonly views: ViewStore;
  readonly tenant: string;
  readonly events: number;
}

/** One more than a page has, as the routes ask. */
const ROWS = 51;
const SAMPLES = 300;

type Filter = Partial<EventFilter>;

/** A filter that matches an event. */
const FILTERS: Readonly<Record<string, (facts: EventFacts) => Filter | undefined>> = {
  asset: ({ assetId }) => ({ assetId }),
  type: ({ eventType }) => ({ eventType }),
  group: ({ eventType }) => ({ eventGroup: eventType.split(".")[0] }),
  tier: ({ riskTier }) => (riskTier === null ? undefined : { riskTier }),
  basis: ({ legalBases: [legalBasis] }) => (legalBasis === undefined ? undefined : { legalBasis }),
  correlation: ({ correlationId }) => (correlationId === null ? undefined : { correlationId }),
  subject: ({ subjectHash }) => (subjectHash === null ? undefined : { subjectHash }),
  tag: ({ tags: [tag] }) => (tag === undefined ? undefined : { tags: [tag] }),
  minute: ({ occurred }) => around(occurred, 16, 60_000),
  day: ({ occurred }) => around(occurred, 10, 86_400_000),
  month: ({ occurred }) => around(occurred, 10, 30 * 86_400_000),
  since: ({ occurred }) => ({ from: `${occurred}Z` }),
  before: ({ occurred }) => ({ to: `${occurred}Z` }),
  "received in a minute": () => ({
    timeField: "received_at",
    from: "2026-11-19T10:00:00Z",
    to: "2026-11-19T10:01:00Z",
  }),
};

const around = (time: string, characters: number, ms: number): Filter => {
  const from = `${time.slice(0, characters)}${"2026-01-01T00:00:00".slice(characters)}Z`;
  return { from, to: new Date(Date.parse(from) + ms).toISOString() };
};

/** Words to search for, from an event: of its type, which many have; of its asset and its ids, which few have; and prefixes of words. */
const TEXTS: Readonly<Record<string, (facts: EventFacts) => Filter>> = {
  "frequent word": ({ eventType }) => ({ text: { words: words(eventType).slice(0, 1), prefixes: [] } }),
  "rare word": (facts) => ({ text: { words: idWords(facts).slice(-1), prefixes: [] } }),
  prefix: (facts) => ({ text: { words: [], prefixes: [`${idWords(facts)[0]}_`] } }),
  "short prefix": ({ eventType }) => ({ text: { words: [], prefixes: [eventType.slice(0, 2)] } }),
  // The prefix of a frequent word, and of words of many UUIDs.
  "hexadecimal prefix": () => ({ text: { words: [], prefixes: ["de"] } }),
};

const idWords = ({ metadata, assetId }: EventFacts): readonly string[] => {
  const [id] = Object.values(metadata).filter((value) => typeof value === "string" && value.includes("_"));
  return words(typeof id === "string" ? id : assetId);
};

export const eventQuestions = async (asked: Asked, chance: Chance): Promise<readonly Question[]> => {
  const samples: EventFacts[] = [];
  while (samples.length < SAMPLES) {
    const after = chance.below(asked.events);
    const query = searchQuery(asked.tenant, { timeField: "timestamp", order: "asc" }, { after, rowsMax: 1 });
    const [row] = await asked.views.select(query);
    const facts = row && eventFacts(JSON.parse(storedEvent(row).eventText));
    if (facts) samples.push(facts);
  }
  const [filters, texts] = [Object.entries(FILTERS), Object.entries(TEXTS)];
  const all = [...filters, ...texts];
  return [
    { family: "events" as const, makers: [] },
    ...filters.map((one) => ({ family: "events" as const, makers: [one] })),
    ...pairs(filters).map((makers) => ({ family: "events" as const, makers })),
    { family: "events" as const, makers: filters.slice(0, 10) },
    ...texts.map((one) => ({ family: "words" as const, makers: [one] })),
    ...pairs(all)
      .filter(([, [name]]) => name in TEXTS)
      .map((makers) => ({ family: "words" as const, makers })),
  ].flatMap(({ family, makers }) =>
    (["together", "apart"] as const).flatMap((how) =>
      (["first", "deep"] as const).map((page) => ({
        family,
        kind: `${makers.map(([name]) => name).join(" + ") || "none"}, ${how}, ${page} page`,
        ask: (drawn: Chance) => askEvents(asked, drawn, { samples, makers, how, page }),
      })),
    ),
  );
};

type Maker = readonly [string, (facts: EventFacts) => Filter | undefined];

const pairs = <Item>(items: readonly Item[]): readonly (readonly [Item, Item])[] =>
  items.flatMap((one, index) => items.slice(index + 1).map((other) => [one, other] as const));

const askEvents = async (
  { views, tenant, events }: Asked,
  chance: Chance,
  {
    samples,
    makers,
    how,
    page,
  }: {
    readonly samples: readonly EventFacts[];
    readonly makers: readonly Maker[];
    readonly how: "together" | "apart";
    readonly page: "first" | "deep";
  },
): Promise<unknown> => {
  const drawn = samples[chance.below(samples.length)];
  const filter: { -readonly [Name in keyof EventFilter]: EventFilter[Name] } = {
    timeField: "timestamp",
    order: chance.below(2) === 0 ? "asc" : "desc",
  };
  for (const [, make] of makers) {
    const facts = how === "together" ? drawn : samples[chance.below(samples.length)];
    const made = facts && make(facts);
    const text = made?.text && filter.text ? bothTexts(filter.text, made.text) : (made?.text ?? filter.text);
    Object.assign(filter, made, { text });
  }
  if (matchesNone(filter)) return undefined;
  const after = page === "first" ? undefined : chance.below(events);
  return views.select(searchQuery(tenant, filter, { after, rowsMax: ROWS }));
};

type Text = NonNullable<EventFilter["text"]>;

const bothTexts = (one: Text, other: Text): Text => ({
  words: [...one.words, ...other.words],
  prefixes: [...one.prefixes, ...other.prefixes],
});

const LISTS: Readonly<Record<string, List>> = {
  assets: assetList,
  decisions: decisionList,
  notices: noticeList,
  objections: objectionList,
  "human reviews": humanReviewList,
  incidents: incidentList,
  obligations: obligationList,
  ...Object.fromEntries(COVERAGE_LISTS.map((list) => [`coverage in ${list.table.name}`, list])),
  models: modelList,
  assessments: assessmentList,
  "risk changes": riskChangeList,
  sources: sourceList,
  "gaps of sources": sourceGapList,
};

export const listQuestions = async (asked: Asked, chance: Chance): Promise<readonly Question[]> => {
  const questions: Question[] = [];
  for (const [name, list] of Object.entries(LISTS)) {
    const samples = await sampleRows(asked, list, chance);
    if (samples.length === 0) continue;
    for (const filters of filtersOf(list))
      for (const how of ["together", "apart"] as const)
        for (const page of ["first", "deep"] as const)
          questions.push({
            family: "lists",
            kind: `${name}: ${filters.join(" + ") || "none"}, ${how}, ${page} page`,
            ask: (drawn) => askList(asked, drawn, { list, samples, filters, how, page }),
          });
  }
  return questions;
};

/** A filter by rule implies its law (routes/obligations.ts), and mostly comes with a state. */
const filtersOf = (list: List): readonly (readonly string[])[] =>
  list === obligationList
    ? subsets([...list.filters, "status"]).filter(
        (filters) => filters.includes("law") || !filters.includes("rule"),
      )
    : subsets(list.filters);

/** Rows from random places of the list. */
const sampleRows = async ({ views, tenant }: Asked, list: List, chance: Chance): Promise<readonly Row[]> => {
  const found: Row[] = [];
  const ask = async (query: TenantQuery) => found.push(...(await views.select(query)));
  for (const order of ["asc", "desc"] as const)
    await ask(listQuery(tenant, list, { where: [], order, rowsMax: SAMPLES }));
  for (let asked = 0; asked < SAMPLES; asked++) {
    const time = new Date(Date.UTC(2026, 0, 1) + chance.below(365 * 86_400) * 1000).toISOString();
    const after = list.orderBy.map((name) =>
      list.table.columns[name]?.type === "integer" ? 0 : time.slice(0, 19),
    );
    await ask(listQuery(tenant, list, { where: [], order: "asc", after, rowsMax: 1 }));
  }
  return found;
};

const askList = (
  { views, tenant }: Asked,
  chance: Chance,
  {
    list,
    samples,
    filters,
    how,
    page,
  }: {
    readonly list: List;
    readonly samples: readonly Row[];
    readonly filters: readonly string[];
    readonly how: "together" | "apart";
    readonly page: "first" | "deep";
  },
): Promise<unknown> => {
  const draw = (): Row => samples[chance.below(samples.length)] ?? {};
  const drawn = draw();
  // A rule belongs to one law: with another law the answer needs no query (routes/obligations.ts).
  const isTogether = (column: string): boolean =>
    how === "together" || (list === obligationList && (column === "rule" || column === "law"));
  const where = filters.flatMap((column): readonly Condition[] => {
    const value = (isTogether(column) ? drawn : draw())[column] ?? null;
    return value === null ? [] : [{ kind: "equals", column, value }];
  });
  const place = page === "first" ? undefined : draw();
  const after = place && list.orderBy.map((name) => place[name] ?? "");
  const order = chance.below(2) === 0 ? "asc" : "desc";
  return views.select(listQuery(tenant, list, { where, order, after, rowsMax: ROWS }));
};

/** A day, a month and a year, grouped by one or two columns, of everything and of one asset. */
export const activityQuestions = ({ views, tenant }: Asked, assets: readonly string[]): readonly Question[] =>
  ([1, 31, 365] as const).flatMap((days) =>
    ACTIVITY_GROUPS.flatMap((group) =>
      [false, true].map((isOfAsset) => ({
        family: "activity" as const,
        kind: `${days} days by start and ${group}${isOfAsset ? " of an asset" : ""}`,
        ask: (chance: Chance) =>
          readActivity(views, tenant, {
            bucket: days === 1 ? "hour" : "day",
            groupBy: group === "start" ? ["start"] : ["start", group],
            from: "2026-01-01",
            to: new Date(Date.UTC(2026, 0, 1 + days)).toISOString().slice(0, 10),
            ...(isOfAsset && { assetIds: [assets[chance.below(assets.length)] ?? ""] }),
            rowsMax: 10_000,
          }),
      })),
    ),
  );

/**
 * Which events expire next under a policy. Events of one class expire in the order from which their ages count, so a page is merged from the first rows of
 * each class.
 */

import { ageOf, classText, RETENTION_CLASSES, type RetentionClass } from "../../access/retention/age.ts";
import type { RetentionPolicy } from "../../access/retention/records.ts";
import type { EventFacts } from "../../event/facts.ts";
import { type Count, countList, type List, type Page } from "../kit/list.ts";
import type { Condition } from "../store/conditions.ts";
import { readCursor, writeCursor } from "../store/cursor.ts";
import { rowInteger, rowText } from "../store/tables.ts";
import { tenantList } from "../store/tenant-query.ts";
import type { ViewStore } from "../store/view-store.ts";
import { factsIn } from "./expiry.ts";
import { EVENTS, EVENTS_VIEW, receivedIn } from "./tables.ts";

interface ExpiringAsked {
  readonly tenant: string;
  readonly policy: RetentionPolicy;
  /** Times of expiry, as text that sorts by time. */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

export interface Expiring {
  readonly kept: RetentionClass;
  readonly facts: EventFacts;
  readonly received: string;
  readonly countedFrom: string;
  /** When its age is reached, whether or not a hold keeps it. */
  readonly expires: string;
}

type ExpiringPage =
  | { readonly kind: "page"; readonly events: readonly Expiring[]; readonly nextCursor: string | null }
  | { readonly kind: "invalid_cursor" };

export const readExpiring = async (
  views: Pick<ViewStore, "select" | "load">,
  asked: ExpiringAsked,
  { order, limit, cursor }: Page,
): Promise<ExpiringPage> => {
  const { tenant } = asked;
  const scope = JSON.stringify(["expiring", asked, order]);
  const start = cursor === undefined ? undefined : readCursor(cursor, scope);
  if (start?.kind === "invalid_cursor") return start;
  const [after, afterSequence] = start?.place ?? [];
  const found: (Placed & { readonly kept: RetentionClass; readonly key: { readonly event_id: string } })[] =
    [];
  for (const { kept, days, where } of shelves(asked)) {
    const query = tenantList({
      ...{ tenant, table: EVENTS, columns: ["event_id", "sequence", "counted_from"], where, order },
      orderBy: ["counted_from", "sequence"],
      after: after === undefined ? undefined : [shifted(String(after), -days), Number(afterSequence)],
      rowsMax: limit + 1,
    });
    for (const row of await views.select(query)) {
      const [sequence, expires] = [rowInteger(row, "sequence"), shifted(rowText(row, "counted_from"), days)];
      found.push({ kept, key: { event_id: rowText(row, "event_id") }, sequence, expires });
    }
  }
  found.sort((one, other) => (order === "asc" ? byExpiry(one, other) : byExpiry(other, one)));
  const page = found.slice(0, limit);
  const rows = await views.load(
    EVENTS,
    page.map(({ key }) => ({ tenant, ...key })),
  );
  const byId = new Map(rows.map((row) => [rowText(row, "event_id"), row]));
  const events = page.flatMap(({ kept, key, expires }): readonly Expiring[] => {
    const row = byId.get(key.event_id);
    const facts = row && factsIn(row);
    // It has expired since its place was read.
    if (!row || !facts) return [];
    const [received, countedFrom] = [receivedIn(row), rowText(row, "counted_from")];
    return [{ kept, facts, received, countedFrom, expires }];
  });
  const last = found.length > limit ? page.at(-1) : undefined;
  return {
    kind: "page",
    events,
    nextCursor: last ? writeCursor({ place: [last.expires, last.sequence], scope }) : null,
  };
};

interface Placed {
  readonly sequence: number;
  readonly expires: string;
}

const byExpiry = (one: Placed, other: Placed): number =>
  one.expires === other.expires ? one.sequence - other.sequence : one.expires < other.expires ? -1 : 1;

export const countExpiring = (views: Pick<ViewStore, "select">, asked: ExpiringAsked): Promise<Count> =>
  countList(views, asked.tenant, BY_AGE, { where: [], anyOf: shelves(asked).map(({ where }) => where) });

const BY_AGE: List = {
  view: EVENTS_VIEW,
  table: EVENTS,
  orderBy: ["counted_from", "sequence"],
  filters: [],
};

/** The classes that expire at all. */
const shelves = ({ policy, from, to = YEAR_9999 }: ExpiringAsked) =>
  RETENTION_CLASSES.flatMap((kept) => {
    const { days } = ageOf(policy, kept);
    if (days === null) return [];
    const start = from === undefined ? undefined : shifted(from, -days);
    const where: readonly Condition<"retention_class" | "counted_from">[] = [
      { kind: "equals", column: "retention_class", value: classText(kept) },
      { kind: "range", column: "counted_from", from: start, to: shifted(to, -days) },
    ];
    return [{ kept, days, where }];
  });

/** Later years do not sort as text. */
const YEAR_9999 = "9999-12-31T00:00:00";
const DATE_CHARACTERS = "2026-11-29".length;
const DAY_MS = 86_400_000;

/** Whole days later. The time of day stays as it is written, fraction and leap second included. */
const shifted = (time: string, days: number): string => {
  const date = new Date(Date.parse(`${time.slice(0, DATE_CHARACTERS)}T00:00:00Z`) + days * DAY_MS);
  return date.toISOString().slice(0, -"T00:00:00.000Z".length) + time.slice(DATE_CHARACTERS);
};

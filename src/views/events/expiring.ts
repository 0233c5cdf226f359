/**
 * Which events expire next under a policy. Events of one class expire in the order from which their ages count, so a page is merged from the
 * first rows of each class.
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
import { EVENTS, EVENTS_VIEW } from "./tables.ts";

export interface ExpiringAsked {
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

interface Placed {
  readonly kept: RetentionClass;
  readonly eventId: string;
  readonly sequence: number;
  readonly expires: string;
}

export const readExpiring = async (
  views: Pick<ViewStore, "select" | "load">,
  asked: ExpiringAsked,
  { order, limit, cursor }: Page,
): Promise<ExpiringPage> => {
  const { tenant } = asked;
  const scope = JSON.stringify(["expiring", asked, order]);
  const start = cursor === undefined ? undefined : readCursor(cursor, scope);
  if (start?.kind === "invalid_cursor") return start;
  const [expires, sequence] = start?.place ?? [];
  const found: Placed[] = [];
  for (const { kept, days, where } of shelves(asked)) {
    const rows = await views.select(
      tenantList({
        ...{ tenant, table: EVENTS, columns: ["event_id", "sequence", "counted_from"], where, order },
        orderBy: ["counted_from", "sequence"],
        after: expires === undefined ? undefined : [shifted(String(expires), -days), Number(sequence)],
        rowsMax: limit + 1,
      }),
    );
    for (const row of rows)
      found.push({
        kept,
        eventId: rowText(row, "event_id"),
        sequence: rowInteger(row, "sequence"),
        expires: shifted(rowText(row, "counted_from"), days),
      });
  }
  const sign = order === "asc" ? 1 : -1;
  found.sort((one, other) => sign * (compared(one.expires, other.expires) || one.sequence - other.sequence));
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return {
    kind: "page",
    events: await loaded(views, tenant, page),
    nextCursor: last ? writeCursor({ place: [last.expires, last.sequence], scope }) : null,
  };
};

export const countExpiring = (views: Pick<ViewStore, "select">, asked: ExpiringAsked): Promise<Count> =>
  countList(views, asked.tenant, BY_AGE, { where: [], anyOf: shelves(asked).map(({ where }) => where) });

const BY_AGE: List = {
  view: EVENTS_VIEW,
  table: EVENTS,
  orderBy: ["counted_from", "sequence"],
  filters: [],
};

/** An event that expired since its place was read is left out. */
const loaded = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  places: readonly Placed[],
): Promise<readonly Expiring[]> => {
  const rows = await views.load(
    EVENTS,
    places.map(({ eventId }) => ({ tenant, event_id: eventId })),
  );
  const byId = new Map(rows.map((row) => [rowText(row, "event_id"), row]));
  return places.flatMap(({ kept, eventId, expires }) => {
    const row = byId.get(eventId);
    const facts = row && factsIn(row);
    if (!row || !facts) return [];
    const [received, countedFrom] = [rowText(row, "received"), rowText(row, "counted_from")];
    return [{ kept, facts, received, countedFrom, expires }];
  });
};

interface Shelf {
  readonly kept: RetentionClass;
  readonly days: number;
  readonly where: readonly Condition<"retention_class" | "counted_from">[];
}

/** The classes that expire at all. */
const shelves = ({ policy, from, to = YEAR_9999 }: ExpiringAsked): readonly Shelf[] =>
  RETENTION_CLASSES.flatMap((kept) => {
    const { days } = ageOf(policy, kept);
    if (days === null) return [];
    return [
      {
        kept,
        days,
        where: [
          { kind: "equals", column: "retention_class", value: classText(kept) },
          {
            ...{ kind: "range", column: "counted_from", to: shifted(to, -days) },
            from: from === undefined ? undefined : shifted(from, -days),
          },
        ] as const,
      },
    ];
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

const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

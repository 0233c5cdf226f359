/** Programs that number their events: when each was last heard of, what is missing, and what waits on their side. */

import { addressOf } from "../address.ts";
import type { Gap, Source } from "../answers.ts";
import { fromNow, numberOf } from "../language.ts";
import type { Filter } from "../parts/filters.tsx";
import { type Column, ListScreen, type ListSpec } from "../parts/list.tsx";
import { Ago, Id, Time } from "../parts/said.tsx";
import { say } from "../words.ts";

const FILTERS: readonly Filter[] = [
  { name: "source_id", title: "source", kind: "text" },
  { name: "from", title: "from", kind: "day" },
  { name: "to", title: "to", kind: "day" },
];

const SOURCE: Column<{ readonly source_id: string }> = {
  id: "source",
  title: "source",
  cell: ({ source_id }) => <Id id={source_id} />,
};

const said = (
  id: string,
  title: Column<Source>["title"],
  name: keyof NonNullable<Source["heartbeat"]>,
  more: Pick<Column<Source>, "isExtra" | "isWide"> = {},
): Column<Source> => ({
  ...more,
  id,
  title,
  cell: ({ heartbeat }) => {
    const value = heartbeat?.[name];
    return typeof value === "number" ? numberOf(value) : value;
  },
});

const COLUMNS: readonly Column<Source>[] = [
  SOURCE,
  { id: "last", title: "last_heard", cell: ({ last_recorded_at }) => <Ago at={last_recorded_at} /> },
  {
    id: "heartbeat",
    title: "heartbeat",
    cell: ({ heartbeat_recorded_at: at }) =>
      at === null ? <span class="quiet">{say("never")}</span> : <Ago at={at} />,
  },
  {
    id: "missing",
    title: "gaps",
    cell: ({ source_id, missing }) =>
      missing === 0 ? (
        <span class="state met">{say("none")}</span>
      ) : (
        <a class="state overdue" href={addressOf("gaps", { source_id })}>
          {say("numbers_lost", { n: numberOf(missing) })}
        </a>
      ),
  },
  said("outbox", "outbox", "outbox_depth"),
  said("queue", "queue", "queue_depth", { isWide: true }),
  said("dropped", "dropped", "dropped", { isWide: true }),
  said("circuit", "circuit", "circuit_state", { isExtra: true }),
  {
    id: "sdk",
    title: "sdk",
    isWide: true,
    cell: ({ heartbeat }) =>
      [heartbeat?.sdk_language, heartbeat?.sdk_version].filter((part) => part !== undefined).join(" "),
  },
  {
    id: "number",
    title: "last_number",
    isExtra: true,
    cell: ({ last_number }) => numberOf(last_number),
  },
  { id: "received", title: "received_numbers", isExtra: true, cell: ({ received }) => numberOf(received) },
];

const SOURCES: ListSpec<Source> = {
  path: "v1/sources",
  title: "sources",
  filters: FILTERS,
  columns: COLUMNS,
  rowId: ({ source_id }) => source_id,
  above: () => <p class="quiet">{say("sources_lede")}</p>,
  empty: () => (
    <>
      <p>{say("sources_empty")}</p>
      <pre>
        {'createClient({ url, apiKey, source: "scoring", heartbeat: { asset_id: "credit-scorer" } });'}
      </pre>
      <p>{say("sources_empty_type")}</p>
      <pre>EXTRA_EVENT_TYPES=sdk.heartbeat</pre>
      <p>{say("sources_empty_http")}</p>
      <pre>{`echo '{"event_type":"sdk.heartbeat","asset_id":"credit-scorer","metadata":{"source_id":"scoring","last_source_sequence":12}}' | prooftrail send --fill`}</pre>
    </>
  ),
};

export const SourcesScreen = () => <ListScreen key="sources" spec={SOURCES} />;

const GAPS: ListSpec<Gap> = {
  path: "v1/sources/gaps",
  title: "gaps",
  filters: FILTERS,
  columns: [
    SOURCE,
    {
      id: "numbers",
      title: "numbers",
      cell: ({ first_number: first, last_number: last }) =>
        first === last ? numberOf(first) : `${numberOf(first)}–${numberOf(last)}`,
    },
    {
      id: "count",
      title: "how_many",
      cell: ({ first_number, last_number }) => numberOf(last_number - first_number + 1),
    },
    {
      id: "since",
      title: "noticed",
      cell: ({ since }) => (
        <>
          <Time at={since} /> <small>{fromNow(since)}</small>
        </>
      ),
    },
  ],
  rowId: ({ source_id, first_number }) => JSON.stringify([source_id, first_number]),
  empty: () => <p>{say("gaps_none")}</p>,
};

export const GapsScreen = () => <ListScreen key="gaps" spec={GAPS} />;

/** New events as they arrive. */
import { useEffect, useReducer } from "preact/hooks";
import { addressHere, apiAddress, type Parameters, place } from "../address.ts";
import type { StoredEvent } from "../answers.ts";
import { EVENT_FILTERS, isLiveFilter } from "../event-filters.ts";
import { numberOf } from "../language.ts";
import { type LiveAction, liveRowsAfter, type Mark, NOTHING_LIVE } from "../live-rows.ts";
import { readSession } from "../session.ts";
import { say } from "../words.ts";
import { apiFilters, filtersAsked } from "./filters.tsx";
import { type Column, Table } from "./list.tsx";
import { Said, Time } from "./said.tsx";

type Columns = readonly Column<StoredEvent>[];

export const Live = ({ columns }: { readonly columns: Columns }) => {
  if (!Object.keys(filtersAsked(EVENT_FILTERS)).every(isLiveFilter))
    return <p class="quiet">{say("live_filters")}</p>;
  const isLive = place.value.parameters.get("live") === "true";
  return (
    <>
      <p>
        <a class="button plain" href={addressHere({ live: isLive ? undefined : "true" })}>
          {say(isLive ? "live_end" : "live")}
        </a>
      </p>
      {isLive && <LiveEvents columns={columns} parameters={apiFilters(EVENT_FILTERS)} />}
    </>
  );
};

const RETRY_MS = 3000;

/**
 * A browser continues a broken stream where it stopped, but gives up when something other than the stream answers, such as a proxy whose
 * service restarts. Then it is opened again after the last event.
 */
const follow = (parameters: Parameters, heard: (action: LiveAction) => void): (() => void) => {
  let last: number | undefined;
  let stream: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hasEnded = false;
  const now = (): string => new Date().toISOString();
  const address = (): string => apiAddress("v1/events/stream", { ...parameters, after: last?.toString() });
  const open = (isLost: boolean): void => {
    const opened = new EventSource(address());
    stream = opened;
    opened.addEventListener("open", () => heard({ kind: "opened", at: now(), isLost }));
    opened.addEventListener("error", () => {
      heard({ kind: "broken", at: now() });
      if (opened.readyState === EventSource.CLOSED) timer = setTimeout(again, RETRY_MS);
    });
    opened.addEventListener("audit", ({ data }) => {
      const stored: StoredEvent = JSON.parse(data);
      last = stored.sequence;
      heard({ kind: "received", stored });
    });
  };
  const again = async (): Promise<void> => {
    const status = await fetch(address(), { method: "HEAD" }).then(
      (answer) => answer.status,
      () => 0,
    );
    if (hasEnded) return;
    if (status === 401) readSession();
    // The log ends before the last event, as after a restore.
    if (status === 400) last = undefined;
    if (status === 200) open(last === undefined);
    else timer = setTimeout(again, RETRY_MS);
  };
  open(false);
  return () => {
    hasEnded = true;
    stream?.close();
    clearTimeout(timer);
  };
};

const LiveEvents = (props: { readonly columns: Columns; readonly parameters: Parameters }) => {
  const { columns, parameters } = props;
  const [{ rows, isPaused, waiting, leftOut, brokenAt }, tell] = useReducer(liveRowsAfter, NOTHING_LIVE);
  const address = apiAddress("v1/events/stream", parameters);
  useEffect(() => {
    tell({ kind: "begun" });
    return follow(parameters, tell);
  }, [address]);
  const status = isPaused
    ? say("live_paused", { n: numberOf(waiting.length + leftOut) })
    : say(brokenAt === undefined ? "live_on" : "live_broken");
  return (
    <div class="live">
      <p>
        <span role="status" class={brokenAt === undefined ? "quiet" : "note"}>
          {status}
        </span>{" "}
        <button
          type="button"
          class="quiet-button"
          onClick={() => tell({ kind: isPaused ? "continued" : "paused" })}
        >
          {say(isPaused ? "live_resume" : "live_pause")}
        </button>
      </p>
      {rows.length > 0 && (
        <Table
          title="live"
          columns={columns}
          rows={rows}
          rowId={({ sequence }) => String(sequence)}
          note={({ marks }) =>
            marks.map((mark, index) => (
              <tr key={index} class="mark">
                <td colSpan={columns.length}>
                  <MarkText mark={mark} />
                </td>
              </tr>
            ))
          }
        />
      )}
    </div>
  );
};

const MarkText = ({ mark }: { readonly mark: Mark }) =>
  mark.kind === "left_out" ? (
    <span>{say("live_left_out", { n: numberOf(mark.events) })}</span>
  ) : (
    <Said
      word={mark.kind === "lost" ? "live_gap_lost" : "live_resumed"}
      a={<Time at={mark.from} />}
      b={<Time at={mark.to} />}
    />
  );

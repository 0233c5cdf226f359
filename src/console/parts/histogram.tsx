/** Events by time, as far as the service counts them; a part of it is chosen by dragging or by the keyboard. */
import { useId, useState } from "preact/hooks";
import { addressHere, go, type Parameters } from "../address.ts";
import { type List, useAnswer } from "../api.ts";
import { EVENT_FILTERS } from "../event-filters.ts";
import { hoursOf, numberOf, timeOf } from "../language.ts";
import {
  apartFor,
  barsOf,
  type Counted,
  isAsked,
  isCounted,
  isSent,
  type Scale,
  scaleOf,
} from "../time-bars.ts";
import { say } from "../words.ts";
import { apiFilters } from "./filters.tsx";

export const Histogram = () => {
  const asked = apiFilters(EVENT_FILTERS);
  return Object.keys(asked).every(isCounted) ? (
    <CountedEvents asked={asked} />
  ) : (
    <p class="quiet">{say("histogram_none")}</p>
  );
};

const MINUTE_MS = 60_000;

const CountedEvents = ({ asked }: { readonly asked: Parameters }) => {
  // By the minute, so that showing the page twice asks the same.
  const scale = scaleOf(asked, Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS);
  const { bucket, edges } = scale;
  const [first = 0, last = 0] = [edges[0], edges.at(-1)];
  const sent = ["event_type", "asset_id"].filter((name) => isSent(name, asked[name] ?? ""));
  const { answer } = useAnswer<List<Counted>>("v1/activity", {
    ...Object.fromEntries(sent.map((name) => [name, asked[name]])),
    ...{ bucket, from: new Date(first).toISOString(), to: new Date(last).toISOString() },
    group_by: ["start", ...apartFor(asked)].join(","),
  });
  if (answer.kind === "failed") return <p class="quiet">{answer.detail}</p>;
  if (answer.kind === "loading") return <div class="histogram" />;
  const rows = answer.body.data.filter((row) => isAsked(row, asked));
  return <Bars key={`${first} ${last}`} scale={scale} bars={barsOf(rows, scale)} />;
};

const [WIDTH, HEIGHT] = [10, 64];

interface Selection {
  readonly anchor: number;
  readonly end: number;
}

const Bars = ({ scale, bars }: { readonly scale: Scale; readonly bars: readonly number[] }) => {
  const { edges, hours, isCut } = scale;
  const id = useId();
  const [selected, setSelected] = useState<Selection>();
  const [isDragging, setDragging] = useState(false);
  const highest = Math.max(1, ...bars);
  const timeAt = (edge: number): string => new Date(edges[edge] ?? 0).toISOString();
  const [low, high] = [selected?.anchor ?? 0, selected?.end ?? 0].toSorted((a, b) => a - b);
  const sum = (some: readonly number[]): string => numberOf(some.reduce((all, each) => all + each, 0));
  const apply = (): void => {
    setDragging(false);
    if (selected) go(addressHere({ from: timeAt(low ?? 0), to: timeAt((high ?? 0) + 1) }));
  };
  const barAt = ({ clientX, currentTarget }: { clientX: number; currentTarget: Element }): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.min(bars.length - 1, Math.max(0, Math.floor(((clientX - left) / width) * bars.length)));
  };
  const press = (key: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: -1,
      ArrowRight: 1,
      Home: -bars.length,
      End: bars.length,
    };
    const step = steps[key.key];
    if (step !== undefined) {
      const from = selected?.end ?? (step < 0 ? bars.length : -1);
      const end = Math.min(bars.length - 1, Math.max(0, from + step));
      setSelected({ anchor: key.shiftKey && selected ? selected.anchor : end, end });
    } else if (key.key === "Enter") apply();
    else if (key.key === "Escape") setSelected(undefined);
    else return;
    key.preventDefault();
  };
  const said = (start: number, end: number): Readonly<Record<string, string>> => ({
    a: timeOf(timeAt(start)),
    b: timeOf(timeAt(end)),
    n: sum(bars.slice(start, end)),
  });
  const selectedText = selected && say("bar_text", said(low ?? 0, (high ?? 0) + 1));
  return (
    <figure class="histogram">
      <figcaption>
        {say("histogram_text", {
          ...said(0, bars.length),
          m: numberOf(Math.max(0, ...bars)),
          s: hoursOf(hours),
        })}{" "}
        {isCut && say("histogram_whole")} <span id={id}>{say("histogram_hint")}</span>
      </figcaption>
      <div
        class="plot"
        role="slider"
        tabIndex={0}
        aria-label={say("histogram")}
        aria-describedby={id}
        aria-valuemin={0}
        aria-valuemax={bars.length - 1}
        aria-valuenow={selected?.end ?? 0}
        aria-valuetext={selectedText ?? say("none")}
        onKeyDown={press}
        onPointerDown={(down) => {
          down.currentTarget.setPointerCapture(down.pointerId);
          const bar = barAt(down);
          setSelected({ anchor: bar, end: bar });
          setDragging(true);
        }}
        onPointerMove={(move) => {
          if (isDragging && selected) setSelected({ anchor: selected.anchor, end: barAt(move) });
        }}
        onPointerUp={apply}
        onPointerCancel={() => {
          setDragging(false);
          setSelected(undefined);
        }}
      >
        <Plot bars={bars} highest={highest} selected={selected && [low ?? 0, high ?? 0]} />
      </div>
      <div class="axis" aria-hidden="true">
        <span>{timeOf(timeAt(0))}</span>
        <span>{selectedText}</span>
        <span>{timeOf(timeAt(bars.length))}</span>
      </div>
    </figure>
  );
};

const Plot = (props: {
  readonly bars: readonly number[];
  readonly highest: number;
  readonly selected: readonly [number, number] | undefined;
}) => {
  const { bars, highest, selected } = props;
  return (
    <svg viewBox={`0 0 ${bars.length * WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {selected && (
        <rect
          class="selected"
          x={selected[0] * WIDTH}
          width={(selected[1] - selected[0] + 1) * WIDTH}
          y="0"
          height={HEIGHT}
        />
      )}
      {bars.map((events, index) => {
        const height = (events / highest) * HEIGHT;
        return (
          <rect
            key={index}
            class="decisions"
            x={index * WIDTH + 1}
            width={WIDTH - 2}
            y={HEIGHT - height}
            height={height}
          />
        );
      })}
    </svg>
  );
};

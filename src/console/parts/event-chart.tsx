/** Events by day and group. Each bar leads to its events. */

import { addressOf } from "../address.ts";
import type { Activity } from "../answers.ts";
import { dateOf, dayOf, numberOf } from "../language.ts";
import { say } from "../words.ts";

const GROUPS = [
  { id: "decisions", word: "group_decisions", groups: ["decision"] },
  { id: "notices", word: "group_notices", groups: ["transparency"] },
  { id: "objections", word: "group_objections", groups: ["objection", "incident"] },
  { id: "other", word: "group_other", groups: [] },
] as const;

const DAYS = 30;
/** The first day on a narrow screen, as in the style. */
const NARROW_FROM = 16;
const DAY_MS = 86_400_000;
const [WIDTH, HEIGHT] = [20, 92];

interface Day {
  readonly start: string;
  readonly counts: readonly number[];
  readonly sum: number;
}

const groupOf = (name: string): number => {
  const index = GROUPS.findIndex(({ groups }) => groups.some((group) => group === name));
  return index === -1 ? GROUPS.length - 1 : index;
};

/** The last day is today. Days are those of UTC, as the service counts them. */
const daysOf = (rows: readonly Activity[]): readonly Day[] => {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  return Array.from({ length: DAYS }, (_, index) => {
    const start = new Date(today - (DAYS - 1 - index) * DAY_MS).toISOString();
    const ofDay = rows.filter((row) => Date.parse(row.start) === Date.parse(start));
    const counts = GROUPS.map((_group, group) =>
      ofDay.reduce((sum, row) => sum + (groupOf(row.event_group) === group ? row.events : 0), 0),
    );
    return { start, counts, sum: counts.reduce((sum, count) => sum + count, 0) };
  });
};

export const EventChart = ({ rows }: { readonly rows: readonly Activity[] }) => {
  const days = daysOf(rows);
  const highest = Math.max(1, ...days.map(({ sum }) => sum));
  const all = days.reduce((sum, day) => sum + day.sum, 0);
  return (
    <figure class="chart">
      <figcaption>
        {say("chart_text", { n: numberOf(all), m: numberOf(highest) })}
        <ul class="legend">
          {GROUPS.map(({ id, word }) => (
            <li key={id} class={id}>
              {say(word)}
            </li>
          ))}
        </ul>
      </figcaption>
      <div class="bars">
        {days.map((day) => (
          <Bar key={day.start} day={day} highest={highest} />
        ))}
      </div>
      <div class="axis" aria-hidden="true">
        <span class="first">{dayOf(days[0]?.start ?? "")}</span>
        <span class="first-shown">{dayOf(days[NARROW_FROM]?.start ?? "")}</span>
        <span>{dayOf(days.at(-1)?.start ?? "")}</span>
      </div>
    </figure>
  );
};

const Bar = ({ day: { start, counts, sum }, highest }: { readonly day: Day; readonly highest: number }) => {
  const end = new Date(Date.parse(start) + DAY_MS).toISOString();
  let top = HEIGHT;
  return (
    <a href={addressOf("events", { from: start, to: end })}>
      <span class="unseen">{`${dateOf(start)}: ${numberOf(sum)}`}</span>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {GROUPS.map(({ id }, index) => {
          const height = ((counts[index] ?? 0) / highest) * HEIGHT;
          top -= height;
          return <rect key={id} class={id} x="0" y={top} width={WIDTH} height={height} />;
        })}
      </svg>
    </a>
  );
};

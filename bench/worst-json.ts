/** How long the worst bodies of 16 MiB take, and for how long at a time they keep other requests waiting. */

import { type JsonSlice, sliceBatch } from "../src/api/intake/json/slice.ts";
import { createPace, type Pace } from "../src/api/intake/pace.ts";
import { EVENT_TYPES } from "../src/event/event-types.ts";
import { createEventValidator } from "../src/event/validate.ts";
import { BATCH_BODY_BYTES_MAX, BATCH_EVENTS_MAX } from "../src/limits.ts";

const SIZE = BATCH_BODY_BYTES_MAX - 100;
const members = (count: number, value: string): string =>
  Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join(",");
const batchOf = (event: string, count: number): string =>
  `{"events":[${Array.from({ length: count }, () => event).join(",")}]}`;

const BODIES: Readonly<Record<string, string>> = {
  "brackets that never close": `{"events":[${"[".repeat(SIZE)}`,
  "escaped quotes": `{"events":["${'\\"'.repeat(SIZE / 2)}"]}`,
  backslashes: `{"events":["${"\\\\".repeat(SIZE / 2)}"]}`,
  "numbers, cut off": `{"events":[[${"1,".repeat(SIZE / 2)}`,
  "one event of a million members": `{"events":[{${members(1_100_000, "1")}}]}`,
  "a million members beside events": `{${members(1_100_000, "1")}}`,
  "1000 events of 1200 keys of metadata": batchOf(`{"metadata":{${members(1200, '"x"')}}}`, 1000),
  "1000 events of 1200 members": batchOf(`{${members(1200, '"x"')}}`, 1000),
  "1000 events of 60 levels, over and over": batchOf(
    `[${`${"[".repeat(60)}${"]".repeat(60)},`.repeat(130)}1]`,
    1000,
  ),
};

const validate = createEventValidator({ eventTypes: EVENT_TYPES, eventIdPrefixes: ["evt_"], legalBases: [] });
process.stdout.write("| body of up to 16 MiB | ms | longest turn ms | answer |\n| --- | --- | --- | --- |\n");
for (const [name, body] of Object.entries(BODIES)) {
  const startedAt = performance.now();
  let turnAt = startedAt;
  let longest = 0;
  const pace = createPace();
  const watched: Pace = {
    isDue: pace.isDue,
    rest: async () => {
      longest = Math.max(longest, performance.now() - turnAt);
      await pace.rest();
      turnAt = performance.now();
    },
  };
  const take = (slice: JsonSlice): void => void validate(slice.value, Date.now());
  const sliced = await sliceBatch({ text: body, eventsMax: BATCH_EVENTS_MAX, pace: watched, take });
  longest = Math.max(longest, performance.now() - turnAt);
  process.stdout.write(
    `| ${name} | ${Math.round(performance.now() - startedAt)} | ${Math.round(longest)} | ${sliced.kind} |\n`,
  );
}

/** What a call of `capture()` costs the calling program: bench/sdk-capture.ts of each tree, in turns. */
import process from "node:process";
import { type Figure, median } from "./figures.ts";
import { type Program, run } from "./programs.ts";

const ROUNDS = 5;
/** The discard port (RFC 863): what is captured stays in the outbox. */
const NOWHERE = "http://127.0.0.1:9";

export const measureCapture = async (before: Program, now: Program): Promise<readonly Figure[]> => {
  const found: [Captured[], Captured[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, { tree }] of [before, now].entries())
      found[index]?.push(
        JSON.parse(await run(process.execPath, ["bench/sdk-capture.ts", "interval", NOWHERE], tree)),
      );
  const figure = (name: string, of: (captured: Captured) => number, floor: Figure["floor"]): Figure => ({
    name,
    before: median(found[0].map(of)),
    now: median(found[1].map(of)),
    floor,
  });
  return [
    figure("capture(), p50 µs", ({ p50 }) => p50, { nowAtMost: 15 }),
    figure("capture(), p99 µs", ({ p99 }) => p99, { nowAtMost: 150 }),
    figure("capture(), memory MB", ({ memoryMb }) => memoryMb, { atMost: 1.05 }),
  ];
};

interface Captured {
  readonly p50: number;
  readonly p99: number;
  readonly memoryMb: number;
}

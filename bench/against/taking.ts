/** Taking events: both programs in turns, so that a slow minute is slow for both. */
import { startLoader } from "../programs.ts";
import { cpuMicroseconds } from "../subject.ts";
import { type Figure, median } from "./figures.ts";
import { type Program, peakMegabytes, startFrontEnd } from "./programs.ts";

const ROUNDS = 6;
const SECONDS = 2;
const LOADS = [
  { name: "batches of 1000 on 4 connections", connections: 4, batchEvents: 1000 },
  { name: "single events on 256 connections", connections: 256, batchEvents: 0 },
] as const;

export const measureTaking = async (before: Program, now: Program): Promise<readonly Figure[]> => {
  await using one = await startFrontEnd(before, "api");
  await using other = await startFrontEnd(now, "api");
  await using loader = startLoader();
  const figures: Figure[] = [];
  for (const { name, ...load } of LOADS) {
    const rates: [number[], number[]] = [[], []];
    const costs: [number[], number[]] = [[], []];
    for (let round = 0; round <= ROUNDS; round++)
      for (const [index, { port, key, servicePid }] of [one, other].entries()) {
        const cpu = cpuMicroseconds(servicePid);
        const order = { port, key, seconds: SECONDS, ...load } as const;
        const sent = await loader.load({ ...order, run: `a${load.batchEvents}-${round}` });
        // The first round compiles the program.
        if (round === 0) continue;
        rates[index]?.push(sent.events / sent.seconds);
        costs[index]?.push((cpuMicroseconds(servicePid) - cpu) / sent.events);
      }
    figures.push({
      name: `${name}, events/s`,
      before: median(rates[0]),
      now: median(rates[1]),
      floor: { atLeast: 0.95 },
    });
    figures.push({
      name: `${name}, CPU µs/event`,
      before: median(costs[0]),
      now: median(costs[1]),
      floor: { atMost: 1.05 },
    });
  }
  const [mb, ours] = [peakMegabytes(one.servicePid), peakMegabytes(other.servicePid)];
  return [...figures, { name: "front end, peak MB", before: mb, now: ours, floor: { atMost: 1.05 } }];
};

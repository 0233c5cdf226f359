/** Ingestion and its ceiling in turns: if a machine is slow for a minute it is slow for both, so only their ratio in each round counts. */
import { ceiling, type Loader } from "./programs.ts";
import { cpuMicroseconds, type Subject } from "./subject.ts";

const ROUNDS = 8;
const SECONDS = 2;

interface Pair {
  readonly name: string;
  readonly connections: number;
  readonly batchEvents: number;
  readonly raw: "atomic" | "one" | "many";
  /** The figure to compare. */
  readonly figure: "events/s" | "p50";
}

const PAIRS: readonly Pair[] = [
  { name: "batches of 1000", connections: 4, batchEvents: 1000, raw: "atomic", figure: "events/s" },
  { name: "single events", connections: 256, batchEvents: 0, raw: "many", figure: "events/s" },
  { name: "single events", connections: 1, batchEvents: 0, raw: "one", figure: "p50" },
];

export interface PairResult extends Pair {
  readonly ours: number;
  readonly raws: number;
  readonly serviceMicroseconds: number;
  /** The ratios of the rounds. */
  readonly ratios: { readonly least: number; readonly median: number; readonly most: number };
}

export const measureInTurns = async (subject: Subject, loader: Loader): Promise<readonly PairResult[]> => {
  const results: PairResult[] = [];
  for (const pair of PAIRS) results.push(await measurePair(subject, loader, pair));
  return results;
};

export const TURNS = `${ROUNDS} rounds of ${SECONDS} s each`;

const measurePair = async (subject: Subject, loader: Loader, pair: Pair): Promise<PairResult> => {
  const { raw, figure, connections, batchEvents } = pair;
  const [ours, raws, cpu, ratios]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const before = cpuMicroseconds(subject.servicePid);
    const order = {
      port: subject.port,
      key: subject.key,
      speaks: "prooftrail",
      connections,
      batchEvents,
    } as const;
    const sent = await loader.load({ ...order, seconds: SECONDS, run: `t${pair.raw}${round}` });
    cpu.push((cpuMicroseconds(subject.servicePid) - before) / sent.events);
    const highest = await ceiling(subject, raw, SECONDS);
    const [own, other] =
      figure === "p50" ? [sent.p50, highest.p50] : [sent.events / sent.seconds, highest.eventsPerSecond];
    ours.push(own);
    raws.push(other);
    ratios.push(own / other);
  }
  return {
    ...pair,
    ours: median(ours),
    raws: median(raws),
    serviceMicroseconds: median(cpu),
    ratios: { least: Math.min(...ratios), median: median(ratios), most: Math.max(...ratios) },
  };
};

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[values.length >> 1] ?? Number.NaN;

/**
 * `bun run outage [--minutes M] [--rate R] [--kills K]`: the service is away for M minutes while a client captures and is killed;
 * ends with exit code 1 if a promise is broken.
 */
import { parseArgs } from "node:util";
import { runOutage } from "./outage-run.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    rate: { type: "string", default: "500" },
    kills: { type: "string", default: "2" },
  },
});
const [minutes, eventsPerSecond, kills] = [Number(values.minutes), Number(values.rate), Number(values.kills)];
if (!(minutes > 0 && eventsPerSecond > 0 && kills >= 0)) {
  process.stderr.write("--minutes and --rate are numbers above 0, --kills is a number.\n");
  process.exit(2);
}

const say = (text: string): void =>
  void process.stdout.write(`${new Date().toISOString().slice(11, 19)}  ${text}\n`);

const { violations, ...report } = await runOutage({
  outageMs: minutes * 60_000,
  calmMs: 5_000,
  eventsPerSecond,
  kills,
  say,
});
say(JSON.stringify(report));
for (const violation of violations) say(`BROKEN: ${violation}`);
process.exit(violations.length === 0 ? 0 : 1);

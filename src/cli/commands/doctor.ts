/** `prooftrail doctor`: one line for each possible problem, and what to do about it. */

import { printable } from "../../runtime/printable.ts";
import { wrappedLines } from "../../runtime/text-width.ts";
import { type Check, unchecked } from "../../service/check.ts";
import type { CommandSpec } from "../command.ts";
import type { Context, Writer } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption, SERVICE_OPTIONS } from "../options.ts";
import { coloured, printAnswer } from "../output.ts";
import { remoteChecks } from "../remote-checks.ts";
import { findKey, readAddress } from "../service-address.ts";

export const DOCTOR: CommandSpec = {
  name: "doctor",
  summary: "Check settings, broker, streams, views, disk, clock and key",
  description: [
    "Next to the service, with its settings, it checks everything. For a service on another machine it checks what can be seen over HTTP, and says what was not checked. It changes nothing.",
  ],
  options: [...SERVICE_OPTIONS, jsonOption()],
  examples: [
    ["in the folder of the service", "prooftrail doctor"],
    ["from elsewhere", "prooftrail doctor --url https://audit.example.com --key-file reader.key"],
  ],
  exitMeanings: [
    [EXIT.ok, "nothing failed; there may be warnings"],
    [EXIT.failed, "something failed"],
    [EXIT.usage, "wrong use: a command, option or value that is not understood"],
  ],
  run: async (input, context) => {
    const isJson = input.isSet("--json");
    const checks: Check[] = [];
    const { diagnose } = await import("../../service/doctor.ts");
    const address = readAddress(input, context.environment);
    const key = await findKey(input, context.environment, address);
    const take = async (found: AsyncIterable<Check> | Iterable<Check>): Promise<void> => {
      for await (const check of found) {
        checks.push(check);
        if (!isJson) await context.out.write(checkText(context.out, check));
      }
    };
    if (address.isLoopback) await take(diagnose(context.environment));
    await take(remoteChecks({ address, key, now: context.now }));
    if (!address.isLoopback)
      await take([
        unchecked(
          "settings, broker, streams, views, disk",
          `they can be seen only where the service runs, and ${address.url} is another machine`,
          "Run prooftrail doctor there.",
        ),
      ]);
    const failed = checks.filter(({ state }) => state === "failed").length;
    const warnings = checks.filter(({ state }) => state === "warning").length;
    await printAnswer(context, input, { data: { is_healthy: failed === 0, checks } }, () =>
      summaryText(context, failed, warnings),
    );
    return failed === 0 ? EXIT.ok : EXIT.failed;
  },
};

const COLOUR = { ok: "green", warning: "yellow", failed: "red", unchecked: "bold" } as const;
const STATE_WIDTH = 11;
const NAME_WIDTH = 17;

const checkText = (out: Writer, { name, state, detail, advice = "" }: Check): string => {
  const indent = " ".repeat(STATE_WIDTH + NAME_WIDTH);
  // A name that is too long for its column gets a line of its own.
  const named = name.length < NAME_WIDTH ? name.padEnd(NAME_WIDTH) : `${name}\n${indent}`;
  const width = (out.isTerminal ? out.columns : Number.POSITIVE_INFINITY) - indent.length;
  const todo = advice === "" ? [] : advice.split("\n").map((line) => `→ ${line}`);
  const lines = [detail, ...todo].flatMap((text) => wrappedLines(printable(text), width));
  const label = coloured(out, COLOUR[state], state) + " ".repeat(STATE_WIDTH - state.length);
  return `${label}${named}${lines.join(`\n${indent}`)}\n`;
};

const summaryText = ({ out }: Context, failed: number, warnings: number): string => {
  const many = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
  if (failed > 0) return `\n${coloured(out, "red", `${failed} failed`)}, ${many(warnings, "warning")}.\n`;
  return warnings > 0 ? `\nNothing failed, ${many(warnings, "warning")}.\n` : "\nAll is well.\n";
};

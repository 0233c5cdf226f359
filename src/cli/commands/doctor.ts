/** `prooftrail doctor`: one line for each possible problem, and what to do about it. */
import { CLOCK_OFF_MS_MAX } from "../../limits.ts";
import { printable } from "../../runtime/printable.ts";
import { wrappedLines } from "../../runtime/text-width.ts";
import { type Check, failed, ok, unchecked, warned } from "../../service/check.ts";
import { type Api, createApi, dataOf } from "../api.ts";
import type { CommandSpec } from "../command.ts";
import type { Context, Writer } from "../context.ts";
import { EXIT, Failure } from "../failure.ts";
import { asRecord, asRecords, asText, parseJson } from "../json.ts";
import { KEY_ENDS_SOON_MS } from "../limits.ts";
import { jsonOption, SERVICE_OPTIONS } from "../options.ts";
import { coloured, printAnswer } from "../output.ts";
import { findKey, readAddress, type ServiceAddress, type ServiceKey } from "../service-address.ts";
import { cellText } from "../table.ts";

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

export async function* remoteChecks(parts: {
  readonly address: ServiceAddress;
  readonly key: ServiceKey | undefined;
  readonly now: () => Date;
}): AsyncGenerator<Check> {
  const { address, key, now } = parts;
  const before = now().getTime();
  const response = await createApi(address, undefined).open({ path: "/health/ready" }).catch(failureOnly);
  if (response instanceof Failure) {
    const { code, status, detail, advice } = response.document;
    yield status === undefined
      ? failed("http", detail, advice)
      : failed(
          "http",
          `${address.url} is not ready: ${detail}`,
          "Do what it says there; the log of the service says more.",
        );
    if (code === "unreachable") {
      yield unchecked("key", "the service does not answer");
      return;
    }
  } else {
    // HTTP's Date is truncated to whole seconds, so on average it is half a second late.
    const offMs = Date.parse(response.headers.get("date") ?? "") + 500 - (before + now().getTime()) / 2;
    yield ok("http", `${address.url} is ready`);
    // What the service says of its installation although it is ready: only it knows how far its sealer and its monitor are.
    const body = asRecord(parseJson(await response.text().catch(() => "")));
    for (const { detail } of asRecords(asRecord(body?.data)?.warnings))
      yield warned("health", asText(detail) ?? "");
    if (!Number.isNaN(offMs)) yield clockCheck(offMs);
  }
  if (key) yield* keyChecks(createApi(address, key), key, now());
  else
    yield warned(
      "key",
      "there is no key to check",
      "Set PROOFTRAIL_API_KEY, or name a file with --key-file.",
    );
}

/** `offMs`: positive if the service's clock is ahead of this machine's. */
const clockCheck = (offMs: number): Check => {
  const name = "service's clock";
  if (Math.abs(offMs) <= CLOCK_OFF_MS_MAX) return ok(name, "agrees with this machine's");
  const off = `${(Math.abs(offMs) / 1000).toFixed(1)} s ${offMs > 0 ? "ahead of" : "behind"}`;
  return warned(name, `${off} this machine's`, "Set both by NTP: due times and retention follow the clock.");
};

async function* keyChecks(api: Api, { source }: ServiceKey, now: Date): AsyncGenerator<Check> {
  const name = "key";
  const answer = await api.ask({ path: "/v1/session" }).catch(failureOnly);
  if (answer instanceof Failure) {
    const { code, title, detail, advice } = answer.document;
    if (code === "insufficient_scope")
      yield ok(name, `from ${source}; it may not read, so what else it may do cannot be seen`);
    else if (code === "rate_limited")
      yield warned(
        name,
        `from ${source}; it is valid, but its rate limit left no room to ask for its scopes`,
        "Try again when this key is used less.",
      );
    // Neither the service nor the key is wrong: the instance reports its health, and needs no key for that.
    else if (code === "no_api") yield unchecked(name, detail, advice);
    else yield failed(name, `${title}: ${detail}`, advice);
    return;
  }
  const { scopes, seat_ends_at } = dataOf(answer);
  yield ok(name, `from ${source}; it has ${cellText("scopes", scopes)}`);
  const end = Date.parse(asText(seat_ends_at) ?? "");
  if (end - now.getTime() < KEY_ENDS_SOON_MS)
    yield warned(name, `it ends at ${new Date(end).toISOString()}`, "Replace it: prooftrail keys rotate");
}

const failureOnly = (error: unknown): Failure => {
  if (error instanceof Failure) return error;
  throw error;
};

/** `prooftrail views …`: maintains the views with the service's own settings, also while the service runs. */
import { printable } from "../../runtime/printable.ts";
import type { Config } from "../../service/config.ts";
import type { CheckedView, Letter, ViewCare } from "../../service/view-care.ts";
import { type ArgumentSpec, type CommandGroup, type CommandSpec, type Input, option } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT, failure, Interrupted, reasonOf } from "../failure.ts";
import { integerComplaint, jsonOption, QUIET_OPTION } from "../options.ts";
import { coloured, printAnswer, tableColumns, tableText } from "../output.ts";
import { progressFor } from "../progress.ts";
import { createTable } from "../table.ts";

const SETTINGS_NOTE =
  "Runs where the service runs, as its user and with its settings (DATA_DIR, NATS_URL, DATABASE_URL …). The service may be running.";

const VIEW: ArgumentSpec = { name: "view", description: "name of the view, as views status shows it" };
const ANY_VIEW: ArgumentSpec = { name: "view", description: "one view; else every one", isOptional: true };

/** What a command found; undefined if it has printed that already. */
interface Found {
  readonly data: unknown;
  readonly text: string;
  readonly isBad?: boolean;
}

type Work = (parts: {
  readonly care: ViewCare;
  readonly input: Input;
  readonly context: Context;
}) => Promise<Found | undefined>;

/** Opens the databases that the settings name, prints what was found, and closes them whatever happens. */
const withCare =
  (work: Work): CommandSpec["run"] =>
  async (input, context) => {
    const { openViewCare, refusalIn } = await import("../../service/view-care.ts");
    const config = await settings(context);
    try {
      await using care = await openViewCare(config);
      const found = await work({ care, input, context });
      if (found) await printAnswer(context, input, { data: found.data }, () => found.text);
      return found?.isBad ? EXIT.failed : EXIT.ok;
    } catch (error) {
      const refusal = refusalIn(error, config);
      if (refusal) throw failure(refusal.code, refusal.reason, ADVICE[refusal.code]);
      throw error;
    }
  };

const DOCTOR = "prooftrail doctor says more.";
const ADVICE = {
  broker_unreachable: `Check NATS_URL and DATA_DIR, and try again; ${DOCTOR}`,
  database_unreachable: `Check DATABASE_URL, and that PostgreSQL runs, and try again; ${DOCTOR}`,
  wrong_use:
    "Run it as the user of the service, in its folder or with its settings (DATA_DIR, DATABASE_URL, NATS_URL).",
  failed: undefined,
};

const settings = async ({ environment }: Context): Promise<Config> => {
  const { readConfig } = await import("../../service/config.ts");
  const read = readConfig(environment);
  if (read.kind === "valid") return read.config;
  throw failure("wrong_use", `Invalid settings:\n${read.errors.join("\n")}`);
};

const chosen = ({ names }: ViewCare, input: Input): readonly string[] => {
  const name = input.argument("view");
  if (name === undefined) return names;
  if (names.includes(name)) return [name];
  throw failure("wrong_use", `There is no view ${name}. There are: ${names.join(", ")}.`);
};

const refuseOthers = async (care: ViewCare, names: readonly string[]): Promise<void> => {
  const refusal = await care.refusal(names);
  if (refusal !== undefined) throw failure("wrong_use", refusal);
};

const withProgress = <Result>(
  input: Input,
  context: Context,
  what: string,
  work: (onProgress: (seen: { readonly position: number; readonly end: number }) => void) => Promise<Result>,
): Promise<Result> => {
  const progress = progressFor(input, context, { what });
  return work(({ position, end }) => progress.report({ count: position, of: end })).finally(progress.end);
};

const status: CommandSpec = {
  name: "status",
  summary: "Where each view stands, and how many dead letters it has",
  description: [SETTINGS_NOTE],
  options: [jsonOption()],
  examples: [["all views", "prooftrail views status"]],
  run: withCare(async ({ care, context }) => {
    const data = await care.status();
    const table = tableText(context, ["name", "position", "behind", "dead_letters"], data.views);
    return { data, text: `The log ends at ${data.last_sequence}.\n\n${table}` };
  }),
};

const rebuild: CommandSpec = {
  name: "rebuild",
  summary: "Rebuild a view from the log, beside the live one, and swap them",
  description: [SETTINGS_NOTE],
  arguments: [VIEW],
  options: [jsonOption(), QUIET_OPTION],
  examples: [["while the service answers from the old one", "prooftrail views rebuild cases"]],
  run: withCare(async ({ care, input, context }) => {
    const [name = ""] = chosen(care, input);
    await refuseOthers(care, [name]);
    const signal = context.interruption();
    const rebuilt = await withProgress(input, context, `rebuilding ${name}`, (onProgress) =>
      care.rebuild(name, { onProgress, signal }),
    );
    if (rebuilt.kind === "given_up") {
      if (signal.aborted) throw new Interrupted();
      throw failure("failed", `The view ${name} is unchanged: ${rebuilt.reason}.`);
    }
    const { position, deadLetters } = rebuilt;
    return {
      data: { view: name, position, dead_letters: deadLetters.length },
      text: `${name} was rebuilt up to ${position}, with ${deadLetters.length} dead letters, and swapped in.\n`,
    };
  }),
};

const verify: CommandSpec = {
  name: "verify",
  summary: "Compare a view, or all of them, with the log, row by row",
  description: [SETTINGS_NOTE],
  arguments: [ANY_VIEW],
  options: [jsonOption(), QUIET_OPTION],
  examples: [["all of them", "prooftrail views verify"]],
  run: withCare(async ({ care, input, context }) => {
    const names = chosen(care, input);
    await refuseOthers(care, names);
    const signal = context.interruption();
    const views: object[] = [];
    let isBad = false;
    for (const view of names) {
      const checked = await withProgress(input, context, `verifying ${view}`, (onProgress) =>
        care.verify(view, { onProgress, signal }),
      ).catch((error: unknown) => {
        throw signal.aborted
          ? new Interrupted()
          : failure("failed", `${view} was not verified: ${reasonOf(error)}.`);
      });
      const { position, rows, differences } = checked;
      views.push({ view, is_equal: differences.length === 0, position, rows, differences });
      isBad ||= differences.length > 0;
      if (!input.isSet("--json")) await context.out.write(checkedText(context, view, checked));
    }
    return { data: { views }, text: "", isBad };
  }),
};

const checkedText = ({ out }: Context, view: string, checked: CheckedView): string => {
  const { position, rows, differences } = checked;
  if (differences.length === 0) return `${view}: equal at ${position}, ${rows} rows\n`;
  const named = differences.map(({ table, kind, key }) => `  ${table} ${kind} ${printable(key)}\n`);
  return `${coloured(out, "red", `${view}: differs`)} at ${position}; the first differences:\n${named.join("")}`;
};

const letterList: CommandSpec = {
  name: "list",
  summary: "Records that a view could not process, with the reason",
  description: [SETTINGS_NOTE],
  arguments: [ANY_VIEW],
  options: [jsonOption("NDJSON: one dead letter per line; errors as one JSON document")],
  examples: [["of all views", "prooftrail views dead-letter list"]],
  run: withCare(async ({ care, input, context: { out, err } }) => {
    const columns = ["view", "sequence", "tenant", "event_id", "code", "detail"] as const;
    const table = createTable<Letter>(columns, tableColumns(out), { view: 8, event_id: 16, code: 17 });
    let count = 0;
    for (const name of chosen(care, input))
      for await (const letter of care.deadLetters(name)) {
        if (!out.isHeard()) return undefined;
        count++;
        await out.write(input.isSet("--json") ? `${JSON.stringify(letter)}\n` : table([letter]));
      }
    if (count === 0 && !input.isSet("--json")) await err.write("There are no dead letters.\n");
    return undefined;
  }),
};

const replay: CommandSpec = {
  name: "replay",
  summary: "Process the records of a view's dead letters again",
  description: [SETTINGS_NOTE],
  arguments: [VIEW],
  options: [
    option("--sequence", "number", "only the one at this sequence", {
      complaint: integerComplaint({ min: 1 }),
    }),
    jsonOption(),
  ],
  examples: [["all of the view cases", "prooftrail views dead-letter replay cases"]],
  run: withCare(async ({ care, input }) => {
    const [name = ""] = chosen(care, input);
    // What the leader takes, the others take too.
    await refuseOthers(care, care.names);
    const left: { readonly sequence: number; readonly reason: string; readonly was: string }[] = [];
    let taken = 0;
    for await (const letter of care.replay(name, input.integer("--sequence"))) {
      if (letter.outcome === "taken") taken++;
      else {
        const { sequence, reason, was } = letter;
        left.push({ sequence, reason, was });
      }
    }
    const lines = left.map(
      ({ sequence, reason, was }) =>
        `${name} ${sequence} stays a dead letter: ${printable(reason)} (was ${was})\n`,
    );
    const text = `${lines.join("")}${taken} taken, ${left.length} left.\n`;
    return { data: { view: name, taken, left }, text, isBad: left.length > 0 };
  }),
};

export const VIEWS: CommandGroup = {
  name: "views",
  summary: "Views: status, rebuild, compare with the log",
  commands: [
    status,
    rebuild,
    verify,
    {
      name: "dead-letter",
      summary: "Records that a view could not process",
      commands: [letterList, replay],
    },
  ],
};

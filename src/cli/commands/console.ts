/** `prooftrail console`: a link that opens the console signed in. */
import { SCOPES, type Scope } from "../../access/scopes.ts";
import { openApi } from "../api.ts";
import { type CommandSpec, option } from "../command.ts";
import { consoleLink } from "../console-link.ts";
import { EXIT } from "../exit-codes.ts";
import { jsonOption, SERVICE_OPTIONS } from "../options.ts";
import { printAnswer } from "../output.ts";
import { readAddress } from "../service-address.ts";

const SCOPES_DEFAULT: readonly Scope[] = ["events:read"];

export const CONSOLE: CommandSpec = {
  name: "console",
  summary: "Print a link that opens the console, signed in",
  description: [
    "The link works once. It creates a key for the console, which expires after twelve hours, and needs a key with keys:manage for that. Whoever opens the link first is signed in: send it to nobody else.",
  ],
  options: [
    option("--tenant", "name", "tenant to look at; else that of the key used"),
    option("--scope", "scope", "what the reader may do; read-only by default", {
      choices: SCOPES,
      isRepeatable: true,
    }),
    ...SERVICE_OPTIONS,
    jsonOption(),
  ],
  examples: [
    ["a link to the console of this machine", "prooftrail console"],
    ["of another tenant", "prooftrail console --tenant acme"],
  ],
  run: async (input, context) => {
    const asked = input.texts("--scope");
    const scopes = SCOPES.filter((scope) => asked.includes(scope));
    const api = await openApi(input, context);
    const made = await consoleLink(api, {
      url: readAddress(input, context.environment).url,
      tenant: input.text("--tenant"),
      scopes: scopes.length === 0 ? SCOPES_DEFAULT : scopes,
      now: context.now(),
      signal: context.interruption(),
    });
    const data = { link: made.link, tenant: made.tenant, expires_at: made.expiresAt };
    await printAnswer(context, input, { data }, () => `${made.link}\n`);
    return EXIT.ok;
  },
};

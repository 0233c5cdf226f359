/** `prooftrail console`: a link that opens the console signed in. */
import { SCOPES, type Scope } from "../../access/scopes.ts";
import { SESSION_MS_MAX } from "../../limits.ts";
import { type Api, openApi } from "../api.ts";
import { type CommandSpec, option } from "../command.ts";
import { EXIT, failure } from "../failure.ts";
import { asRecord, asText, type JsonRecord } from "../json.ts";
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

export const consoleLink = async (
  api: Pick<Api, "ask">,
  options: {
    readonly url: string;
    readonly tenant?: string | undefined;
    readonly scopes: readonly Scope[];
    readonly now: Date;
    readonly signal?: AbortSignal;
  },
): Promise<{ readonly link: string; readonly tenant: string; readonly expiresAt: string }> => {
  const { url, tenant, scopes, now, signal } = options;
  const expiresAt = new Date(now.getTime() + SESSION_MS_MAX).toISOString();
  const made = await makeKey(api, { tenant, name: "console", scopes, expires_at: expiresAt }, signal);
  return { link: `${url}/sign-in#once=${made.key}`, tenant: made.tenant, expiresAt };
};

export const makeKey = async (
  api: Pick<Api, "ask">,
  request: JsonRecord,
  signal?: AbortSignal,
): Promise<{ readonly key: string; readonly tenant: string }> => {
  const body = JSON.stringify(request);
  const { value } = await api.ask({ path: "/v1/keys", body, ...(signal && { signal }) });
  const made = asRecord(asRecord(value)?.data);
  const key = asText(made?.api_key);
  if (key === undefined) throw failure("unexpected_answer", "The answer to POST /v1/keys has no api_key.");
  return { key, tenant: asText(made?.tenant) ?? "" };
};

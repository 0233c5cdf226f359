/** A link that signs in to the console once: the key stands behind `#`, which browsers send to nobody, and gives way at the first use. */
import type { Scope } from "../access/scopes.ts";
import { SESSION_MS_MAX } from "../limits.ts";
import type { Api } from "./api.ts";
import { failure } from "./failure.ts";
import { asRecord, asText, type JsonRecord } from "./json.ts";

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

/** What `prooftrail doctor` checks of a service over HTTP. */
import { CLOCK_OFF_MS_MAX } from "../limits.ts";
import { type Check, failed, ok, unchecked, warned } from "../service/check.ts";
import { type Api, createApi, foreignAnswer, refusalOf } from "./api.ts";
import { EXIT } from "./exit-codes.ts";
import { Failure } from "./failure.ts";
import { asRecord, asRecords, asText, type JsonRecord, parseJson } from "./json.ts";
import { KEY_ENDS_SOON_MS } from "./limits.ts";
import { findKeyRecord } from "./lists.ts";
import type { ServiceAddress, ServiceKey } from "./service-address.ts";

export async function* remoteChecks(parts: {
  readonly address: ServiceAddress;
  readonly key: ServiceKey | undefined;
  readonly now: () => Date;
}): AsyncGenerator<Check> {
  const { address, key, now } = parts;
  const before = now().getTime();
  const response = await createApi(address, undefined).attempt({ path: "/health/ready" });
  if (response instanceof Failure) {
    const { detail, advice } = response.document;
    yield failed("http", detail, advice);
    yield unchecked("key", "the service does not answer");
    return;
  }
  // HTTP's Date is truncated to whole seconds, so on average it is half a second late.
  const offMs = Date.parse(response.headers.get("date") ?? "") + 500 - (before + now().getTime()) / 2;
  const ready = await readyCheck(address, response);
  yield ready;
  // What the service says of its installation although it is ready: only it knows how far its sealer and its monitor are.
  const body = asRecord(ready.state === "ok" && parseJson(await response.text().catch(() => "")));
  for (const { detail } of asRecords(asRecord(body?.data)?.warnings))
    yield warned("health", asText(detail) ?? "");
  if (!Number.isNaN(offMs)) yield clockCheck(offMs);
  if (key) yield* keyChecks(createApi(address, key), key, now());
  else
    yield warned(
      "key",
      "there is no key to check",
      "Set PROOFTRAIL_API_KEY, or name a file with --key-file.",
    );
}

const readyCheck = async (address: ServiceAddress, response: Response): Promise<Check> => {
  const { url } = address;
  const problem = response.ok
    ? foreignAnswer(response, address)
    : await refusalOf(response, address, undefined);
  if (!problem) return ok("http", `${url} is ready`);
  const { code, detail, advice } = problem.document;
  return code === "unexpected_answer" || code === "unreachable"
    ? failed("http", `of /health/ready: ${detail}`, advice)
    : failed(
        "http",
        `${url} is not ready: ${detail}`,
        "Do what it says there; the log of the service says more.",
      );
};

/** `offMs`: positive if the service's clock is ahead of this machine's. */
const clockCheck = (offMs: number): Check => {
  const name = "service's clock";
  if (Math.abs(offMs) <= CLOCK_OFF_MS_MAX) return ok(name, "agrees with this machine's");
  const off = `${(Math.abs(offMs) / 1000).toFixed(1)} s ${offMs > 0 ? "ahead of" : "behind"}`;
  return warned(name, `${off} this machine's`, "Set both by NTP: due times and retention follow the clock.");
};

/** Each scope is tested with a request that changes nothing: an empty batch, one event, the list of keys. */
const SCOPE_QUESTIONS = [
  ["events:write", { path: "/v1/events/batch", body: '{"events":[]}' }],
  ["events:read", { path: "/v1/events?limit=1" }],
  ["keys:manage", { path: "/v1/keys?limit=1" }],
] as const;

async function* keyChecks(api: Api, key: ServiceKey, now: Date): AsyncGenerator<Check> {
  const name = "key";
  const scopes: string[] = [];
  let own: JsonRecord | undefined;
  try {
    for (const [scope, question] of SCOPE_QUESTIONS) {
      if (!(await mayAsk(api, question))) continue;
      scopes.push(scope);
      if (scope === "keys:manage") own = await findKeyRecord(api, key.text.split("_")[1] ?? "");
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { code, title, detail, advice } = error.document;
    if (code === "rate_limited")
      yield warned(
        name,
        `from ${key.source}; it is valid, but its rate limit left no room to check all its scopes`,
        "Try again when this key is used less.",
      );
    // Neither the service nor the key is wrong: the instance reports its health, and needs no key for that.
    else if (code === "no_api") yield unchecked(name, detail, advice);
    else yield failed(name, `${title}: ${detail}`, advice);
    return;
  }
  yield ok(name, `from ${key.source}; it has ${scopes.join(", ") || "no scope that can be seen"}`);
  const ends = [own?.expires_at, own?.grace_until].map((time) => Date.parse(asText(time) ?? ""));
  const end = Math.min(...ends.filter((time) => !Number.isNaN(time)));
  if (end - now.getTime() < KEY_ENDS_SOON_MS)
    yield warned(name, `it ends at ${new Date(end).toISOString()}`, "Replace it: prooftrail keys rotate");
}

const mayAsk = async (api: Api, question: { path: string }): Promise<boolean> => {
  try {
    await api.ask(question);
    return true;
  } catch (error) {
    if (error instanceof Failure && error.exitCode === EXIT.forbidden) return false;
    throw error;
  }
};

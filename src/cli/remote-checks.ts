/** What `prooftrail doctor` checks of a service over HTTP. */
import { CLOCK_OFF_MS_MAX } from "../limits.ts";
import { type Check, failed, ok, unchecked, warned } from "../service/check.ts";
import { type Api, createApi, dataOf } from "./api.ts";
import { Failure } from "./failure.ts";
import { asRecord, asRecords, asText, parseJson } from "./json.ts";
import { KEY_ENDS_SOON_MS } from "./limits.ts";
import type { ServiceAddress, ServiceKey } from "./service-address.ts";
import { cellText } from "./table.ts";

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

/** An auditor's seat: what one with partial coverage may see, and what each opens. Whatever is not known to be inside is outside. */

import type { ActionRecorder } from "../../access/action.ts";
import type { ViewAction } from "../../access/administration/system-events.ts";
import type { Covers } from "../../access/seats.ts";
import { isUtcTimestamp, timeKey } from "../../event/formats.ts";
import type { SeatLimit } from "./access.ts";
import { actorOf, type Call } from "./call.ts";
import { valuesIn, valuesText } from "./parameters.ts";
import { problem } from "./problem.ts";
import { pathStartOf, requestUrl } from "./request-context.ts";

/** The handler, limited to what the seat covers. */
export const withinSeat =
  (limit: SeatLimit, covers: Covers, handle: (call: Call) => Promise<Response> | Response) =>
  async (call: Call): Promise<Response> => {
    const hasTimes = covers.from !== undefined || covers.to !== undefined;
    switch (limit) {
      case "open":
      case "by_handler":
        return handle(call);
      case "closed":
        return outside(call, "This path cannot be limited to a part of the tenant.");
      case "by_events":
        return ofEvents(covers, call, await handle(call));
      case "by_system":
      case "by_system_alone":
        if (hasTimes) return outside(call, "This path cannot be limited to a time range.");
    }
    const url = requestUrl(call.request.url);
    const reason = limited(url, covers, { call, limit });
    if (reason !== undefined) return outside(call, reason);
    return handle({ ...call, request: new Request(url.href, call.request) });
  };

/** Narrows the parameters to what is inside. Gives the reason if they name something outside. */
const limited = (
  url: URL,
  { asset_ids: systems, from, to }: Covers,
  { call, limit }: { readonly call: Call; readonly limit: SeatLimit },
): string | undefined => {
  const { searchParams: query } = url;
  const inPath = call.params.asset_id;
  if (systems !== undefined) {
    const asked =
      inPath === undefined ? query.getAll("asset_id").flatMap(valuesIn) : inPath === null ? [] : [inPath];
    const others = asked.filter((system) => !systems.includes(system));
    if (others.length > 0) return `It covers other systems: ${systems.join(", ")}.`;
    const name = limit === "by_system_alone" ? OF_SEVERAL_SYSTEMS.find((each) => query.has(each)) : undefined;
    if (name) return `Results by ${name} may be about other systems: ask by asset_id.`;
    if (inPath === undefined) query.set("asset_id", valuesText(asked.length > 0 ? asked : systems));
  }
  if (limit !== "by_system_and_time" || (from === undefined && to === undefined)) return undefined;
  if (query.has("time_field") && query.get("time_field") !== "timestamp")
    return "It covers a range of the events' own times: omit time_field.";
  const [first, end] = [bound(query, "from", from, later), bound(query, "to", to, earlier)];
  if (first === undefined || end === undefined || timeKey(first) < timeKey(end)) return undefined;
  const [askedFrom, askedTo] = [query.get("from"), query.get("to")];
  return askedFrom === null && askedTo === null ? undefined : "It covers another time range.";
};

const OF_SEVERAL_SYSTEMS = ["correlation_id", "decision_id", "subject_hash"] as const;

/** Sets and returns the narrower of what is asked and covered. The route refuses an invalid time. */
const bound = (
  query: URLSearchParams,
  name: string,
  covered: string | undefined,
  narrower: (one: string, other: string) => string,
): string | undefined => {
  const asked = query.get(name);
  if (asked !== null && !isUtcTimestamp(asked)) return undefined;
  const time = covered === undefined || asked === null ? (asked ?? covered) : narrower(asked, covered);
  if (time !== undefined) query.set(name, time);
  return time;
};

const later = (one: string, other: string): string => (timeKey(one) > timeKey(other) ? one : other);
const earlier = (one: string, other: string): string => (timeKey(one) < timeKey(other) ? one : other);

export const isCovered = (covers: Covers, system: unknown, time: unknown): boolean => {
  if (typeof system !== "string" || typeof time !== "string" || !isUtcTimestamp(time)) return false;
  return covers.asset_ids?.includes(system) !== false && isInTime(covers, time);
};

const isInTime = ({ from, to }: Covers, time: string): boolean => {
  const at = timeKey(time);
  return (from === undefined || at >= timeKey(from)) && (to === undefined || at < timeKey(to));
};

/** One thing, whose answer holds its events. One that is gone is answered like one that never existed. */
const ofEvents = async (covers: Covers, call: Call, given: Response): Promise<Response> => {
  if (HIDDEN.has(given.status)) return hidden(call, given);
  if (!given.ok) return given;
  const text = await given.text();
  if (text === "") return hidden(call, given);
  const inside = insides(covers, text);
  if (inside.length === 0 || inside.every((each) => !each)) return hidden(call, given);
  if (inside.includes(false))
    return outside(call, "Some of its events lie outside, so it cannot be shown in full.");
  return new Response(text, { headers: given.headers });
};

const HIDDEN: ReadonlySet<number> = new Set([404, 409, 410]);

const hidden = ({ context }: Call, given: Response): Response => {
  given.body?.cancel().catch(() => {});
  return problem(context, "not_found", {
    detail: "Nothing like this is within what this key's seat covers.",
  });
};

/** Whether each event in an answer is inside; false for each entry about what is outside. */
const insides = (covers: Covers, text: string): readonly boolean[] => {
  const found: boolean[] = [];
  const look = (value: unknown): void => {
    if (Array.isArray(value)) {
      for (const each of value) look(each);
      return;
    }
    if (typeof value !== "object" || value === null) return;
    const members = new Map<string, unknown>(Object.entries(value));
    const system = members.get("asset_id");
    const isPlace = members.has("at") && members.has("sequence");
    if (members.has("timestamp")) found.push(isCovered(covers, system, members.get("timestamp")));
    // An expired event keeps its place in the timeline, but its system is unknown.
    else if (isPlace && members.get("event") === null) found.push(false);
    else if (isPlace && system !== undefined) found.push(isCovered(covers, system, members.get("at")));
    else if (typeof system === "string" && covers.asset_ids?.includes(system) === false) found.push(false);
    // A case has the times of its first and last event, even those that it does not show.
    for (const name of ["first_at", "last_at"]) {
      const time = members.get(name);
      if (typeof time === "string" && !isInTime(covers, time)) found.push(false);
    }
    for (const [name, member] of members) if (!OF_CUSTOMERS.has(name)) look(member);
  };
  look(JSON.parse(text));
  return found;
};

/** What customers put there has a meaning of theirs. */
const OF_CUSTOMERS: ReadonlySet<string> = new Set(["metadata", "tags"]);

const outside = ({ context, request }: Call, reason: string): Response => {
  return problem(context, "outside_seat", {
    detail: `The seat of this key covers only a part of the tenant. ${reason}${request.method === "GET" ? " `GET /v1/session` says what it covers." : ""}`,
  });
};

interface SeatViews {
  recorded(call: Call, handle: (call: Call) => Promise<Response> | Response): Promise<Response>;
}

/** Beyond this all are forgotten, and what is opened again is recorded again. */
const QUESTIONS_KNOWN_MAX = 10_000;
/** Parameters that change only how much is shown, and when. */
const OF_FORM: ReadonlySet<string> = new Set(["cursor", "limit", "order", "count", "min_sequence", "wait"]);

export const createSeatViews = (recorder: ActionRecorder<ViewAction>): SeatViews => {
  const known = new Map<string, Promise<boolean>>();
  const record = async (call: Call, path: string, filters: Record<string, string[]>): Promise<boolean> => {
    const { context, principal } = call;
    const recorded = await recorder.carryOut({
      by: actorOf(call),
      action: {
        type: "system.viewed",
        tenant: principal.tenant,
        details: { route: context.route, path, filters },
      },
      work: async () => ({ kind: "written" }),
    });
    return recorded.kind === "written";
  };
  const once = (call: Call): Promise<boolean> => {
    const { principal, session, request } = call;
    const { pathname, searchParams } = requestUrl(request.url.slice(pathStartOf(request.url)));
    const names = [...new Set(searchParams.keys())].filter((name) => !OF_FORM.has(name)).sort();
    const filters = Object.fromEntries(names.map((name) => [name, searchParams.getAll(name)]));
    const question = JSON.stringify([principal.keyId, session?.csrfToken, pathname, filters]);
    const before = known.get(question);
    if (before) return before;
    const now = record(call, pathname, filters);
    if (known.size >= QUESTIONS_KNOWN_MAX) known.clear();
    known.set(question, now);
    const forget = (): unknown => known.get(question) === now && known.delete(question);
    now.then((isWritten) => isWritten || forget(), forget);
    return now;
  };
  return {
    recorded: async (call, handle) => {
      const answer = await handle(call);
      // Files and bundles have an event of their own.
      if (!answer.ok || answer.headers.has("content-disposition") || (await once(call))) return answer;
      answer.body?.cancel().catch(() => {});
      return problem(call.context, "log_unavailable", { detail: NOT_RECORDED });
    },
  };
};

const NOT_RECORDED = "What this seat opens could not be recorded in the log, so nothing is shown. Retry.";

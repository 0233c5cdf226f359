/** What an auditor's seat opens is in the log before the answer is sent: once for each question and session, whatever page of it. */
import type { ActionRecorder } from "../../access/action.ts";
import type { ViewAction } from "../../access/administration/system-events.ts";
import { actorOf, type Call } from "./call.ts";
import { problem } from "./problem.ts";
import { pathStartOf, requestUrl } from "./request-url.ts";

export interface SeatViews {
  recorded(call: Call, handle: (call: Call) => Promise<Response> | Response): Promise<Response>;
}

/** Then all are forgotten, and what is opened again is recorded again. */
const QUESTIONS_KNOWN_MAX = 10_000;
/** Parameters that change how much is shown of the same, and when. */
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

const NOT_RECORDED =
  "The log did not take the record of what this seat opens, and without it nothing is shown. Ask again.";

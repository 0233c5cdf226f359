/** Shared by the answers that are files. */
import type { ActionRecorder } from "../access/action.ts";
import type { ExportAction } from "../administration/system-events.ts";
import { EXPORTS_MAX, EXPORTS_PER_KEY_MAX, EXPORTS_PER_TENANT_MAX } from "../limits.ts";
import { actorOf, type Call } from "./guard.ts";
import { problem } from "./problem.ts";

/** `20261120T100000Z`, valid in every file system. */
export const fileTime = (time: Date): string => `${time.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;

export const TOO_MANY_EXPORTS = {
  detail: `A key may have ${EXPORTS_PER_KEY_MAX} exports running at once, a tenant ${EXPORTS_PER_TENANT_MAX}, and this instance ${EXPORTS_MAX} in all.`,
};

/**
 * Call this before the first byte is sent: a reader that breaks a download off has read part of it. If the log does not take the record,
 * returns the answer that says so.
 */
export const recordDownload = async (
  recorder: ActionRecorder<ExportAction>,
  call: Call,
  taken: { readonly what: "export" | "bundle"; readonly details: ExportAction["details"] },
): Promise<Response | undefined> => {
  const { what, details } = taken;
  const recorded = await recorder.carryOut({
    by: actorOf(call),
    action: { type: "system.export_taken", tenant: call.principal.tenant, details },
    work: async () => ({ kind: "written" }),
  });
  if (recorded.kind === "written") return undefined;
  return problem(call.context, "log_unavailable", {
    detail: `The log did not take the record of this ${what}, and without it none is made. Ask again.`,
  });
};

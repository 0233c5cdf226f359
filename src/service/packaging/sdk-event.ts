/**
 * The type of an event, spelled out. A spread gets its own type, which the compiler writes down member by member. So the declarations of the SDK
 * package need neither the schema nor TypeBox. It replaces `event/audit-event` there, and is never run.
 */
import type { AuditEvent as DeclaredBySchema } from "../../event/audit-event.ts";

declare const event: DeclaredBySchema;

export const spelledOut = { ...event };

export type AuditEvent = typeof spelledOut;

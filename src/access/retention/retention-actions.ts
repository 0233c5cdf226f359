/**
 * The events that the log gets about policies and holds. The reason of a hold is free text about a customer's case, so it stays in the
 * bucket.
 */
import { Type } from "@sinclair/typebox";
import type { ActionKind, ActionOf } from "../action.ts";
import { HoldRecord, RetentionPolicy } from "./records.ts";

const { id, asset_id, correlation_id } = HoldRecord.properties;

export const RETENTION_ACTIONS = {
  "system.retention_changed": {
    summary: "A policy was set: the whole of it, as it is from now on.",
    details: Type.Object({ policy: RetentionPolicy }),
  },
  "system.hold_placed": {
    summary: "A hold was placed.",
    details: Type.Object({ hold_id: id, asset_id, correlation_id }),
  },
  "system.hold_released": {
    summary: "A hold was released.",
    details: Type.Object({ hold_id: id, asset_id, correlation_id }),
  },
} as const satisfies Readonly<Record<string, ActionKind>>;

export type RetentionAction = ActionOf<typeof RETENTION_ACTIONS>;

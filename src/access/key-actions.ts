/** The events that the log gets about keys. */
import { Type } from "@sinclair/typebox";
import type { ActionKind, ActionOf } from "./action.ts";
import { KeyView } from "./key-record.ts";

const { id, scopes, role, covers, expires_at, rate_limit } = KeyView.properties;
/** Not the person: the log never forgets, and the list of keys says whose the key is. */
const rights = { scopes, role, covers, expires_at, rate_limit };

export const KEY_ACTIONS = {
  "system.key_created": {
    summary: "A key was made.",
    details: Type.Object({ key_id: id, ...rights }),
  },
  "system.key_revoked": {
    summary: "A key was revoked.",
    details: Type.Object({ key_id: id }),
  },
  "system.key_rotated": {
    summary: "A key got a successor with the same rights, and works until `grace_until`.",
    details: Type.Object({
      key_id: id,
      replaced_by: id,
      ...rights,
      grace_until: Type.String({ description: "When the replaced key ends." }),
    }),
  },
} as const satisfies Readonly<Record<string, ActionKind>>;

export type KeyAction = ActionOf<typeof KEY_ACTIONS>;

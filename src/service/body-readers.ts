/** Readers of request bodies: one for tenants and one for the sandbox, so that a client without a key never uses a tenant's share. */

import { potBounds } from "../access/shared-pot.ts";
import { type BodyReader, createBodyReader } from "../api/http/body.ts";
import { BODY_BYTES_HELD_MAX, BODY_MS_MAX, SANDBOX_BODY_BYTES_HELD_MAX } from "../limits.ts";

export const createTenantBodies = (): BodyReader =>
  createBodyReader({ bodyMsMax: BODY_MS_MAX, ...potBounds(BODY_BYTES_HELD_MAX) });

export const createSandboxBodies = (): BodyReader =>
  createBodyReader({ bodyMsMax: BODY_MS_MAX, ...potBounds(SANDBOX_BODY_BYTES_HELD_MAX) });

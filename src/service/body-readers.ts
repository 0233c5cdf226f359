/** Who reads request bodies: one for tenants and one for the sandbox, so that nobody without a key takes a tenant's place. */
import { type BodyReader, createBodyReader } from "../http/body.ts";
import {
  BODY_BYTES_HELD_MAX,
  BODY_MS_MAX,
  HELD_SHARE_OF_ONE,
  SANDBOX_BODY_BYTES_HELD_MAX,
} from "../limits.ts";

export const createTenantBodies = (): BodyReader =>
  createBodyReader({
    bodyMsMax: BODY_MS_MAX,
    bytesHeldMax: BODY_BYTES_HELD_MAX,
    bytesPerHolderMax: BODY_BYTES_HELD_MAX * HELD_SHARE_OF_ONE,
  });

export const createSandboxBodies = (): BodyReader =>
  createBodyReader({
    bodyMsMax: BODY_MS_MAX,
    bytesHeldMax: SANDBOX_BODY_BYTES_HELD_MAX,
    bytesPerHolderMax: SANDBOX_BODY_BYTES_HELD_MAX * HELD_SHARE_OF_ONE,
  });

/** Limits on answers that stay open as long as their readers like. */
import { createOpenStreams } from "../api/http/open-streams.ts";
import {
  EXPORTS_MAX,
  EXPORTS_PER_KEY_MAX,
  EXPORTS_PER_TENANT_MAX,
  STREAMS_MAX,
  STREAMS_PER_KEY_MAX,
  STREAMS_PER_TENANT_MAX,
} from "../limits.ts";

export const createOpenAnswers = () => ({
  streams: createOpenStreams({
    perKeyMax: STREAMS_PER_KEY_MAX,
    perTenantMax: STREAMS_PER_TENANT_MAX,
    allMax: STREAMS_MAX,
  }),
  exports: createOpenStreams({
    perKeyMax: EXPORTS_PER_KEY_MAX,
    perTenantMax: EXPORTS_PER_TENANT_MAX,
    allMax: EXPORTS_MAX,
  }),
});

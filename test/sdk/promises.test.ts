/** The promises of the SDK, on Bun and without processes. test/slow/sdk-runtimes.slow.ts checks all of them on each runtime. */
import "./suite/active-span.suite.ts";
import "./suite/capture.suite.ts";
import "./suite/delivery.suite.ts";
import "./suite/elysia.suite.ts";
import "./suite/gen-ai.suite.ts";
import "./suite/outbox.suite.ts";
import "./suite/retry.suite.ts";
import "./suite/with-audit.suite.ts";

import { expect, test } from "bun:test";
import { version } from "../../package.json";
import { RISK_TIERS } from "../../src/event/risk-tiers.ts";
import * as server from "../../src/limits.ts";
import type { RiskTier } from "../../src/sdk/index.ts";
import * as sdk from "../../src/sdk/limits.ts";
import { SDK_VERSION } from "../../src/sdk/version.ts";

test("the SDK has the same limits as the service", () => {
  const { EVENT_BYTES_MAX, EVENT_DEPTH_MAX, BATCH_EVENTS_MAX, WARNINGS_MAX, CORRELATION_ID_CHARACTERS_MAX } =
    sdk;
  expect([
    EVENT_BYTES_MAX,
    EVENT_DEPTH_MAX,
    BATCH_EVENTS_MAX,
    WARNINGS_MAX,
    CORRELATION_ID_CHARACTERS_MAX,
  ]).toEqual([
    server.EVENT_BYTES_MAX,
    server.EVENT_DEPTH_MAX,
    server.BATCH_EVENTS_MAX,
    server.WARNINGS_MAX,
    server.IDENTIFIER_CHARACTERS_MAX,
  ]);
  expect(sdk.BATCH_BYTES_MAX + sdk.EVENT_BYTES_MAX).toBeLessThan(server.BATCH_BODY_BYTES_MAX);
});

test("an attempt counts as old well before the broker forgets it", () => {
  expect(sdk.RESENT_AFTER_MS + sdk.REQUEST_TIMEOUT_MS_DEFAULT).toBeLessThan(server.DUPLICATE_WINDOW_MS);
});

test("the SDK's types have exactly the risk tiers that the service accepts", () => {
  const known: Readonly<Record<RiskTier, true>> = { low: true, limited: true, high: true, prohibited: true };
  expect(Object.keys(known)).toEqual([...RISK_TIERS]);
});

test("the SDK says the version of the program", () => expect(SDK_VERSION).toBe(version));

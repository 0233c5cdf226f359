/**
 * `prooftrail-sdk`: records what an AI system does, from Node 22.13 or newer, Bun and Deno. Nothing of the server comes with it, and no package.
 */
export { type Client, createClient, createSandboxClient, type Stats } from "./client.ts";
export type {
  BatchOptions,
  ClientOptions,
  EventOptions,
  HeartbeatOptions,
  OutboxInFolder,
  OutboxInMemory,
  SandboxOptions,
  SyncPolicy,
} from "./client-options.ts";
export type {
  CaptureEvent,
  EventOf,
  EventType,
  JsonValue,
  MetadataOf,
  RiskTier,
  SharedMembers,
} from "./event.ts";
export {
  createGenAiSpanProcessor,
  type EndedSpan,
  eventFromGenAiSpan,
  type GenAiEvent,
  type GenAiMetadata,
  type GenAiSpanProcessor,
  type GenAiSpanProcessorOptions,
  metadataFromGenAi,
  type SpanAttributes,
} from "./gen-ai.ts";
export { type Hash, keyedHash, sha256 } from "./hash.ts";
export type { Synced } from "./outbox-file.ts";
export type { Captured, Recorder } from "./recorder.ts";
export type { DroppedEvent, DropReason, Problem, RejectedEvent } from "./reports.ts";
export type { Flushed } from "./sender.ts";
export type { EventWarning, Rejection } from "./service.ts";
export type { Receipt, Sent } from "./single-send.ts";
export { type CapturedEvent, createTestClient, type TestClient } from "./test-client.ts";
export type { StreamEnd } from "./watch-outcome.ts";
export { type AuditOptions, type EndedCall, type FailedCall, withAudit } from "./with-audit.ts";

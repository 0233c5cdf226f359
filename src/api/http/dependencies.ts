import type { ActionRecorder, Actor } from "../../access/action.ts";
import type {
  EvidenceAction,
  ExportAction,
  SessionAction,
  ViewAction,
  WaiverAction,
} from "../../access/administration/system-events.ts";
import type { RandomBytes } from "../../access/api-key.ts";
import type { Calendars } from "../../access/calendars.ts";
import type { KeyStore } from "../../access/key-store.ts";
import type { Keys } from "../../access/keys.ts";
import type { KeyLimiter, RateLimiter } from "../../access/rate-limit.ts";
import type { Retention } from "../../access/retention/retention.ts";
import type { FindSeat, SignInProvider, SignInSettings } from "../../access/sign-in-provider.ts";
import type { EventVocabulary } from "../../event/audit-event.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import type { LogReader } from "../../log/event-log.ts";
import type { CheckpointStore } from "../../proof/ports.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { ViewReadiness } from "../../views/kit/view-readiness.ts";
import type { ReconciliationDependencies } from "../../views/ledger/reconcile.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import type { Intake } from "../intake/intake.ts";
import type { SandboxProver } from "../sandbox/sandbox-proof.ts";
import type { BodyReader } from "./body.ts";
import type { Guard } from "./guard.ts";
import type { OpenStreams } from "./open-streams.ts";
import type { KeyedRoute } from "./route.ts";

export interface Asset {
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** By file name. The page has no other resource: it must work in a network that reaches nothing else. */
export type DocsAssets = ReadonlyMap<string, Asset>;

interface HealthReason {
  readonly id: string;
  /** A sentence or several for the operator, with what to do. */
  readonly detail: string;
  readonly isBlocking: boolean;
}

export interface Readiness {
  reasons(): Promise<readonly HealthReason[]>;
  /**
   * The same for what needs no views, such as accepting events: the views may be down or far behind. A log that is not the views' own is still
   * a reason, because it must not be written.
   */
  reasonsWithoutViews(): Promise<readonly HealthReason[]>;
}

export type AcceptedRestore =
  | {
      readonly kind: "accepted";
      readonly known_sequence: number;
      readonly restored_sequence: number;
      readonly heads_given_up: number;
      readonly heads: readonly {
        readonly tenant: string;
        readonly size: number;
        readonly root: string;
        readonly restored_size: number;
      }[];
    }
  | { readonly kind: "not_behind" }
  | { readonly kind: "view_behind" }
  | { readonly kind: "unavailable"; readonly detail: string };

export type AcceptRestore = (asked: {
  readonly by: Actor;
  readonly reason: string;
}) => Promise<AcceptedRestore>;

export interface ConsoleFiles {
  readonly script: string;
  readonly style: string;
  /** `<prooftrail-events>`, for pages of other origins. */
  readonly embed: string;
}

export interface SandboxPage {
  readonly script: string | undefined;
  readonly style: string;
}

/** Runs entirely in the browser. Every bundle contains the same page. */
export interface VerifyPage {
  readonly html: string;
  readonly policy: string;
}

export interface SignIn {
  readonly settings: SignInSettings;
  readonly provider: SignInProvider;
  readonly findSeat: FindSeat;
}

export interface HttpDependencies {
  readonly intake: Intake;
  readonly views: ViewStore;
  readonly viewReadiness: Pick<ViewReadiness, "check">;
  readonly log: LogReader;
  readonly checkpoints: CheckpointStore;
  /** First part of the origin of every tenant's log. */
  readonly serviceName: string;
  /** Ended when the service stops, before the listener waits for running requests. */
  readonly streams: OpenStreams;
  readonly exports: OpenStreams;
  readonly rules: Rules;
  readonly reconciliation: ReconciliationDependencies;
  readonly keys: Keys;
  readonly calendars: Calendars;
  readonly retention: Retention;
  readonly acceptRestore: AcceptRestore;
  readonly isLogBehind: () => boolean;
  readonly recorder: ActionRecorder<
    ExportAction | EvidenceAction | SessionAction | ViewAction | WaiverAction
  >;
  readonly keyStore: Pick<KeyStore, "get" | "admin" | "lost">;
  readonly signIn: SignIn | undefined;
  readonly vocabulary: EventVocabulary;
  readonly readiness: Readiness;
  readonly docsAssets: DocsAssets;
  readonly consoleFiles: () => Promise<ConsoleFiles | undefined>;
  readonly version: string;
  /** Proxies whose X-Forwarded-For is believed; 0 for none. */
  readonly trustedHops: number;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly limiter: KeyLimiter;
  readonly bodies: BodyReader;
  readonly sandboxPage: SandboxPage;
  readonly verifyPage: VerifyPage | undefined;
  readonly sandbox: {
    /** Each client has its own event_ids: everybody's first event is the documentation's example. */
    readonly intakeOf: (address: string) => Pick<Intake, "judgeOne" | "append">;
    readonly reader: Pick<LogReader, "read" | "lastSequence">;
    readonly limiter: RateLimiter;
    /** Separate, so that clients without a key never use a tenant's share. */
    readonly bodies: BodyReader;
    readonly prove: SandboxProver;
  };
  readonly now: () => Date;
  readonly randomBytes: RandomBytes;
  readonly newRequestId: () => string;
}

export interface Dependencies extends HttpDependencies {
  readonly guard: Guard;
  readonly route: KeyedRoute;
}

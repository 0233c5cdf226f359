/**
 * Who may set how long a tenant's events are kept, and what must not expire. The admin key may do it for every tenant, any other key for
 * its own. A hold of another tenant is answered as one that does not exist. Each change is in the log before it is made.
 */

import { createRequestCheck } from "../../event/request/check.ts";
import { HOLDS_PER_TENANT_MAX, RETENTION_UPDATE_TRIES_MAX } from "../../limits.ts";
import { createTurnsAbout, type TooManyWaiting, type TurnsAbout } from "../../runtime/turns-about.ts";
import {
  type ActionRecorder,
  type Actor,
  type ActorEnded,
  CHANGED_MEANWHILE,
  type ChangedMeanwhile,
  unlessEnded,
} from "../action.ts";
import { type OtherTenant, type Principal, reaches } from "../authenticate.ts";
import type { KeyProblem } from "../key-request.ts";
import { byPlace } from "../place.ts";
import { GENERAL_FLOOR, RETENTION_TIERS } from "./floors.ts";
import {
  ASSET_ID_EXPECTED,
  type HoldRecord,
  HoldRequest,
  type PolicyRecord,
  PolicyRequest,
  ReleaseRequest,
  type RetentionPolicy,
} from "./records.ts";
import type { RetentionAction } from "./retention-actions.ts";
import type { RetentionStore, RetentionUnavailable, RetentionWrite, StoredHold } from "./retention-store.ts";

interface RetentionProblem {
  readonly path: string;
  readonly code: KeyProblem["code"] | "below_floor";
  readonly message: string;
}

export type RetentionRefusal =
  | OtherTenant
  | { readonly kind: "invalid"; readonly problems: readonly RetentionProblem[] };

/** `record` is undefined if the tenant has no policy. */
export interface PolicyAnswer {
  readonly kind: "policy";
  readonly tenant: string;
  readonly record: PolicyRecord | undefined;
}

/** The change is not known to have been made. */
export type RetentionUndone = RetentionUnavailable | ChangedMeanwhile | TooManyWaiting | ActorEnded;

interface HoldAnswer {
  readonly kind: "hold";
  readonly hold: HoldRecord;
}

export interface KeptByTenant {
  readonly kind: "kept";
  readonly policy: RetentionPolicy;
  /** Released ones included, in no particular order. */
  readonly holds: readonly HoldRecord[];
}

type Asked<Parts> = Parts & { readonly principal: Principal };
type Changed<Parts> = Parts & { readonly by: Actor };

export interface Retention {
  policy(
    asked: Asked<{ readonly tenant: string | undefined }>,
  ): Promise<PolicyAnswer | RetentionRefusal | RetentionUnavailable>;
  /** `request` is a parsed body, see PolicyRequest. */
  setPolicy(
    asked: Changed<{ readonly request: unknown }>,
  ): Promise<PolicyAnswer | RetentionRefusal | RetentionUndone>;
  /** `request` is a parsed body, see HoldRequest. Once it is answered, nothing that the hold covers expires. */
  placeHold(
    asked: Changed<{ readonly request: unknown }>,
  ): Promise<HoldAnswer | RetentionRefusal | RetentionUnavailable>;
  /** Oldest first. */
  holds(
    asked: Asked<{ readonly tenant: string | undefined }>,
  ): Promise<
    { readonly kind: "holds"; readonly holds: readonly HoldRecord[] } | OtherTenant | RetentionUnavailable
  >;
  /**
   * `request` is a parsed body, see ReleaseRequest; undefined for none. Releasing a released hold changes nothing, writes nothing to the log and is
   * answered the same.
   */
  releaseHold(
    asked: Changed<{ readonly id: string; readonly request?: unknown }>,
  ): Promise<HoldAnswer | RetentionRefusal | { readonly kind: "not_found" } | RetentionUndone>;
  /** What decides how long the events of a tenant are kept. */
  keptBy(tenant: string): Promise<KeptByTenant | RetentionUnavailable>;
}

interface RetentionDependencies {
  readonly store: RetentionStore;
  readonly recorder: ActionRecorder<RetentionAction>;
  readonly now: () => Date;
  /** A UUID. */
  readonly newId: () => string;
}

export const createRetention = (dependencies: RetentionDependencies): Retention => {
  const turns = createTurnsAbout();
  return {
    policy: (asked) => policy(dependencies, asked),
    setPolicy: (asked) => setPolicy({ ...dependencies, turns }, asked),
    placeHold: (asked) => placeHold(dependencies, asked),
    holds: (asked) => holds(dependencies, asked),
    releaseHold: async (asked) => {
      const checked = asked.request === undefined ? NO_REASON : checkReleaseRequest(asked.request);
      if (checked.kind === "invalid") return checked;
      return turns(
        `hold ${asked.id}`,
        unlessEnded(asked.by, () => releaseHold(dependencies, { ...asked, ...checked.request })),
      );
    },
    keptBy: async (tenant) => {
      const read = await dependencies.store.read();
      if (read.kind !== "read") return read;
      const { policies, holds } = read.stored;
      return {
        kind: "kept",
        policy: policies.find((each) => each.tenant === tenant)?.policy ?? {},
        holds: holds.map(({ record }) => record).filter((hold) => hold.tenant === tenant),
      };
    },
  };
};

const policy = async (
  { store }: RetentionDependencies,
  { principal, tenant = principal.tenant }: Parameters<Retention["policy"]>[0],
): ReturnType<Retention["policy"]> => {
  if (!reaches(principal, tenant)) return otherTenant("query:tenant");
  const read = await store.read();
  if (read.kind !== "read") return read;
  return { kind: "policy", tenant, record: read.stored.policies.find((each) => each.tenant === tenant) };
};

const setPolicy = async (
  dependencies: RetentionDependencies & { readonly turns: TurnsAbout },
  { by, request }: Parameters<Retention["setPolicy"]>[0],
): ReturnType<Retention["setPolicy"]> => {
  const { principal } = by;
  const checked = checkPolicyRequest(request);
  if (checked.kind === "invalid") return checked;
  const { tenant = principal.tenant, ...policySaid } = checked.request;
  if (!reaches(principal, tenant)) return otherTenant("/tenant");
  const problems = policyProblems(policySaid);
  if (problems.length > 0) return invalid(problems);
  return dependencies.turns(
    `policy ${tenant}`,
    unlessEnded(by, () => replacePolicy(dependencies, by, tenant, policySaid)),
  );
};

const replacePolicy = async (
  { store, recorder, now }: RetentionDependencies,
  by: Actor,
  tenant: string,
  policySaid: RetentionPolicy,
): Promise<PolicyAnswer | RetentionUndone> => {
  for (let tries = 0; tries < RETENTION_UPDATE_TRIES_MAX; tries++) {
    const read = await store.read();
    if (read.kind !== "read") return nothingDone(read);
    const record: PolicyRecord = {
      tenant,
      policy: policySaid,
      updated_at: now().toISOString(),
      updated_by: by.principal.keyId,
    };
    const write = await recorder.carryOut({
      by,
      action: { type: "system.retention_changed", tenant, details: { policy: policySaid } },
      // If two policies are set at once, the one counts whose event is later in the log.
      work: () => store.putPolicy(record, read.stored.policyRevisions.get(tenant) ?? 0),
    });
    if (write.kind === "written") return { kind: "policy", tenant, record };
    if (write.kind === "unavailable") return write;
  }
  return CHANGED_MEANWHILE;
};

const placeHold = async (
  { store, recorder, now, newId }: RetentionDependencies,
  { by, request }: Parameters<Retention["placeHold"]>[0],
): ReturnType<Retention["placeHold"]> => {
  const { principal } = by;
  const checked = checkHoldRequest(request);
  if (checked.kind === "invalid") return checked;
  const { tenant = principal.tenant, ...held } = checked.request;
  if (!reaches(principal, tenant)) return otherTenant("/tenant");
  const problems = holdProblems(held);
  if (problems.length > 0) return invalid(problems);
  const read = await store.read();
  if (read.kind !== "read") return nothingDone(read);
  const active = read.stored.holds.filter(
    ({ record }) => record.tenant === tenant && record.released_at === undefined,
  );
  if (active.length >= HOLDS_PER_TENANT_MAX) {
    const message = `The tenant already has ${HOLDS_PER_TENANT_MAX} holds that are not released: release one that is needed no longer, and ask again.`;
    return invalid([{ path: "", code: "too_many", message }]);
  }
  const hold: HoldRecord = {
    id: newId(),
    tenant,
    ...held,
    created_at: now().toISOString(),
    created_by: principal.keyId,
  };
  const write = await recorder.carryOut({
    by,
    action: { type: "system.hold_placed", tenant, details: detailsOf(hold) },
    work: () => store.createHold(hold),
  });
  return write.kind === "written" ? { kind: "hold", hold } : notMade(write);
};

const holds = async (
  { store }: RetentionDependencies,
  { principal, tenant }: Parameters<Retention["holds"]>[0],
): ReturnType<Retention["holds"]> => {
  if (tenant !== undefined && !reaches(principal, tenant)) return otherTenant("query:tenant");
  const read = await store.read();
  if (read.kind !== "read") return read;
  const listed = read.stored.holds
    .map(({ record }) => record)
    .filter((hold) => reaches(principal, hold.tenant) && (tenant === undefined || hold.tenant === tenant))
    .sort(byPlace);
  return { kind: "holds", holds: listed };
};

const releaseHold = async (
  { store, recorder, now }: RetentionDependencies,
  { by, id, reason }: Changed<{ readonly id: string; readonly reason?: string | undefined }>,
): ReturnType<Retention["releaseHold"]> => {
  const { principal } = by;
  for (let tries = 0; tries < RETENTION_UPDATE_TRIES_MAX; tries++) {
    const read = await store.read();
    if (read.kind !== "read") return nothingDone(read);
    const found: StoredHold | undefined = read.stored.holds.find(({ record }) => record.id === id);
    if (!found || !reaches(principal, found.record.tenant)) return { kind: "not_found" };
    if (found.record.released_at !== undefined) return { kind: "hold", hold: found.record };
    const hold: HoldRecord = {
      ...found.record,
      released_at: now().toISOString(),
      released_by: principal.keyId,
      ...(reason !== undefined && { released_reason: reason }),
    };
    const write = await recorder.carryOut({
      by,
      action: { type: "system.hold_released", tenant: hold.tenant, details: detailsOf(hold) },
      work: () => store.updateHold(hold, found.revision),
    });
    if (write.kind === "written") return { kind: "hold", hold };
    if (write.kind === "unavailable") return write;
  }
  return CHANGED_MEANWHILE;
};

const detailsOf = ({ id, asset_id, correlation_id }: HoldRecord) => ({
  hold_id: id,
  ...(asset_id === undefined ? {} : { asset_id }),
  ...(correlation_id === undefined ? {} : { correlation_id }),
});

const checkPolicyRequest = createRequestCheck(PolicyRequest);
const checkHoldRequest = createRequestCheck(HoldRequest);
const checkReleaseRequest = createRequestCheck(ReleaseRequest);
const NO_REASON = { kind: "ok", request: { reason: undefined } } as const;

/** What a schema cannot say. */
/** A policy that is only tried: of the tenant that asks. */
export const checkPolicy = (
  request: unknown,
):
  | { readonly kind: "ok"; readonly policy: RetentionPolicy }
  | { readonly kind: "invalid"; readonly problems: readonly RetentionProblem[] } => {
  const checked = checkPolicyRequest(request);
  if (checked.kind === "invalid") return checked;
  const { tenant, ...policySaid } = checked.request;
  const message = "tenant cannot be chosen here: leave it out.";
  const problems: readonly RetentionProblem[] = [
    ...(tenant === undefined ? [] : [{ path: "/tenant", code: "invalid_value", message } as const]),
    ...policyProblems(policySaid),
  ];
  return problems.length > 0 ? { kind: "invalid", problems } : { kind: "ok", policy: policySaid };
};

const policyProblems = (said: RetentionPolicy): readonly RetentionProblem[] => [
  ...boundProblems("", said.maximum_days, said.minimum_days),
  ...RETENTION_TIERS.flatMap((tier) => {
    const own = said.tiers?.[tier];
    const hasOwn = own?.maximum_days !== undefined || own?.minimum_days !== undefined;
    if (!own || !hasOwn) return [];
    const maximum = own.maximum_days ?? said.maximum_days;
    return boundProblems(`/tiers/${tier}`, maximum, own.minimum_days ?? said.minimum_days);
  }),
];

const boundProblems = (
  path: string,
  maximum: number | undefined,
  minimum: number | undefined,
): readonly RetentionProblem[] => {
  if (maximum === undefined) return [];
  const { days, span, clause } = GENERAL_FLOOR;
  const at = `${path}/maximum_days`;
  if (maximum < days) {
    const message = `No event may expire before ${days} days (${span}): send at least ${days}. ${clause}.`;
    return [{ path: at, code: "below_floor", message }];
  }
  if (minimum === undefined || minimum <= maximum) return [];
  const message = `${at.slice(1)} is below minimum_days: send at least ${minimum}, or a lower minimum_days.`;
  return [{ path: at, code: "invalid_value", message }];
};

const holdProblems = ({ asset_id, correlation_id }: HoldRequest): readonly RetentionProblem[] => {
  if ((asset_id === undefined) === (correlation_id === undefined)) {
    return [{ path: "", code: "invalid_value", message: "Send either asset_id or correlation_id." }];
  }
  if (asset_id?.isWellFormed() ?? true) return [];
  const message = `asset_id is not valid: send ${ASSET_ID_EXPECTED}.`;
  return [{ path: "/asset_id", code: "invalid_value", message }];
};

const otherTenant = (path: string): OtherTenant => ({ kind: "other_tenant", path });

const invalid = (problems: readonly RetentionProblem[]): RetentionRefusal => ({ kind: "invalid", problems });

/** Nothing is written before the stored values are known. */
const nothingDone = ({ detail }: RetentionUnavailable): RetentionUnavailable => ({
  kind: "unavailable",
  detail: `${detail}, so nothing was done`,
});

/** The id is new, so nobody else writes there. */
const notMade = (write: Exclude<RetentionWrite, { kind: "written" }>): RetentionUnavailable =>
  write.kind === "unavailable" ? write : { kind: "unavailable", detail: "the id of the hold is taken" };

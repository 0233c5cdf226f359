/**
 * Who may set how long a tenant's events are kept, and place holds on them: the admin key for every tenant, any other key for its own. A hold of
 * another tenant looks like one that does not exist. Each change is logged before it is made. Throws LogUnavailableError if stored values cannot be
 * read. `request` is a parsed body.
 */
import { type CheckedRequest, createRequestCheck } from "../../event/request/check.ts";
import { HOLDS_PER_TENANT_MAX, RETENTION_UPDATE_TRIES_MAX } from "../../limits.ts";
import { createKeyedMutex } from "../../runtime/keyed-mutex.ts";
import type { ActionRecorder, ActionResult, Actor } from "../action.ts";
import type { RetentionAction } from "../administration/system-events.ts";
import { type Principal, reaches } from "../authenticate.ts";
import { byPlace } from "../key-record.ts";
import {
  allInvalid,
  type Invalid,
  invalid,
  type OtherTenant,
  type RefusedChange,
  undone,
  untilUnchanged,
} from "../refusal.ts";
import { GENERAL_FLOOR, RETENTION_TIERS } from "./floors.ts";
import {
  ASSET_ID_EXPECTED,
  type HoldRecord,
  HoldRequest,
  type PolicyRecord,
  PolicyRequest,
  ReleaseRequest,
  type RetentionPolicy,
  type RetentionStore,
  type StoredRetention,
} from "./records.ts";

/** `record` is undefined if the tenant has no policy. */
export interface PolicyAnswer {
  readonly kind: "policy";
  readonly tenant: string;
  readonly record: PolicyRecord | undefined;
}

interface HoldAnswer {
  readonly kind: "hold";
  readonly hold: HoldRecord;
}

interface Read {
  readonly principal: Principal;
  readonly tenant: string | undefined;
}

interface Requested {
  readonly by: Actor;
  readonly request: unknown;
}

interface Change<Answer> {
  readonly action: RetentionAction;
  readonly write: () => Promise<ActionResult>;
  readonly answer: Answer;
}

interface RetentionDependencies {
  readonly store: RetentionStore;
  readonly recorder: ActionRecorder<RetentionAction>;
  readonly now: () => Date;
  readonly newId: () => string;
}

export type Retention = ReturnType<typeof createRetention>;

export const createRetention = (dependencies: RetentionDependencies) => ({
  ...readsOf(dependencies),
  ...changesOf(dependencies),
});

const readsOf = ({ store }: RetentionDependencies) => ({
  policy: async ({ principal, tenant = principal.tenant }: Read): Promise<PolicyAnswer | RefusedChange> => {
    if (!reaches(principal, tenant)) return otherTenant("query:tenant");
    const { policies } = await store.read();
    return { kind: "policy", tenant, record: policies.find((each) => each.tenant === tenant) };
  },

  /** Oldest first. */
  holds: async ({ principal, tenant }: Read) => {
    if (tenant !== undefined && !reaches(principal, tenant)) return otherTenant("query:tenant");
    const holds = (await store.read()).holds
      .map(({ record }) => record)
      .filter((hold) => reaches(principal, hold.tenant) && (tenant ?? hold.tenant) === hold.tenant)
      .sort(byPlace);
    return { kind: "holds", holds } as const;
  },

  /** What decides how long a tenant's events are kept. Holds include released ones, in no particular order. */
  keptBy: async (tenant: string) => {
    const { policies, holds } = await store.read();
    const policy: RetentionPolicy = policies.find((each) => each.tenant === tenant)?.policy ?? {};
    return { policy, holds: holds.map(({ record }) => record).filter((hold) => hold.tenant === tenant) };
  },
});

const changesOf = ({ store, recorder, now, newId }: RetentionDependencies) => {
  const inTurn = createKeyedMutex();
  const stamp = () => now().toISOString();

  /** Retries if somebody else wrote meanwhile: of two changes at once, the one later in the log counts. */
  const change = async <Answer extends { readonly kind: string }>(
    by: Actor,
    changeOf: (stored: StoredRetention) => Change<Answer> | RefusedChange | Answer,
  ): Promise<Answer | RefusedChange> =>
    untilUnchanged<Answer | RefusedChange>(RETENTION_UPDATE_TRIES_MAX, async () => {
      const next = changeOf(await store.read());
      if (!("write" in next)) return next;
      const write = await recorder.carryOut({ by, action: next.action, work: next.write });
      return write.kind === "written" ? next.answer : undone(write);
    });

  const setPolicy = async ({ by, request }: Requested): Promise<PolicyAnswer | RefusedChange> => {
    const asked = askedOf(by.principal, checkPolicyRequest(request), policyProblems);
    if (asked.kind !== "ok") return asked;
    const { tenant, said: policy } = asked;
    return inTurn(`policy ${tenant}`, () =>
      change<PolicyAnswer>(by, ({ policyRevisions }) => {
        const record = { tenant, policy, updated_at: stamp(), updated_by: by.principal.keyId };
        return {
          action: { type: "system.retention_changed", tenant, details: { policy } },
          write: () => store.putPolicy(record, policyRevisions.get(tenant) ?? 0),
          answer: { kind: "policy", tenant, record },
        };
      }),
    );
  };

  /** Once answered, nothing that the hold covers expires. */
  const placeHold = async ({ by, request }: Requested): Promise<HoldAnswer | RefusedChange> => {
    const asked = askedOf(by.principal, checkHoldRequest(request), holdProblems);
    if (asked.kind !== "ok") return asked;
    const { tenant, said } = asked;
    return change<HoldAnswer>(by, ({ holds }) => {
      const active = holds.filter(({ record }) => record.tenant === tenant && !record.released_at);
      if (active.length >= HOLDS_PER_TENANT_MAX) return TOO_MANY_HOLDS;
      const hold = { id: newId(), tenant, ...said, created_at: stamp(), created_by: by.principal.keyId };
      return {
        action: { type: "system.hold_placed", tenant, details: detailsOf(hold) },
        write: () => store.createHold(hold),
        answer: { kind: "hold", hold },
      };
    });
  };

  /** Without a request the hold has no reason. Releasing a released hold changes and logs nothing, and is answered the same. */
  const releaseHold = async (asked: {
    readonly by: Actor;
    readonly id: string;
    readonly request?: unknown;
  }): Promise<HoldAnswer | RefusedChange> => {
    const { by, id, request } = asked;
    const checked = request === undefined ? undefined : checkReleaseRequest(request);
    if (checked?.kind === "invalid") return checked;
    const released_reason = checked?.request.reason;
    return inTurn(`hold ${id}`, () =>
      change<HoldAnswer>(by, ({ holds }) => {
        const found = holds.find(({ record }) => record.id === id);
        if (!found || !reaches(by.principal, found.record.tenant)) return { kind: "not_found" };
        const { record, revision } = found;
        if (record.released_at !== undefined) return { kind: "hold", hold: record };
        const released = { released_at: stamp(), released_by: by.principal.keyId };
        const hold = { ...record, ...released, ...(released_reason !== undefined && { released_reason }) };
        return {
          action: { type: "system.hold_released", tenant: hold.tenant, details: detailsOf(hold) },
          write: () => store.updateHold(hold, revision),
          answer: { kind: "hold", hold },
        };
      }),
    );
  };

  return { setPolicy, placeHold, releaseHold };
};

const askedOf = <Request extends { readonly tenant?: string }>(
  principal: Principal,
  checked: CheckedRequest<Request>,
  refusalOf: (said: Omit<Request, "tenant">) => Invalid | undefined,
) => {
  if (checked.kind === "invalid") return checked;
  const { tenant = principal.tenant, ...said } = checked.request;
  if (!reaches(principal, tenant)) return otherTenant("/tenant");
  return refusalOf(said) ?? ({ kind: "ok", tenant, said } as const);
};

/** A policy that is only tried, for the asking tenant. */
export const checkPolicy = (
  request: unknown,
): { readonly kind: "ok"; readonly policy: RetentionPolicy } | Invalid => {
  const checked = checkPolicyRequest(request);
  if (checked.kind === "invalid") return checked;
  const { tenant, ...policy } = checked.request;
  const wrong = policyProblems(policy);
  const chosen = tenant && invalid("/tenant", "tenant cannot be chosen here: omit it.");
  return allInvalid([chosen, wrong].flatMap((each) => each || [])) ?? { kind: "ok", policy };
};

const detailsOf = ({ id, asset_id, correlation_id }: HoldRecord) => ({
  hold_id: id,
  ...(asset_id !== undefined && { asset_id }),
  ...(correlation_id !== undefined && { correlation_id }),
});

const checkPolicyRequest = createRequestCheck(PolicyRequest);
const checkHoldRequest = createRequestCheck(HoldRequest);
const checkReleaseRequest = createRequestCheck(ReleaseRequest);

const policyProblems = (said: RetentionPolicy): Invalid | undefined => {
  const general = boundProblem("", said.maximum_days, said.minimum_days);
  const ofTiers = RETENTION_TIERS.map((tier) => {
    const { maximum_days, minimum_days } = said.tiers?.[tier] ?? {};
    if (maximum_days === undefined && minimum_days === undefined) return undefined;
    const [maximum, minimum] = [maximum_days ?? said.maximum_days, minimum_days ?? said.minimum_days];
    return boundProblem(`/tiers/${tier}`, maximum, minimum);
  });
  return allInvalid([general, ...ofTiers].flatMap((each) => each ?? []));
};

const boundProblem = (
  path: string,
  maximum: number | undefined,
  minimum: number | undefined,
): Invalid | undefined => {
  if (maximum === undefined) return undefined;
  const { days, span, clause } = GENERAL_FLOOR;
  const at = `${path}/maximum_days`;
  if (maximum < days)
    return invalid(
      at,
      `No event may expire before ${days} days (${span}): send at least ${days}. ${clause}.`,
      "below_floor",
    );
  if (minimum === undefined || minimum <= maximum) return undefined;
  return invalid(
    at,
    `${at.slice(1)} is below minimum_days: send at least ${minimum}, or a lower minimum_days.`,
  );
};

const holdProblems = ({ asset_id, correlation_id }: HoldRequest): Invalid | undefined => {
  if ((asset_id === undefined) === (correlation_id === undefined))
    return invalid("", "Send either asset_id or correlation_id.");
  return (asset_id?.isWellFormed() ?? true)
    ? undefined
    : invalid("/asset_id", `asset_id is not valid: send ${ASSET_ID_EXPECTED}.`);
};

const TOO_MANY_HOLDS = invalid(
  "",
  `The tenant already has ${HOLDS_PER_TENANT_MAX} unreleased holds: release one that is no longer needed, and retry.`,
  "too_many",
);

const otherTenant = (path: string): OtherTenant => ({ kind: "other_tenant", path });

/**
 * Decides who may set how long a tenant's events are kept, and what must not expire. The admin key may for every tenant, any other key for its own; a
 * hold of another tenant is answered like one that does not exist. Each change is in the log before it is made. What needs the stored values throws
 * LogUnavailableError where they cannot be read.
 */

import { type CheckedRequest, createRequestCheck } from "../../event/request/check.ts";
import { HOLDS_PER_TENANT_MAX, RETENTION_UPDATE_TRIES_MAX } from "../../limits.ts";
import { createKeyedMutex, type TooManyWaiting } from "../../runtime/keyed-mutex.ts";
import {
  type ActionRecorder,
  type ActionResult,
  type Actor,
  CHANGED_MEANWHILE,
  type ChangedMeanwhile,
} from "../action.ts";
import { type OtherTenant, type Principal, reaches } from "../authenticate.ts";
import type { KeyProblem } from "../key-request.ts";
import { byPlace } from "../list-order.ts";
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
import type { RetentionStore, RetentionUnavailable, StoredRetention } from "./retention-store.ts";

interface RetentionProblem {
  readonly path: string;
  readonly code: KeyProblem["code"] | "below_floor";
  readonly message: string;
}

interface Invalid {
  readonly kind: "invalid";
  readonly problems: readonly RetentionProblem[];
}

export type RetentionRefusal = OtherTenant | Invalid;

/** `record` is undefined if the tenant has no policy. */
export interface PolicyAnswer {
  readonly kind: "policy";
  readonly tenant: string;
  readonly record: PolicyRecord | undefined;
}

/** The change is not known to have been made. */
export type RetentionUndone = RetentionUnavailable | ChangedMeanwhile | TooManyWaiting;

interface HoldAnswer {
  readonly kind: "hold";
  readonly hold: HoldRecord;
}

interface NotFound {
  readonly kind: "not_found";
}

type Asked<Parts> = Parts & { readonly principal: Principal };
type Changed<Parts> = Parts & { readonly by: Actor };
type Tenant = { readonly tenant: string | undefined };

/** A change that follows from the stored values. */
interface Change<Answer> {
  readonly action: RetentionAction;
  readonly write: () => Promise<ActionResult>;
  /** Given if it is written. */
  readonly answer: Answer;
}

interface RetentionDependencies {
  readonly store: RetentionStore;
  readonly recorder: ActionRecorder<RetentionAction>;
  readonly now: () => Date;
  /** A UUID. */
  readonly newId: () => string;
}

export type Retention = ReturnType<typeof createRetention>;

export const createRetention = (dependencies: RetentionDependencies) => ({
  ...readsOf(dependencies),
  ...changesOf(dependencies),
});

const readsOf = ({ store }: RetentionDependencies) => ({
  policy: async (asked: Asked<Tenant>): Promise<PolicyAnswer | RetentionRefusal> => {
    const { principal, tenant = principal.tenant } = asked;
    if (!reaches(principal, tenant)) return otherTenant("query:tenant");
    const { policies } = await store.read();
    return { kind: "policy", tenant, record: policies.find((each) => each.tenant === tenant) };
  },

  /** Oldest first. */
  holds: async (
    asked: Asked<Tenant>,
  ): Promise<{ readonly kind: "holds"; readonly holds: readonly HoldRecord[] } | OtherTenant> => {
    const { principal, tenant } = asked;
    if (tenant !== undefined && !reaches(principal, tenant)) return otherTenant("query:tenant");
    const holds = (await store.read()).holds
      .map(({ record }) => record)
      .filter((hold) => reaches(principal, hold.tenant) && (tenant ?? hold.tenant) === hold.tenant)
      .sort(byPlace);
    return { kind: "holds", holds };
  },

  /** What decides how long the events of a tenant are kept. Holds with released ones, in no particular order. */
  keptBy: async (
    tenant: string,
  ): Promise<{ readonly policy: RetentionPolicy; readonly holds: readonly HoldRecord[] }> => {
    const { policies, holds } = await store.read();
    return {
      policy: policies.find((each) => each.tenant === tenant)?.policy ?? {},
      holds: holds.map(({ record }) => record).filter((hold) => hold.tenant === tenant),
    };
  },
});

const changesOf = ({ store, recorder, now, newId }: RetentionDependencies) => {
  const inTurn = createKeyedMutex();
  const stamp = () => now().toISOString();

  /** Again where somebody else wrote meanwhile: of two changes at once the one counts whose event is later in the log. */
  const change = async <Answer extends { readonly kind: string }>(
    by: Actor,
    changeOf: (stored: StoredRetention) => Change<Answer> | Answer,
  ): Promise<Answer | RetentionUndone> => {
    for (let tries = 0; tries < RETENTION_UPDATE_TRIES_MAX; tries++) {
      const next = changeOf(await store.read());
      if (!("write" in next)) return next;
      const write = await recorder.carryOut({ by, action: next.action, work: next.write });
      if (write.kind === "written") return next.answer;
      if (write.kind === "unavailable") return write;
    }
    return CHANGED_MEANWHILE;
  };

  /** `request` is a parsed body, see PolicyRequest. */
  const setPolicy = async (
    asked: Changed<{ readonly request: unknown }>,
  ): Promise<PolicyAnswer | RetentionRefusal | RetentionUndone> => {
    const { by, request } = asked;
    const checked = askedOf(by.principal, checkPolicyRequest(request), policyProblems);
    if (checked.kind !== "ok") return checked;
    const { tenant, said: policy } = checked;
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

  /** `request` is a parsed body, see HoldRequest. Once it is answered, nothing that the hold covers expires. */
  const placeHold = async (
    asked: Changed<{ readonly request: unknown }>,
  ): Promise<HoldAnswer | RetentionRefusal | RetentionUndone> => {
    const { by, request } = asked;
    const checked = askedOf(by.principal, checkHoldRequest(request), holdProblems);
    if (checked.kind !== "ok") return checked;
    const { tenant, said } = checked;
    return change<HoldAnswer | Invalid>(by, ({ holds }) => {
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

  /**
   * `request` is a parsed body, see ReleaseRequest; undefined for none. Releasing a released hold changes nothing, writes nothing to the log and is answered
   * the same.
   */
  const releaseHold = async (
    asked: Changed<{ readonly id: string; readonly request?: unknown }>,
  ): Promise<HoldAnswer | RetentionRefusal | NotFound | RetentionUndone> => {
    const { by, id, request } = asked;
    const checked = request === undefined ? NO_REASON : checkReleaseRequest(request);
    if (checked.kind === "invalid") return checked;
    const { reason: released_reason } = checked.request;
    return inTurn(`hold ${id}`, () =>
      change<HoldAnswer | NotFound>(by, ({ holds }) => {
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

/** The tenant that is asked for and what is said of it, or why that is refused. */
const askedOf = <Request extends { readonly tenant?: string }>(
  principal: Principal,
  checked: CheckedRequest<Request>,
  problemsOf: (said: Omit<Request, "tenant">) => readonly RetentionProblem[],
) => {
  if (checked.kind === "invalid") return checked;
  const { tenant = principal.tenant, ...said } = checked.request;
  if (!reaches(principal, tenant)) return otherTenant("/tenant");
  const problems = problemsOf(said);
  return problems.length > 0
    ? ({ kind: "invalid", problems } as const)
    : ({ kind: "ok", tenant, said } as const);
};

/** A policy that is only tried: of the tenant that asks. */
export const checkPolicy = (
  request: unknown,
): { readonly kind: "ok"; readonly policy: RetentionPolicy } | Invalid => {
  const checked = checkPolicyRequest(request);
  if (checked.kind === "invalid") return checked;
  const { tenant, ...policy } = checked.request;
  const message = "tenant cannot be chosen here: leave it out.";
  const problems: readonly RetentionProblem[] = [
    ...(tenant === undefined ? [] : [{ path: "/tenant", code: "invalid_value", message } as const]),
    ...policyProblems(policy),
  ];
  return problems.length > 0 ? { kind: "invalid", problems } : { kind: "ok", policy };
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

const policyProblems = (said: RetentionPolicy): readonly RetentionProblem[] => [
  ...boundProblems("", said.maximum_days, said.minimum_days),
  ...RETENTION_TIERS.flatMap((tier) => {
    const { maximum_days, minimum_days } = said.tiers?.[tier] ?? {};
    if (maximum_days === undefined && minimum_days === undefined) return [];
    const [maximum, minimum] = [maximum_days ?? said.maximum_days, minimum_days ?? said.minimum_days];
    return boundProblems(`/tiers/${tier}`, maximum, minimum);
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
  if ((asset_id === undefined) === (correlation_id === undefined))
    return [{ path: "", code: "invalid_value", message: "Send either asset_id or correlation_id." }];
  if (asset_id?.isWellFormed() ?? true) return [];
  const message = `asset_id is not valid: send ${ASSET_ID_EXPECTED}.`;
  return [{ path: "/asset_id", code: "invalid_value", message }];
};

const TOO_MANY_HOLDS: Invalid = {
  kind: "invalid",
  problems: [
    {
      path: "",
      code: "too_many",
      message: `The tenant already has ${HOLDS_PER_TENANT_MAX} holds that are not released: release one that is needed no longer, and ask again.`,
    },
  ],
};

const otherTenant = (path: string): OtherTenant => ({ kind: "other_tenant", path });

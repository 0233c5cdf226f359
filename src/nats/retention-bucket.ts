/** Policies and holds: `policy.<tenant>` and `hold.<tenant>.<id>`. Each read asks the stream's leader, because a hold must count at once. */
import { RETENTION_BUCKET } from "../../streams/subjects.ts";
import {
  asHoldRecord,
  asPolicyRecord,
  type HoldRecord,
  type PolicyRecord,
  type RetentionStore,
} from "../access/retention/records.ts";
import { LogUnavailableError } from "../log/event-log.ts";
import { describeError } from "./api-errors.ts";
import { type BucketDependencies, openBucket } from "./bucket.ts";

type Value =
  | { readonly kind: "policy"; readonly record: PolicyRecord }
  | { readonly kind: "hold"; readonly record: HoldRecord };

const parse = (key: string, stored: unknown): Value | undefined => {
  const [kind, tenant = "", id, ...rest] = key.split(".");
  if (kind === "policy" && id === undefined) {
    const record = asPolicyRecord(stored, tenant);
    return record && { kind, record };
  }
  const record =
    kind === "hold" && id !== undefined && rest.length === 0 ? asHoldRecord(stored, tenant, id) : undefined;
  return record && { kind: "hold", record };
};

const policyKey = (tenant: string): string => `policy.${tenant}`;
const holdKey = ({ tenant, id }: HoldRecord): string => `hold.${tenant}.${id}`;

export const createRetentionBucket = (dependencies: BucketDependencies): RetentionStore => {
  const bucket = openBucket(dependencies, RETENTION_BUCKET, parse);
  return {
    read: async () => {
      const { entries } = await bucket.refresh().catch((error: unknown) => {
        throw new LogUnavailableError(`Policies and holds could not be read: ${describeError(error)}.`);
      });
      const policies: PolicyRecord[] = [];
      const policyRevisions = new Map<string, number>();
      const holds: { record: HoldRecord; revision: number }[] = [];
      for (const [key, { value, revision }] of entries) {
        if (key.startsWith("policy.")) policyRevisions.set(key.slice("policy.".length), revision);
        if (value?.kind === "policy") policies.push(value.record);
        if (value?.kind === "hold") holds.push({ record: value.record, revision });
      }
      return { policies, policyRevisions, holds };
    },
    putPolicy: (record, revision) => bucket.put(policyKey(record.tenant), record, revision),
    createHold: (record) => bucket.put(holdKey(record), record, 0),
    updateHold: (record, revision) => bucket.put(holdKey(record), record, revision),
  };
};

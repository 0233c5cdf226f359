/** How an operator changes the rules of obligations. Pure: turns JSON text into rules, or into all of its problems. */
import type { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { oneOf } from "../../event/check.ts";
import { isUtcTimestamp } from "../../event/formats.ts";
import { createRequestCheck } from "../../event/request/check.ts";
import { LATE_RECORD_GRACE_MS_DEFAULT } from "../../limits.ts";
import { DEADLINE_IDS, DEADLINES, VERSION_BYTES } from "./deadline-table.ts";
import { isZone } from "./due-date.ts";
import type { Rules } from "./obligation.ts";

/** Ten years of days: refuses a typo, and no limit that a law has. */
const LIMIT_COUNT_MAX = 3660;

const LimitSchema = Type.Object(
  {
    count: Type.Integer({ minimum: 0, maximum: LIMIT_COUNT_MAX }),
    unit: oneOf(["days", "business_days", "months"]),
  },
  { additionalProperties: false },
);

const RuleOverride = Type.Object(
  { limit: Type.Optional(LimitSchema), zone: Type.Optional(Type.String()) },
  { additionalProperties: false },
);

const ChangedRules = Type.Object(
  Object.fromEntries(DEADLINE_IDS.map((id) => [id, Type.Optional(Type.Union([RuleOverride, Type.Null()]))])),
  { additionalProperties: false },
);

const Overrides = Type.Object(
  {
    holidays: Type.Optional(
      Type.Array(
        Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", "x-expects": "a date such as 2026-12-25" }),
      ),
    ),
    rules: Type.Optional(ChangedRules),
    deadlines: Type.Optional(ChangedRules),
  },
  { additionalProperties: false },
);

const checkOverrides = createRequestCheck(Overrides);

export type ReadRules =
  | { readonly kind: "rules"; readonly rules: Rules; readonly version: number }
  | { readonly kind: "invalid"; readonly errors: readonly string[] };

export const STANDARD_RULES: Rules = {
  deadlines: DEADLINES,
  holidays: new Set(),
  lateRecordGraceMs: LATE_RECORD_GRACE_MS_DEFAULT,
  version: 0,
};

export const readRules = (
  text: string,
  lateRecordGraceMs: number = LATE_RECORD_GRACE_MS_DEFAULT,
): ReadRules => {
  const value = parse(text);
  if (value === undefined) return { kind: "invalid", errors: ["it is not JSON"] };
  const checked = checkOverrides(value);
  if (checked.kind === "invalid")
    return {
      kind: "invalid",
      errors: checked.problems.map(({ path, code, message }) =>
        (code === "unknown_field" ? `${path}: ${message}` : message).replace(/\.$/, ""),
      ),
    };
  const { holidays = [], rules, deadlines: formerRules } = checked.request;
  const name = rules === undefined ? "deadlines" : "rules";
  const changed = rules ?? formerRules ?? {};
  const zones = Object.entries(changed).flatMap(([id, override]) =>
    override?.zone !== undefined && !isZone(override.zone)
      ? [`/${name}/${id}/zone: there is no such zone`]
      : [],
  );
  const twice =
    rules !== undefined && formerRules !== undefined
      ? ["/deadlines: this is the former name of rules: send one of the two"]
      : [];
  const dates = holidays.flatMap((date, index) =>
    isUtcTimestamp(`${date}T00:00:00Z`) ? [] : [`/holidays/${index}: there is no such date`],
  );
  const wrong = [...twice, ...dates, ...zones];
  if (wrong.length > 0) return { kind: "invalid", errors: wrong };
  const found = {
    lateRecordGraceMs,
    holidays: new Set(holidays),
    deadlines: DEADLINES.flatMap((deadline) => {
      const override: Static<typeof RuleOverride> | null | undefined = changed[deadline.id];
      return override === null ? [] : [{ ...deadline, ...override }];
    }),
  };
  const version = versionOf(found);
  return { kind: "rules", rules: { ...found, version }, version };
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const fingerprintOf = ({ deadlines, holidays, lateRecordGraceMs }: Omit<Rules, "version">): Buffer => {
  const text = JSON.stringify([deadlines, [...holidays].sort(), lateRecordGraceMs]);
  return createHash("sha256").update(text).digest();
};

/** Other rules make other rows in the views. 0 is the unchanged table. */
const versionOf = (rules: Omit<Rules, "version">): number => {
  const print = fingerprintOf(rules);
  return print.equals(fingerprintOf(STANDARD_RULES)) ? 0 : print.readUIntBE(0, VERSION_BYTES);
};

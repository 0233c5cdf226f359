/** The policy of retention: what it is, and changing it after what would expire was shown. */
import { useState } from "preact/hooks";
import { type Answer, ask, change, type List } from "../api.ts";
import { dateOf, numberOf } from "../language.ts";
import { say } from "../words.ts";
import { FormDialog, type FormField, RequestForm } from "./request-form.tsx";

interface Bounds {
  readonly maximum_days?: number;
  readonly minimum_days?: number;
}

export interface Policy extends Bounds {
  readonly tiers?: Readonly<Record<string, Bounds>>;
}

interface Asked {
  readonly policy: object;
  readonly expiring: NonNullable<List<unknown>["count"]>;
}

const boundFields = (path: string, bounds: Bounds = {}, group: { readonly group?: string } = {}) =>
  (["maximum_days", "minimum_days"] as const).map(
    (name): FormField => ({
      ...{ path: `${path}/${name}`, title: say(`policy_${name}`), kind: "number", value: bounds[name] },
      ...group,
    }),
  );

export const PolicyForm = (props: {
  readonly tenant: string;
  readonly policy: Policy;
  readonly updatedAt: string | null;
  readonly tiers: readonly (readonly [tier: string, name: string])[];
  readonly onChange: () => void;
}) => {
  const { tenant, policy, updatedAt, tiers, onChange } = props;
  const [asked, setAsked] = useState<Asked>();
  /** The service says what is wrong with the policy, and how much it would let expire. */
  const prepare = async (wanted: object): Promise<Answer<unknown>> => {
    const answer = await ask<List<unknown>>("v1/retention/expiring", {
      ...{ policy: JSON.stringify(wanted), to: new Date().toISOString(), limit: "1", count: "true" },
    });
    if (answer.kind === "failed") {
      const errors = answer.errors?.map((error) => ({
        ...error,
        path: error.path.replace(/^query:policy/, ""),
      }));
      return { ...answer, ...(errors && { errors }) };
    }
    if (answer.body.count) setAsked({ policy: wanted, expiring: answer.body.count });
    return answer;
  };
  return (
    <section>
      <h2>{say("policy")}</h2>
      <p class="quiet">
        {updatedAt === null ? say("policy_none") : say("policy_since", { t: dateOf(updatedAt) })}{" "}
        {say("policy_lede")}
      </p>
      <RequestForm
        fields={[
          ...boundFields("", policy),
          ...tiers.flatMap(([tier, name]) =>
            boundFields(`/tiers/${tier}`, policy.tiers?.[tier], { group: name }),
          ),
        ]}
        word="policy_change"
        send={prepare}
      />
      {asked && (
        <FormDialog
          title={say("policy_confirm")}
          says={[expiryText(asked), say("policy_holds")]}
          word="policy_change"
          send={() => change("v1/retention", { tenant, ...asked.policy }, "PUT")}
          onDone={onChange}
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  );
};

const expiryText = ({ policy, expiring: { value, exact } }: Asked): string => {
  if (Object.keys(policy).length === 0) return say("policy_endless");
  if (value === 0) return say("policy_expires_none");
  return say(exact ? "policy_expires" : "policy_expires_more", { n: numberOf(value) });
};

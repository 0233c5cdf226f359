/** How long events are kept and why, holds, and what expires next: three views of one screen. */
import { useState } from "preact/hooks";
import { addressOf, place } from "../address.ts";
import type { Hold } from "../answers.ts";
import { change, type One, useAnswer } from "../api.ts";
import { labelOf, lawText } from "../labels.ts";
import { numberOf } from "../language.ts";
import { type Column, ListScreen, type ListSpec } from "../parts/list.tsx";
import { Answered } from "../parts/page-states.tsx";
import { type Policy, PolicyForm } from "../parts/policy-form.tsx";
import { FormDialog, RequestForm } from "../parts/request-form.tsx";
import { Id, Label, System, YearTime } from "../parts/said.tsx";
import { session } from "../session.ts";
import { knownSystems } from "../systems.ts";
import { say, type Word } from "../words.ts";

const VIEWS = { ages: "how_long", holds: "holds", expiring: "expires_next" } as const;
type View = keyof typeof VIEWS;
const VIEW_NAMES: readonly View[] = ["ages", "holds", "expiring"];

const viewOf = (): View => {
  const asked = place.value.parameters.get("view");
  return VIEW_NAMES.find((name) => name === asked) ?? "ages";
};

const Views = () => (
  <nav class="actions" aria-label={say("retention")}>
    {VIEW_NAMES.map((name) => (
      <a
        key={name}
        href={addressOf("retention", { view: name === "ages" ? undefined : name })}
        aria-current={name === viewOf() ? "page" : undefined}
      >
        {say(VIEWS[name])}
      </a>
    ))}
  </nav>
);

export const RetentionScreen = () => {
  const tenant = session.value instanceof Object ? session.value.tenant : "";
  const view = viewOf();
  if (view === "holds") return <Holds key={view} tenant={tenant} />;
  if (view === "expiring") return <ListScreen key={view} spec={EXPIRING} />;
  return <Ages tenant={tenant} />;
};

interface Retention {
  readonly policy: Policy;
  readonly updated_at: string | null;
  readonly ages: readonly {
    readonly risk_tier: string;
    readonly legal_basis: string | null;
    readonly days: number | null;
    readonly reason: { readonly code: keyof typeof REASONS; readonly text: string };
  }[];
  readonly floors: readonly {
    readonly legal_basis: string | null;
    readonly minimum_days: number;
    readonly clause: string;
  }[];
}

const REASONS = {
  law: "kept_by_law",
  tier_default: "kept_by_tier",
  policy_minimum: "kept_by_minimum",
  policy_maximum: "kept_by_maximum",
  no_maximum: "kept_no_maximum",
} as const satisfies Readonly<Record<string, Word>>;

/** The star stands for every article. */
const lawName = (name: string | null): string => {
  if (name === null) return say("no_law");
  return name === "eu_ai_act_*" ? say("eu_ai_act") : labelOf("laws", name);
};

const tierName = (tier: string): string =>
  tier === "unknown" ? say("no_tier") : labelOf("risk_tiers", tier);

const Ages = ({ tenant }: { readonly tenant: string }) => {
  const retention = useAnswer<One<Retention>>("v1/retention", { tenant });
  return (
    <>
      <h1>{say("retention")}</h1>
      <p class="lede">{say("retention_lede")}</p>
      <Views />
      <Answered asked={retention}>
        {({ data }) => (
          <>
            <Matrix {...data} />
            <PolicyForm
              key={data.updated_at}
              tenant={tenant}
              policy={data.policy}
              updatedAt={data.updated_at}
              tiers={[...new Set(data.ages.map(({ risk_tier }) => risk_tier))].map((tier) => [
                tier,
                tierName(tier),
              ])}
              onChange={retention.again}
            />
          </>
        )}
      </Answered>
    </>
  );
};

const Matrix = ({ ages, floors }: Pick<Retention, "ages" | "floors">) => {
  const tiers = [...new Set(ages.map(({ risk_tier }) => risk_tier))];
  return (
    <section class="scroll" aria-label={say("how_long")} tabindex={0}>
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">{say("risk")}</th>
            {floors.map(({ legal_basis, minimum_days, clause }) => (
              <th key={legal_basis} scope="col">
                {lawName(legal_basis)}
                <small>{lawText(clause)}</small>
                <small>{say("at_least_days", { n: numberOf(minimum_days) })}</small>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tiers.map((tier) => (
            <tr key={tier}>
              <th scope="row">{tierName(tier)}</th>
              {ages
                .filter(({ risk_tier }) => risk_tier === tier)
                .map(({ legal_basis, days, reason }) => (
                  <td key={legal_basis} title={reason.text}>
                    <strong>{days === null ? say("kept") : say("n_days", { n: numberOf(days) })}</strong>
                    <small>{say(REASONS[reason.code])}</small>
                  </td>
                ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

const HOLD_COLUMNS: readonly Column<Hold>[] = [
  {
    id: "on",
    title: "hold_on",
    cell: ({ asset_id, correlation_id }) =>
      correlation_id === undefined ? (
        <System id={asset_id} />
      ) : (
        <a href={addressOf("events", { correlation_id })}>
          {say("case")} <Id id={correlation_id} />
        </a>
      ),
  },
  {
    id: "reason",
    title: "reason",
    cell: ({ reason }) => (
      <span dir="auto" class="breaks">
        {reason}
      </span>
    ),
  },
  { id: "placed", title: "placed", isWide: true, cell: ({ created_at }) => <YearTime at={created_at} /> },
  { id: "by", title: "made_by", isExtra: true, cell: ({ created_by }) => <Id id={created_by} /> },
  {
    id: "state",
    title: "state",
    cell: ({ released_at, released_reason }) =>
      released_at === undefined ? (
        <span class="state soon">{say("on_hold")}</span>
      ) : (
        <>
          <span class="state waived">{say("released")}</span>
          <small dir="auto">
            <YearTime at={released_at} /> {released_reason}
          </small>
        </>
      ),
  },
];

const holdName = ({ asset_id, correlation_id }: Hold): string => correlation_id ?? asset_id ?? "";

const Holds = ({ tenant }: { readonly tenant: string }) => {
  const [asked, setAsked] = useState<Hold>();
  const [version, setVersion] = useState(0);
  const done = (): void => setVersion(version + 1);
  const spec: ListSpec<Hold> = {
    path: "v1/holds",
    title: "retention",
    filters: [
      { name: "from", title: "from", kind: "day" },
      { name: "to", title: "to", kind: "day" },
    ],
    fixed: { tenant },
    columns: [
      ...HOLD_COLUMNS,
      {
        id: "actions",
        title: "actions",
        cell: (hold) =>
          hold.released_at === undefined && (
            <button type="button" class="quiet-button" onClick={() => setAsked(hold)}>
              {say("release")}
              <span class="unseen"> {holdName(hold)}</span>
            </button>
          ),
      },
    ],
    rowId: ({ id }) => id,
    above: () => (
      <>
        <Views />
        <PlaceHold tenant={tenant} onChange={done} />
      </>
    ),
    empty: () => <p>{say("holds_none")}</p>,
  };
  return (
    <>
      <ListScreen spec={spec} version={version} />
      {asked && (
        <FormDialog
          title={say("release_head", { n: holdName(asked) })}
          says={[say("release_lede")]}
          fields={[{ path: "/reason", title: say("release_reason"), isRequired: true }]}
          word="release"
          send={(body) => change(`v1/holds/${asked.id}/release`, body)}
          onDone={done}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
};

const PlaceHold = ({ tenant, onChange }: { readonly tenant: string; readonly onChange: () => void }) => {
  const [placed, setPlaced] = useState(0);
  return (
    <details class="record">
      <summary>{say("hold_place")}</summary>
      <p class="quiet">{say("hold_lede")}</p>
      <RequestForm
        // Emptied by being another form.
        key={placed}
        fields={[
          {
            ...{ path: "/asset_id", title: say("system"), kind: "choice" },
            choices: [["", say("record_choose")], ...knownSystems()],
          },
          { path: "/correlation_id", title: say("hold_on_a_case"), hint: "case_hint" },
          { path: "/reason", title: say("hold_reason"), isRequired: true },
        ]}
        word="hold_place"
        send={async (body) => {
          const answer = await change("v1/holds", { tenant, ...body });
          if (answer.kind === "failed") return answer;
          setPlaced(placed + 1);
          onChange();
          return answer;
        }}
      />
    </details>
  );
};

interface Expiring {
  readonly event_id: string;
  readonly event_type: string;
  readonly asset_id: string;
  readonly risk_tier: string;
  readonly legal_basis: string | null;
  readonly counted_from: string;
  readonly expires_at: string;
  readonly on_hold: boolean;
}

const EXPIRING: ListSpec<Expiring> = {
  path: "v1/retention/expiring",
  title: "retention",
  filters: [
    { name: "from", title: "from", kind: "day" },
    { name: "to", title: "to", kind: "day" },
  ],
  fixed: { order: "asc" },
  columns: [
    {
      id: "expires",
      title: "expires",
      cell: ({ expires_at, on_hold }) => (
        <>
          <YearTime at={expires_at} />
          {on_hold && <small class="note">{say("kept_by_hold")}</small>}
        </>
      ),
    },
    {
      id: "event",
      title: "event",
      cell: ({ event_id, event_type }) => (
        <a href={addressOf("event", { id: event_id })}>
          <Label kind="event_types" name={event_type} />
        </a>
      ),
    },
    { id: "system", title: "system", cell: ({ asset_id }) => <System id={asset_id} /> },
    { id: "tier", title: "risk", isWide: true, cell: ({ risk_tier }) => tierName(risk_tier) },
    { id: "law", title: "law", isWide: true, cell: ({ legal_basis }) => lawName(legal_basis) },
    {
      id: "counted",
      title: "counted_from",
      isExtra: true,
      cell: ({ counted_from }) => <YearTime at={counted_from} />,
    },
  ],
  rowId: ({ event_id }) => event_id,
  above: () => <Views />,
  empty: () => <p>{say("expiring_none")}</p>,
};

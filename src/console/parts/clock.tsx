/** How much of an obligation's time is used up, and what it rests on. */
import { useState } from "preact/hooks";
import { addressOf } from "../address.ts";
import type { Obligation } from "../answers.ts";
import { change } from "../api.ts";
import { labelOf, lawText, zoneOfRule } from "../labels.ts";
import { dateOf, dayOf, zoneOf } from "../language.ts";
import { may } from "../session.ts";
import { say } from "../words.ts";
import { AnswerLinks } from "./obligation.tsx";
import { State } from "./said.tsx";

const ALL = 100;

/** Percent of the time between start and due at which it stopped, or now. */
const usedUp = ({ started_at, due_at, stopped_at }: Obligation): number => {
  const [start, due, end] = [started_at, due_at, stopped_at ?? new Date().toISOString()].map(Date.parse);
  if (start === undefined || due === undefined || end === undefined || due <= start) return ALL;
  return Math.round(Math.min(1, Math.max(0, (end - start) / (due - start))) * ALL);
};

export const Clock = ({
  obligation,
  onChange,
}: {
  readonly obligation: Obligation;
  /** Called when the reader has changed it. */
  readonly onChange: () => void;
}) => {
  const { rule, state, clause, started_by, due_at, duty, ruleset_version } = obligation;
  const zone = zoneOfRule(rule);
  const used = usedUp(obligation);
  return (
    <div class="clock">
      <p>
        <State kind="obligation_states" name={state} />{" "}
        <span title={`${rule}: ${duty}`}>{labelOf("rules", rule)}</span>
      </p>
      <svg class={`track ${state}`} viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect width={ALL} height="8" />
        <rect class="used" width={used} height="8" />
      </svg>
      <small class="ends">
        <a href={addressOf("event", { id: started_by })}>
          {say("clock_started", { t: dayOf(obligation.started_at, zone) })}
        </a>
        <span title={`${due_at}, ${zone}`}>
          {say("due_on", { t: dateOf(due_at, zone), z: zoneOf(zone) })}
        </span>
      </small>
      <small title={say("ruleset", { v: ruleset_version })}>
        {lawText(clause)}
        {obligation.extensions > 0 && ` · ${say("extended_n", { n: obligation.extensions })}`}
      </small>
      <Stopped obligation={obligation} />
      <AnswerLinks obligation={obligation} />
      {WAIVABLE.includes(state) && may("obligations:waive") && (
        <WaiveForm obligation={obligation} onChange={onChange} />
      )}
    </div>
  );
};

const WAIVABLE: readonly string[] = ["open", "extended", "due_soon", "overdue", "breached"];

/** A waiver is an event with a reason. The obligation stays in every list, as waived. */
const WaiveForm = ({
  obligation: { obligation_id },
  onChange,
}: {
  readonly obligation: Obligation;
  readonly onChange: () => void;
}) => {
  const [refusal, setRefusal] = useState<string>();
  const waive = async (reason: string): Promise<void> => {
    const answer = await change(`v1/obligations/${encodeURIComponent(obligation_id)}/waive`, { reason });
    if (answer.kind === "answered") onChange();
    else setRefusal(answer.detail || say("offline"));
  };
  return (
    <details class="waive">
      <summary>{say("waive")}</summary>
      <form
        onSubmit={(submit) => {
          submit.preventDefault();
          waive(String(new FormData(submit.currentTarget).get("reason") ?? ""));
        }}
      >
        <label>
          {say("waive_reason")}
          <input name="reason" required autocomplete="off" />
        </label>
        <button type="submit">{say("waive")}</button>
        {refusal && (
          <p role="alert" class="refusal">
            {refusal}
          </p>
        )}
      </form>
    </details>
  );
};

const Stopped = ({ obligation }: { readonly obligation: Obligation }) => {
  const { stopped_at, stopped_by, stopped_recorded_at, recorded_late, waived_reason, waived_by } = obligation;
  const zone = zoneOfRule(obligation.rule);
  return (
    <>
      {stopped_at !== null && stopped_by !== null && (
        <small>
          <a href={addressOf("event", { id: stopped_by })}>
            {say("clock_met", { t: dateOf(stopped_at, zone) })}
          </a>
          {recorded_late && stopped_recorded_at !== null && (
            <span class="note">
              {" "}
              {say("recorded_late")}, {dateOf(stopped_recorded_at, zone)}
            </span>
          )}
        </small>
      )}
      {waived_reason !== null && (
        <small class="note">{say("waived_because", { w: waived_by ?? "", r: waived_reason })}</small>
      )}
    </>
  );
};

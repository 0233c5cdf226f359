/** A hold on the records of an incident: of its case, or of its system if its events name no case. */
import { useState } from "preact/hooks";
import type { Hold, StoredEvent } from "../answers.ts";
import { type Answer, change, type List, remove, useAnswer } from "../api.ts";
import { dateOf } from "../language.ts";
import { systemName } from "../systems.ts";
import { say } from "../words.ts";
import { Answered } from "./page-states.tsx";

const ROWS_MAX = "1000";

export const IncidentHold = ({
  events,
  assetId,
}: {
  readonly events: readonly StoredEvent[];
  readonly assetId: string;
}) => {
  const correlationId = events.find(({ event }) => event.correlation_id !== undefined)?.event.correlation_id;
  const holds = useAnswer<List<Hold>>("v1/holds", { limit: ROWS_MAX });
  const [refusal, setRefusal] = useState<string>();
  const done = (answer: Answer<unknown>): void => {
    setRefusal(answer.kind === "failed" ? answer.detail || say("offline") : undefined);
    holds.again();
  };
  const on = correlationId === undefined ? { asset_id: assetId } : { correlation_id: correlationId };
  const isOnThis = (hold: Hold): boolean =>
    hold.released_at === undefined &&
    (correlationId === undefined ? hold.asset_id === assetId : hold.correlation_id === correlationId);
  return (
    <section>
      <h2>{say("hold")}</h2>
      <p class="quiet">
        {correlationId === undefined
          ? say("hold_on_system", { s: systemName(assetId) })
          : say("hold_on_case", { c: correlationId })}
      </p>
      <Answered asked={holds}>
        {({ data }) => (
          <>
            {data.filter(isOnThis).map(({ id, created_at, reason }) => (
              <p key={id}>
                {say("hold_since", { t: dateOf(created_at), r: reason })}{" "}
                <button
                  type="button"
                  class="plain"
                  onClick={async () => done(await remove(`v1/holds/${id}`))}
                >
                  {say("hold_release")}
                </button>
              </p>
            ))}
            {!data.some(isOnThis) && (
              <form
                class="hold"
                onSubmit={async (submit) => {
                  submit.preventDefault();
                  const reason = String(new FormData(submit.currentTarget).get("reason") ?? "");
                  done(await change("v1/holds", { ...on, reason }));
                }}
              >
                <label>
                  {say("hold_reason")}
                  <input name="reason" required autocomplete="off" />
                </label>
                <button type="submit">{say("hold_place")}</button>
              </form>
            )}
          </>
        )}
      </Answered>
      {refusal && (
        <p role="alert" class="refusal">
          {refusal}
        </p>
      )}
    </section>
  );
};

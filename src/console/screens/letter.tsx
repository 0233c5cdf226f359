/** The letter to the person whom a decision is about: what was decided, by which system, why, and how to object. For paper. */

import { addressOf, place } from "../address.ts";
import type { Dossier, Row } from "../answers.ts";
import { type One, useAnswer } from "../api.ts";
import { labelOf } from "../labels.ts";
import { longDateOf } from "../language.ts";
import { Answered } from "../parts/page-states.tsx";
import { LanguageButton } from "../parts/shell.tsx";
import { systemName } from "../systems.ts";
import { say } from "../words.ts";

export const LetterScreen = () => {
  const id = place.value.parameters.get("id") ?? "";
  const dossier = useAnswer<One<Dossier>>(`v1/decisions/${encodeURIComponent(id)}`);
  return (
    <>
      <p class="actions">
        <button type="button" onClick={() => print()}>
          {say("print")}
        </button>
        <a class="button plain" href={addressOf("decision", { id })}>
          {say("to_decision")}
        </a>
        <LanguageButton />
      </p>
      <Answered asked={dossier}>{({ data }) => <Letter dossier={data} />}</Answered>
    </>
  );
};

/** What the decision's own event says. */
const saidBy = ({ timeline }: Dossier, name: string): string | undefined => {
  const made = timeline.find(({ event }) => event?.event_type === "decision.automated_decision_made");
  const value = made?.event?.metadata?.[name];
  return typeof value === "string" ? value : undefined;
};

const Letter = ({ dossier }: { readonly dossier: Dossier }) => {
  const { decision_id, asset_id, made_at, outcome, explanation_at, timeline } = dossier;
  const system = useAnswer<One<Row>>(`v1/assets/${encodeURIComponent(asset_id)}`);
  const row = system.answer.kind === "answered" ? system.answer.body.data : {};
  const contact = [row.oversight_person, row.owner].filter((name) => typeof name === "string").join(", ");
  const reason = saidBy(dossier, "reason");
  const laws = [...new Set(timeline.flatMap(({ event }) => event?.legal_bases ?? []))];
  return (
    <article class="letter">
      <h1>{say("letter_head")}</h1>
      <p>
        {say("letter_what", {
          t: made_at === null ? say("none") : longDateOf(made_at),
          s: systemName(asset_id),
          o: outcome ?? say("none"),
        })}
      </p>
      <h2>{say("letter_why")}</h2>
      <p dir="auto">{reason ?? say("letter_no_reason")}</p>
      {explanation_at !== null && <p>{say("letter_explained", { t: longDateOf(explanation_at) })}</p>}
      <h2>{say("letter_rights")}</h2>
      <p>{say("letter_how")}</p>
      <p>
        {contact !== "" && `${say("letter_to", { c: contact })} `}
        {say("letter_id", { id: decision_id })}
      </p>
      {laws.length > 0 && (
        <p class="quiet">{say("letter_laws", { l: laws.map((law) => labelOf("laws", law)).join("; ") })}</p>
      )}
    </article>
  );
};

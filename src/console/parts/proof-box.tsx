/** The proof of one event, verified here: the service's word is not needed for it. */
import { verifyProof } from "../../proof/evidence/verify-proof.ts";
import type { Proof } from "../answers.ts";
import { type Asked, type One, useAnswer } from "../api.ts";
import { numberOf } from "../language.ts";
import { session } from "../session.ts";
import { say } from "../words.ts";
import { Failed } from "./page-states.tsx";

export const ProofBox = ({ asked: { answer, again } }: { readonly asked: Asked<One<Proof>> }) => {
  const keys = useAnswer<string>("v1/log/key");
  return (
    <section>
      <h2>{say("proof")}</h2>
      {(answer.kind === "loading" || keys.answer.kind === "loading") && (
        <p class="quiet loading">{say("verifying")}</p>
      )}
      {answer.kind === "failed" &&
        (answer.code === "not_sealed" ? (
          <p>
            {say("not_sealed")}{" "}
            <button type="button" class="plain" onClick={again}>
              {say("try_again")}
            </button>
          </p>
        ) : (
          <Failed failure={answer} again={again} />
        ))}
      {answer.kind === "answered" && keys.answer.kind === "answered" && (
        <Verdict proof={answer.body.data} keys={keys.answer.body} />
      )}
    </section>
  );
};

const Verdict = ({ proof, keys }: { readonly proof: Proof; readonly keys: string }) => {
  const tenant = session.value instanceof Object ? session.value.tenant : undefined;
  const verdict = verifyProof({ proof: JSON.stringify({ data: proof }), keys, tenant });
  if (verdict.kind !== "valid")
    return (
      <div class="proof bad" role="alert">
        <p>
          <strong>✗ {say("not_verified")}</strong>
        </p>
        <p>{verdict.kind === "invalid" ? verdict.finding.detail : verdict.detail}</p>
      </div>
    );
  const { facts } = verdict;
  return (
    <div class="proof">
      <p>
        <strong>✓ {say("verified")}</strong>
      </p>
      <p>{say("proof_says", { l: numberOf(facts.leafIndex), n: numberOf(facts.checkpointSize) })}</p>
      <dl>
        <dt>{say("leaf")}</dt>
        <dd>
          <code>{facts.leafHash}</code>
        </dd>
        <dt>{say("tree_head")}</dt>
        <dd>
          {say("records_n", { n: numberOf(facts.checkpointSize) })} · <code>{facts.checkpointRoot}</code>
        </dd>
        <dt>{say("signed_by")}</dt>
        <dd>
          <code>{facts.keys.join(", ")}</code>
        </dd>
      </dl>
    </div>
  );
};

/** Loading, failed and empty pages. */
import type { ComponentChildren } from "preact";
import type { Asked, Failure } from "../api.ts";
import { say, type Word } from "../words.ts";

export const Loading = () => (
  <p class="quiet loading" role="status">
    {say("loading")}
  </p>
);

const headOf = ({ code }: Failure): Word => {
  if (code === "offline") return "offline";
  return code === "not_found" || code === "event_expired" || code === "case_expired" ? "not_found" : "failed";
};

export const Failed = ({ failure, again }: { readonly failure: Failure; readonly again?: () => void }) => (
  <div class="failed" role="alert">
    <p>
      <strong>{say(headOf(failure))}</strong>
    </p>
    <p>{failure.code === "offline" ? say("offline_hint") : failure.detail}</p>
    {failure.requestId && (
      <p class="quiet">
        {say("request")} <code>{failure.requestId}</code>
      </p>
    )}
    {again && (
      <button type="button" class="plain" onClick={again}>
        {say("try_again")}
      </button>
    )}
  </div>
);

/** What a question brought, or why it brought nothing yet. */
export const Answered = <Body,>({
  asked: { answer, again },
  children,
}: {
  readonly asked: Asked<Body>;
  readonly children: (body: Body) => ComponentChildren;
}) => {
  if (answer.kind === "loading") return <Loading />;
  if (answer.kind === "failed") return <Failed failure={answer} again={again} />;
  return <>{children(answer.body)}</>;
};

/** Loading, failed and empty pages. */
import type { ComponentChildren } from "preact";
import type { Asked, Failure } from "../api.ts";
import { whoMayOpen } from "../screen-access.ts";
import type { Screen } from "../screen-names.ts";
import { session } from "../session.ts";
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

/** A page that was opened by its address. */
export const NotForThisSeat = ({ screen }: { readonly screen: Screen }) => {
  const { scope, roles } = whoMayOpen(screen);
  const { role, covers } = session.value instanceof Object ? session.value : {};
  const isPart = covers !== undefined && role !== undefined && roles.includes(role);
  return (
    <>
      <h1>{say("not_for_seat")}</h1>
      <p class="lede">
        {isPart
          ? say("not_for_part")
          : say("not_for_role", { r: roles.map((each) => say(`role_${each}`)).join(", "), s: scope })}
      </p>
    </>
  );
};

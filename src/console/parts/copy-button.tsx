import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { say } from "../words.ts";

/** Where the browser keeps the clipboard from a page, as over plain HTTP, the text is shown for selecting. */
export const CopyButton = ({
  text,
  children,
}: {
  readonly text: () => string;
  readonly children: ComponentChildren;
}) => {
  const [outcome, setOutcome] = useState<{ readonly shown?: string }>();
  const copy = async (): Promise<void> => {
    const copied = text();
    try {
      await navigator.clipboard.writeText(copied);
      setOutcome({});
    } catch {
      setOutcome({ shown: copied });
    }
  };
  return (
    <>
      <button type="button" class="quiet-button" onClick={copy}>
        {children}
      </button>
      <span role="status">{outcome && say(outcome.shown ? "select_to_copy" : "copied")}</span>
      {outcome?.shown && (
        <input readOnly value={outcome.shown} aria-label={say("copy")} ref={(field) => field?.select()} />
      )}
    </>
  );
};

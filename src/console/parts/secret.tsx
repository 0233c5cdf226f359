/** A new key. Nothing keeps it: it is gone with the element. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { say } from "../words.ts";
import { useCopy } from "./copy.ts";

export const Secret = ({
  apiKey,
  children,
}: {
  readonly apiKey: string;
  /** The way on. */
  readonly children: ComponentChildren;
}) => {
  const field = useRef<HTMLInputElement>(null);
  const [said, copy] = useCopy();
  // What had the focus is gone.
  useEffect(() => field.current?.focus(), []);
  return (
    <>
      <div class="record-field">
        <label for="secret">{say("key_secret")}</label>
        <input id="secret" ref={field} readOnly value={apiKey} aria-describedby="secret-hint" />
        <small id="secret-hint">{say("key_secret_once")}</small>
      </div>
      <p class="actions">
        <button type="button" onClick={() => field.current && copy(field.current)}>
          {say("copy")}
        </button>
        {children}
        <span role="status">{said && say(said)}</span>
      </p>
    </>
  );
};

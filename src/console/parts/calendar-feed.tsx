/** Addresses for calendar programs: made with the filters that are chosen, shown once, listed, revoked. */
import { useState } from "preact/hooks";
import { apiAddress, type Parameters } from "../address.ts";
import { change, type List, type One, remove, useAnswer } from "../api.ts";
import { language } from "../language.ts";
import { say } from "../words.ts";
import { Answered } from "./page-states.tsx";
import { Time } from "./said.tsx";

interface Feed {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly revoked_at?: string;
}

const ROWS_MAX = "1000";

export const CalendarFeed = ({ filter }: { readonly filter: Parameters }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="feed" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{say("feed")}</summary>
      {isOpen && <Feeds filter={filter} />}
    </details>
  );
};

const Feeds = ({ filter }: { readonly filter: Parameters }) => {
  const [address, setAddress] = useState<string>();
  const [refusal, setRefusal] = useState<string>();
  const list = useAnswer<List<Feed>>("v1/calendars", { limit: ROWS_MAX });
  const make = async (name: string): Promise<void> => {
    const answer = await change<One<{ readonly path: string }>>("v1/calendars", { name, filter });
    setRefusal(answer.kind === "failed" ? answer.detail || say("offline") : undefined);
    if (answer.kind === "failed") return;
    const token = answer.body.data.path.split("token=")[1];
    setAddress(apiAddress("v1/obligations.ics", { token, lang: language.value }));
    list.again();
  };
  const revoke = async (id: string): Promise<void> => {
    const answer = await remove(`v1/calendars/${id}`);
    setRefusal(answer.kind === "failed" ? answer.detail || say("offline") : undefined);
    list.again();
  };
  return (
    <>
      <p class="quiet">{say("feed_lede")}</p>
      <form
        onSubmit={(submit) => {
          submit.preventDefault();
          make(String(new FormData(submit.currentTarget).get("name") ?? "").trim());
        }}
      >
        <label>
          {say("feed_name")}
          <input name="name" required maxLength={128} autocomplete="off" />
        </label>
        <button type="submit">{say("feed_make")}</button>
      </form>
      {refusal && (
        <p role="alert" class="refusal">
          {refusal}
        </p>
      )}
      {address && (
        <label>
          {say("feed_address")}
          <input readOnly value={address} onFocus={({ currentTarget }) => currentTarget.select()} />
        </label>
      )}
      <Answered asked={list}>
        {({ data }) => {
          const feeds = data.filter(({ revoked_at }) => revoked_at === undefined);
          if (feeds.length === 0) return null;
          return (
            <ul aria-label={say("feeds")}>
              {feeds.map(({ id, name, created_at }) => (
                <li key={id}>
                  <span dir="auto">{name}</span> · <Time at={created_at} />{" "}
                  <button type="button" class="quiet-button" onClick={() => revoke(id)}>
                    {say("feed_revoke", { n: name })}
                  </button>
                </li>
              ))}
            </ul>
          );
        }}
      </Answered>
    </>
  );
};

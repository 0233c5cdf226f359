/** A view is its address. Names for some are kept in this browser, apart for each tenant. */
import { useState } from "preact/hooks";
import { addressHere, addressOf, place } from "../address.ts";
import { session } from "../session.ts";
import { say } from "../words.ts";
import { CopyButton } from "./copy-button.tsx";

const VIEWS_MAX = 20;
const NAME_CHARACTERS_MAX = 60;

interface SavedView {
  readonly name: string;
  /** Parameters of the address. */
  readonly query: string;
}

const keptUnder = (): string =>
  `prooftrail-views-${session.value instanceof Object ? session.value.tenant : ""}`;

/** Whatever else stands there is left out. */
const readViews = (): readonly SavedView[] => {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keptUnder()) ?? "[]");
    if (!Array.isArray(kept)) return [];
    return kept.flatMap((each: unknown) => {
      const { name, query }: Readonly<Record<string, unknown>> = Object(each);
      return typeof name === "string" && typeof query === "string" ? [{ name, query }] : [];
    });
  } catch {
    return [];
  }
};

export const ViewTools = () => (
  <div class="actions">
    <CopyButton text={() => new URL(addressHere({}), location.href).href}>{say("copy_link")}</CopyButton>
    <SavedViews />
  </div>
);

const SavedViews = () => {
  const [views, setViews] = useState(readViews);
  const [isKept, setKept] = useState(true);
  const keep = (next: readonly SavedView[]): void => {
    try {
      localStorage.setItem(keptUnder(), JSON.stringify(next));
      setViews(next);
      setKept(true);
    } catch {
      setKept(false);
    }
  };
  const others = (name: string): readonly SavedView[] => views.filter((view) => view.name !== name);
  const save = (form: HTMLFormElement): void => {
    const name = String(new FormData(form).get("name") ?? "").trim();
    const { cursor: _, ...shown } = Object.fromEntries(place.value.parameters);
    if (name === "") return;
    keep([...others(name), { name, query: new URLSearchParams(shown).toString() }].slice(-VIEWS_MAX));
    form.reset();
  };
  return (
    <details class="views">
      <summary>{say("saved_views")}</summary>
      <p class="quiet">{say("saved_views_lede")}</p>
      <ul class="plain-list">
        {views.map(({ name, query }) => (
          <li key={name}>
            <a href={addressOf("events", Object.fromEntries(new URLSearchParams(query)))}>
              <bdi>{name}</bdi>
            </a>{" "}
            <button type="button" class="quiet-button" onClick={() => keep(others(name))}>
              {say("delete_view", { n: name })}
            </button>
          </li>
        ))}
      </ul>
      <form
        onSubmit={(submit) => {
          submit.preventDefault();
          save(submit.currentTarget);
        }}
      >
        <label>
          {say("view_name")} <input name="name" required maxLength={NAME_CHARACTERS_MAX} autocomplete="off" />
        </label>{" "}
        <button type="submit" class="plain">
          {say("save_view")}
        </button>
      </form>
      {!isKept && (
        <p role="alert" class="refusal">
          {say("view_not_kept")}
        </p>
      )}
    </details>
  );
};

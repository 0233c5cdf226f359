/** Keys of programs and seats of people: the list, a new one, rotating, revoking. */
import { useState } from "preact/hooks";
import { addressHere, place } from "../address.ts";
import { type Answer, change, type One, remove } from "../api.ts";
import { coversText, type Key, keyName, keyState, limitsText, scopeName, worksStill } from "../keys.ts";
import { yearTimeOf } from "../language.ts";
import { type Column, ListScreen, type ListSpec } from "../parts/list.tsx";
import { CloseButton, Dialog, FormDialog, type FormField, RequestForm } from "../parts/request-form.tsx";
import { Id, YearTime } from "../parts/said.tsx";
import { Secret } from "../parts/secret.tsx";
import { session } from "../session.ts";
import { say } from "../words.ts";
import { MakeKey } from "./make-key.tsx";

type Asked = { readonly what: "rotate" | "revoke"; readonly key: Key };

const isOwn = ({ id }: Key): boolean => session.value instanceof Object && session.value.key_id === id;

const COLUMNS: readonly Column<Key>[] = [
  {
    id: "name",
    title: "name",
    cell: (key) => (
      <>
        <span dir="auto" class="breaks key-name">
          {keyName(key)}
        </span>
        {key.person && key.person !== key.name && (
          <small dir="auto" class="breaks">
            {key.person}
          </small>
        )}
        {isOwn(key) && <small>{say("key_own")}</small>}
      </>
    ),
  },
  {
    id: "role",
    title: "role_or_scopes",
    cell: ({ role, scopes }) =>
      role ? say(`role_${role}`) : <span title={scopes.join(", ")}>{scopes.map(scopeName).join(", ")}</span>,
  },
  {
    id: "covers",
    title: "covers",
    isWide: true,
    cell: ({ covers }) => (covers ? coversText(covers) : <span class="quiet">{say("covers_all")}</span>),
  },
  { id: "created", title: "created", isWide: true, cell: ({ created_at }) => <YearTime at={created_at} /> },
  {
    id: "ends",
    title: "ends",
    isWide: true,
    cell: ({ expires_at: at }) =>
      at ? <YearTime at={at} /> : <span class="quiet">{say("never_ends")}</span>,
  },
  { id: "limits", title: "limits", isExtra: true, cell: limitsText },
  { id: "id", title: "key_id", isExtra: true, cell: ({ id }) => <Id id={id} /> },
  { id: "created_by", title: "made_by", isExtra: true, cell: ({ created_by }) => <Id id={created_by} /> },
  {
    id: "state",
    title: "state",
    cell: (key) => {
      const { word, shape, at } = keyState(key);
      return (
        <span class={`state ${shape}`} title={at}>
          {say(word, { t: at ? yearTimeOf(at) : "" })}
        </span>
      );
    },
  },
];

const actions = (ask: (asked: Asked) => void): Column<Key> => ({
  id: "actions",
  title: "actions",
  cell: (key) =>
    worksStill(key) &&
    (["rotate", "revoke"] as const).map((what) => (
      <button type="button" key={what} class="quiet-button" onClick={() => ask({ what, key })}>
        {say(what)}
        <span class="unseen"> {keyName(key)}</span>
      </button>
    )),
});

const specOf = (tenant: string, ask: (asked: Asked) => void): ListSpec<Key> => ({
  path: "v1/keys",
  title: "keys",
  filters: [
    { name: "from", title: "from", kind: "day" },
    { name: "to", title: "to", kind: "day" },
  ],
  fixed: { tenant },
  columns: [...COLUMNS, actions(ask)],
  rowId: ({ id }) => id,
  above: () => (
    <p>
      <a class="button" href={addressHere({ make: "true" })}>
        {say("key_make")}
      </a>
    </p>
  ),
  empty: () => <p>{say("keys_empty")}</p>,
});

export const KeysScreen = () => {
  const [asked, setAsked] = useState<Asked>();
  const [version, setVersion] = useState(0);
  const tenant = session.value instanceof Object ? session.value.tenant : "";
  if (place.value.parameters.has("make")) return <MakeKey tenant={tenant} />;
  const done = (): void => setVersion(version + 1);
  const props = { onDone: done, onClose: () => setAsked(undefined) };
  return (
    <>
      <ListScreen spec={specOf(tenant, setAsked)} version={version} />
      {asked?.what === "rotate" && <RotateDialog of={asked.key} {...props} />}
      {asked?.what === "revoke" && <RevokeDialog of={asked.key} {...props} />}
    </>
  );
};

interface DialogProps {
  readonly of: Key;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

const graceField = (): FormField => ({
  ...{ path: "/grace_seconds", title: say("grace"), kind: "choice", value: DAY_SECONDS },
  choices: [
    ["0", say("grace_none")],
    [String(HOUR_SECONDS), say("grace_hour")],
    [String(DAY_SECONDS), say("grace_day")],
    [String(7 * DAY_SECONDS), say("grace_week")],
  ],
});

const RotateDialog = ({ of: key, onDone, onClose }: DialogProps) => {
  const [apiKey, setApiKey] = useState<string>();
  const rotate = async (body: object): Promise<Answer<unknown>> => {
    const path = `v1/keys/${encodeURIComponent(key.id)}/rotate`;
    const seconds = Number(Object(body).grace_seconds);
    const answer = await change<One<{ readonly api_key: string }>>(path, { grace_seconds: seconds });
    if (answer.kind === "failed") return answer;
    setApiKey(answer.body.data.api_key);
    onDone();
    return answer;
  };
  return (
    <Dialog title={say("rotate_head", { n: keyName(key) })} onClose={onClose}>
      {(close) =>
        apiKey === undefined ? (
          <>
            <p>{say("rotate_lede")}</p>
            {isOwn(key) && <p class="note">{say("rotate_own")}</p>}
            <RequestForm
              fields={[graceField()]}
              word="rotate"
              send={rotate}
              back={<CloseButton word="cancel" close={close} />}
            />
          </>
        ) : (
          <Secret apiKey={apiKey}>
            <CloseButton word="close" close={close} />
          </Secret>
        )
      }
    </Dialog>
  );
};

const RevokeDialog = ({ of: key, ...done }: DialogProps) => (
  <FormDialog
    title={say("revoke_head", { n: keyName(key) })}
    says={[
      say(key.role ? "revoke_lede_seat" : "revoke_lede_key"),
      say("revoke_lasts"),
      ...(isOwn(key) ? [say("revoke_own")] : []),
    ]}
    word="revoke"
    send={() => remove(`v1/keys/${encodeURIComponent(key.id)}`)}
    {...done}
  />
);

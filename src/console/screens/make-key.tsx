/** The form of a new key or seat. */
import { useState } from "preact/hooks";
import { addressHere } from "../address.ts";
import { change, type One } from "../api.ts";
import { scopeName } from "../keys.ts";
import { type FormField, RequestForm } from "../parts/request-form.tsx";
import { Secret } from "../parts/secret.tsx";
import { ROLES } from "../screen-access.ts";
import { session } from "../session.ts";
import { knownSystems } from "../systems.ts";
import { say } from "../words.ts";

const NO_ROLE = "";
const SEVERAL = { kind: "several", hint: "several_hint" } as const;

/** No key gives more than its maker has. */
const scopesField = (): FormField => ({
  ...{ path: "/scopes", title: say("scopes"), ...SEVERAL },
  choices: (session.value instanceof Object ? session.value.scopes : []).map((scope) => [
    scope,
    `${scopeName(scope)} (${scope})`,
  ]),
});

const coversFields = (): readonly FormField[] => [
  { path: "/covers/asset_ids", title: say("systems"), choices: knownSystems(), ...SEVERAL },
  { path: "/covers/from", title: say("from"), kind: "from" },
  { path: "/covers/to", title: say("to"), kind: "to", hint: "covers_hint" },
];

const fieldsFor = (role: string): readonly FormField[] => [
  { path: "/name", title: say("name"), isRequired: true },
  {
    ...{ path: "/role", title: say("role"), kind: "choice", value: role },
    choices: [
      ...ROLES.map((name) => [name, `${say(`role_${name}`)}: ${say(`role_${name}_opens`)}`] as const),
      [NO_ROLE, say("key_for_program")],
    ],
  },
  ...(role === NO_ROLE
    ? [scopesField()]
    : [{ path: "/person", title: say("seat_person"), hint: "seat_person_hint" } as const]),
  ...(role === "auditor" ? coversFields().map((field) => ({ ...field, group: say("covers") })) : []),
  { path: "/expires_at", title: say("last_day"), kind: "to", hint: "last_day_hint" },
  ...(["requests_per_second", "events_per_second"] as const).map(
    (limit): FormField => ({
      ...{ path: `/rate_limit/${limit}`, title: say(limit), kind: "number", group: say("limits") },
    }),
  ),
];

export const MakeKey = ({ tenant }: { readonly tenant: string }) => {
  const [made, setMade] = useState<{ readonly name: string; readonly api_key: string }>();
  const [role, setRole] = useState("officer");
  const toList = (
    <a class="button plain" href={addressHere({ make: undefined })}>
      {say("to_keys")}
    </a>
  );
  if (made)
    return (
      <>
        <h1>{say("key_made", { n: made.name })}</h1>
        <Secret apiKey={made.api_key}>{toList}</Secret>
      </>
    );
  return (
    <>
      <h1>{say("key_make")}</h1>
      <p class="lede">{say("key_make_lede")}</p>
      <RequestForm
        fields={fieldsFor(role)}
        word="make"
        back={toList}
        onChange={(form) => setRole(String(new FormData(form).get("/role") ?? ""))}
        send={async (body) => {
          const answer = await change<One<NonNullable<typeof made>>>("v1/keys", { tenant, ...body });
          if (answer.kind === "answered") setMade(answer.body.data);
          return answer;
        }}
      />
    </>
  );
};

import { useEffect, useState } from "preact/hooks";
import { apiAddress, place } from "../address.ts";
import { Brand, LanguageButton } from "../parts/shell.tsx";
import { type SignInResult, signIn } from "../session.ts";
import { say } from "../words.ts";

/** What the service sends a browser back with if nobody was signed in with the provider. */
const PROVIDER_PROBLEMS = [
  "provider_away",
  "provider_refused",
  "provider_clock",
  "provider_answer",
  "sign_in_expired",
  "no_role",
  "seat_ended",
  "not_recorded",
] as const;

type Refusal = Exclude<SignInResult, "signed_in"> | (typeof PROVIDER_PROBLEMS)[number];

/** Host of the provider with which people sign in, if there is one. */
const providerHost = document.querySelector<HTMLMetaElement>('meta[name="sign-in-provider"]')?.content;

/** The key of a link stands behind `#`, which browsers send to nobody. It leaves the address before anything else happens. */
const takeLinkKey = (): string | undefined => {
  const key = /^#once=([!-~]+)$/.exec(location.hash)?.[1];
  if (key !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return key;
};
const linkKey = takeLinkKey();

/** A link counts even if somebody is signed in already: it may be for another tenant. */
export const hasLinkKey = linkKey !== undefined;

export const SignInScreen = () => {
  const { parameters } = place.value;
  const problem = PROVIDER_PROBLEMS.find((known) => known === parameters.get("problem"));
  const [refusal, setRefusal] = useState<Refusal | undefined>(problem);
  const [isBusy, setBusy] = useState(linkKey !== undefined);
  const enter = async (key: string, isOnce: boolean): Promise<void> => {
    setBusy(true);
    setRefusal(undefined);
    const result = await signIn(key, { isOnce });
    setBusy(false);
    if (result !== "signed_in") setRefusal(result);
  };
  useEffect(() => {
    if (linkKey !== undefined) enter(linkKey, true);
  }, []);
  return (
    <main class="door" id="content">
      <Brand />
      <h1>{say("sign_in")}</h1>
      {refusal && (
        <p role="alert" class="refusal">
          {say(refusal)}
        </p>
      )}
      {providerHost !== undefined && (
        <p>
          <a
            class="button"
            href={apiAddress("v1/session/oidc", { next: parameters.get("next") ?? undefined })}
          >
            {say("sign_in_with", { issuer: providerHost })}
          </a>
        </p>
      )}
      <p class="lede">{isBusy && linkKey !== undefined ? say("sign_in_link") : say("sign_in_lede")}</p>
      <KeyForm isBusy={isBusy} enter={(key) => enter(key, false)} />
      <p class="quiet">{say("no_key_yet")}</p>
      <pre>prooftrail console</pre>
      <LanguageButton />
    </main>
  );
};

const KeyForm = ({ isBusy, enter }: { readonly isBusy: boolean; readonly enter: (key: string) => void }) => (
  <form
    onSubmit={(submit) => {
      submit.preventDefault();
      const key = String(new FormData(submit.currentTarget).get("key") ?? "").trim();
      if (key !== "") enter(key);
    }}
  >
    <label>
      {say("api_key")}
      <input name="key" type="password" autocomplete="off" required spellcheck={false} />
    </label>
    <button type="submit" disabled={isBusy}>
      {say("sign_in")}
    </button>
  </form>
);

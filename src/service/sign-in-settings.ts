/** The settings of signing in with OpenID Connect: all of them or none. */
import type { SignInSettings } from "../access/sign-in-provider.ts";
import { CALLBACK_PATH } from "../api/routes/sign-in.ts";
import { setting } from "./setting.ts";

/** Plain HTTP only on this machine: the token tells who somebody is. */
const ADDRESS =
  "(?:https://[A-Za-z0-9.-]+(?::\\d{1,5})?|http://(?:localhost|127\\.0\\.0\\.1|\\[::1\\])(?::\\d{1,5})?)(?:/[^\\s?#]*)?";
const ROLES_CLAIM = "prooftrail";

export const SIGN_IN_SETTINGS = {
  OIDC_ISSUER: setting({
    pattern: `^${ADDRESS}$`,
    description:
      "OpenID Connect provider with which people sign in to the console, as its discovery document spells `issuer`. The other OIDC settings belong to it.",
    default: "unset",
    expects: "an address such as https://login.example/realms/bank, with http:// only on this machine",
  }),
  OIDC_CLIENT_ID: setting({
    pattern: "^[!-~]{1,255}$",
    description: "Id of this service at the provider.",
    default: "unset",
    expects: "1 to 255 visible ASCII characters",
  }),
  OIDC_CLIENT_SECRET: setting({
    pattern: "^[!-~]{16,512}$",
    description:
      "Secret of this service at the provider. It also seals the sessions, so another secret ends them, and all processes need the same.",
    default: "unset",
    expects: "16 to 512 visible ASCII characters",
  }),
  OIDC_REDIRECT_URI: setting({
    pattern: `^${ADDRESS.replace("(?:/[^\\s?#]*)?", "(?:/[^\\s?#]+)?")}${CALLBACK_PATH}$`,
    description: `Where the provider sends the browser back to: the address of the console as browsers see it, with \`${CALLBACK_PATH}\` behind it. The provider must know it.`,
    default: "unset",
    expects: `the address of the console with ${CALLBACK_PATH} behind it, such as https://audit.example${CALLBACK_PATH}, with http:// only on this machine`,
  }),
  OIDC_ROLES_CLAIM: setting({
    pattern: "^\\S{1,255}$",
    description:
      "Claim of the ID token that says where somebody may sign in: `tenant:role`, or a list of such texts.",
    default: ROLES_CLAIM,
    expects: "the name of a claim, without white space",
  }),
};

type Given = Readonly<Partial<Record<keyof typeof SIGN_IN_SETTINGS, string | undefined>>>;

const NEEDED = ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_REDIRECT_URI"] as const;

/** What is missing if only some of them are set, and what a pattern cannot decide about an address. */
export const unfinishedSignIn = (given: Given): readonly string[] => {
  const set = Object.keys(SIGN_IN_SETTINGS).filter((name) => Reflect.get(given, name) !== undefined);
  if (set.length === 0) return [];
  const unreadable = (["OIDC_ISSUER", "OIDC_REDIRECT_URI"] as const).filter((name) => {
    const address = given[name];
    return address !== undefined && !URL.canParse(address);
  });
  const missing = NEEDED.filter((name) => given[name] === undefined).map(
    (name) =>
      `${name} must be set with ${set.join(", ")}: signing in with OpenID Connect needs it. Set it, or leave all of OIDC_* out.`,
  );
  return [
    ...missing,
    ...unreadable.map((name) => `${name} must be an address that exists, not ${given[name]}.`),
  ];
};

export const signInSettings = (given: Given): SignInSettings | undefined => {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = given;
  const { OIDC_REDIRECT_URI: redirectUri, OIDC_ROLES_CLAIM: rolesClaim = ROLES_CLAIM } = given;
  if (!issuer || !clientId || !clientSecret || !redirectUri) return undefined;
  return {
    ...{ clientId, clientSecret, rolesClaim },
    issuer: new URL(issuer),
    redirectUri: new URL(redirectUri),
  };
};

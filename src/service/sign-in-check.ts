import { randomBytes } from "node:crypto";
import { createSignInProvider, type SignInSettings } from "../access/sign-in-provider.ts";
import type { Check } from "./check.ts";

/** Whether the sign-in provider describes itself as OIDC_ISSUER says. The client secret shows only when somebody signs in. */
export const signInCheck = async (settings: SignInSettings): Promise<Check> => {
  const name = "sign-in";
  const provider = createSignInProvider({ settings, now: () => new Date(), randomBytes });
  const failure = await provider.failure();
  const issuer = settings.issuer.href;
  if (failure === undefined) return { name, state: "ok", detail: `the provider ${issuer} answers` };
  return {
    name,
    state: "failed",
    detail: `the provider ${issuer} did not describe itself: ${failure.detail}`,
    advice:
      "Nobody can sign in with it, API keys go on working. OIDC_ISSUER must be spelt as `issuer` in what the provider has at /.well-known/openid-configuration below that address, and this machine must reach it.",
  };
};

/** A real OpenID Connect provider in a process of its own (sign-in-provider-main.ts). */
export interface TestProvider extends Disposable {
  /** What goes on as it is until it is set again. */
  set(settings: object): Promise<void>;
  /** Who signs in from now on, with these roles; nothing goes wrong. */
  person(name: string, prooftrail?: unknown, claims?: object): Promise<void>;
}

export const PROVIDER_SECRET = "a-client-secret-of-the-tests";

export const startSignInProvider = async (issuer: string, redirectUri: string): Promise<TestProvider> => {
  const provider = Bun.spawn(
    [process.execPath, "test/support/sign-in-provider-main.ts", issuer, redirectUri],
    { stdin: "ignore", stdout: "pipe", stderr: "ignore" },
  );
  await provider.stdout.getReader().read();
  const set = async (settings: object): Promise<void> => {
    await fetch(`${issuer}/control`, { method: "POST", body: JSON.stringify(settings) });
  };
  return {
    set,
    person: (name, prooftrail, claims = {}) =>
      set({ person: name, claims: { prooftrail, ...claims }, error: "", clockMs: 0 }),
    [Symbol.dispose]: () => provider.kill(),
  };
};

/** The settings of a service whose people sign in there. */
export const signInEnvironment = (issuer: string, redirectUri: string) => ({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: "prooftrail",
  OIDC_CLIENT_SECRET: PROVIDER_SECRET,
  OIDC_REDIRECT_URI: redirectUri,
});

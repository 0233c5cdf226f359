/**
 * An OpenID Connect provider on loopback, as a program of its own, because its clock can be set. POST /control sets who signs in, with which
 * claims, and what goes wrong.
 */
import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
// @ts-expect-error: the package has no types.
import Provider from "oidc-provider";
import { PROVIDER_SECRET } from "./sign-in-provider.ts";

const [issuer = "", redirectUri = ""] = process.argv.slice(2);
const settings = { clockMs: 0, person: "kim", claims: {}, error: "", kid: "first" };
const clock = Date.now;
Date.now = () => clock() + settings.clockMs;

const signingKey = (kid: string) => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), kid, alg: "ES256", use: "sig" };
};

const makeProvider = () =>
  new Provider(issuer, {
    clients: [
      {
        client_id: "prooftrail",
        client_secret: PROVIDER_SECRET,
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [redirectUri.replace("v1/session/oidc/callback", "sign-in")],
        id_token_signed_response_alg: "ES256",
      },
    ],
    jwks: { keys: [signingKey(settings.kid)] },
    conformIdTokenClaims: false,
    claims: { openid: ["sub", "email", "email_verified", "prooftrail"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...settings.claims }),
    }),
    ttl: { IdToken: 10 },
  });
let provider = makeProvider();

/** In a browser somebody presses a button: then the way back begins at this site, and not at the one that sent them here. */
const ASKED = "<!doctype html><title>Provider</title><form><button name=go>Continue</button></form>";

/** Everybody may do what they ask for. */
const interact = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  if (request.headers["sec-fetch-mode"] === "navigate" && !request.url?.endsWith("?go="))
    return void response.setHeader("content-type", "text/html").end(ASKED);
  const { params } = await provider.interactionDetails(request, response);
  const { person: accountId, error } = settings;
  if (error !== "") return provider.interactionFinished(request, response, { error });
  const grant = new provider.Grant({ accountId, clientId: params.client_id });
  grant.addOIDCScope("openid email profile");
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(request, response, { login: { accountId }, consent });
};

const control = async (request: IncomingMessage): Promise<void> => {
  const before = settings.kid;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  Object.assign(settings, JSON.parse(Buffer.concat(chunks).toString()));
  if (settings.kid !== before) provider = makeProvider();
};

createServer(async (request, response) => {
  if (request.url === "/control") {
    await control(request);
    response.end();
  } else if (request.url?.startsWith("/interaction/")) await interact(request, response);
  else provider.callback()(request, response);
}).listen(Number(new URL(issuer).port), "127.0.0.1", () => process.stdout.write("ready\n"));

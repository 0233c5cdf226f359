/**
 * Requests through a proxy. Bun and Deno have that in `fetch`. Node's `fetch` has it only in a package, so there requests go through `node:http`: to an
 * `http:` service as they are (RFC 9112 §3.2.2), to an `https:` one through a tunnel (RFC 9110 §9.3.6).
 */
import {
  type ClientRequest,
  type IncomingMessage,
  request as overHttp,
  type RequestOptions,
} from "node:http";
import { request as overHttps } from "node:https";
import type { Socket } from "node:net";
import process from "node:process";
import { connect } from "node:tls";
import { isJsonObject } from "./values.ts";

export interface Asking {
  readonly method: "POST";
  readonly redirect: "manual";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal;
}

/** What is read of a Response. */
export interface Answering {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}

export type Ask = (url: string, asking: Asking) => Promise<Answering>;

export interface HttpProxy {
  /** Without a password, for messages. */
  readonly name: string;
  readonly ask: Ask;
}

export const proxyAt = (url: URL): HttpProxy => ({ name: url.origin, ask: askThrough(url) });

const askThrough = (proxy: URL): Ask => {
  if (process.versions.bun !== undefined)
    return async (url, asking) => {
      const through = { ...asking, proxy: proxy.href };
      return await fetch(url, through);
    };
  const deno: unknown = Reflect.get(globalThis, "Deno");
  if (!isJsonObject(deno) || typeof deno.createHttpClient !== "function") return askOverNode(proxy);
  const basicAuth = {
    username: decodeURIComponent(proxy.username),
    password: decodeURIComponent(proxy.password),
  };
  const client: unknown = deno.createHttpClient({
    proxy: { url: proxy.origin, ...(proxy.username !== "" && { basicAuth }) },
  });
  return async (url, asking) => {
    const through = { ...asking, client };
    return await fetch(url, through);
  };
};

const askOverNode =
  (proxy: URL): Ask =>
  async (url, { method, headers, body, signal }) => {
    const target = new URL(url);
    const length = { "content-length": String(body.length) };
    const request =
      target.protocol === "https:"
        ? overHttps(target, {
            method,
            headers: { ...headers, ...length },
            signal,
            ...(await tunnel(proxy, target, signal)),
          })
        : toProxy(proxy, {
            method,
            path: url,
            headers: { ...headers, ...length, host: target.host },
            signal,
          });
    request.end(body);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on("response", resolve).on("error", reject);
    });
    return {
      status: answer.statusCode ?? 0,
      headers: { get: (name) => [answer.headers[name] ?? null].flat()[0] ?? null },
      body: answer,
    };
  };

const toProxy = (proxy: URL, options: RequestOptions): ClientRequest => {
  const { username, password } = proxy;
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  const headers = {
    ...options.headers,
    ...(username !== "" && { "proxy-authorization": `Basic ${login.toString("base64")}` }),
  };
  return (proxy.protocol === "https:" ? overHttps : overHttp)(proxy.origin, { ...options, headers });
};

/** A connection to the target through the proxy, encrypted from end to end. */
const tunnel = async (proxy: URL, target: URL, signal: AbortSignal): Promise<RequestOptions> => {
  const host = `${target.hostname}:${target.port === "" ? 443 : target.port}`;
  const request = toProxy(proxy, { method: "CONNECT", path: host, headers: { host }, signal });
  request.end();
  const socket = await new Promise<Socket>((resolve, reject) => {
    request.on("error", reject).on("connect", ({ statusCode }, opened) => {
      if (statusCode === 200) return resolve(opened);
      opened.destroy();
      reject(new Error(`No tunnel to ${host}: HTTP ${statusCode}`));
    });
  });
  const servername = target.hostname.replace(/^\[|\]$/g, "");
  return { agent: false, createConnection: () => connect({ socket, servername }) };
};

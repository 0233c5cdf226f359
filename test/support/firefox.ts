/** A headless Firefox without a network, over WebDriver BiDi: the one named by FIREFOX_BIN, or an installed one. Playwright drives only its own. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { diskFolder } from "./memory-folder.ts";

const PATH = process.env.FIREFOX_BIN ?? Bun.which("firefox") ?? Bun.which("firefox-esr") ?? undefined;

/** Why tests in Firefox cannot run on this machine; undefined if they can. */
export const noFirefoxReason = PATH === undefined ? "no Firefox: set FIREFOX_BIN or install one" : undefined;

/** Everything but this machine is behind a proxy that is not there, and Firefox asks for nothing by itself. */
const PREFERENCES = {
  "network.proxy.type": 1,
  "network.proxy.http": "127.0.0.1",
  "network.proxy.http_port": 9,
  "network.proxy.ssl": "127.0.0.1",
  "network.proxy.ssl_port": 9,
  "network.dns.disabled": true,
  "remote.active-protocols": 1,
  "browser.shell.checkDefaultBrowser": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "toolkit.telemetry.reportingpolicy.firstRun": false,
};

/** What tests need of a browser that Playwright does not drive. */
export interface OtherBrowser extends AsyncDisposable {
  goto(url: string): Promise<void>;
  setFile(selector: string, path: string): Promise<void>;
  /** The value of an expression, which is a text. */
  evaluate(expression: string): Promise<string>;
}

export const startFirefox = async (): Promise<OtherBrowser> => {
  const profile = await mkdtemp(join(diskFolder(), "prooftrail-firefox-"));
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`,
  );
  await writeFile(join(profile, "user.js"), lines.join("\n"));
  const firefox = spawn(
    PATH ?? "",
    ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"],
    {
      env: { ...process.env, HOME: profile },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  const ended = new Promise<void>((resolve) => firefox.once("exit", () => resolve()));
  const address = await listeningAddress(firefox.stderr);
  const ask = await connect(`${address}/session`);
  await ask("session.new", { capabilities: {} });
  const { contexts } = await ask("browsingContext.getTree", {});
  const context = contexts?.[0]?.context;
  const evaluated = (expression: string) =>
    ask("script.evaluate", { expression, target: { context }, awaitPromise: true });
  return {
    goto: async (url) => {
      await ask("browsingContext.navigate", { context, url, wait: "complete" });
    },
    setFile: async (selector, path) => {
      const { result } = await evaluated(`document.querySelector(${JSON.stringify(selector)})`);
      await ask("input.setFiles", { context, element: { sharedId: result?.sharedId }, files: [path] });
    },
    evaluate: async (expression) => {
      const { result, exceptionDetails } = await evaluated(expression);
      if (exceptionDetails) throw new Error(exceptionDetails.text);
      return String(result?.value);
    },
    [Symbol.asyncDispose]: async () => {
      firefox.kill("SIGKILL");
      await ended;
      await rm(profile, { recursive: true, force: true });
    },
  };
};

const listeningAddress = async (stderr: NodeJS.ReadableStream): Promise<string> => {
  for await (const line of createInterface({ input: stderr })) {
    const [, address] = /BiDi listening on (ws:\S+)/.exec(line) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error("Firefox ended without an address");
};

/** What is used of the answers to the commands below (W3C WebDriver BiDi). */
interface Answer {
  readonly contexts?: readonly { readonly context: string }[];
  readonly result?: { readonly sharedId?: string; readonly value?: unknown };
  readonly exceptionDetails?: { readonly text: string };
}

type Ask = (method: string, params: object) => Promise<Answer>;

const connect = async (url: string): Promise<Ask> => {
  const socket = new WebSocket(url);
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  socket.addEventListener("message", ({ data }) => {
    const { id, type, result, message } = JSON.parse(String(data));
    if (type === "error") waiting.get(id)?.reject(new Error(message));
    else waiting.get(id)?.resolve(result);
    waiting.delete(id);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  let last = 0;
  return (method, params) => {
    const id = ++last;
    const answer = Promise.withResolvers<Answer>();
    waiting.set(id, answer);
    socket.send(JSON.stringify({ id, method, params }));
    return answer.promise;
  };
};

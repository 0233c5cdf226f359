/** WebKit of GTK over WebDriver (Debian: webkit2gtk-driver, xvfb). It has no headless form, so it draws on a display that nobody sees. */
import { type ChildProcess, spawn } from "node:child_process";
import { Glob } from "bun";
import { freePorts } from "./cluster.ts";
import type { OtherBrowser } from "./firefox.ts";
import { until } from "./until.ts";

const DRIVER = Bun.which("WebKitWebDriver");
const DISPLAY = Bun.which("Xvfb");
const [BROWSER] = new Glob("lib/*/webkit2gtk-4.*/MiniBrowser").scanSync({ cwd: "/usr", absolute: true });

/** Why tests in WebKit cannot run on this machine; undefined if they can. */
export const noWebkitReason =
  DRIVER && DISPLAY && BROWSER ? undefined : "no WebKit: install webkit2gtk-driver and xvfb";

export const startWebkit = async (): Promise<OtherBrowser> => {
  const processes: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const running of processes.toReversed()) {
      const ended = new Promise((resolve) => running.once("exit", resolve));
      if (running.exitCode === null && running.kill("SIGTERM")) await ended;
    }
  };
  const screen = spawn(DISPLAY ?? "", ["-displayfd", "3"], { stdio: ["ignore", "ignore", "ignore", "pipe"] });
  processes.push(screen);
  const [, , , numbers] = screen.stdio;
  const display = await new Promise<string>((resolve) =>
    numbers?.once("data", (data: Buffer) => resolve(data.toString().trim())),
  );
  const [port] = await freePorts(1);
  const driver = spawn(DRIVER ?? "", [`--port=${port}`], {
    env: { ...process.env, DISPLAY: `:${display}` },
    stdio: "ignore",
  });
  processes.push(driver);
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    const { value } = Object(await response.json());
    if (!response.ok) throw new Error(JSON.stringify(value));
    return value;
  };
  await until("the driver of WebKit answers", () => ask("GET", "/status").catch(() => undefined));
  const options = { "webkitgtk:browserOptions": { binary: BROWSER, args: ["--automation"] } };
  const made = await ask("POST", "/session", { capabilities: { alwaysMatch: options } });
  const session = `/session/${Object(made).sessionId}`;
  return {
    goto: async (url) => {
      await ask("POST", `${session}/url`, { url });
    },
    setFile: async (selector, path) => {
      const found = await ask("POST", `${session}/element`, { using: "css selector", value: selector });
      await ask("POST", `${session}/element/${Object.values(Object(found))[0]}/value`, { text: path });
    },
    evaluate: async (expression) =>
      String(await ask("POST", `${session}/execute/sync`, { script: `return ${expression}`, args: [] })),
    [Symbol.asyncDispose]: async () => {
      await ask("DELETE", session);
      await stop();
    },
  };
};

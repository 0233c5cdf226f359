/** The two programs that are compared, each started as a process from its own tree, with a broker and a folder of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { root, type Subject, startSubject } from "../subject.ts";

export interface Program {
  /** Folder of its tree, with its packages. */
  readonly tree: string;
  /** Its log, keys and views. */
  readonly dataDir: string;
}

/** A detached worktree of `commit`, with the packages of its own lock file. */
export const checkOut = async (commit: string, tree: string): Promise<void> => {
  await run("git", ["-C", root, "worktree", "add", "--quiet", "--detach", tree, commit]);
  await run(process.execPath, ["install", "--frozen-lockfile", "--silent"], tree);
};

export const removeTree = (tree: string): Promise<string> =>
  run("git", ["-C", root, "worktree", "remove", "--force", tree]);

/** What the program printed. Its errors go to ours. */
export const run = async (program: string, args: readonly string[], cwd = root): Promise<string> => {
  const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}`);
  return output;
};

export const startFrontEnd = (
  { tree, dataDir }: Program,
  roles: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Subject> => startSubject(dataDir, roles, { tree, settings });

/** The views of SQLite go; the log stays. */
export const removeViews = async (dataDir: string): Promise<void> => {
  for (const name of await readdir(dataDir))
    if (name.startsWith("views.sqlite")) await rm(join(dataDir, name), { force: true, recursive: true });
};

/** One question of each group of views: all of them have taken `events` events when each answers. */
const ASKED_OF_VIEWS = ["events", "obligations", "activity", "sources", "events?q=approved"];
const LOOK_MS = 50;

export const untilProjected = async (subject: Subject, events: number, isRunning: () => boolean) => {
  for (const question of ASKED_OF_VIEWS) {
    const join = question.includes("?") ? "&" : "?";
    while (!(await isSeen(subject, `/v1/${question}${join}min_sequence=${events}`))) {
      if (!isRunning()) throw new Error("the projector ended before the views were complete");
      await delay(LOOK_MS);
    }
  }
};

/** 503 says that a view is behind or not there yet. */
const isSeen = async (subject: Subject, path: string): Promise<boolean> => {
  const answer = await ask(subject, path);
  const text = await answer.text();
  if (answer.ok || answer.status === 503) return answer.ok;
  throw new Error(`${path}: ${answer.status} ${text}`);
};

export const ask = ({ port, key }: Subject, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  });

/** The most memory that a process has had so far (proc(5), VmHWM). */
export const peakMegabytes = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

/** haproxy with the configuration of compose.yaml. Debian's is older than the image's: it knows no UUIDv7 and no status 431. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { debianProgram } from "./debian-program.ts";

export const haproxy = await debianProgram(
  ["haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1"],
  "usr/sbin/haproxy",
);

/** `content`: as compose.yaml has it; `frontEnds`: the ports of api-1, api-2 … */
export const startBalancer = async (
  content: string,
  { bind, frontEnds }: { readonly bind: number; readonly frontEnds: readonly number[] },
): Promise<AsyncDisposable> => {
  if (haproxy.kind === "missing") throw new Error(haproxy.reason);
  const adapted = content
    .replaceAll("$$", "$")
    .replaceAll("uuid(7)", "uuid")
    .replaceAll(/^ *(errorfile|option http-drop-request-trailers).*\n/gm, "")
    .replace(/^resolvers docker$[\s\S]*?(?=^\S)/m, "")
    .replaceAll(" resolvers docker init-addr last,libc,none", "")
    .replace("bind :8080", `bind 127.0.0.1:${bind}`)
    .replaceAll(/api-(\d):8080/g, (_, name: string) => `127.0.0.1:${frontEnds[Number(name) - 1]}`);
  const folder = await mkdtemp(join(tmpdir(), "prooftrail-haproxy-"));
  const path = join(folder, "haproxy.cfg");
  await writeFile(path, adapted);
  const env = { ...process.env, ...haproxy.environment };
  const child = spawn(haproxy.path, ["-f", path], { stdio: ["ignore", "ignore", "inherit"], env });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
};

import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

const LINE = { detail: "evt_1\u009b2K\u202e\u001b[2J\u2028\u{e0041}\rend" };

const written = (pretty: boolean): string => {
  const program = `
    import { createLogger } from ${JSON.stringify(resolve(import.meta.dir, "logger.ts"))};
    createLogger({ level: "info", pretty: ${pretty} }).warn("refused", ${JSON.stringify(LINE)});`;
  return spawnSync(process.execPath, ["-e", program], { encoding: "utf8" }).stdout;
};

test("a line for people cannot control the terminal, whatever a name in it contains", () => {
  const line = written(true);
  expect(line).toContain("evt_1\\u009b2K\\u202e\\u001b[2J\\u2028\\udb40\\udc41\\rend");
  expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
});

test("a line for programs contains the exact values", () => {
  expect(JSON.parse(written(false))).toMatchObject({ ...LINE, level: "warn", msg: "refused" });
});

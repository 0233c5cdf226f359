/** verify.html of a bundle, opened from disk in Firefox and in WebKit. */
import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findingText } from "../../src/proof/verifier/report.ts";
import { evidence, linesIn, pack, textOf, unpack, verify, withLines } from "../support/evidence-bundle.ts";
import { noFirefoxReason, startFirefox } from "../support/firefox.ts";
import { dataFolder } from "../support/process.ts";
import { event, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { noWebkitReason, startWebkit } from "../support/webkit.ts";

const ENGINES = [
  ["Firefox", startFirefox, noFirefoxReason],
  ["AppleWebKit", startWebkit, noWebkitReason],
] as const;

for (const [engine, startBrowser, reason] of ENGINES)
  test.skipIf(reason !== undefined)(
    `in ${engine}, verify.html verifies its bundle and names the broken record of another${reason ? ` (skipped: ${reason})` : ""}`,
    async () => {
      await using service = await startTestService({ CHECKPOINT_INTERVAL: "50ms" });
      await using folder = await dataFolder();
      const events = ["evt_0", "evt_1", "evt_2"].map((event_id) => event({ event_id }));
      await service.call("/v1/events/batch", { body: { events } });
      const bytes = await evidence(service);
      const files = await unpack(bytes);
      const lines = linesIn(files, "events.ndjson").map((line) => line.replace('"evt_1"', '"evt_l"'));
      const changed = pack(withLines(files, "events.ndjson", lines));
      const save = async (name: string, content: string | Uint8Array): Promise<string> => {
        const path = join(folder.path, name);
        await writeFile(path, content);
        return path;
      };
      const page = await save("verify.html", textOf(files, "verify.html"));
      const bundle = await save("evidence.zip", bytes);
      const tampered = await save("tampered.zip", changed);

      await using browser = await startBrowser();
      await browser.goto(pathToFileURL(page).href);
      expect(await browser.evaluate("navigator.userAgent")).toContain(`${engine}/`);
      const verdictOn = async (path: string): Promise<string> => {
        await browser.setFile("#files", path);
        return until(`${engine} shows a verdict`, async () => {
          const said = await browser.evaluate("document.querySelector('.verdict')?.textContent ?? ''");
          return said === "" ? undefined : said;
        });
      };
      expect(await verdictOn(bundle)).toStartWith("VALID  evidence.zip");
      const verdict = await verify(changed);
      if (verdict.kind !== "invalid") throw new Error(verdict.kind);
      expect(await verdictOn(tampered)).toBe(`INVALID  tampered.zip${findingText(verdict.finding)}`);
    },
  );

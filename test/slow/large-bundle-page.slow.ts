/** A bundle of 200 MB on the page that verifies: it says what it does, the page stays usable, and reading can be ended. */
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { noBrowserReason, openPage, startBrowser } from "../support/browser.ts";
import { evidence } from "../support/evidence-bundle.ts";
import { dataFolder } from "../support/process.ts";
import { event, startTestService } from "../support/service.ts";
import { WAIT_MS_MAX } from "../support/time-limits.ts";

/** Each event is in the bundle three times, in base64 once: about 500 KB of ZIP, because nothing in it repeats. */
const EVENTS = 416;
const BATCH = 52;
const NOTE_BYTES = 180_000;
const ZIP_BYTES_MIN = 200_000_000;

/** Frames that the page drew, and shares of the progress bar that it showed, while the worker read. */
const WATCH = `
  window.watched = { frames: 0, shares: new Set() };
  const watch = () => {
    if (!document.getElementById("working").hidden) {
      watched.frames++;
      watched.shares.add(document.getElementById("progress").value);
    }
    requestAnimationFrame(watch);
  };
  watch();
`;

test.skipIf(noBrowserReason !== undefined)(
  `a bundle of 200 MB is verified while the page is used, and cancelled${noBrowserReason ? ` (skipped: ${noBrowserReason})` : ""}`,
  async () => {
    await using service = await startTestService({ CHECKPOINT_INTERVAL: "50ms" });
    await using folder = await dataFolder();
    const acme = await service.makeKey("acme");
    for (let sent = 0; sent < EVENTS; sent += BATCH) {
      const events = Array.from({ length: BATCH }, (_, index) =>
        event({
          event_id: `evt_${sent + index}`,
          metadata: { note: randomBytes(NOTE_BYTES).toString("base64") },
        }),
      );
      const { json } = await service.call("/v1/events/batch", { key: acme, body: { events } });
      expect(json.data.accepted).toBe(BATCH);
    }
    const bytes = await evidence(service, "wait=30", acme);
    expect(bytes.length).toBeGreaterThan(ZIP_BYTES_MIN);
    const path = join(folder.path, "large.zip");
    await writeFile(path, bytes);

    await using browser = await startBrowser({ origin: service.url, width: 1280 });
    const { page, complaints } = await openPage(browser, `${service.url}/verify`);
    page.setDefaultTimeout(WAIT_MS_MAX);
    await page.evaluate(WATCH);
    const working = page.locator("#working");
    await page.getByLabel("Files to verify").setInputFiles(path);
    await page.getByText(/^Reading records.ndjson: .* MB so far/).waitFor();
    await page.getByLabel("Tenant").fill("other");
    await page.getByRole("link", { name: "한국어" }).focus();
    expect(await working.isVisible()).toBe(true);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("status").getByText("Nothing was decided").waitFor();
    expect(await working.isVisible()).toBe(false);

    await page.getByLabel("Tenant").fill("acme");
    await page.getByRole("button", { name: "Verify", exact: true }).click();
    await page.getByRole("status").getByText("VALID  large.zip").waitFor();
    await page.getByRole("cell", { name: `${EVENTS}; complete` }).waitFor();
    // One frame and one share alone would be the page that stands still until the end.
    const [frames, shares]: [number, number] = await page.evaluate("[watched.frames, watched.shares.size]");
    expect(frames).toBeGreaterThan(10);
    expect(shares).toBeGreaterThan(5);
    expect(complaints).toEqual([]);
  },
);

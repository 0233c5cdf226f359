/** `bun run pictures`: the pictures of the documents, made from the history of the demo. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import { openConsole, openScreen, screenAddress, signIn } from "../support/console.ts";
import { startDemoService } from "../support/demo-service.ts";
import { dataFolder } from "../support/process.ts";

const FOLDER = resolve(import.meta.dir, "../../docs/pictures");

await using demo = await startDemoService();
await using folder = await dataFolder();
const root = `${demo.service.url}/`;
await using opened = await openConsole({ root, width: 1280 });
const { page } = opened;
await mkdir(FOLDER, { recursive: true });
const take = async (name: string): Promise<void> => {
  const path = join(FOLDER, `${name}.png`);
  await page.screenshot({ path });
  process.stdout.write(`${path}\n`);
};

await signIn(page, demo.key);
for (const screen of ["", "decision"]) {
  await openScreen(page, screenAddress(root, screen));
  await take(screen || "overview");
}
const bundle = join(folder.path, "evidence.zip");
const made = await fetch(`${root}v1/evidence?decision_id=dec-overdue`, {
  headers: { authorization: `Bearer ${demo.key}` },
});
await writeFile(bundle, await made.bytes());
const { text: keys } = await demo.service.call("/v1/log/key", { key: demo.key });
await page.goto(`${root}verify`);
await page.locator("textarea").first().fill(keys);
await page.locator("input[type=file]").first().setInputFiles(bundle);
await page.getByRole("status").getByText("VALID").first().waitFor();
await take("verify");
await rm(bundle);

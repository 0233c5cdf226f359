import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { SandboxPage } from "../http/routes/sandbox-page.ts";
import { bundleForBrowser } from "../runtime/bundle.ts";

const fileOf = (name: string): string => fileURLToPath(new URL(`../sandbox-page/${name}`, import.meta.url));

/** Made once at the start, in about 20 ms. */
export const loadSandboxPage = async (): Promise<SandboxPage> => ({
  script: await bundleForBrowser(fileOf("page.ts")),
  style: await readFile(fileOf("page.css"), "utf8"),
});

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The Chromium of this machine: the one named by CHROMIUM_BIN, else an installed one. */
export const ownBrowser = ({ CHROMIUM_BIN, PATH = "" }: NodeJS.ProcessEnv): string | undefined =>
  CHROMIUM_BIN ||
  PATH.split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path));

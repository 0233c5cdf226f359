/** The Chromium in the package @sparticuz/chromium, for Linux on x64. */
import { dirname } from "node:path";
import packaged from "@sparticuz/chromium";
import { type LastingFolder, lastingFolder, sharedByFiles } from "./lasting-folder.ts";

export const hasPackagedBrowser = process.platform === "linux" && process.arch === "x64";

// Our pages do not need WebGL: with it a graphics card is emulated for everything that is drawn, a third of the cost of a page (measured).
packaged.setGraphicsMode = false;
/** Switch off the rules between origins, which pages are tested against; and one process for everything ends with its first context. */
const UNWANTED = [
  "--disable-web-security",
  "--allow-running-insecure-content",
  "--single-process",
  "--no-zygote",
];
export const packagedBrowserArguments: readonly string[] = packaged.args.filter(
  (argument) => !UNWANTED.includes(argument),
);

/** Path of a browser that was unpacked already (test/with-shared-parts.ts). */
export const BROWSER_SETTING = "PROOFTRAIL_TEST_BROWSER";

/** Its path. If none is set, it is unpacked at the first request, which takes 2.4 s of CPU, and is removed with this process. */
export const packagedBrowser = sharedByFiles(
  async (): Promise<string> => process.env[BROWSER_SETTING] ?? (await unpackBrowser()).path,
);

export const unpackBrowser = async (): Promise<LastingFolder> => {
  const folder = lastingFolder("browser");
  const unpacking = withTemporaryFolder(folder.path, () => packaged.executablePath());
  const path = await unpacking;
  if (dirname(path) !== folder.path) throw new Error(`the browser was unpacked to ${path}`);
  return { path, remove: folder.remove };
};

/** The package asks for the temporary folder, and for no other folder, before it waits for anything. */
const withTemporaryFolder = <Result>(path: string, work: () => Result): Result => {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = path;
  try {
    return work();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
};

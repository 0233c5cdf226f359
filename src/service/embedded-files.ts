import type { ConsoleFiles, SandboxPage, VerifyPage } from "../api/http/dependencies.ts";

/** The files for browsers, as texts, so that they can be part of a program. */
export interface BrowserFiles {
  /** The files of the documentation page by name. */
  readonly docs: Readonly<Record<string, string>>;
  readonly sandbox: SandboxPage;
  readonly console: ConsoleFiles | undefined;
  readonly verify: VerifyPage | undefined;
}

/** Undefined from source. In the executable, src/service/packaging/executable.ts replaces this module by one with the files. */
export const embeddedFiles: BrowserFiles | undefined = undefined;

import type { SandboxPage } from "../http/routes/sandbox-page.ts";

/** What browsers are given, as texts, so that it can be part of a program. */
export interface BrowserFiles {
  /** The files of the documentation page by name. */
  readonly docs: Readonly<Record<string, string>>;
  readonly sandbox: SandboxPage;
}

/** None from source. In the executable src/packaging/executable.ts puts a module with the files in the place of this one. */
export const embeddedFiles: BrowserFiles | undefined = undefined;

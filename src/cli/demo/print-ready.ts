/** What `prooftrail demo` prints when a person can look: the one link, and whom to look for. */
import { KNOWN_PERSON } from "../../demo/journal.ts";
import type { Writer } from "../context.ts";

export const printReady = (
  err: Writer,
  ready: {
    /** Opens the console, once. */
    readonly link: string;
    readonly keyPath: string;
    readonly events: number;
    readonly day: string;
    readonly today: string;
  },
): Promise<void> => {
  const { link, keyPath, events, day, today } = ready;
  const older =
    day === today
      ? ""
      : `  Its history ends with ${day}. For one that ends today, remove the folder of the demo and start again.\n`;
  return err.write(`
  Nordbank is ready: ${events.toLocaleString("en-US")} events of a bank that does not exist, in the tenant demo.

  open          ${link}
  key           in ${keyPath}
  a person      ${KNOWN_PERSON}, in the log as the SHA-256 hash of that text

${older}  Ctrl-C stops it; the next start continues with the same data.

`);
};

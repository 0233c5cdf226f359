import { METADATA_KEYS_BY_SUBJECT } from "../../src/event/metadata-keys.ts";
import { codes, page, table } from "./markdown.ts";

export const metadataPage = (): string =>
  page(
    "Metadata keys",
    "`metadata` may be any JSON object. It is stored as it was sent. The keys below have a meaning for registers, coverage and obligations. After a comma stand other names that are understood too. A key that is nearly one of these is answered with the warning `unknown_metadata_key`, and a value that cannot be read (an id that is a list, a date that does not exist) with a warning that says what to send.",
    "An id has up to 256 characters. A number counts by its digits as sent. [Linking](../linking.md) explains what the ids do.",
    ...Object.entries(METADATA_KEYS_BY_SUBJECT).flatMap(([subject, keys]) => [
      `## ${subject}`,
      table(
        ["key", "read in", "says"],
        keys.map(({ name, also = [], readIn = "all", says }) => [codes([name, ...also]), readIn, says]),
      ),
    ]),
  );

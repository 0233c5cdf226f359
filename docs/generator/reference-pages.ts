/** The reference: one page per table of the code. A page has no text that could disagree with the code. */
import { commandLinePage } from "./command-line-page.ts";
import { errorsPage } from "./errors-page.ts";
import { eventFieldsPage, eventTypesPage } from "./event-pages.ts";
import { healthPage } from "./health-page.ts";
import { keysPage } from "./keys-page.ts";
import { limitsPage } from "./limits-page.ts";
import { metadataPage } from "./metadata-page.ts";
import { metricsPage } from "./metrics-page.ts";
import { obligationsPage } from "./obligations-page.ts";
import { settingsPage } from "./settings-page.ts";
import { subjectsPage } from "./subjects-page.ts";

/** By file name. */
export const referencePages = (): Readonly<Record<string, string>> => ({
  "settings.md": settingsPage(),
  "limits.md": limitsPage(),
  "errors.md": errorsPage(),
  "event-types.md": eventTypesPage(),
  "event-fields.md": eventFieldsPage(),
  "metadata-keys.md": metadataPage(),
  "obligations.md": obligationsPage(),
  "keys.md": keysPage(),
  "health.md": healthPage(),
  "metrics.md": metricsPage(),
  "subjects.md": subjectsPage(),
  "command-line.md": commandLinePage(),
});

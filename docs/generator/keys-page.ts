import type { ActionKind } from "../../src/access/action.ts";
import { SCOPE_OPENS } from "../../src/access/scopes.ts";
import { SYSTEM_EVENTS } from "../../src/administration/system-events.ts";
import { code, codes, page, prose, table } from "./markdown.ts";

export const keysPage = (): string =>
  page(
    "Scopes and administrative events",
    "## Scopes of API keys",
    table(
      ["scope", "allows"],
      Object.entries(SCOPE_OPENS).map(([scope, opens]) => [code(scope), prose(opens)]),
    ),
    "## Administrative events",
    "Events that Prooftrail writes itself, to the tenant `prooftrail-system`. `asset_id` is `prooftrail`, `correlation_id` the id of the request. The `metadata` of each has `tenant`, `actor` (the id of the key, or `admin`), `request_id` and what is listed here. [Give each team its own key](../how-to/keys.md#what-prooftrail-logs-about-itself) explains how to read them.",
    table(
      ["event type", "says", "in `metadata`"],
      Object.entries<ActionKind>(SYSTEM_EVENTS).map(([type, { summary, details }]) => [
        code(type),
        prose(summary),
        codes(Object.keys(details.properties)),
      ]),
    ),
  );

import { SYSTEM_EVENTS } from "../../src/access/administration/system-events.ts";
import { SCOPE_OPENS } from "../../src/access/scopes.ts";
import { ROLE_OPENS, ROLE_SCOPES, ROLES } from "../../src/access/seats.ts";
import { code, codes, page, prose, table } from "./markdown.ts";

export const keysPage = (): string =>
  page(
    "Scopes, roles and administrative events",
    "## Scopes of API keys",
    table(
      ["scope", "allows"],
      Object.entries(SCOPE_OPENS).map(([scope, opens]) => [code(scope), prose(opens)]),
    ),
    "## Roles of seats",
    "A seat is a key with a role, for one person. The role gives its scopes. [Seats](../how-to/keys.md#give-a-person-a-seat) explains what a seat may cover.",
    table(
      ["role", "is for", "scopes"],
      ROLES.map((role) => [code(role), prose(ROLE_OPENS[role]), codes(ROLE_SCOPES[role])]),
    ),
    "## Administrative events",
    "Events that Prooftrail writes itself, to the tenant `prooftrail-system`. `asset_id` is `prooftrail`, `correlation_id` the id of the request. The `metadata` of each has `tenant`, `actor` (the id of the key, `admin`, or `oidc` for a first sign-in with a provider), `request_id` and what is listed here. [Give each team its own key](../how-to/keys.md#what-prooftrail-logs-about-itself) explains how to read them.",
    table(
      ["event type", "says", "in `metadata`"],
      Object.entries(SYSTEM_EVENTS).map(([type, { summary, details }]) => [
        code(type),
        prose(summary),
        codes(Object.keys(details.properties)),
      ]),
    ),
  );

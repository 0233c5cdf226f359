/** The evidence bundles that were made. */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { KeyStore } from "../../access/key-store.ts";
import { Person } from "../../access/seats.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { countBundles, MadeBundle, madeBundles } from "../evidence/made-bundles.ts";
import { MADE_BUNDLES } from "../http/access.ts";
import { fileForms } from "../http/entry-file.ts";
import type { Guard } from "../http/guard.ts";
import { LIST_PARAMETERS, LIST_PROBLEMS, type ListDependencies, listAnswer } from "../http/list-answer.ts";
import { describe, EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import { listOf } from "../http/schemas.ts";
import { readTimeRange, timeRangeParameters } from "../http/time-range.ts";

interface Dependencies extends ListDependencies {
  readonly keyStore: Pick<KeyStore, "get">;
}

export const bundleRoutes = ({ guard, ...dependencies }: Dependencies & { readonly guard: Guard }) =>
  new Elysia({ prefix: "/v1" }).get("/evidence/bundles", guard(MADE_BUNDLES, listBundles(dependencies)), {
    detail: describe(LIST),
  });

const listBundles = ({ keyStore, ...dependencies }: Dependencies) =>
  listAnswer(dependencies, {
    name: "bundles",
    views: [EVENTS_VIEW],
    columns: COLUMNS,
    ask: readTimeRange,
    page: async (period, tenant, page) => {
      const found = await madeBundles(dependencies.views, tenant, period, page);
      if (found.kind === "invalid_cursor") return found;
      const maker = (id: string) => {
        const { name = null, person = null } = keyStore.get(id) ?? {};
        return { made_by_name: name, made_by_person: person };
      };
      return {
        ...found,
        entries: found.entries.map((entry) => ({ ...entry, ...maker(entry.made_by) })),
      };
    },
    count: (period, tenant) => countBundles(dependencies.views, tenant, period),
  });

const MEMBERS = {
  ...MadeBundle.properties,
  made_by_name: Type.Union([Type.String(), Type.Null()], {
    description: "The name of the key, if it has one.",
  }),
  made_by_person: Type.Union([Person, Type.Null()]),
};
const COLUMNS = Object.keys(MEMBERS);

const EXAMPLE = {
  sequence: 4711,
  event_id: "evt_019a9f0e-8c1f-7cc0-8f2d-2f3f3c1f7a55",
  made_at: "2026-11-20T10:00:00.512Z",
  made_by: "k3Yb0Qz81mNd",
  filter: { decision_id: "dec_81" },
  records: 6,
  manifest_sha256: "3f0a1d9c5b7e2846a1c09d8e7f6b5a4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a",
  request_id: EXAMPLE_REQUEST_ID,
  made_by_name: "audit office",
  made_by_person: "j.kim@audit.example",
};

const LIST: Operation = {
  id: "listBundles",
  tag: "Proof",
  summary: "The evidence bundles that were made",
  description:
    "Each bundle of the tenant, from its event `system.evidence_made`: what it is about, how many records it has, who made it, and the SHA-256 of its `manifest.json`, by which a file is recognised. Whether its reader took it to the end is not said.",
  access: MADE_BUNDLES,
  parameters: [...timeRangeParameters("What counts is when the bundle was made."), ...LIST_PARAMETERS],
  answer: {
    status: 200,
    description: "One page.",
    schema: listOf(Type.Object(MEMBERS)),
    example: { data: [EXAMPLE], next_cursor: null, request_id: EXAMPLE_REQUEST_ID },
    others: fileForms(COLUMNS, EXAMPLE),
  },
  problems: LIST_PROBLEMS,
};

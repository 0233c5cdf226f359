import { Type } from "@sinclair/typebox";
import { Person } from "../../access/seats.ts";
import { EVENTS_VIEW } from "../../views/events/tables.ts";
import { countBundles, MadeBundle, madeBundles } from "../evidence/made-bundles.ts";
import { MADE_BUNDLES } from "../http/access.ts";
import type { Dependencies } from "../http/dependencies.ts";
import { listRoute } from "../http/lists.ts";
import { timeRange } from "../http/parameters.ts";
import type { Route } from "../http/route.ts";
import { nullable } from "../http/schemas.ts";

export const bundleRoutes = (dependencies: Dependencies): readonly Route[] => {
  const { views, keyStore } = dependencies;
  const makerOf = (id: string) => {
    const { name = null, person = null } = keyStore.get(id) ?? {};
    return { made_by_name: name, made_by_person: person };
  };
  return [
    listRoute(
      dependencies,
      {
        name: "bundles",
        views: [EVENTS_VIEW],
        members: {
          ...MadeBundle.properties,
          made_by_name: nullable(Type.String({ description: "The name of the key, if it has one." })),
          made_by_person: nullable(Person),
        },
        query: timeRange("What counts is when the bundle was made."),
        page: async (period, { tenant }, page) => {
          const found = await madeBundles(views, tenant, period, page);
          if (found.kind === "invalid_cursor") return found;
          const entries = found.entries.map((entry) => ({ ...entry, ...makerOf(entry.made_by) }));
          return { ...found, entries };
        },
        count: (period, { tenant }) => countBundles(views, tenant, period),
      },
      {
        on: "GET /v1/evidence/bundles",
        access: MADE_BUNDLES,
        id: "listBundles",
        tag: "Proof",
        summary: "The evidence bundles that were made",
        description:
          "Each bundle of the tenant, from its event `system.evidence_made`: what it is about, how many records it has, who made it, and the SHA-256 of its `manifest.json`, by which a file is recognised. Whether its reader took it to the end is not said.",
      },
    ),
  ];
};

import { isOnHold } from "../../access/retention/age.ts";
import type { HoldRecord } from "../../access/retention/records.ts";
import type { Fact } from "../../law/cases/fact.ts";
import type { ViewStore } from "../store/view-store.ts";
import { nodesOf } from "./nodes.ts";
import { namesOfCase } from "./queries.ts";

/** Whether one of these holds of a tenant keeps an event: by its asset, or by the case to which it belongs. */
export const holdsOver = async (
  views: Pick<ViewStore, "load">,
  tenant: string,
  holds: readonly HoldRecord[],
): Promise<(fact: Fact) => boolean> => {
  const cases = new Map<string, ReadonlySet<string>>();
  for (const { correlation_id: id, released_at: releasedAt } of holds)
    if (id !== undefined && releasedAt === undefined) cases.set(id, await namesOfCase(views, tenant, id));
  return (fact) => {
    const names = nodesOf(fact);
    const isMember = ([, members]: readonly [string, ReadonlySet<string>]): boolean =>
      names.some((name) => members.has(name));
    const correlationIds = [...cases].filter(isMember).map(([id]) => id);
    return isOnHold({ assetId: fact.asset, correlationIds }, holds);
  };
};

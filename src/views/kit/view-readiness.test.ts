import { expect, test } from "bun:test";
import { VIEW_MADE_RECORDS_MIN } from "../../limits.ts";
import { LogUnavailableError } from "../../log/event-log.ts";
import { VIEWS } from "../store/view-store.ts";
import { successorOf } from "./beside.ts";
import { createViewReadiness } from "./view-readiness.ts";

const view = (name: string) => ({ name, version: 3, tables: [] });
const projections = [view("events"), view("cases")];
const SUCCESSOR = successorOf(view("events")).name;

const looking = () => {
  const positions: Record<string, number> = {};
  const stand = { last: 0, isAway: false, looks: 0 };
  const readiness = createViewReadiness({
    views: {
      load: async (table, keys) => {
        expect(table).toBe(VIEWS);
        stand.looks++;
        return keys.map(({ name }) => ({ name: name ?? "", position: positions[String(name)] ?? 0 }));
      },
    },
    log: {
      lastSequence: async () => {
        if (stand.isAway) throw new LogUnavailableError("The event log could not be read.");
        return stand.last;
      },
    },
    projections,
  });
  const check = async (position: number, last: number, names = ["events"]): Promise<string> => {
    positions.events = position;
    stand.last = last;
    return readiness.check(names).then(
      () => "read",
      (error) => String(error.reason),
    );
  };
  return { stand, positions, check, readiness };
};

test("a view that has nothing of a log is not read, and the reason says how far its successor is", async () => {
  const { positions, check } = looking();
  const last = VIEW_MADE_RECORDS_MIN + 1;
  expect(await looking().check(0, 0)).toBe("read");
  expect(await looking().check(0, VIEW_MADE_RECORDS_MIN)).toBe("read");
  expect(await looking().check(1, 1_000_000)).toBe("read");
  expect(await check(0, last, ["cases"])).toBe(
    `The view cases is at record 0 of ${last}, and is read once it reaches the last.`,
  );
  positions[SUCCESSOR] = 600;
  expect(await check(0, last)).toBe(
    `The view events is at record 600 of ${last}, and is read once it reaches the last.`,
  );
  expect(await check(last, last)).toBe("read");
});

test("views are readable while the log is away, and are looked at again when it is back", async () => {
  const { stand, check, readiness } = looking();
  stand.isAway = true;
  expect(await readiness.lookFirst()).toBeUndefined();
  expect(await check(0, 5000)).toBe("read");
  stand.isAway = false;
  expect(await check(0, 5000)).toContain("at record 0 of 5000");
});

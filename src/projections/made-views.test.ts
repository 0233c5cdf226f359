import { expect, test } from "bun:test";
import { VIEW_LAG_RECORDS_MAX, VIEW_MADE_RECORDS_MIN } from "../limits.ts";
import { LogUnavailableError } from "../log/event-log.ts";
import { createMadeViews } from "./made-views.ts";

const looking = () => {
  const stand = { position: 0, last: 0, isAway: false, looks: 0 };
  const madeViews = createMadeViews({
    views: {
      load: async (_, keys) => {
        stand.looks++;
        return keys.map((key) => ({ ...key, position: stand.position }));
      },
    },
    log: {
      lastSequence: async () => {
        if (stand.isAway) throw new LogUnavailableError("The event log could not be read.");
        return stand.last;
      },
    },
  });
  const check = async (position: number, last: number, names = ["events"]): Promise<string> => {
    Object.assign(stand, { position, last });
    return madeViews.check(names).then(
      () => "made",
      (error) => String(error.reason),
    );
  };
  return { stand, check };
};

/** At the first look of a process. */
const firstLook = (position: number, last: number): Promise<string> => looking().check(position, last);

test("a view is being made that lacks half of the log, or as much as makes the process not ready, and more than is made in no time", async () => {
  const small = VIEW_MADE_RECORDS_MIN;
  expect(await firstLook(0, 0)).toBe("made");
  expect(await firstLook(0, small)).toBe("made");
  expect(await firstLook(0, small + 1)).toBe(
    "The view events is at record 0 of 1001, and is read when it has the last of them.",
  );
  expect(await firstLook(5000, 10_000)).toBe("made");
  expect(await firstLook(4999, 10_000)).toBe(
    "The view events is at record 4999 of 10000, and is read when it has the last of them.",
  );
  expect(await firstLook(1_000_000 - VIEW_LAG_RECORDS_MAX, 1_000_000)).toBe("made");
  expect(await firstLook(949_999, 1_000_000)).toContain("at record 949999 of 1000000");
});

test("it is read when it has come to where the log ended at the first look, and looked at no more", async () => {
  const { stand, check } = looking();
  expect(await check(0, 5000)).toContain("at record 0 of 5000");
  expect(await check(4999, 9000)).toContain("at record 4999 of 5000");
  expect(await check(5000, 9000)).toBe("made");
  const { looks } = stand;
  expect(await check(0, 1_000_000)).toBe("made");
  expect(stand.looks).toBe(looks);
});

test("of a log that was put back from a copy meanwhile it need not have more than there is", async () => {
  const { check } = looking();
  expect(await check(0, 5000)).toContain("at record 0 of 5000");
  expect(await check(2000, 3000)).toContain("at record 2000 of 3000");
  expect(await check(3000, 3000)).toBe("made");
});

test("while the log is away what the views have is read, and looked at again when it is back", async () => {
  const { stand, check } = looking();
  stand.isAway = true;
  expect(await check(0, 5000)).toBe("made");
  stand.isAway = false;
  expect(await check(0, 5000)).toContain("at record 0 of 5000");
});

test("a view that was being made when the log went away is not read meanwhile either, until it has come so far", async () => {
  const { stand, check } = looking();
  expect(await check(0, 5000)).toContain("at record 0 of 5000");
  stand.isAway = true;
  expect(await check(4999, 9000)).toContain("at record 4999 of 5000");
  expect(await check(5000, 9000)).toBe("made");
});

test("all that are asked for are looked at, also behind one that is being made", async () => {
  const { check } = looking();
  expect(await check(0, 5000, ["events", "cases"])).toContain("The view events is at record 0 of 5000");
  expect(await check(5000, 20_000, ["cases"])).toBe("made");
});

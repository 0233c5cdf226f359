import { expect, test } from "bun:test";
import { until } from "../../test/support/until.ts";
import type { Trouble } from "./health-reasons.ts";
import { watchLogEnd } from "./log-end.ts";

const SHORT: Trouble = {
  id: "heads_not_reached",
  isBlocking: true,
  detail: "The log ends at record 1",
  advice: "Bring it back.",
};

const watching = (isSilent = false) => {
  const listeners = new Set<(state: "lost" | "restored") => void>();
  const state: {
    views: readonly string[];
    copy: Trouble | undefined;
    isSilent: boolean;
    hasViews: boolean;
  } = {
    views: [],
    copy: undefined,
    isSilent,
    hasViews: true,
  };
  const said: string[] = [];
  const end = watchLogEnd({
    connection: {
      isConnected: () => true,
      onChange: (listener) => {
        listeners.add(listener);
        return { [Symbol.dispose]: () => void listeners.delete(listener) };
      },
    },
    viewReasons: async () => {
      if (!state.hasViews) throw new Error("the database is away");
      return state.views;
    },
    copyTrouble: async () => {
      if (state.isSilent) throw new Error("the log does not answer");
      return state.copy;
    },
    logger: { info: (line) => void said.push(line), error: (line) => void said.push(line) },
  });
  return {
    end,
    state,
    said,
    tell: (change: "lost" | "restored") => {
      for (const each of listeners) each(change);
    },
  };
};

test("nothing is taken until the end was looked at, and again after each reconnect", async () => {
  const { end, state, tell } = watching(true);
  await using _watched = end;
  await end.look();
  expect([end.isKnown(), end.isBehind()]).toEqual([false, false]);
  state.isSilent = false;
  await until("it is known", end.isKnown);
  // The broker comes back with another log.
  state.copy = SHORT;
  tell("lost");
  expect(end.isKnown()).toBe(false);
  tell("restored");
  await until("it is known again", end.isKnown);
  expect(end.isBehind()).toBe(true);
});

test("an end that is missing for a moment, as with a leader that was just elected, closes the log only for that moment", async () => {
  const { end, state, said } = watching();
  await using _watched = end;
  await end.look();
  state.views = ["The view cases has seen 2 records more."];
  const looking = end.look();
  await until("it is in doubt", () => !end.isKnown());
  state.views = [];
  await looking;
  expect([end.isKnown(), end.isBehind(), said]).toEqual([true, false, []]);
});

test("what was asked before the connection was lost says nothing about the log after it", async () => {
  const { end, state, tell } = watching();
  await using _watched = end;
  await until("it is known", end.isKnown);
  state.copy = SHORT;
  const looking = end.look();
  tell("lost");
  state.isSilent = true;
  await looking;
  expect([end.isKnown(), end.isBehind()]).toEqual([false, false]);
});

test("views that are away tell nothing new, and do not keep events from being taken", async () => {
  const { end, state, said } = watching();
  await using _watched = end;
  state.hasViews = false;
  await end.look();
  expect([end.isKnown(), end.isBehind()]).toEqual([true, false]);
  [state.hasViews, state.views] = [true, ["The view cases has seen 2 records more."]];
  await end.look();
  state.hasViews = false;
  await end.look();
  expect(end.troubles()).toMatchObject([{ id: "views_ahead", isBlocking: true }]);
  [state.hasViews, state.views] = [true, []];
  await end.look();
  expect(end.isBehind()).toBe(false);
  expect(said).toHaveLength(2);
});

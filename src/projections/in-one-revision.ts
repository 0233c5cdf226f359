import { VIEW_REVISIONS, type ViewStore } from "../views/view-store.ts";

/**
 * What `ask` gives of views that have reached what was asked for; undefined where they have not. A view that is made again takes the place of the other from some
 * records further back, and may do so between the look at where it stands and the look at its rows, and have come as far by the next one: then it is asked again.
 */
export const inOneRevision = async <Answer>(
  reading: {
    readonly views: Pick<ViewStore, "load">;
    readonly projections: readonly string[];
    readonly hasReached: () => Promise<boolean>;
  },
  ask: () => Promise<Answer>,
  /** Given what is not used. */
  drop: (unused: Answer) => void = () => {},
): Promise<Answer | undefined> => {
  const { views, projections, hasReached } = reading;
  const keys = projections.map((name) => ({ name }));
  const revisions = async (): Promise<ReadonlySet<string>> =>
    new Set((await views.load(VIEW_REVISIONS, keys)).map((row) => JSON.stringify(row)));
  let before = await revisions();
  for (;;) {
    if (!(await hasReached())) return undefined;
    const answer = await ask();
    const now = await revisions();
    if (now.symmetricDifference(before).size === 0) return answer;
    drop(answer);
    before = now;
  }
};

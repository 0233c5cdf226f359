import { expect, test } from "bun:test";
import { GENERAL_FLOOR, LEGAL_FLOORS } from "../access/retention/floors.ts";
import { LABELS } from "../api/vocabulary/labels.ts";
import { CANNOT_SHOW, clauseOf, DEADLINES, DUTY_NAMES } from "../law/obligations/deadline-table.ts";
import { LAW_TEXTS_KO } from "./law-words.ts";

test("each article and each reason that answers give has Korean words, and no others are kept", () => {
  const counted = Object.keys(LABELS.laws).flatMap((law) =>
    DUTY_NAMES.flatMap((duty) => clauseOf([], law, duty)?.split("; ") ?? []),
  );
  const texts = [
    ...DEADLINES.map(({ clause }) => clause),
    ...CANNOT_SHOW.flatMap(({ clause, why }) => [clause, why]),
    ...[GENERAL_FLOOR, ...Object.values(LEGAL_FLOORS)].map(({ clause }) => clause),
    ...counted,
  ];
  expect(Object.keys(LAW_TEXTS_KO).toSorted()).toEqual([...new Set(texts)].toSorted());
});

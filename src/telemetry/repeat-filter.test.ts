import { expect, test } from "bun:test";
import { createRepeatFilter } from "./repeat-filter.ts";

test("a text is reported once a minute and a different one at once, and many texts hold none back", () => {
  let ms = 0;
  const isNews = createRepeatFilter(() => ms);
  expect(["a", "a", "b", "a"].map(isNews)).toEqual([true, false, true, false]);
  ms = 59_999;
  expect(isNews("a")).toBe(false);
  ms = 60_000;
  expect([isNews("a"), isNews("a")]).toEqual([true, false]);
  const many = Array.from({ length: 1000 }, (_, index) => `text ${index}`);
  expect(many.every(isNews)).toBe(true);
});

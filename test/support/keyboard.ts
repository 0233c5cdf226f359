/** A page as somebody uses it who has only a keyboard: Tab from the top to the end. */
import type { Page } from "playwright-core";
import { addAxe } from "./console.ts";

/** What a person cannot use or cannot find; empty where all is well. */
export const walkFaults = async (page: Page): Promise<readonly string[]> => {
  await addAxe(page);
  const faults = await page.evaluate<string[]>(BEGIN);
  for (;;) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate<Stop>(STOP);
    if (stop.isEnd) return [...faults, ...stop.faults];
    faults.push(...stop.faults);
    if (stop.isStuck) return faults;
  }
};

interface Stop {
  readonly isEnd: boolean;
  readonly isStuck: boolean;
  readonly faults: readonly string[];
}

const USABLE = "a[href], button, input, select, textarea, summary, [tabindex='0']";

/** Notes what Tab has to reach, in the order of the document, and how each looks without the focus. */
const BEGIN = `(() => {
  document.activeElement.blur();
  getSelection().removeAllRanges();
  scrollTo(0, 0);
  const look = (element) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    return outlineStyle === "none" || outlineWidth === "0px" ? boxShadow : [outlineStyle, outlineWidth, boxShadow].join();
  };
  const usable = [...document.querySelectorAll(${JSON.stringify(USABLE)})].filter(
    (element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled && element.tabIndex >= 0,
  );
  globalThis.walk = { usable, look, looks: usable.map(look), at: -1, again: 0, skipped: [] };
  axe.setup();
  const nameless = usable.filter((element) => axe.commons.text.accessibleText(element).trim() === "");
  axe.teardown();
  return nameless.map((element) => "has no name: " + element.outerHTML.slice(0, 120));
})()`;

/** A field for a date has a stop for each part, and one for its calendar. */
const STOP = `(() => {
  const FIELDS = { date: 4, "datetime-local": 7 };
  const { usable, look, looks } = walk;
  const element = document.activeElement;
  const text = (it) => it.outerHTML.slice(0, 120);
  if (element === document.body)
    return { isEnd: true, isStuck: false, faults: usable.slice(walk.at + 1).map((it) => "is not reached: " + text(it)) };
  const index = usable.indexOf(element);
  if (index === walk.at && FIELDS[element.type] > ++walk.again) return { isEnd: false, isStuck: false, faults: [] };
  const faults = [];
  // A region that scrolls takes the focus without saying so in its markup.
  if (index === -1) {
    if (walk.last === element) return { isEnd: false, isStuck: true, faults: ["keeps the focus: " + text(element)] };
    walk.last = element;
    return { isEnd: false, isStuck: false, faults };
  }
  if (index <= walk.at) return { isEnd: false, isStuck: true, faults: ["keeps the focus, or comes again: " + text(element)] };
  faults.push(...usable.slice(walk.at + 1, index).map((it) => "is not reached in its place: " + text(it)));
  walk.at = index;
  walk.again = 0;
  walk.last = element;
  if (look(element) === looks[index]) faults.push("does not show the focus: " + text(element));
  const box = element.getClientRects()[0] ?? element.getBoundingClientRect();
  const [left, right] = [Math.max(box.left, 0), Math.min(box.right, innerWidth)];
  const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
  const above = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  if (right <= left || bottom <= top) faults.push("has the focus out of sight: " + text(element));
  else if (above === null || !(element.contains(above) || above.contains(element)))
    faults.push("has the focus behind something else: " + text(element));
  return { isEnd: false, isStuck: false, faults };
})()`;

/** The warnings of a batch: one for each place and kind, so that what one event says is not lost behind what a thousand others repeat. */
import { isOfOwnMember, type Warning, within } from "../../event/warnings.ts";
import { WARNING_INDEXES_MAX, WARNINGS_MAX } from "../../limits.ts";

export interface BatchWarning extends Warning {
  /** The first event that it is about. Absent, with the other two: it is about the body beside the events. */
  readonly index?: number;
  /** How many events it is about. */
  readonly count?: number;
  /** The first of them. */
  readonly indexes?: readonly number[];
}

interface Collected {
  readonly first: Warning;
  /** Several values at one place may have different hints. */
  readonly messages: Set<string>;
  count: number;
  readonly indexes: number[];
}

/** Hints in one warning. */
const MESSAGES_MAX = 5;

export const collectWarnings = (
  ofBody: readonly Warning[],
  ofEvents: Iterable<{ readonly index: number; readonly warnings: readonly Warning[] }>,
): readonly BatchWarning[] => {
  const collected = new Map<string, Collected>();
  for (const { index, warnings } of ofEvents) {
    for (const warning of warnings) {
      const { path, code, message } = warning;
      const key = `${code} ${path}`;
      const known = collected.get(key) ?? { first: warning, messages: new Set(), count: 0, indexes: [] };
      if (known.indexes.at(-1) === index) continue;
      collected.set(key, known);
      known.count++;
      if (known.messages.size <= MESSAGES_MAX) known.messages.add(message);
      if (known.indexes.length < WARNING_INDEXES_MAX) known.indexes.push(index);
    }
  }
  const entries = [...collected.values()];
  const own = entries.filter(({ first }) => isOfOwnMember(first));
  const others = entries.filter(({ first }) => !isOfOwnMember(first));
  return within<BatchWarning>(WARNINGS_MAX, [...ofBody, ...[...others, ...own].map(warningOf)]);
};

const warningOf = ({ first, messages, count, indexes }: Collected): BatchWarning => ({
  ...(indexes[0] !== undefined && { index: indexes[0] }),
  path: first.path,
  code: first.code,
  message: textOf([...messages]),
  count,
  indexes,
});

const textOf = (messages: readonly string[]): string =>
  messages.length > MESSAGES_MAX
    ? `${messages.slice(0, MESSAGES_MAX).join(" ")} Further events have other values here.`
    : messages.join(" ");

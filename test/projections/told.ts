/** Events in a few words each, and the views after them. */
import { expect } from "bun:test";
import type { StoredMessage } from "../../src/log/event-log.ts";
import { entryOf, type List } from "../../src/views/kit/list.ts";
import { PROJECTIONS } from "../../src/views/registry.ts";
import { createInMemoryView } from "./in-memory-view.ts";
import { messageOf, simpleEvent } from "./records.ts";

/** A date, or a date and an hour, stands for its beginning. */
export type Sent = readonly [type: string, time: string, metadata?: object, members?: object];

export type Order = (messages: StoredMessage[]) => readonly StoredMessage[];

const DATE_CHARACTERS = "2027-01-01".length;

/** The events are named `evt_0`, `evt_1`… */
export const messagesOf = (events: readonly Sent[]): StoredMessage[] =>
  events.map(([event_type, time, metadata = {}, members = {}], index) => {
    const timestamp = time.endsWith("Z")
      ? time
      : `${time}${"T00:00:00".slice(time.length - DATE_CHARACTERS)}Z`;
    const event = simpleEvent(`evt_${index}`, { event_type, timestamp, metadata, ...members });
    return messageOf(index + 1, { event });
  });

export const viewAfter = async (events: readonly Sent[], order: Order = (messages) => messages) => {
  const view = createInMemoryView(...PROJECTIONS);
  for (const message of order(messagesOf(events))) expect(await view.take([message])).toEqual([]);
  return view;
};

export const entriesAfter = async (
  list: List,
  events: readonly Sent[],
  order?: Order,
  now = "2027-06-01T00:00:00",
) => (await viewAfter(events, order)).rows(list.table).map((row) => entryOf(list, row, now));

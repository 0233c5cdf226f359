import { DAY_MS, text } from "./local-time.ts";
import { type Asset, say, type World } from "./world.ts";

/** Histories contain this type in addition to the types that are always admitted: a service needs it in EXTRA_EVENT_TYPES. */
export const HEARTBEAT = "sdk.heartbeat";

/** A source that numbers its events and loses some; only its heartbeats reveal the loss of the last ones. */
export const liveSource = (world: World, asset: Asset, begin: number): void => {
  const { chance } = world;
  const sourceId = `src_${asset.id}`;
  let gapStart: number | undefined;
  const last = 12;
  for (let number = 1; number <= last; number++) {
    const at = begin + DAY_MS + number * 60_000;
    const isLost = number < last && chance.is(0.25);
    if (isLost) gapStart ??= number;
    else {
      if (gapStart !== undefined)
        world.gaps.push({ source_id: sourceId, first: gapStart, last: number - 1, since: text(at) });
      gapStart = undefined;
      // Only heartbeats may announce a last number.
      const metadata = { source_id: sourceId, source_sequence: number, last_source_sequence: 99 };
      say(world, asset, "ai_inference", at, { metadata });
    }
    // On the day of the numbers, and about none that is still missing at the end.
    if (number === 6) beat(world, asset, at + 1000, number);
  }
  const lostAtTheEnd = chance.below(4);
  const announcedAt = begin + 3 * DAY_MS;
  for (const day of [0, 1, 2]) beat(world, asset, announcedAt + day * DAY_MS, last + lostAtTheEnd);
  if (lostAtTheEnd > 0)
    world.gaps.push({
      source_id: sourceId,
      first: last + 1,
      last: last + lostAtTheEnd,
      since: text(announcedAt),
    });
};

const beat = (world: World, asset: Asset, at: number, last: number): void => {
  say(world, asset, HEARTBEAT, at, {
    metadata: { source_id: `src_${asset.id}`, queue_depth: 0, last_source_sequence: last },
  });
};

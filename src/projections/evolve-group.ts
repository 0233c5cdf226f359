/**
 * Applies a projection to a group of messages: decodes them, loads the rows they need in one call per table, and
 * evolves them in order, each seeing what the ones before it wrote. Writes nothing. A message that cannot be taken
 * becomes a dead letter and never stops the others.
 */
import type { JsonObject } from "../event/facts.ts";
import { canonicalEventId } from "../event/formats.ts";
import type { StoredMessage } from "../log/event-log.ts";
import { decodeRecord } from "../log/record.ts";
import { inSlices } from "../views/in-slices.ts";
import type { DeadLetter, ViewStore, Write } from "../views/view-store.ts";
import { loadOverlay, type Overlay } from "./overlay.ts";
import type { Evolution, Projection, StateKey, StoredRecord } from "./projection.ts";

export interface Group {
  readonly projection: Projection;
  readonly messages: readonly StoredMessage[];
  readonly load: ViewStore["load"];
  /** RFC 3339, UTC; dead letters are dated with it. */
  readonly now: string;
}

export interface GroupOutcome {
  readonly writes: readonly Write[];
  readonly deadLetters: readonly DeadLetter[];
}

export const evolveGroup = async ({ projection, messages, load, now }: Group): Promise<GroupOutcome> => {
  const steps: Step[] = [];
  await inSlices(messages, (message) => steps.push(prepare(projection, message)));
  const stateKeys = steps.flatMap((step) => (step.kind === "ready" ? step.stateKeys : []));
  const overlay = await loadOverlay(stateKeys, load);
  const writes: Write[] = [];
  const deadLetters: DeadLetter[] = [];
  await inSlices(steps, (step) => {
    const evolution = step.kind === "ready" ? evolveOne(projection, step.stored, overlay) : step;
    if (evolution.kind === "rejected") deadLetters.push(deadLetter(step, evolution, now));
    else for (const write of evolution.writes) writes.push(write);
  });
  return { writes, deadLetters };
};

/** The dead letter of a record whose rows the database refuses. */
export const refusedLetter = (message: StoredMessage, detail: string, now: string): DeadLetter =>
  deadLetter(decode(message), { kind: "rejected", code: "row_refused", detail }, now);

type Rejection = Extract<Evolution, { kind: "rejected" }>;

type Decoded =
  | { readonly kind: "decoded"; readonly sequence: number; readonly stored: StoredRecord }
  | (Rejection & { readonly sequence: number; readonly stored?: StoredRecord });

type Step =
  | {
      readonly kind: "ready";
      readonly sequence: number;
      readonly stored: StoredRecord;
      readonly stateKeys: readonly StateKey[];
    }
  | Extract<Decoded, Rejection>;

const prepare = (projection: Projection, message: StoredMessage): Step => {
  const decoded = decode(message);
  if (decoded.kind === "rejected") return decoded;
  try {
    return { ...decoded, kind: "ready", stateKeys: projection.stateKeys(decoded.stored) };
  } catch (error) {
    return { ...decoded, ...thrown(error) };
  }
};

const decode = ({ sequence, payload }: StoredMessage): Decoded => {
  const undecodable = (detail: string): Decoded => ({
    kind: "rejected",
    sequence,
    code: "undecodable",
    detail,
  });
  const record = decodeRecord(payload);
  if (record === undefined) return undecodable("the message is not a record");
  try {
    // An object: the text of a decoded record begins with a brace.
    const event: JsonObject = JSON.parse(record.eventText);
    return { kind: "decoded", sequence, stored: { sequence, record, event } };
  } catch {
    return undecodable("the event is not JSON");
  }
};

const evolveOne = (projection: Projection, stored: StoredRecord, overlay: Overlay): Evolution => {
  try {
    const evolution = projection.evolve(overlay, stored);
    if (evolution.kind === "rows") overlay.apply(evolution.writes);
    return evolution;
  } catch (error) {
    return thrown(error);
  }
};

/** Only the name of the error: its message may quote the event, and this goes to the logger too. */
const thrown = (error: unknown): Rejection => ({
  kind: "rejected",
  code: "projection_failed",
  detail: `the projection threw ${error instanceof Error ? error.name : "no error"}`,
});

const deadLetter = (
  { sequence, stored }: { readonly sequence: number; readonly stored?: StoredRecord },
  { code, detail }: Rejection,
  now: string,
): DeadLetter => {
  const eventId = stored?.event.event_id;
  return {
    sequence,
    tenant: stored?.record.tenant ?? null,
    eventId: typeof eventId === "string" ? canonicalEventId(eventId) : null,
    code,
    detail,
    recordedAt: now,
  };
};

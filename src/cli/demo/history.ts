/** The history of a bank that does not exist, for `prooftrail demo`: three months before a day, the same for the same day everywhere. Pure. */
import type { AuditEvent } from "../../event/audit-event.ts";
import { AML, CREDIT_EU, FRAUD } from "./bank.ts";
import { tellDecisions } from "./decisions.ts";
import { createChance, createJournal, type Metadata, type Sentence } from "./journal.ts";
import { tellSystems } from "./systems.ts";
import { tellCases, WAIVED_OBJECTION } from "./told-cases.ts";

export interface DemoEntry {
  /** When the log is to say that it received the event. */
  readonly receivedAt: Date;
  readonly event: AuditEvent;
}

export interface DemoHistory {
  readonly entries: readonly DemoEntry[];
  readonly waivedObligation: string;
}

const SEED = 20_261_129;

export const demoHistory = (day: string): DemoHistory => {
  const journal = createJournal(Date.parse(`${day}T00:00:00Z`), createChance(SEED));
  tellCases(journal);
  tellSystems(journal);
  tellDecisions(journal);
  const numberOf = createNumbering();
  const entries = journal.sentences().flatMap((sentence, index) => {
    const numbered = numberOf(sentence);
    return numbered === undefined ? [] : [entryOf(sentence, index + 1, numbered)];
  });
  const waived = entries.find(
    ({ event: { event_type, metadata } }) =>
      event_type === "objection.received" && metadata?.objection_id === WAIVED_OBJECTION,
  );
  return { entries, waivedObligation: `GDPR-12-3:${waived?.event.event_id}` };
};

const entryOf = (
  { type, system, at, receivedAt, members }: Sentence,
  number: number,
  metadata: Metadata,
): DemoEntry => ({
  receivedAt: new Date(receivedAt),
  event: {
    event_id: `evt_nordbank_${String(number).padStart(5, "0")}`,
    timestamp: new Date(at).toISOString(),
    asset_id: system.id,
    event_type: type,
    ...members,
    ...(Object.keys(metadata).length > 0 && { metadata }),
  },
});

const SENDERS = [CREDIT_EU, FRAUD, AML];
/** Numbers whose events never arrived. */
const LOST = { system: FRAUD, first: 72, last: 78 };

/** What software sends is numbered by its sender; what people enter is not. Undefined for what was lost on the way. */
const createNumbering = () => {
  const lastOf = new Map<string, number>();
  return ({ type, system, at, receivedAt, members }: Sentence): Metadata | undefined => {
    const { metadata = {} } = members;
    if (receivedAt - at > 1000 || !SENDERS.includes(system)) return metadata;
    const source_id = `src-${system.id}`;
    const last = lastOf.get(source_id) ?? 0;
    if (type === "sdk.heartbeat")
      return { source_id, ...(last > 0 && { last_source_sequence: last }), ...metadata };
    const source_sequence = last + 1;
    lastOf.set(source_id, source_sequence);
    const isLost = system === LOST.system && source_sequence >= LOST.first && source_sequence <= LOST.last;
    return isLost ? undefined : { source_id, source_sequence, ...metadata };
  };
};

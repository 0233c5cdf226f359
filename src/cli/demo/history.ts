/** The history of a bank that does not exist, for `prooftrail demo`: three months before a day, the same for the same day everywhere. Pure. */
import type { AuditEvent } from "../../event/audit-event.ts";
import { createChance } from "./chance.ts";
import { tellDecisions } from "./decisions.ts";
import { createJournal, type Metadata, type Sentence } from "./journal.ts";
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
    ({ event }) =>
      event.event_type === "objection.received" && event.metadata?.objection_id === WAIVED_OBJECTION,
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
    ...(metadata && Object.keys(metadata).length > 0 && { metadata }),
  },
});

/** Events of this sender that never arrived. */
const LOST = { source: "src-payment-fraud-screening", first: 71, last: 77 } as const;

/** What software sends is numbered by its sender; what people enter is not. Undefined for what was lost on the way. */
const createNumbering = () => {
  const lastOf = new Map<string, number>();
  return ({ type, system, at, receivedAt, members }: Sentence): Metadata => {
    const { metadata = {} } = members;
    if (receivedAt - at > 1000 || !SENDERS.test(system.id)) return metadata;
    const source = `src-${system.id}`;
    const last = lastOf.get(source) ?? 0;
    if (type === "sdk.heartbeat")
      return { source_id: source, ...(last > 0 && { last_source_sequence: last }), ...metadata };
    lastOf.set(source, last + 1);
    const isLost = source === LOST.source && last >= LOST.first && last <= LOST.last;
    return isLost ? undefined : { source_id: source, source_sequence: last + 1, ...metadata };
  };
};

const SENDERS = /^(consumer-credit-eu|payment-fraud-screening|transaction-monitoring)$/;

/** Where a test event leads: the dossier of its decision with what falls due, and a proof that no verifier accepts. */

import { canonicalEventId, timeKey } from "../../event/formats.ts";
import { linkOf, unlinkedIn } from "../../law/cases/case.ts";
import type { Rules } from "../../law/obligations/obligation.ts";
import { PAGE_ROWS_MAX } from "../../limits.ts";
import { encodeRecord } from "../../log/record.ts";
import { encodeBase64 } from "../../proof/base64.ts";
import { SANDBOX_ORIGIN } from "../../proof/sandbox-origin.ts";
import { SEED_BYTES } from "../../proof/signed-note.ts";
import { caseOfEvents } from "../../views/cases/case-of-events.ts";
import { decisionEntry, isOfDecision } from "../../views/cases/entries.ts";
import { decisionsRegister } from "../../views/cases/registers/decisions.ts";
import { EXAMPLE_REQUEST_ID, type Operation } from "../http/openapi.ts";
import { problem } from "../http/problem.ts";
import { readQuery } from "../http/query.ts";
import { countFrom, parameter, pathParameter } from "../http/reading.ts";
import type { RequestContext } from "../http/request-context.ts";
import { sandboxOf } from "../http/schemas.ts";
import { successWhole } from "../http/success.ts";
import { refusedQuery } from "../http/without-query.ts";
import { type RecentEvent, type RecentReader, recentEvents } from "../sandbox/recent-events.ts";
import { createSandboxProver, type SandboxProof, type SandboxProver } from "../sandbox/sandbox-proof.ts";
import { SANDBOX_TENANT, WATERMARK, WATERMARK_MEMBER } from "../sandbox/watermark.ts";
import { DECISION_EXAMPLE, dossierSchema, withTimeline } from "./cases.ts";
import { EXAMPLE_EVENT, EXAMPLE_RECEIVED_AT } from "./log-examples.ts";
import { proofSchema } from "./proof.ts";
import { marked, SANDBOX_LIMITED, SANDBOX_PROBLEMS } from "./sandbox-answers.ts";

export interface StoryDependencies {
  readonly reader: RecentReader;
  readonly rules: Rules;
  readonly now: () => Date;
  readonly prove: SandboxProver;
}

interface Asked {
  readonly request: Request;
  readonly context: RequestContext;
  /** The name in the path. */
  readonly name: string;
}

/** Throws LogUnavailableError. */
export const readSandboxDecision = async (
  { reader, rules, now }: StoryDependencies,
  { request, context, name }: Asked,
): Promise<Response> => {
  const refusal = refusedQuery({ request, context });
  if (refusal) return refusal;
  const events = (await recentEvents(reader, PAGE_ROWS_MAX)).toReversed();
  const id = canonicalEventId(name);
  const found = await caseOfEvents(SANDBOX_TENANT, events, { decision: id, rules });
  const decision = found?.is.decisions.find((each) => each.id === id);
  if (!found || !decision) return problem(context, "not_found", { detail: NO_DECISION });
  const [row] = decisionsRegister.rowsOf(found).filter(isOfDecision(decision));
  if (!row) throw new Error("a decision has a row");
  const at = timeKey(now().toISOString());
  const entry = decisionEntry({ found, decision, row, rules, at, unlinked: unlinkedIn(found.is) });
  const linked = decision.facts.map((fact) => ({ fact, linkedBy: linkOf(fact, found.is.links)?.by }));
  return marked(
    successWhole(context, withTimeline(entry, linked, found.texts), { [WATERMARK_MEMBER]: WATERMARK }),
  );
};

const NO_DECISION = `No decision has this name among the newest ${PAGE_ROWS_MAX} events of the sandbox. Send one, with this name as \`decision_id\` in \`metadata\`.`;

/** Throws LogUnavailableError. */
export const readSandboxProof = async (
  { reader, prove }: StoryDependencies,
  { request, context, name }: Asked,
): Promise<Response> => {
  const query = readQuery(request.url);
  const sequence = query.integer("sequence", { min: 1, max: Number.MAX_SAFE_INTEGER });
  const errors = query.errors();
  if (errors.length > 0) return problem(context, "invalid_request", { errors });
  const events = (await recentEvents(reader, PAGE_ROWS_MAX)).toReversed();
  const id = canonicalEventId(name);
  const index = events.findLastIndex(
    (event) => (sequence ?? event.sequence) === event.sequence && eventIdOf(event) === id,
  );
  const event = events[index];
  if (event === undefined) return problem(context, "not_found", { detail: NO_EVENT });
  const proof = prove(
    events.map(({ record }) => record),
    index,
  );
  const text = JSON.stringify(proofData(event, proof));
  return marked(successWhole(context, text, { [WATERMARK_MEMBER]: WATERMARK }));
};

const NO_EVENT = `This event is not among the newest ${PAGE_ROWS_MAX} of the sandbox, which keeps them for an hour at most.`;

const eventIdOf = ({ eventText }: RecentEvent): string => {
  const { event_id } = JSON.parse(eventText);
  return canonicalEventId(String(event_id));
};

const proofData = ({ sequence, record }: Pick<RecentEvent, "sequence" | "record">, proof: SandboxProof) => ({
  sequence,
  leaf_index: proof.leafIndex,
  leaf: encodeBase64(record),
  leaf_hash: encodeBase64(proof.leafHash),
  inclusion_proof: proof.inclusionProof.map(encodeBase64),
  checkpoint: proof.checkpoint,
});

const exampleOf = (data: unknown) => ({
  data,
  request_id: EXAMPLE_REQUEST_ID,
  [WATERMARK_MEMBER]: WATERMARK,
});

export const SANDBOX_DECISION: Operation = {
  id: "readSandboxDecision",
  tag: "Sandbox",
  summary: "The dossier that test events lead to",
  description: `As \`GET /v1/decisions/{decision_id}\` answers it, with the obligations that follow and when they fall due, from the newest ${PAGE_ROWS_MAX} events of the sandbox. Of several events with one event_id, the first counts. ${SANDBOX_LIMITED}`,
  parameters: [pathParameter("decision_id", "dec_42")],
  answer: {
    status: 200,
    description: "The dossier.",
    schema: sandboxOf(dossierSchema),
    example: exampleOf(DECISION_EXAMPLE.data),
  },
  problems: ["invalid_request", "not_found", "overloaded", ...SANDBOX_PROBLEMS],
};

export const SANDBOX_PROOF_OPERATION: Operation = {
  id: "readSandboxProof",
  tag: "Sandbox",
  summary: "The proof of a test event, which never verifies",
  description: `In the form of \`GET /v1/events/{event_id}/proof\`, over the newest ${PAGE_ROWS_MAX} events of the sandbox. Its tree head is of the log \`${SANDBOX_ORIGIN}\`, with the watermark in a signed line, by a key that is made at the start of the service and thrown away. \`prooftrail verify\` and the page /verify answer INVALID. ${SANDBOX_LIMITED}`,
  parameters: [
    pathParameter("event_id", "evt_sample_001"),
    parameter(
      "sequence",
      "Which of several events with this event_id, as the answer 202 named it. Absent: the newest.",
      countFrom(1),
    ),
  ],
  answer: {
    status: 200,
    description: "The proof.",
    schema: sandboxOf(proofSchema),
    get example() {
      const record = new TextEncoder().encode(
        encodeRecord({
          tenant: SANDBOX_TENANT,
          receivedAt: EXAMPLE_RECEIVED_AT,
          requestId: EXAMPLE_REQUEST_ID,
          eventText: JSON.stringify(EXAMPLE_EVENT),
        }),
      );
      const prove = createSandboxProver(new Uint8Array(SEED_BYTES));
      return exampleOf(proofData({ sequence: 1, record }, prove([record], 0)));
    },
  },
  problems: ["invalid_request", "not_found", "overloaded", ...SANDBOX_PROBLEMS],
};

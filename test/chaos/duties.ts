/** Checks the messages about duties on the stream OBLIGATIONS against the duties in the view. */

import { callUntilSeen } from "../support/call-until-seen.ts";
import type { TestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { readStream } from "./read-stream.ts";

/** Nothing that the loader sends falls due during the check: a duty opens, and is met if its review was completed. */
export const checkDuties = async (options: {
  readonly consumerUrl: string;
  readonly call: TestService["call"];
  /** The log's last sequence. */
  readonly last: number;
}): Promise<{ readonly held: number; readonly violations: readonly string[] }> => {
  const expected = await readDuties(options);
  let told: ReadonlyMap<string, number> = new Map();
  const reads = { whole: 0, failed: 0, lastFailure: "none" };
  const isAllTold = async (): Promise<boolean> => {
    try {
      told = await readTold(options.consumerUrl);
      reads.whole++;
    } catch (error) {
      // A broker that restarts, so that its streams store again, is away for a moment.
      reads.failed++;
      reads.lastFailure = String(error);
    }
    return [...expected.tellings].every((telling) => told.has(telling));
  };
  // A projector that was killed at the very end starts again first. The lines below name what is missing.
  await until("all is told of duties", isAllTold).catch(() => undefined);
  return { held: expected.held, violations: violationsOf(expected.tellings, told, reads) };
};

interface Reads {
  readonly whole: number;
  readonly failed: number;
  readonly lastFailure: string;
}

/** The count of missing messages comes first, because only some violations of a broken round are shown. */
const violationsOf = (
  expected: ReadonlySet<string>,
  told: ReadonlyMap<string, number>,
  { whole, failed, lastFailure }: Reads,
): readonly string[] => {
  const violations: string[] = [];
  const untold = [...expected].filter((telling) => !told.has(telling));
  if (untold.length > 0)
    violations.push(
      `${untold.length} of ${expected.size} tellings are not among the ${told.size} on the stream, which was read ${whole} times, and ${failed} times not to its end, the last time for: ${lastFailure}`,
    );
  for (const telling of untold) violations.push(`${telling} was not told`);
  for (const [telling, times] of told) {
    if (!expected.has(telling)) violations.push(`${telling} was told and is not so`);
    if (times > 1) violations.push(`${telling} was told ${times} times`);
  }
  return violations;
};

const tellingOf = (obligationId: string, transition: string): string => `${obligationId} ${transition}`;

const readDuties = async ({
  call,
  last,
}: {
  readonly call: TestService["call"];
  readonly last: number;
}): Promise<{ readonly held: number; readonly tellings: ReadonlySet<string> }> => {
  const tellings = new Set<string>();
  let held = 0;
  let cursor: string | null = "";
  while (cursor !== null) {
    const path = `/v1/obligations?limit=200&min_sequence=${last}${cursor && `&cursor=${cursor}`}`;
    const page = await callUntilSeen(call, path);
    for (const { obligation_id: id, state } of page.json.data as { obligation_id: string; state: string }[]) {
      held++;
      tellings.add(tellingOf(id, "open"));
      if (state !== "open") tellings.add(tellingOf(id, state));
    }
    cursor = page.json.next_cursor;
  }
  return { held, tellings };
};

/** How often each message was sent. */
const readTold = async (consumerUrl: string): Promise<ReadonlyMap<string, number>> => {
  const told = new Map<string, number>();
  for await (const message of readStream(consumerUrl, "OBLIGATIONS")) {
    const { obligation_id, transition }: { obligation_id: string; transition: string } = message.json();
    const telling = tellingOf(obligation_id, transition);
    told.set(telling, (told.get(telling) ?? 0) + 1);
  }
  return told;
};

import { LogUnavailableError } from "../log/event-log.ts";
import { describeError } from "./api-errors.ts";
import type { BrokerConnection } from "./connection.ts";

/**
 * The result of `ask`. Whatever prevents an answer becomes LogUnavailableError, which callers know. `failure` says what could not be done.
 */
export const answered = async <Result>(
  connection: Pick<BrokerConnection, "untilLost">,
  failure: string,
  ask: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await connection.untilLost(ask);
  } catch (error) {
    throw new LogUnavailableError(`${failure}: ${describeError(error)}.`);
  }
};

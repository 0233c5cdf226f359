import type { Answer, CallOptions, TestService } from "./service.ts";
import { until } from "./until.ts";

/**
 * Asks with `min_sequence` until the view has seen it: if the projector was just killed or is busy, an answer may say that the view is behind.
 */
export const callUntilSeen = async (
  call: TestService["call"],
  path: string,
  options: CallOptions = {},
): Promise<Answer> => {
  const answerOnceSeen = async (): Promise<Answer | undefined> => {
    const answer = await call(path, options);
    return answer.status === 503 ? undefined : answer;
  };
  const answer = await until(`the view can answer ${path}`, answerOnceSeen);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer;
};

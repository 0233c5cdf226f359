/** The only limits of time in tests. They end what hangs, and no result depends on them: on a busy machine everything takes many times as long. */

export const TEST_MS_MAX = 300_000;

/** Less than a test may take, so that the error names the condition that was never met. */
export const WAIT_MS_MAX = 120_000;

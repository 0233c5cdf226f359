/** The exit codes of `prooftrail`. One table for the code, the help and docs/reference/command-line.md. */

export const EXIT = { ok: 0, failed: 1, usage: 2, unavailable: 3, forbidden: 4, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [EXIT.ok, "done, and the answer is yes"],
  [EXIT.failed, "the answer is no, or something failed"],
  [EXIT.usage, "wrong use: a command, option or value that is not understood"],
  [EXIT.unavailable, "the service cannot be reached or cannot answer now; try again"],
  [EXIT.forbidden, "not allowed: no key, not a valid one, or one without the scope"],
  [EXIT.interrupted, "stopped by Ctrl-C before it was done"],
];

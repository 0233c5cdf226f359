/** One line of `prooftrail doctor`. */
export interface Check {
  readonly name: string;
  readonly state: "ok" | "warning" | "failed" | "unchecked";
  readonly detail: string;
  /** What to do if it is not ok. */
  readonly advice?: string;
}

const checkOf =
  (state: Check["state"]) =>
  (name: string, detail: string, advice?: string): Check => ({
    name,
    state,
    detail,
    ...(advice !== undefined && { advice }),
  });

export const ok = checkOf("ok");
export const warned = checkOf("warning");
export const failed = checkOf("failed");
export const unchecked = checkOf("unchecked");

/** One line of `prooftrail doctor`. */
export interface Check {
  readonly name: string;
  readonly state: "ok" | "warning" | "failed" | "unchecked";
  readonly detail: string;
  /** What to do if it is not ok. */
  readonly advice?: string;
}

export const unchecked = (name: string, detail: string, advice?: string): Check => ({
  name,
  state: "unchecked",
  detail,
  ...(advice !== undefined && { advice }),
});

/** What each state of an obligation means, in words. */
export const STATE_MEANINGS: Readonly<Record<string, string>> = {
  open: "not met, due in more than a week",
  extended: "the same, after the limit was extended",
  due_soon: "not met, due within a week",
  overdue: "not met, `due_at` has passed; it can still be met, late",
  breached: "it can never be met any more: a notice that had to come before the decision",
  met: "met in time",
  met_late: "met after `due_at`",
  waived: "an operator waived it: `waived_by`, `waived_at` and the reason are shown",
};

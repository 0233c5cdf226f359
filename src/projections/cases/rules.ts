import type { Rules } from "../../obligations/clocks.ts";
import { DEADLINES } from "../../obligations/deadlines.ts";

export const STANDARD_RULES: Rules = { deadlines: DEADLINES, holidays: new Set() };

import { coverageOpenRegister, coverageRegister, ll144UsesRegister } from "./coverage.ts";
import { decisionsRegister } from "./decisions.ts";
import { humanReviewsRegister } from "./human-reviews.ts";
import { incidentsRegister } from "./incidents.ts";
import { noticesRegister } from "./notices.ts";
import { objectionsRegister } from "./objections.ts";
import { obligationsRegister } from "./obligations.ts";
import type { Register } from "./register.ts";

export const REGISTERS: readonly Register[] = [
  decisionsRegister,
  noticesRegister,
  objectionsRegister,
  humanReviewsRegister,
  incidentsRegister,
  obligationsRegister,
  coverageRegister,
  coverageOpenRegister,
  ll144UsesRegister,
];

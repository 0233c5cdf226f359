/** The result of one named check of `prooftrail doctor`. */
import type { Check } from "../../src/service/check.ts";
import { diagnose } from "../../src/service/doctor.ts";

export const checksOf = async (
  name: string,
  environment: Parameters<typeof diagnose>[0],
): Promise<readonly Check[]> =>
  (await Array.fromAsync(diagnose(environment))).filter((check) => check.name === name);

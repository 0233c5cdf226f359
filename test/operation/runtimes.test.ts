import { testHttpContract } from "../suites/http-contract.ts";
import { RUNTIMES, type Runtime } from "../support/process.ts";

for (const runtime of Object.keys(RUNTIMES) as Runtime[]) testHttpContract(runtime);

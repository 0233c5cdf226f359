import { testHttpContract } from "../suites/http-contract.ts";

testHttpContract("Deno");

#!/usr/bin/env bun
/** `prooftrail`: the command line. */
import process from "node:process";
import { processContext } from "./context.ts";
import { runProgram } from "./program.ts";
import { ROOT } from "./tree.ts";

// The code is set and not forced: what is written last still goes out.
process.exitCode = await runProgram(ROOT, process.argv.slice(2), processContext());

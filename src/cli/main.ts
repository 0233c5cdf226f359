#!/usr/bin/env bun
/** `prooftrail`: the command line. */
import process from "node:process";
import { processContext } from "./context.ts";
import { runProgram } from "./program.ts";
import { ROOT } from "./tree.ts";

// The exit code is set, and the process is not ended by force, so that pending output is still written.
process.exitCode = await runProgram(ROOT, process.argv.slice(2), processContext());

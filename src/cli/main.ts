#!/usr/bin/env bun
/** `prooftrail`: the command line. */
import process from "node:process";
import { processContext } from "./context.ts";
import { runProgram } from "./program.ts";
import { withoutLoopback } from "./proxy.ts";
import { ROOT } from "./tree.ts";

process.env.no_proxy = withoutLoopback(process.env);
const context = processContext();
const exitCode = await runProgram(ROOT, process.argv.slice(2), context);
await Promise.all([context.out.write(""), context.err.write("")]);
// By force: nats.js 2.29.3 leaves a socket open, so `doctor` would not end while a broker stands still (measured).
process.exit(exitCode);

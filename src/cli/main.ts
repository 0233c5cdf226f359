#!/usr/bin/env bun
/** `prooftrail`: the command line. */
import process from "node:process";
import { processContext } from "./context.ts";
import { runProgram } from "./program.ts";
import { ROOT } from "./tree.ts";

// Bun's `fetch` asks a proxy of the environment for this machine too, which no proxy can reach (measured with 1.4.5).
const { no_proxy: direct = process.env.NO_PROXY } = process.env;
process.env.no_proxy = [direct, "localhost,127.0.0.0/8,::1"].filter(Boolean).join(",");
const context = processContext();
const exitCode = await runProgram(ROOT, process.argv.slice(2), context);
await Promise.all([context.out.write(""), context.err.write("")]);
// By force: nats.js 2.29.3 leaves a socket open, so `doctor` would not end while a broker stands still (measured).
process.exit(exitCode);

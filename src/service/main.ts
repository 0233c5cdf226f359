/** `bun start`. */
import process from "node:process";
import { runService } from "./run-service.ts";

await runService({ environment: process.env, isPretty: process.stdout.isTTY === true });

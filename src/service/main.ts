/** `bun start`. */
import process from "node:process";
import { keepFreedMemory } from "../runtime/allocator.ts";

keepFreedMemory();
// Imported only here, because it loads the whole service.
const { runService } = await import("./run-service.ts");
await runService({ environment: process.env, isPretty: process.stdout.isTTY === true });

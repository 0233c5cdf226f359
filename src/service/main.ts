/** `bun start`. */
import process from "node:process";
import { keepFreedMemory } from "../runtime/allocator.ts";

// A front end alone, whose peak stays bounded. A projector gives back what it needed to catch up.
if (process.env.ROLES === "api") keepFreedMemory();
// Imported only here, because it loads the whole service.
const { runService } = await import("./run-service.ts");
await runService({ environment: process.env, isPretty: process.stdout.isTTY === true });

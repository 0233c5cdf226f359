/** `bun run bench` measures taking events; `bun run bench against <commit>` compares with an earlier program. */
import process from "node:process";

if (process.argv[2] === "against") {
  process.argv.splice(2, 1);
  await import("./against.ts");
} else await import("./ingest.ts");

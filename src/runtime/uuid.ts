import { v7 } from "uuid";
import { runtimeName } from "./listen.ts";

/** A UUIDv7 (RFC 9562 §5.7). Bun's own takes a quarter of the time (0.1 against 0.45 µs, once per request). */
export const uuidV7: () => string = runtimeName === "Bun" ? () => Bun.randomUUIDv7() : () => v7();

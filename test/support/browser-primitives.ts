/** For `bun test --preload`: src/proof then works with what browsers have, in the place of Node's modules. */
import { mock } from "bun:test";
import * as ofBrowsers from "../../src/proof/primitives-browser.ts";

mock.module(import.meta.resolve("../../src/proof/primitives.ts").replace("file://", ""), () => ofBrowsers);

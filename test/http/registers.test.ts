import { registersSuite } from "../suites/registers.ts";

registersSuite(async () => ({}));

import { listsSuite } from "../suites/lists.ts";

listsSuite(async () => ({}));

import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { give } from "./answers.ts";
import { openRequest } from "./request-context.ts";
import { createOpenRoute } from "./route.ts";

test("the default of a parameter is worked out for each request, also for those without a query", async () => {
  let now = 1;
  const { handle } = createOpenRoute()({
    on: "GET /v1/hours",
    id: "hours",
    tag: "Reading",
    summary: "Hours until now",
    description: "",
    views: ["ledger"],
    query: { until: { documented: [], read: () => now } },
    gives: Type.Object({ until: Type.Integer() }),
    answer: ({ asked }) => give({ until: asked.until }),
  });
  const open = openRequest({
    newRequestId: () => "",
    trustedHops: 0,
    backpressure: { body: () => undefined },
  });
  const ask = async () => {
    const request = new Request("http://localhost/v1/hours");
    open(request, { address: () => "", keepOpen: () => {}, isLast: () => false });
    return (await handle({ request })).json();
  };
  expect(await ask()).toMatchObject({ data: { until: 1 } });
  now = 2;
  expect(await ask()).toMatchObject({ data: { until: 2 } });
});

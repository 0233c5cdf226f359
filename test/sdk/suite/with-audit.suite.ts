/** Recording the calls of a function changes nothing for its callers; the outcome of each call is recorded. */
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";
import { type CapturedEvent, createTestClient, type Problem, sha256, withAudit } from "prooftrail-sdk";

const asset_id = "credit_model";
const inference = () => ({ event_type: "ai_inference" }) as const;
const only = (events: readonly CapturedEvent[]): CapturedEvent => {
  const [event, ...more] = events;
  assert.ok(event && more.length === 0, `${events.length} events`);
  return event;
};
const metadataOf = (event: CapturedEvent): Readonly<Record<string, unknown>> => {
  assert.ok(typeof event.metadata === "object" && event.metadata !== null);
  return { ...event.metadata };
};

test("an audited function keeps this, arguments, result, name and properties, and its call is recorded with its duration", () => {
  const client = createTestClient();
  const scorer = {
    bias: 1,
    score: withAudit(
      client,
      Object.assign(
        function score(this: { readonly bias: number }, income: number, debt: number) {
          return this.bias + income - debt;
        },
        { version: 7 },
      ),
      {
        asset_id,
        describe: ({ args: [income, debt], result }) => ({
          event_type: "decision.automated_decision_made",
          metadata: { outcome: String(result), income, debt },
        }),
      },
    ),
  };
  assert.equal(scorer.score(30, 11), 20);
  assert.deepEqual([scorer.score.name, scorer.score.length, scorer.score.version], ["score", 2, 7]);
  const event = only(client.events);
  assert.deepEqual([event.asset_id, event.event_type], [asset_id, "decision.automated_decision_made"]);
  const { outcome, income, debt, duration_ms } = metadataOf(event);
  assert.deepEqual([outcome, income, debt], ["20", 30, 11]);
  assert.ok(Number.isSafeInteger(duration_ms));
});

test("the types check a description against the event types, arguments and result", () => {
  const client = createTestClient<"custom.scored">();
  const score = withAudit(client, async (name: string) => name.length, {
    asset_id,
    describe: ({ args, result }) => {
      const [name]: readonly [string] = args;
      const length: number = result;
      return { event_type: "custom.scored", metadata: { name, length } };
    },
  });
  const typed: (name: string) => Promise<number> = score;
  assert.equal(typeof typed, "function");
  // @ts-expect-error: no such event type.
  withAudit(client, () => 1, { asset_id, describe: () => ({ event_type: "ai_inferrence" }) });
  const event_type = "ai_inference";
  // @ts-expect-error: model is a text.
  withAudit(client, () => 1, { asset_id, describe: () => ({ event_type, metadata: { model: 1 } }) });
});

test("members that a description sets are kept, and undefined records nothing", () => {
  const client = createTestClient();
  const double = withAudit(client, (value: number) => value * 2, {
    asset_id,
    describe: ({ result }) =>
      result > 2 ? { ...inference(), asset_id: "other", metadata: { duration_ms: 41 } } : undefined,
  });
  assert.deepEqual([double(1), double(2)], [2, 4]);
  const event = only(client.events);
  assert.deepEqual([event.asset_id, metadataOf(event).duration_ms], ["other", 41]);
});

test("a promise resolves to the same value, and is recorded when it does", async () => {
  const client = createTestClient();
  const value = { score: 7 };
  const { promise, resolve } = deferred<typeof value>();
  const score = withAudit(client, () => promise, {
    asset_id,
    describe: ({ result }) => ({ ...inference(), metadata: { score: result.score } }),
  });
  const scoring = score();
  assert.ok(scoring instanceof Promise && client.events.length === 0);
  resolve(value);
  assert.equal(await scoring, value);
  assert.equal(metadataOf(only(client.events)).score, 7);
});

class ModelOverloaded extends Error {}

for (const [how, fail] of [
  [
    "throws",
    (error: Error): Promise<number> => {
      throw error;
    },
  ],
  [
    "is rejected",
    async (error: Error): Promise<number> => {
      throw error;
    },
  ],
] as const) {
  test(`a call that ${how} throws the same error to its caller, and is recorded without the error's message`, async () => {
    const client = createTestClient();
    const audited = withAudit(client, fail, { asset_id, describe: inference });
    const error = new ModelOverloaded("no answer for Kim Minji, 900101-2345678");
    let caught: unknown;
    try {
      const failing = audited(error);
      assert.ok(how === "is rejected");
      await failing;
    } catch (thrown) {
      caught = thrown;
    }
    assert.equal(caught, error);
    const event = only(client.events);
    const { duration_ms, error: isError, error_type, error_message_hash } = metadataOf(event);
    assert.deepEqual(
      [event.asset_id, event.event_type, isError, error_type, error_message_hash],
      [asset_id, "ai_inference", true, "ModelOverloaded", sha256(error.message)],
    );
    assert.ok(Number.isSafeInteger(duration_ms));
    assert.ok(!JSON.stringify(event).includes("Minji"));
  });
}

test("describeError decides what is recorded of an error, and may record nothing", () => {
  const client = createTestClient();
  const audited = withAudit(
    client,
    (what: unknown): never => {
      throw what;
    },
    {
      asset_id,
      describe: () => undefined,
      describeError: ({ error }) =>
        error instanceof TypeError
          ? { event_type: "incident.detected", metadata: { error_type: "mine" } }
          : undefined,
    },
  );
  for (const thrown of [new TypeError("a"), "text", undefined, null, Object.create(null)])
    assert.throws(
      () => audited(thrown),
      (caught) => caught === thrown,
    );
  const { error, error_type } = metadataOf(only(client.events));
  assert.deepEqual([error, error_type], [true, "mine"]);
});

for (const [fault, describe] of [
  [
    "throws",
    (): never => {
      throw new Error("of the program");
    },
  ],
  [
    "throws what is no error",
    (): never => {
      throw Object.create(null);
    },
  ],
  // A promise is not an event: the types say so too.
  ["gives a promise", (): never => Promise.reject(new Error("of the program")) as never],
  ["gives no event", (): never => 7 as never],
] as const) {
  test(`an error is not thrown to the caller if a description ${fault}: the event counts as dropped, and that is reported`, async () => {
    const problems: Problem[] = [];
    const client = createTestClient({ onProblem: (problem) => void problems.push(problem) });
    assert.equal(withAudit(client, () => 1, { asset_id, describe })(), 1);
    const failing = withAudit(client, async () => Promise.reject(new TypeError("x")), {
      asset_id,
      describe: inference,
      describeError: describe,
    });
    await assert.rejects(failing(), TypeError);
    assert.deepEqual([client.events.length, client.stats.dropped], [0, { invalid: 2 }]);
    assert.deepEqual(
      problems.map(({ kind }) => kind),
      ["dropped"],
    );
    if (fault === "throws") assert.match(problems[0]?.message ?? "", /describe threw: of the program/);
  });
}

async function* tokens(...texts: string[]) {
  for (const text of texts) yield { text };
  return texts.length;
}

test("a streamed answer is recorded when it has been read to its end, and its pieces are unchanged", async () => {
  const client = createTestClient();
  const pieces = [{ text: "a" }, { text: "b" }, { text: "c", tokens_out: 3 }];
  const answer = withAudit(
    client,
    async function* () {
      yield* pieces;
    },
    {
      asset_id,
      describe: ({ stream }) => ({
        ...inference(),
        metadata: { items: stream?.items, end: stream?.end, last: JSON.stringify(stream?.lastItem) },
      }),
    },
  );
  let read = 0;
  for await (const piece of answer()) {
    assert.equal(piece, pieces[read++]);
    assert.equal(client.events.length, 0);
  }
  const { items, end, last } = metadataOf(only(client.events));
  assert.deepEqual([items, end, last], [3, "done", JSON.stringify(pieces[2])]);
});

test("a reader that stops early and one that reads step by step are recorded as well", async () => {
  const client = createTestClient();
  const answer = withAudit(client, tokens, {
    asset_id,
    describe: ({ stream }) => ({ ...inference(), metadata: { items: stream?.items, end: stream?.end } }),
  });
  for await (const { text } of answer("a", "b", "c")) if (text === "b") break;
  const steps = answer("a");
  assert.deepEqual(await steps.next(), { done: false, value: { text: "a" } });
  assert.deepEqual(await steps.next(), { done: true, value: 1 });
  assert.deepEqual(await steps.next(), { done: true, value: undefined });
  assert.deepEqual(
    client.events.map(metadataOf).map(({ items, end }) => [items, end]),
    [
      [2, "returned"],
      [1, "done"],
    ],
  );
});

test("an answer that breaks off is recorded as an error, and the error is thrown on", async () => {
  const client = createTestClient();
  const error = new ModelOverloaded("broken off");
  const answer = withAudit(
    client,
    async function* () {
      yield 1;
      throw error;
    },
    { asset_id, describe: inference },
  );
  await assert.rejects(
    async () => {
      for await (const item of answer()) assert.equal(item, 1);
    },
    (caught) => caught === error,
  );
  assert.equal(metadataOf(only(client.events)).error_type, "ModelOverloaded");
});

/** As the libraries of model providers make them: a class with private members and more methods than the iterator. */
class ProviderStream {
  readonly #items = ["a", "b"];
  readonly controller = new AbortController();
  isReadTwice = false;
  [Symbol.asyncIterator]() {
    const items = this.#items.values();
    return { next: async () => items.next() };
  }
}

test("a stream of a provider's library stays the same object, even if its iterator cannot be stopped", async () => {
  const client = createTestClient();
  const stream = new ProviderStream();
  const answer = withAudit(client, async () => stream, {
    asset_id,
    describe: ({ result, stream: ended }) => ({
      ...inference(),
      metadata: { isSame: result === stream, end: ended?.end },
    }),
  });
  const given = await answer();
  assert.equal(given, stream);
  assert.deepEqual(Object.keys(given), Object.keys(new ProviderStream()));
  for await (const _ of given) break;
  const { isSame, end } = metadataOf(only(client.events));
  assert.deepEqual([isSame, end], [true, "returned"]);
});

test("an object that cannot be watched, because it is frozen, is recorded at once and works as before", async () => {
  const client = createTestClient();
  const audited = withAudit(client, <Value extends object>(value: Value) => Object.freeze(value), {
    asset_id,
    describe: inference,
  });
  for await (const item of audited(new ProviderStream())) assert.match(item, /^[ab]$/);
  assert.equal(await audited(new Query()).then((rows) => rows), 1);
  assert.equal(client.events.length, 2);
});

/** As query builders make them: nothing happens before `then`, and everything again at each `then`. */
class Query {
  #runs = 0;
  get runs() {
    return this.#runs;
  }
  // biome-ignore lint/suspicious/noThenProperty: this is what such libraries do.
  then<Result>(fulfilled: (rows: number) => Result): Promise<Result> {
    this.#runs++;
    return Promise.resolve(this.runs).then(fulfilled);
  }
}

test("an object that starts its work only when awaited starts it then, once, and stays the same object", async () => {
  const client = createTestClient();
  const query = new Query();
  const select = withAudit(client, () => query, {
    asset_id,
    describe: ({ result }) => ({ ...inference(), metadata: { result } }),
  });
  const given = select();
  assert.deepEqual([given === query, query.runs, client.events.length], [true, 0, 0]);
  assert.equal(await given, 1);
  assert.deepEqual([query.runs, metadataOf(only(client.events)).result], [1, 1]);
});

class ApiPromise<Value> extends Promise<Value> {
  readonly requestId = "req_1";
}

test("a library's own promise type keeps its members, and catch and finally record it as well", async () => {
  const client = createTestClient();
  const call = withAudit(
    client,
    (fails: boolean) =>
      new ApiPromise<number>((done, failed) => (fails ? failed(new TypeError("x")) : done(7))),
    {
      asset_id,
      describe: inference,
    },
  );
  const made = call(false);
  assert.ok(made instanceof ApiPromise && made.requestId === "req_1");
  assert.equal(await made.finally(() => {}), 7);
  assert.equal(await call(true).catch((error: unknown) => error instanceof TypeError), true);
  assert.deepEqual(
    client.events.map(metadataOf).map(({ error }) => error),
    [undefined, true],
  );
});

test("members that a library adds to a promise stay", async () => {
  const client = createTestClient();
  const start = withAudit(client, () => Object.assign(Promise.resolve(7), { kill: () => "killed" }), {
    asset_id,
    describe: inference,
  });
  const started = start();
  assert.equal(started.kill(), "killed");
  assert.equal(await started, 7);
  assert.equal(client.events.length, 1);
});

test("the event of a call is captured where the call was made, so that it belongs to that request", async () => {
  const client = createTestClient();
  const request = new AsyncLocalStorage<string>();
  const audited = withAudit(client, async () => request.run("inside", async () => 1), {
    asset_id,
    describe: () => ({ ...inference(), correlation_id: request.getStore() ?? "none" }),
  });
  await request.run("outside", () => audited());
  assert.equal(only(client.events).correlation_id, "outside");
});

const deferred = <Value>() => {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((done) => {
    resolve = done;
  });
  return { promise, resolve };
};

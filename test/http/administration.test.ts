/** Every administrative action is recorded in the log of the tenant `prooftrail-system` before it is done. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import {
  ACTIONS,
  type Action,
  SYSTEM_EVENTS,
  type SystemEvent,
} from "../../src/access/administration/system-events.ts";
import { settingsFor, startTestBroker, type TestBroker } from "../support/broker.ts";
import { connectAs } from "../support/log.ts";
import { allPages } from "../support/pages.ts";
import { type Answer, event, fact, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const SYSTEM = "prooftrail-system";

let broker: TestBroker;
let service: TestService;
/** Reads the system's events. */
let reader = "";
beforeAll(async () => {
  broker = await startTestBroker();
  service = await startTestService({ ...settingsFor(broker) });
  reader = await service.makeKey(SYSTEM, ["events:read"]);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await broker[Symbol.asyncDispose]();
});

interface Told {
  readonly event_id: string;
  readonly event_type: SystemEvent["type"];
  readonly correlation_id: string;
  readonly timestamp: string;
  readonly asset_id: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The events of the system, oldest first, up to the current end of the log. */
const told = async (query = ""): Promise<readonly Told[]> => {
  const { json } = await service.call("/v1/reconciliation");
  const sequence = json.data.log_last_sequence;
  const path = `/v1/events?order=asc&limit=200&min_sequence=${sequence}${query}`;
  const rows = await allPages((cursor) => service.call(path + cursor, { key: reader }));
  return rows.map(({ event }) => event);
};
const countTold = async (): Promise<number> => (await told()).length;

const makeKey = async (body: object = {}): Promise<{ id: string; api_key: string }> =>
  (await service.call("/v1/keys", { body: { tenant: "acme", scopes: ["events:read"], ...body } })).json.data;
const placeHold = async (): Promise<string> =>
  (await service.call("/v1/holds", { body: { tenant: "acme", asset_id: "a", reason: "r" } })).json.data.id;

let obligations = 0;

/** A review that is to be completed, and a key that may waive it. */
const makeObligation = async () => {
  const name = `waived_${++obligations}`;
  const { api_key: key } = await makeKey({ scopes: ["events:write", "events:read", "obligations:waive"] });
  const sent = await service.call("/v1/events", {
    key,
    body: fact(`evt_${name}`, "decision.human_review_triggered", { decision_id: `d_${name}` }),
  });
  await service.call(`/v1/obligations?min_sequence=${sent.json.data.sequence}`, { key });
  return { key, id: `HR-CLOSE:evt_${name}`, case_name: `decision:d_${name}` };
};

/** A bundle is two actions, its start and its end: see test/proof/evidence.test.ts. A restored log needs one: test/slow/restore.slow.ts. */
type Called = Exclude<Action["type"], "system.evidence_made" | "system.restored">;

/**
 * For each action: what must exist (made first), the call, and a check of the installation that tells whether the action was done. A
 * new action cannot be forgotten: the type requires it.
 */
const CALLS: {
  readonly [Type in Called]: () => Promise<{
    readonly carryOut: () => Promise<Answer>;
    readonly details: (answer: Answer) => object;
  }>;
} = {
  "system.key_created": async () => ({
    carryOut: () =>
      service.call("/v1/keys", {
        body: {
          tenant: "acme",
          name: "Zoe's laptop",
          scopes: ["events:read"],
          rate_limit: { events_per_second: 5 },
        },
      }),
    details: ({ json }) => ({
      key_id: json.data.id,
      scopes: ["events:read"],
      rate_limit: { events_per_second: 5 },
    }),
  }),
  "system.key_revoked": async () => {
    const { id } = await makeKey();
    return {
      carryOut: () => service.call(`/v1/keys/${id}`, { method: "DELETE" }),
      details: () => ({ key_id: id }),
    };
  },
  "system.key_rotated": async () => {
    const expires_at = "2099-01-01T00:00:00.000Z";
    const { id } = await makeKey({ expires_at });
    return {
      carryOut: () => service.call(`/v1/keys/${id}/rotate`, { body: { grace_seconds: 60 } }),
      details: ({ json }) => ({
        key_id: id,
        replaced_by: json.data.id,
        scopes: ["events:read"],
        expires_at,
        grace_until: json.data.previous.grace_until,
      }),
    };
  },
  "system.viewed": async () => {
    const { api_key: key } = await makeKey({ scopes: undefined, role: "auditor" });
    return {
      carryOut: () => service.call("/v1/decisions?asset_id=a&limit=5", { key }),
      details: () => ({ route: "/v1/decisions", path: "/v1/decisions", filters: { asset_id: ["a"] } }),
    };
  },
  "system.retention_changed": async () => ({
    carryOut: () =>
      service.call("/v1/retention", { method: "PUT", body: { tenant: "acme", maximum_days: 400 } }),
    details: () => ({ policy: { maximum_days: 400 } }),
  }),
  "system.hold_placed": async () => ({
    carryOut: () =>
      service.call("/v1/holds", {
        body: { tenant: "acme", correlation_id: "case-1", reason: "Zoe has complained" },
      }),
    details: ({ json }) => ({ hold_id: json.data.id, correlation_id: "case-1" }),
  }),
  "system.hold_released": async () => {
    const id = await placeHold();
    return {
      carryOut: () => service.call(`/v1/holds/${id}`, { method: "DELETE" }),
      details: () => ({ hold_id: id, asset_id: "a" }),
    };
  },
  "system.export_taken": async () => {
    const { api_key } = await makeKey();
    return {
      carryOut: () =>
        service.call("/v1/export?format=csv&asset_id=a%20b&tag.team=x&tag.n=1&min_sequence=0", {
          key: api_key,
        }),
      details: ({ headers }) => ({
        format: "csv",
        filters: { asset_id: ["a b"], "tag.team": ["x"], "tag.n": ["1"] },
        last_sequence: Number(headers.get("x-prooftrail-last-sequence")),
      }),
    };
  },
  "system.session_started": async () => {
    const { id, api_key: key } = await makeKey();
    return {
      carryOut: () => service.call("/v1/session", { method: "POST", key }),
      details: () => ({ key_id: id }),
    };
  },
  "system.obligation_waived": async () => {
    const { key, id, case_name } = await makeObligation();
    const reason = "The case was settled";
    return {
      carryOut: () => service.call(`/v1/obligations/${id}/waive`, { key, body: { reason } }),
      details: () => ({ obligation_id: id, reason, case_name }),
    };
  },
  "system.obligation_unwaived": async () => {
    const { key, id, case_name } = await makeObligation();
    await service.call(`/v1/obligations/${id}/waive`, { key, body: { reason: "By mistake" } });
    const reason = "It was another case";
    return {
      carryOut: () => service.call(`/v1/obligations/${id}/unwaive`, { key, body: { reason } }),
      details: () => ({ obligation_id: id, reason, case_name }),
    };
  },
};
const TYPES = Object.keys(CALLS).filter((type): type is Called => type in ACTIONS);

/** The keys, policies and holds that exist. */
const installation = async (): Promise<string> =>
  (
    await Promise.all(
      ["/v1/keys", "/v1/retention?tenant=acme", "/v1/holds?limit=200"].map(async (path) =>
        JSON.stringify((await service.call(path)).json.data),
      ),
    )
  ).join("\n");

describe("each action", () => {
  test.each(TYPES)("%s writes one event, which says what was done and by whom", async (type) => {
    const { carryOut, details } = await CALLS[type]();
    const before = await countTold();
    const answer = await carryOut();
    expect(answer.status).toBeLessThan(300);
    const all = await told();
    expect(all.length).toBe(before + 1);
    const last = all.at(-1);
    const requestId = answer.headers.get("x-request-id");
    expect(last).toMatchObject({
      event_id: expect.stringMatching(/^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}$/),
      event_type: type,
      asset_id: "prooftrail",
      correlation_id: requestId,
      timestamp: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
    });
    const actor = last?.metadata.actor;
    expect(last?.metadata).toEqual({ tenant: "acme", actor, request_id: requestId, ...details(answer) });
    // The admin key reads no tenant but its own, so some use another key.
    const byKey: readonly string[] = [
      "system.export_taken",
      "system.session_started",
      "system.viewed",
      "system.obligation_waived",
      "system.obligation_unwaived",
    ];
    expect(actor).toEqual(byKey.includes(type) ? expect.stringMatching(/^\w{12}$/) : "admin");
    const common = { tenant: Type.String(), actor: Type.String(), request_id: Type.String() };
    const members = { ...common, ...SYSTEM_EVENTS[type].details.properties };
    const schema = TypeCompiler.Compile(Type.Object(members, { additionalProperties: false }));
    expect(schema.Check(last?.metadata)).toBe(true);
  });

  test("the events contain no secret, name or reason", async () => {
    const { api_key } = await makeKey({ name: "Zoe's phone" });
    const text = JSON.stringify(await told());
    expect(text).toContain("system.key_created");
    for (const private_ of [api_key.split("_")[2] ?? "", "secret_hash", "Zoe", service.adminKey]) {
      expect(text).not.toContain(private_);
    }
  });

  test("an event is found by search, shown as the case of its request, and exported, like every other event", async () => {
    const { id } = await makeKey();
    const [found] = await told(`&q=${id}&event_type=system.*`);
    expect(found?.metadata).toMatchObject({ key_id: id });
    const one = await service.call(`/v1/cases/${found?.correlation_id}`, { key: reader });
    expect(one.text).toContain(found?.event_id ?? "nothing");
    const file = await service.call("/v1/export?event_type=system.key_created", { key: reader });
    expect(file.text).toContain(id);
    expect((await told()).at(-1)?.metadata).toMatchObject({ tenant: SYSTEM, format: "ndjson" });
  });

  test("an event has a subject of its own group, so that a consumer can follow it", async () => {
    const { json } = await service.call("/v1/reconciliation");
    const consumer = await connectAs(broker, "consumer");
    const { streams } = await consumer.jetstreamManager({ checkAPI: false });
    await service.call("/v1/retention", { method: "PUT", body: { tenant: "acme", maximum_days: 500 } });
    const message = await streams.getMessage("AUDIT", { seq: json.data.log_last_sequence + 1 });
    await consumer.close();
    expect(message.subject).toBe("audit.prooftrail-system.prooftrail.system.retention_changed");
  });
});

test("a request that is refused, changes nothing or only reads writes no event", async () => {
  const { id } = await makeKey();
  const hold = await placeHold();
  await service.call(`/v1/keys/${id}`, { method: "DELETE" });
  await service.call(`/v1/holds/${hold}`, { method: "DELETE" });
  const weak = await service.makeKey("acme", ["events:write"]);
  const before = await countTold();
  const statuses = [
    await service.call(`/v1/keys/${id}`, { method: "DELETE" }),
    await service.call(`/v1/holds/${hold}`, { method: "DELETE" }),
    await service.call("/v1/export", { method: "HEAD" }),
    await service.call("/v1/keys"),
    await service.call("/v1/keys/unknown", { method: "DELETE" }),
    await service.call("/v1/holds/unknown", { method: "DELETE" }),
    await service.call(`/v1/keys/${id}/rotate`, { body: {} }),
    await service.call("/v1/keys", { body: { tenant: "acme", scopes: ["everything"] } }),
    await service.call("/v1/retention", { method: "PUT", body: { maximum_days: 1 } }),
    await service.call("/v1/holds", { body: { reason: "r" } }),
    await service.call("/v1/export?colour=red"),
    await service.call("/v1/export", { key: weak }),
    await service.call("/v1/keys", { key: weak, body: { scopes: ["events:write"] } }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 200, 404, 404, 400, 400, 400, 400, 400, 403, 403]);
  expect(await countTold()).toBe(before);
});

describe("only the system writes to its tenant", () => {
  test("its event types are unknown to every other tenant", async () => {
    for (const event_type of Object.keys(SYSTEM_EVENTS)) {
      const { status, json } = await service.call("/v1/events", { body: event({ event_type }) });
      expect([status, json.errors[0].code]).toEqual([400, "unknown_event_type"]);
    }
  });

  test("only the tenant's own keys can read its events", async () => {
    const other = await service.makeKey("other", ["events:read"]);
    for (const key of [other, service.adminKey]) {
      const { json } = await service.call("/v1/events?event_type=system.*", { key });
      expect(json.data).toEqual([]);
    }
  });
});

/** Removes from a stream its subjects, as if no stream kept them, while `during` runs. */
const without = async (stream: string, during: () => Promise<void>): Promise<void> => {
  const provisioner = await connectAs(broker, "provisioner");
  const { streams } = await provisioner.jetstreamManager({ checkAPI: false });
  const { config } = await streams.info(stream);
  await streams.update(stream, { subjects: [`nobody.${stream}`] });
  try {
    await during();
  } finally {
    await streams.update(stream, { subjects: config.subjects });
    await provisioner.close();
  }
};

describe("when the log does not take the event", () => {
  test.each(TYPES)("%s is refused with 503, and nothing is done", async (type) => {
    const { carryOut } = await CALLS[type]();
    const [before, state] = [await countTold(), await installation()];
    await without("AUDIT", async () => {
      const { status, json, headers } = await carryOut();
      expect([status, json.code, headers.get("retry-after")]).toEqual([503, "log_unavailable", "1"]);
      expect(json.detail).toMatch(/(did not accept its record|could not be recorded in the log)/i);
      expect(await installation()).toBe(state);
    });
    expect(await countTold()).toBe(before);
    expect((await carryOut()).status).toBeLessThan(300);
    expect(await countTold()).toBe(before + 1);
  });

  test("a refused export frees its place", async () => {
    const { api_key } = await makeKey();
    await without("AUDIT", async () => {
      for (let index = 0; index < 6; index++) {
        expect((await service.call("/v1/export", { key: api_key })).json.code).toBe("log_unavailable");
      }
    });
    expect((await service.call("/v1/export", { key: api_key })).status).toBe(200);
  });

  test("the metric lists each action from the start, even if it never happened", async () => {
    await using fresh = await startTestService();
    const { text } = await fresh.call("/metrics");
    for (const type of TYPES)
      for (const outcome of ["done", "refused", "failed"])
        expect(text).toContain(
          `prooftrail_administrative_actions_total{event_type="${type}",outcome="${outcome}"} 0`,
        );
  });

  test("the metric counts the actions that were done and those that were refused", async () => {
    const { text } = await service.call("/metrics");
    for (const type of TYPES) {
      for (const outcome of ["done", "refused"]) {
        expect(text).toMatch(
          new RegExp(
            `prooftrail_administrative_actions_total\\{event_type="${type}",outcome="${outcome}"\\} [1-9]`,
          ),
        );
      }
    }
  });
});

describe("an action that fails after its event was stored", () => {
  // An export, a session and a view are not kept, and the event of a waiver is the waiver itself.
  const kept = TYPES.filter(
    (type) => !/^system\.(export_taken|session_started|viewed|obligation_)/.test(type),
  );
  test.each(kept)("%s gets a failure event with the same correlation_id", async (type) => {
    const { carryOut } = await CALLS[type]();
    const before = await countTold();
    const bucket = type.startsWith("system.key_") ? "KV_KEYS" : "KV_RETENTION";
    let answer: Answer | undefined;
    const state = await installation();
    await without(bucket, async () => {
      answer = await carryOut();
    });
    expect([answer?.status, answer?.json.code]).toEqual([503, "log_unavailable"]);
    expect(await installation()).toBe(state);
    await until("it is marked", async () => (await countTold()) >= before + 2);
    const [first, mark, ...rest] = (await told()).slice(before);
    expect([first?.event_type, mark?.event_type, rest]).toEqual([type, "system.action_failed", []]);
    expect(mark?.correlation_id).toBe(answer?.headers.get("x-request-id") ?? "");
    expect(mark?.correlation_id).toBe(first?.correlation_id);
    expect(mark?.metadata).toEqual({
      tenant: "acme",
      actor: "admin",
      request_id: mark?.correlation_id,
      failed_event_id: first?.event_id,
      failed_event_type: type,
      effect: "unknown",
    });
  });
});

/**
 * The one way to write a route: what it takes, what it answers, and how both are documented. Around `answer` run, in this
 * order: key, query, body, the wait for `min_sequence`, and whether the views are available.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import { type CheckedRequest, createRequestCheck } from "../../event/request/check.ts";
import { EVENT_DEPTH_MAX, OBJECT_BODY_BYTES_MAX } from "../../limits.ts";
import type { ViewStore } from "../../views/store/view-store.ts";
import { type JsonSlice, sliceBody } from "../intake/json/slice.ts";
import type { Access } from "./access.ts";
import { type Answered, invalid, type Refusal, refuse, responseOf } from "./answers.ts";
import type { BodyReader } from "./body.ts";
import type { Call } from "./call.ts";
import type { Guard } from "./guard.ts";
import { type Described, describe } from "./openapi.ts";
import { type Asked, MIN_SEQUENCE, type Questions, readQuery } from "./parameters.ts";
import type { RequestError } from "./problem.ts";
import { contextOf, holderOfRequest } from "./request-context.ts";
import { onceSeen, type SequenceWait, sequenceWait } from "./wait-for-view.ts";

export type OpenCall = Pick<Call, "request" | "context" | "params">;

interface BodyOf<Body> {
  readonly schema: TSchema;
  readonly example: unknown;
  /** Left out, it is an empty object. */
  readonly isOptional?: boolean;
  readonly bytesMax?: number;
  /** Absent where the route reads the bytes. */
  readonly check?: (value: unknown) => CheckedRequest<Body>;
}

export const bodyOf = <Schema extends TSchema>(
  schema: Schema,
  example: Static<Schema>,
): BodyOf<Static<Schema>> => ({ schema, example, check: createRequestCheck(schema) });

/** A body with rules beyond its schema: whoever carries out the request checks it. */
export const bodyFor = (schema: TSchema, example: unknown): BodyOf<unknown> => ({
  schema,
  example,
  check: (request) => ({ kind: "ok", request }),
});

interface Declared<Of, Q extends Questions, Body> extends Described {
  readonly query?: Q;
  readonly body?: BodyOf<Body>;
  /** The answer itself says how far the views are, so it is given even while one is being built. */
  readonly tellsPosition?: true;
  readonly isHidden?: true;
  /** Nothing in the query matters, so nothing in it is refused. */
  readonly takesAnyQuery?: true;
  /** What clients that cannot send the header send instead. */
  readonly authorizationOf?: (request: Request) => string | null;
  readonly answer: (call: Asking<Of, Q, Body>) => Promise<Answered> | Answered;
}

type Asking<Of, Q extends Questions, Body> = Of & {
  readonly asked: Asked<Q>;
  readonly body: Body;
  readonly awaited: SequenceWait | undefined;
};

/** As the framework gives it. */
interface Routed {
  readonly request: Request;
  readonly params?: Record<string, string | null>;
}

export interface Route {
  readonly method: string;
  readonly path: string;
  readonly handle: (routed: Routed) => Promise<Response> | Response;
  readonly detail: object;
}

const placeOf = ({ on }: Pick<Described, "on">) => {
  const [method = "", path = ""] = on.split(" ");
  return { method, path };
};

export const hidden = (path: string, handle: Route["handle"], method = "GET"): Route => ({
  method,
  path,
  handle,
  detail: { hide: true },
});

export type KeyedRoute = <Q extends Questions = Record<never, never>, Body = undefined>(
  declared: Declared<Call, Q, Body> & { readonly access: Access },
) => Route;

interface Sources {
  readonly views: ViewStore;
  readonly bodies: BodyReader;
}

export const createKeyedRoute =
  ({ guard, ...sources }: Sources & { readonly guard: Guard }): KeyedRoute =>
  <Q extends Questions, Body>(declared: Declared<Call, Q, Body> & { readonly access: Access }) => ({
    ...placeOf(declared),
    handle: guard(declared.access, answerer<Call, Q, Body>(declared, sources), declared),
    detail: declared.isHidden ? { hide: true } : describe(declared),
  });

type Door = (call: OpenCall, handle: () => Promise<Response>) => Promise<Response>;

/** Routes that need none. `door` lets a request in. */
export const createOpenRoute =
  (sources: Partial<Sources> = {}, door: Door = (_call, handle) => handle()) =>
  <Q extends Questions = Record<never, never>, Body = undefined>(
    declared: Declared<OpenCall, Q, Body>,
  ): Route => {
    const answer = answerer(declared, sources);
    const handle: Route["handle"] = ({ request, params = {} }) => {
      const context = contextOf(request);
      const call = { request, params, context };
      return door(call, async () => responseOf(context, await answer(call), declared.status));
    };
    return { ...placeOf(declared), handle, detail: describe(declared) };
  };

/** Reads what the route takes, and asks it. Only for a body that is checked here, or for views, it waits. */
const answerer = <Of extends OpenCall & Partial<Pick<Call, "viewReadiness">>, Q extends Questions, Body>(
  declared: Declared<Of, Q, Body>,
  { views, bodies }: Partial<Sources>,
): ((call: Of) => Promise<Answered> | Answered) => {
  const { views: projections, body: asksFor, tellsPosition } = declared;
  const readAll = (url: string) => {
    const query = readQuery(url);
    const asked: Record<string, unknown> = {};
    for (const [name, { read }] of Object.entries(declared.query ?? {})) asked[name] = read(query);
    const sequence = projections && MIN_SEQUENCE.read(query);
    return { asked, sequence, errors: declared.takesAnyQuery ? [] : query.errors() };
  };
  const waiting = async (asking: Asking<Of, Q, Body>, sequence: number | undefined): Promise<Answered> => {
    const read = asksFor?.check && bodies ? await readBody(bodies, asking, asksFor) : undefined;
    if (read && "kind" in read) return read;
    // It was read as the declaration says.
    const call = Object.assign(asking, { body: read?.value as Body, awaited: sequenceWait(sequence) });
    if (!projections) return declared.answer(call);
    const answer = async (): Promise<Answered> => {
      // After the wait, during which a view may become complete.
      if (!tellsPosition) await call.viewReadiness?.check(projections);
      return declared.answer(call);
    };
    if (!views) return answer();
    const answered = await onceSeen({ views, projections, awaited: call.awaited }, answer);
    return answered ?? refuse("view_behind");
  };
  const mayWait = projections !== undefined || asksFor?.check !== undefined;
  /** Nearly all events are sent without a query. Where views are read, a parameter that is absent may mean the present time. */
  const nothingAsked = projections ? undefined : readAll("/");
  return (call) => {
    const { url } = call.request;
    const { asked, sequence, errors } = (!url.includes("?") && nothingAsked) || readAll(url);
    if (errors.length > 0) return invalid(errors);
    // Each was read as the declaration says.
    const read = { asked: asked as Asked<Q>, body: undefined as Body, awaited: undefined };
    const asking = Object.assign(call, read);
    return mayWait ? waiting(asking, sequence) : declared.answer(asking);
  };
};

const readBody = async <Body>(
  bodies: BodyReader,
  call: OpenCall,
  { check, isOptional = false }: BodyOf<Body>,
): Promise<{ readonly value: Body | undefined } | Refusal> => {
  const read = await readJson(bodies, call, isOptional);
  if ("kind" in read) return read;
  const checked = check?.(read.value);
  return checked?.kind === "invalid" ? invalid(checked.problems) : { value: checked?.request };
};

/** Reads JSON strictly: duplicate members are refused rather than guessed, and so is a value nested too deep to check. */
const readJson = async (
  bodies: BodyReader,
  { request, context }: OpenCall,
  isOptional: boolean,
): Promise<{ readonly value: unknown } | Refusal> => {
  const body = await bodies.read(request, {
    bytesMax: OBJECT_BODY_BYTES_MAX,
    holder: holderOfRequest(context),
    isOptional,
  });
  if (body.kind === "refused") return body;
  body.release();
  const sliced = sliceBody(isOptional && body.text === "" ? "{}" : body.text);
  if (sliced.kind === "invalid_json") return refuse("invalid_json", sliced.detail);
  const errors = structuralErrors(sliced.slice);
  return errors.length > 0 ? invalid(errors) : { value: sliced.slice.value };
};

const structuralErrors = ({ depth, duplicateMembers }: JsonSlice): readonly RequestError[] => {
  if (depth > EVENT_DEPTH_MAX) {
    const message = `The body is nested ${depth} levels deep: send at most ${EVENT_DEPTH_MAX}.`;
    return [{ path: "", code: "too_deep", message }];
  }
  return duplicateMembers.map((path) => ({
    path,
    code: "duplicate_member",
    message: "The member occurs twice: send it once.",
  }));
};

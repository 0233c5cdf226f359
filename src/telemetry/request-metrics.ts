/**
 * Requests are counted in plain numbers. prom-client gets them when somebody reads metrics: its own counting hashes the labels each time
 * and costs 1 µs per request (measured).
 */
import { Counter, Histogram, type Registry } from "prom-client";

const SECONDS_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Durations {
  /** One per bound of SECONDS_BOUNDS, and one for longer requests. */
  readonly counts: number[];
  seconds: number;
}

class RequestDurations extends Histogram<"route" | "le"> {
  readonly #routes = new Map<string, Durations>();

  of(route: string): Durations {
    const found = this.#routes.get(route);
    if (found) return found;
    const durations = { counts: new Array<number>(SECONDS_BOUNDS.length + 1).fill(0), seconds: 0 };
    this.#routes.set(route, durations);
    return durations;
  }

  /** What the registry asks for (prom-client 15); `get()` asks for it as well. */
  async getForPromString() {
    const values = [...this.#routes].flatMap(([route, durations]) => rowsOf(route, durations));
    return { name: NAME, help: HELP, type: "histogram", values, aggregator: "sum" };
  }
}

const NAME = "prooftrail_http_request_duration_seconds";
const HELP = "Time from the head of a request to its answer.";

/** The text format wants cumulative counts. */
const rowsOf = (route: string, { counts, seconds }: Durations) => {
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    const le = SECONDS_BOUNDS[index] ?? "+Inf";
    return { metricName: `${NAME}_bucket`, labels: { route, le }, sharedLabels: {}, value: total };
  });
  return [
    ...buckets,
    { metricName: `${NAME}_sum`, labels: { route }, sharedLabels: {}, value: seconds },
    { metricName: `${NAME}_count`, labels: { route }, sharedLabels: {}, value: total },
  ];
};

const KNOWN_METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

interface CountedRequest {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

export const createRequestCount = (registers: Registry[]): ((request: CountedRequest) => void) => {
  const durations = new RequestDurations({
    name: NAME,
    help: HELP,
    labelNames: ["route"],
    buckets: SECONDS_BOUNDS,
    registers,
  });
  const kinds = new Map<string, Kind>();
  let latest: Kind | undefined;
  new Counter({
    name: "prooftrail_http_requests_total",
    help: "Requests answered, by route pattern and status.",
    labelNames: ["method", "route", "status"],
    registers,
    collect() {
      this.reset();
      for (const { labels, count } of kinds.values()) this.inc(labels, count);
    },
  });
  const kindOf = ({ method: sent, route, status }: CountedRequest): Kind => {
    // Anybody may invent methods. They must not become labels.
    const method = KNOWN_METHODS.has(sent) ? sent : "other";
    const name = `${method} ${status} ${route}`;
    let kind = kinds.get(name);
    if (!kind) {
      kind = { labels: { method, route, status }, count: 0, durations: durations.of(route) };
      kinds.set(name, kind);
    }
    return kind;
  };
  return (request) => {
    const { seconds } = request;
    // Consecutive requests are mostly of one kind, and looking up a new text costs more than everything else here.
    if (!latest || !isOfKind(request, latest)) latest = kindOf(request);
    latest.count++;
    latest.durations.seconds += seconds;
    let bound = 0;
    while (seconds > (SECONDS_BOUNDS[bound] ?? Number.POSITIVE_INFINITY)) bound++;
    latest.durations.counts[bound] = (latest.durations.counts[bound] ?? 0) + 1;
  };
};

interface Kind {
  readonly labels: Labels;
  count: number;
  readonly durations: Durations;
}

const isOfKind = ({ method, route, status }: CountedRequest, { labels }: Kind): boolean =>
  route === labels.route && status === labels.status && method === labels.method;

interface Labels {
  readonly method: string;
  readonly route: string;
  readonly status: number;
}

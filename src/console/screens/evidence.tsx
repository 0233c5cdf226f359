/** Evidence bundles: what one would hold, making it, and those that were made. */
import { useEffect, useRef } from "preact/hooks";
import { addressHere, type Parameters, place } from "../address.ts";
import { type List, type One, useAnswer } from "../api.ts";
import { cancelDownload, download, isRunning, makeBundle } from "../bundle-download.ts";
import { language, numberOf, sizeOf } from "../language.ts";
import { apiFilters, type Filter, FilterForm, filtersAsked, shownValue } from "../parts/filters.tsx";
import { type Column, Files, Pages, Table } from "../parts/list.tsx";
import { Answered, Failed } from "../parts/page-states.tsx";
import { Time } from "../parts/said.tsx";
import { seesWholeTenant } from "../session.ts";
import { say, type Word } from "../words.ts";

const FILTERS: readonly Filter[] = [
  { name: "asset_id", title: "systems", kind: "systems" },
  { name: "correlation_id", title: "case", kind: "text" },
  { name: "decision_id", title: "decision", kind: "text" },
  { name: "from", title: "from", kind: "day" },
  { name: "to", title: "to", kind: "day" },
  { name: "subject_hash", title: "person", kind: "person" },
];

export const EvidenceScreen = () => {
  const isOfAll = place.value.parameters.get("all") === "true";
  const isAsked = isOfAll || Object.keys(filtersAsked(FILTERS)).length > 0;
  const asked = apiFilters(FILTERS);
  return (
    <>
      <h1>{say("evidence")}</h1>
      <p class="lede">{say("evidence_lede")}</p>
      <FilterForm filters={FILTERS} />
      {isAsked ? (
        <Preview asked={asked} />
      ) : (
        seesWholeTenant() && (
          <p>
            <a class="button plain" href={addressHere({ all: "true" })}>
              {say("evidence_all")}
            </a>
          </p>
        )
      )}
      <Progress />
      {seesWholeTenant() && <Bundles />}
    </>
  );
};

interface BundlePreview {
  readonly records: number;
  readonly withheld: number;
  readonly bytes: number;
  readonly estimated_file_bytes: number;
  readonly checkpoint_size: number;
  readonly complete_range: boolean;
  readonly left_out: readonly { readonly reason: keyof typeof LEFT_OUT; readonly records: number | null }[];
}

const LEFT_OUT = {
  outside_time: "left_outside_time",
  other_system: "left_other_system",
  expired: "left_expired",
  repeated: "left_repeated",
  sandbox: "left_sandbox",
} as const satisfies Readonly<Record<string, Word>>;

const Preview = ({ asked }: { readonly asked: Parameters }) => {
  const preview = useAnswer<One<BundlePreview>>("v1/evidence/preview", asked);
  const { answer } = preview;
  if (answer.kind === "failed" && answer.code === "not_found")
    return (
      <div class="empty" role="status">
        <p>{say("preview_none")}</p>
      </div>
    );
  return (
    <section>
      <h2>{say("preview")}</h2>
      <Answered asked={preview}>
        {({ data }) => (
          <>
            <p role="status">
              {say("preview_records", {
                r: numberOf(data.records),
                n: numberOf(data.checkpoint_size),
                b: sizeOf(data.bytes),
                f: sizeOf(data.estimated_file_bytes),
              })}{" "}
              {data.complete_range && say("preview_complete")}{" "}
              {data.withheld > 0 && say("preview_withheld", { n: numberOf(data.withheld) })}{" "}
              {say("preview_sealed")}
            </p>
            <h3>{say("left_out")}</h3>
            <ul>
              {data.left_out.map(({ reason, records }) => (
                <li key={reason}>{say(LEFT_OUT[reason], { n: numberOf(records ?? 0) })}</li>
              ))}
            </ul>
            <p>
              <button
                type="button"
                disabled={isRunning()}
                onClick={() => makeBundle({ ...asked, lang: language.value })}
              >
                {say("make_bundle")}
              </button>
            </p>
          </>
        )}
      </Answered>
    </section>
  );
};

const Progress = () => {
  const state = download.value;
  if (state.kind === "idle") return null;
  if (state.kind === "failed") return <Failed failure={state} />;
  if (state.kind === "broken")
    return (
      <p role="alert" class="refusal">
        {say("bundle_broken", { b: sizeOf(state.bytes) })}
      </p>
    );
  if (state.kind === "received")
    return (
      <p role="status">
        {say("bundle_received", { f: state.name, b: sizeOf(state.bytes) })}{" "}
        <a href="./verify">{say("verify")}</a>
      </p>
    );
  return (
    <p>
      <span role="status">
        {state.kind === "waiting"
          ? say("bundle_waiting")
          : say("bundle_receiving", { b: sizeOf(state.bytes) })}
      </span>{" "}
      <button type="button" class="plain" onClick={cancelDownload}>
        {say("cancel")}
      </button>
    </p>
  );
};

interface MadeBundle {
  readonly event_id: string;
  readonly made_at: string;
  readonly made_by: string;
  readonly made_by_name: string | null;
  readonly made_by_person: string | null;
  readonly filter: Readonly<Record<string, string>>;
  readonly records: number;
  readonly manifest_sha256: string;
}

const About = ({ filter }: Pick<MadeBundle, "filter">) => {
  const parts = FILTERS.flatMap((each) => {
    const value = filter[each.name];
    return value === undefined ? [] : [`${say(each.title)}: ${shownValue(each, value)}`];
  });
  return (
    <a href={addressHere({ ...NO_FILTERS, all: parts.length === 0 ? "true" : undefined, ...filter })}>
      {parts.length === 0 ? say("everything") : parts.join(", ")}
    </a>
  );
};

const NO_FILTERS: Parameters = Object.fromEntries(FILTERS.map(({ name }) => [name, undefined]));

const COLUMNS: readonly Column<MadeBundle>[] = [
  { id: "made_at", title: "made_at", cell: ({ made_at }) => <Time at={made_at} /> },
  { id: "about", title: "about", cell: ({ filter }) => <About filter={filter} /> },
  { id: "records", title: "record_count", cell: ({ records }) => numberOf(records) },
  {
    id: "by",
    title: "made_by",
    isWide: true,
    cell: (row) => row.made_by_person ?? row.made_by_name ?? row.made_by,
  },
  {
    id: "manifest",
    title: "manifest_hash",
    cell: ({ manifest_sha256 }) => <code class="breaks">{manifest_sha256}</code>,
  },
];

const PATH = "v1/evidence/bundles";
const ROWS = "20";

const Bundles = () => {
  const cursor = place.value.parameters.get("cursor") ?? undefined;
  const bundles = useAnswer<List<MadeBundle>>(PATH, { limit: ROWS, cursor });
  const { kind } = download.value;
  const before = useRef(kind);
  useEffect(() => {
    if (kind === "received" && before.current !== kind) bundles.again();
    before.current = kind;
  }, [kind]);
  return (
    <section>
      <h2>{say("bundles")}</h2>
      <p class="quiet">
        {say("bundles_lede")} <a href="./verify">{say("verify")}</a>
      </p>
      <Answered asked={bundles}>
        {({ data, next_cursor }) =>
          data.length === 0 ? (
            <p class="quiet">{say("no_bundles")}</p>
          ) : (
            <>
              <Table title="bundles" columns={COLUMNS} rows={data} rowId={({ event_id }) => event_id} />
              <div class="beneath">
                <Pages cursor={cursor} next={next_cursor} />
                <Files path={PATH} parameters={{}} />
              </div>
            </>
          )
        }
      </Answered>
    </section>
  );
};

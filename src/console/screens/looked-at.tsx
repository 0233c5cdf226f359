/** What this auditor's seat opened, as the log has it. */
import { type List, useAnswer } from "../api.ts";
import { type Column, Table } from "../parts/list.tsx";
import { Answered } from "../parts/page-states.tsx";
import { Time } from "../parts/said.tsx";
import { say } from "../words.ts";

interface View {
  readonly viewed_at: string;
  readonly route: string;
  readonly path: string;
  readonly filters?: Readonly<Record<string, readonly string[]>>;
}

const ROWS_MAX = "200";

const COLUMNS: readonly Column<View>[] = [
  { id: "time", title: "time", cell: ({ viewed_at }) => <Time at={viewed_at} /> },
  { id: "what", title: "what", cell: ({ path }) => <code class="breaks">{path}</code> },
  {
    id: "filters",
    title: "filters",
    cell: ({ filters = {} }) => (
      <span class="breaks">
        {Object.entries(filters)
          .map(([name, values]) => `${name}: ${values.join(", ")}`)
          .join(" · ")}
      </span>
    ),
  },
];

export const LookedAtScreen = () => {
  const list = useAnswer<List<View>>("v1/session/views", { limit: ROWS_MAX });
  return (
    <>
      <h1>{say("looked_at")}</h1>
      <p class="lede">{say("looked_at_lede", { n: ROWS_MAX })}</p>
      <Answered asked={list}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">{say("looked_at_nothing")}</p>
          ) : (
            <Table
              title="looked_at"
              columns={COLUMNS}
              rows={data}
              rowId={({ viewed_at, path }) => `${viewed_at} ${path}`}
            />
          )
        }
      </Answered>
    </>
  );
};

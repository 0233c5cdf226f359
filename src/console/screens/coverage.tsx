import { addressHere, addressOf, place } from "../address.ts";
import type { CannotShow, Coverage } from "../answers.ts";
import { type List, useAnswer } from "../api.ts";
import { labelOf, lawText, namesOf } from "../labels.ts";
import { apiFilters, type Filter, FilterForm } from "../parts/filters.tsx";
import { Files } from "../parts/list.tsx";
import { Answered } from "../parts/page-states.tsx";
import { Id, Label, State, System, Time } from "../parts/said.tsx";
import { systemName } from "../systems.ts";
import { say } from "../words.ts";

const FILTERS: readonly Filter[] = [
  { name: "asset_id", title: "system", kind: "system" },
  { name: "law", title: "law", kind: "labels", labels: "laws" },
];

interface CoverageList extends List<Coverage> {
  readonly cannot_show: readonly CannotShow[];
}

const ROWS_MAX = "200";

export const CoverageScreen = () => {
  const asked = apiFilters(FILTERS);
  const list = useAnswer<CoverageList>("v1/coverage", { ...asked, limit: ROWS_MAX });
  return (
    <>
      <h1>{say("coverage")}</h1>
      <p class="lede">{say("coverage_lede")}</p>
      <FilterForm filters={FILTERS} />
      <Answered asked={list}>
        {({ data, cannot_show }) => (
          <>
            {data.length === 0 ? <p class="empty">{say("no_rows")}</p> : <Matrix rows={data} />}
            <Files path="v1/coverage" parameters={asked} />
            <CellDetail rows={data} />
            <NotShown rows={cannot_show} />
          </>
        )}
      </Answered>
    </>
  );
};

const keyOf = ({ asset_id, law, duty }: Pick<Coverage, "asset_id" | "law" | "duty">): string =>
  JSON.stringify([asset_id, law, duty]);

/** In the order of the vocabulary, so that a column keeps its place. */
const dutiesOf = (rows: readonly Coverage[]): readonly string[] => {
  const used = new Set(rows.map(({ duty }) => duty));
  const known = namesOf("duties").filter((duty) => used.has(duty));
  return [...known, ...[...used].filter((duty) => !known.includes(duty))];
};

const Matrix = ({ rows }: { readonly rows: readonly Coverage[] }) => {
  const duties = dutiesOf(rows);
  const systems = [...new Set(rows.map(({ asset_id }) => asset_id))];
  return (
    <section class="scroll" aria-label={say("coverage")} tabindex={0}>
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">{say("system")}</th>
            {duties.map((duty) => (
              <th key={duty} scope="col">
                <Label kind="duties" name={duty} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {systems.map((asset) => (
            <tr key={asset}>
              <th scope="row">
                <System id={asset} />
              </th>
              {duties.map((duty) => (
                <td key={duty}>
                  {rows
                    .filter((row) => row.asset_id === asset && row.duty === duty)
                    .map((row) => (
                      <Cell key={row.law} row={row} />
                    ))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

/** "GDPR art. 22" of "GDPR art. 22, automated decisions". */
const shortLaw = (law: string): string => labelOf("laws", law).split(/[,(]/)[0]?.trim() ?? law;

const Cell = ({ row }: { readonly row: Coverage }) => {
  const isOpen = place.value.parameters.get("cell") === keyOf(row);
  return (
    <a class="cell" href={addressHere({ cell: keyOf(row) })} aria-current={isOpen ? "true" : undefined}>
      <State kind="coverage_states" name={row.state} />
      <small title={`${labelOf("laws", row.law)}: ${lawText(row.clause)}`}>
        {row.due > 0 && `${say("coverage_cell", { i: row.in_time, d: row.due })} · `}
        {shortLaw(row.law)}
      </small>
    </a>
  );
};

const CellDetail = ({ rows }: { readonly rows: readonly Coverage[] }) => {
  const row = rows.find((candidate) => keyOf(candidate) === place.value.parameters.get("cell"));
  if (row === undefined) return null;
  const { asset_id, law, duty, clause, state, due, in_time, late, unmet, waived, pending } = row;
  return (
    <section class="detail" aria-live="polite">
      <h2>
        {say("coverage_detail", { duty: labelOf("duties", duty), system: systemName(asset_id) })}
        <a href={addressHere({ cell: undefined })}>{say("close")}</a>
      </h2>
      <p>
        <State kind="coverage_states" name={state} />{" "}
        {say("coverage_counts", { d: due, i: in_time, l: late, u: unmet, w: waived, p: pending })}
      </p>
      <p>
        <Label kind="laws" name={law} />: {lawText(clause)}
      </p>
      <p>
        {say("newest_evidence")} <Time at={row.last_evidence_at} />
      </p>
      <ul class="plain-list">
        {row.example_event_ids.map((id) => (
          <li key={id}>
            <a href={addressOf("event", { id })}>
              <Id id={id} />
            </a>
          </li>
        ))}
      </ul>
      <p>
        <a href={addressOf("obligations", { asset_id, law })}>{say("all_obligations")}</a>
      </p>
    </section>
  );
};

const NotShown = ({ rows }: { readonly rows: readonly CannotShow[] }) =>
  rows.length === 0 ? null : (
    <section>
      <h2>{say("cannot_show")}</h2>
      <dl class="facts">
        {rows.map(({ law, duty, clause, why }) => (
          <div key={`${law} ${duty} ${clause}`}>
            <dt>
              <Label kind="duties" name={duty} />
              <small>{lawText(clause)}</small>
            </dt>
            <dd>{lawText(why)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );

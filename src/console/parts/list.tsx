/** A list of the API as a screen: filters, count, columns, pages and files, all of them in the address. */
import { type ComponentChildren, Fragment } from "preact";
import { addressHere, apiAddress, go, type Parameters, place } from "../address.ts";
import { type List, useAnswer } from "../api.ts";
import { curlLine } from "../command-lines.ts";
import { numberOf } from "../language.ts";
import { say, type Word } from "../words.ts";
import { CopyButton } from "./copy-button.tsx";
import { apiFilters, type Filter, FilterForm, filtersAsked } from "./filters.tsx";
import { Answered } from "./page-states.tsx";

export interface Column<Row> {
  readonly id: string;
  readonly title: Word;
  readonly cell: (row: Row) => ComponentChildren;
  /** Shown only if it is chosen. */
  readonly isExtra?: true;
  /** Left out on a narrow screen. */
  readonly isWide?: true;
}

export interface ListSpec<Row> {
  readonly path: string;
  /** Where its files come from, if not from `path`. */
  readonly exportPath?: string;
  readonly title: Word;
  readonly filters: readonly Filter[];
  readonly columns: readonly Column<Row>[];
  readonly rowId: (row: Row) => string;
  /** Parameters that are not the reader's choice. */
  readonly fixed?: Parameters;
  /** Event types that fill an empty list. */
  readonly filledBy?: readonly string[];
  /** What an empty list says, if no events fill it. */
  readonly empty?: () => ComponentChildren;
  readonly above?: () => ComponentChildren;
  /** The same list by the command line. */
  readonly command?: (service: string, parameters: Parameters) => string;
  readonly beneath?: () => ComponentChildren;
}

const PAGE_ROWS = "50";

export const ListScreen = <Row,>({
  spec,
  version = 0,
}: {
  readonly spec: ListSpec<Row>;
  /** Goes up with each change of a row. */
  readonly version?: number;
}) => {
  const { path, filters, fixed = {}, title, above } = spec;
  const cursor = place.value.parameters.get("cursor") ?? undefined;
  const asked = { ...fixed, ...apiFilters(filters) };
  const list = useAnswer<List<Row>>(path, { ...asked, limit: PAGE_ROWS, count: "true", cursor }, version);
  const { answer } = list;
  return (
    <>
      <h1>{say(title)}</h1>
      <p class="lede" role="status">
        {answer.kind === "answered" ? countText(answer.body) : " "}
      </p>
      {above?.()}
      <FilterForm filters={filters} />
      <Answered asked={list}>
        {({ data, next_cursor }) =>
          data.length === 0 ? (
            <Empty spec={spec} />
          ) : (
            <>
              <Table title={title} columns={shownColumns(spec.columns)} rows={data} rowId={spec.rowId} />
              <div class="beneath">
                <Pages cursor={cursor} next={next_cursor} />
                <Files path={spec.exportPath ?? path} parameters={asked} command={spec.command} />
                <ColumnChoice columns={spec.columns} />
              </div>
            </>
          )
        }
      </Answered>
      {spec.beneath?.()}
    </>
  );
};

const countText = ({ count }: List<unknown>): string => {
  if (count === undefined) return "";
  return say(count.exact ? "count_exact" : "count_more", { n: numberOf(count.value) });
};

export const Table = <Row,>(props: {
  readonly title: Word;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowId: (row: Row) => string;
  /** A row beneath another one. */
  readonly note?: (row: Row) => ComponentChildren;
}) => (
  <section class="scroll" aria-label={say(props.title)} tabindex={0}>
    <table>
      <thead>
        <tr>
          {props.columns.map(({ id, title, isWide }) => (
            <th key={id} scope="col" class={isWide && "wide"}>
              {say(title)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map((row) => (
          <Fragment key={props.rowId(row)}>
            <tr>
              {props.columns.map(({ id, cell, isWide }) => (
                <td key={id} class={isWide && "wide"}>
                  {cell(row)}
                </td>
              ))}
            </tr>
            {props.note?.(row)}
          </Fragment>
        ))}
      </tbody>
    </table>
  </section>
);

const chosenIds = <Row,>(columns: readonly Column<Row>[]): readonly string[] => {
  const asked = place.value.parameters.get("columns")?.split(",");
  return asked ?? columns.filter(({ isExtra }) => !isExtra).map(({ id }) => id);
};

const shownColumns = <Row,>(columns: readonly Column<Row>[]): readonly Column<Row>[] => {
  const ids = chosenIds(columns);
  const shown = columns.filter(({ id }) => ids.includes(id));
  return shown.length === 0 ? columns : shown;
};

const ColumnChoice = <Row,>({ columns }: { readonly columns: readonly Column<Row>[] }) => {
  const ids = chosenIds(columns);
  const toggle = (id: string): void => {
    const chosen = columns.filter((column) => ids.includes(column.id) !== (column.id === id));
    const { parameters } = place.value;
    const cursor = parameters.get("cursor") ?? undefined;
    go(addressHere({ columns: chosen.map((column) => column.id).join(","), cursor }), { replaces: true });
  };
  return (
    <details class="columns">
      <summary>{say("columns")}</summary>
      {columns.map(({ id, title }) => (
        <label key={id} class="check">
          <input type="checkbox" checked={ids.includes(id)} onChange={() => toggle(id)} />
          {say(title)}
        </label>
      ))}
    </details>
  );
};

export const Pages = ({
  cursor,
  next,
}: {
  readonly cursor: string | undefined;
  readonly next: string | null;
}) =>
  cursor === undefined && next === null ? null : (
    <nav aria-label={say("next_page")} class="pages">
      {cursor !== undefined && <a href={addressHere({})}>{say("first_page")}</a>}
      {next !== null && <a href={addressHere({ cursor: next })}>{say("next_page")}</a>}
    </nav>
  );

/** The same filters; a file has every row, not one page. */
export const Files = (props: {
  readonly path: string;
  readonly parameters: Parameters;
  /** As `ListSpec.command`. */
  readonly command?: ListSpec<never>["command"];
}) => {
  const { path, parameters, command } = props;
  const curl = curlLine(apiAddress(path, parameters));
  return (
    <div class="files">
      {say("export_as")}{" "}
      {["csv", "ndjson"].map((format) => (
        <a key={format} href={apiAddress(path, { ...parameters, format })} download="">
          {format.toUpperCase()}
        </a>
      ))}
      <details class="command">
        <summary>{say("as_command")}</summary>
        <p class="quiet">{say("commands_lede")}</p>
        <Command name="curl" line={curl} />
        {command && <Command name="prooftrail" line={command(apiAddress(""), parameters)} />}
      </details>
    </div>
  );
};

const Command = ({ name, line }: { readonly name: string; readonly line: string }) => (
  <p>
    <code dir="ltr">{line}</code>{" "}
    <CopyButton text={() => line}>{say("copy_command", { c: name })}</CopyButton>
  </p>
);

const Empty = <Row,>({ spec }: { readonly spec: ListSpec<Row> }) => {
  const isFiltered = Object.keys(filtersAsked(spec.filters)).length > 0;
  if (isFiltered)
    return (
      <div class="empty">
        <p>{say("no_rows")}</p>
        <p>
          <a href={addressHere(Object.fromEntries(spec.filters.map(({ name }) => [name, undefined])))}>
            {say("clear_filters")}
          </a>
        </p>
      </div>
    );
  return <div class="empty">{spec.empty?.() ?? <FilledBy types={spec.filledBy ?? []} />}</div>;
};

const FilledBy = ({ types }: { readonly types: readonly string[] }) => (
  <>
    <p>{say("empty_hint")}</p>
    <ul>
      {types.map((type) => (
        <li key={type}>
          <code>{type}</code>
        </li>
      ))}
    </ul>
    <p>{say("empty_send")}</p>
    <pre>{`echo '{"event_type":"${types[0]}","asset_id":"credit-scorer"}' | prooftrail send --fill`}</pre>
  </>
);

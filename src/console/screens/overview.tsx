import { addressOf } from "../address.ts";
import type { Activity, Gap, Obligation, Reconciliation, Source, StoredEvent } from "../answers.ts";
import { type Asked, type List, type One, useAnswer } from "../api.ts";
import { lawText, zoneOfRule } from "../labels.ts";
import { dateOf, dayOf, fromNow, numberOf } from "../language.ts";
import { EventChart } from "../parts/event-chart.tsx";
import { DueDay, ObligationName, ObligationWhy } from "../parts/obligation.tsx";
import { Answered } from "../parts/page-states.tsx";
import { EventLink, Label, State, System } from "../parts/said.tsx";
import { maySee, seesWholeTenant } from "../session.ts";
import { systemName } from "../systems.ts";
import { say } from "../words.ts";

const SHOWN_MAX = 8;

const byDue = (one: Obligation, other: Obligation): number =>
  Date.parse(one.due_at) - Date.parse(other.due_at);

/** More than anybody reads here; the list has the rest. */
const ASKED = "100";

const useObligations = (state: string): Asked<List<Obligation>> =>
  useAnswer<List<Obligation>>("v1/obligations", { state, limit: ASKED });

const rowsOf = <Row,>({ answer }: Asked<List<Row>>): readonly Row[] =>
  answer.kind === "answered" ? answer.body.data : [];

/** "100+" where the question was not answered to its end. */
const amountOf = ({ answer }: Asked<List<unknown>>): string => {
  if (answer.kind !== "answered") return "0";
  const { data, next_cursor } = answer.body;
  return `${numberOf(data.length)}${next_cursor === null ? "" : "+"}`;
};

export const OverviewScreen = () => {
  const newest = useAnswer<List<StoredEvent>>("v1/events", { limit: "6" });
  const isEmpty = newest.answer.kind === "answered" && newest.answer.body.data.length === 0;
  if (isEmpty) return <EmptyOverview />;
  return maySee("obligations") ? (
    <ObligationsOverview newest={newest} />
  ) : (
    <>
      <h1>{say("overview")}</h1>
      <Beside newest={newest} />
      <EventsByDay />
    </>
  );
};

const Beside = ({ newest }: { readonly newest: Asked<List<StoredEvent>> }) => (
  <>
    {maySee("sources") && <Senders />}
    <Newest newest={newest} />
  </>
);

const ObligationsOverview = ({ newest }: { readonly newest: Asked<List<StoredEvent>> }) => {
  const overdue = useObligations("overdue");
  const soon = useObligations("due_soon");
  const breached = useObligations("breached");
  const isAnswered = overdue.answer.kind === "answered" && soon.answer.kind === "answered";
  const isLoading = [overdue, soon, breached].some(({ answer }) => answer.kind === "loading");
  return (
    <>
      <h1>{isAnswered ? headline(overdue, soon) : say("overview")}</h1>
      <p class={isLoading ? "lede loading" : "lede"}>
        {seesWholeTenant() && <Balance />}{" "}
        {rowsOf(breached).length > 0 && <BreachedLink amount={amountOf(breached)} />}
      </p>
      <div class="cols">
        <div>
          <NeedsYou overdue={overdue} soon={soon} breached={breached} />
        </div>
        <div>
          <DueNext soon={soon} />
          <Beside newest={newest} />
        </div>
      </div>
      <EventsByDay />
    </>
  );
};

const headline = (overdue: Asked<List<Obligation>>, soon: Asked<List<Obligation>>): string => {
  const parts = [
    ["head_overdue", overdue],
    ["head_due", soon],
  ] as const;
  const said = parts.flatMap(([word, asked]) => {
    const n = amountOf(asked);
    if (n === "0") return [];
    return [say(word, { n })];
  });
  if (said.length === 0) return say("head_nothing");
  const text = said.join(", ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
};

const BreachedLink = ({ amount }: { readonly amount: string }) => (
  <a href={addressOf("obligations", { state: "breached" })}>{say("breached_some", { n: amount })}</a>
);

const Balance = () => {
  const { answer } = useAnswer<One<Reconciliation>>("v1/reconciliation");
  if (answer.kind === "loading") return <span class="loading">{say("loading")}</span>;
  if (answer.kind === "failed") return null;
  const { is_balanced: isBalanced } = answer.body.data;
  if (isBalanced === null) return say("balance_unknown");
  return isBalanced ? say("balanced") : <strong class="alarm">{say("not_balanced")}</strong>;
};

const NeedsYou = (asked: Readonly<Record<"overdue" | "soon" | "breached", Asked<List<Obligation>>>>) => {
  const rows = [asked.overdue, asked.soon, asked.breached].flatMap((list) => rowsOf(list).toSorted(byDue));
  return (
    <section>
      <h2>
        {say("needs_you")} <a href={addressOf("obligations")}>{say("all_obligations")}</a>
      </h2>
      <Answered asked={asked.overdue}>
        {() =>
          rows.length === 0 ? <p class="quiet">{say("head_nothing")}</p> : <ObligationRows rows={rows} />
        }
      </Answered>
    </section>
  );
};

const ObligationRows = ({ rows }: { readonly rows: readonly Obligation[] }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">{say("state")}</th>
        <th scope="col">{say("what")}</th>
        <th scope="col" class="wide">
          {say("system")}
        </th>
        <th scope="col">{say("due")}</th>
        <th scope="col" class="wide">
          {say("law")}
        </th>
      </tr>
    </thead>
    <tbody>
      {rows.slice(0, SHOWN_MAX).map((row) => (
        <tr key={row.obligation_id}>
          <td>
            <State kind="obligation_states" name={row.state} />
          </td>
          <td>
            <ObligationName obligation={row} />
            <ObligationWhy obligation={row} />
          </td>
          <td class="wide">
            <System id={row.asset_id} />
          </td>
          <td>
            <DueDay obligation={row} />
          </td>
          <td class="wide" title={lawText(row.clause)}>
            {lawText(row.clause).split(";")[0]}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const EventsByDay = () => {
  const activity = useAnswer<List<Activity>>("v1/activity", { group_by: "start,event_group" });
  // It cannot be limited to the range of time of a seat.
  if (activity.answer.kind === "failed" && activity.answer.code === "outside_seat") return null;
  return (
    <section>
      <h2>
        {say("events_by_day")} <a href={addressOf("events")}>{say("open_in_events")}</a>
      </h2>
      <Answered asked={activity}>{({ data }) => <EventChart rows={data} />}</Answered>
    </section>
  );
};

const DueNext = ({ soon }: { readonly soon: Asked<List<Obligation>> }) => {
  const byDay = new Map<string, Obligation[]>();
  for (const row of rowsOf(soon).toSorted(byDue)) {
    const day = dayOf(row.due_at, zoneOfRule(row.rule));
    byDay.set(day, [...(byDay.get(day) ?? []), row]);
  }
  if (byDay.size === 0) return null;
  return (
    <section>
      <h2>
        {say("next_due")} <a href={addressOf("obligations", { state: "due_soon" })}>{say("obligations")}</a>
      </h2>
      <table>
        <tbody>
          {[...byDay].map(([day, rows]) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              <td>
                {[...new Set(rows.map(({ rule }) => rule))].map((rule) => (
                  <div key={rule}>
                    <Label kind="rules" name={rule} />
                  </div>
                ))}
              </td>
              <td class="num">{rows.length}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

const Senders = () => {
  const sources = useAnswer<List<Source>>("v1/sources", { limit: "20" });
  const gaps = useAnswer<List<Gap>>("v1/sources/gaps", { limit: "100" });
  return (
    <section>
      <h2>
        {say("senders")} <a href={addressOf("sources")}>{say("sources")}</a>
      </h2>
      <Answered asked={sources}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">{say("no_senders")}</p>
          ) : (
            <table>
              <tbody>
                {data.map((source) => (
                  <SourceRow key={source.source_id} source={source} gaps={rowsOf(gaps)} />
                ))}
              </tbody>
            </table>
          )
        }
      </Answered>
    </section>
  );
};

const SourceRow = ({ source, gaps }: { readonly source: Source; readonly gaps: readonly Gap[] }) => {
  const gap = gaps.find(({ source_id }) => source_id === source.source_id);
  return (
    <tr>
      <td>
        <span class="breaks">{source.source_id}</span>
        {source.missing === 0 && <small>{say("every_number")}</small>}
        {source.missing > 0 && (
          <small class="note">
            {gap
              ? say("numbers_missing", { a: gap.first_number, b: gap.last_number, t: dateOf(gap.since) })
              : say("some_missing", { n: source.missing })}
          </small>
        )}
      </td>
      <td class="num">{fromNow(source.heartbeat_recorded_at ?? source.last_recorded_at)}</td>
    </tr>
  );
};

const Newest = ({ newest }: { readonly newest: Asked<List<StoredEvent>> }) => (
  <section>
    <h2>
      {say("newest")} <a href={addressOf("events")}>{say("events")}</a>
    </h2>
    <Answered asked={newest}>
      {({ data }) => (
        <table>
          <tbody>
            {data.map(({ event, sequence, received_at }) => (
              <tr key={sequence}>
                <td>
                  <EventLink event={event} />
                  <small title={event.asset_id}>{systemName(event.asset_id)}</small>
                </td>
                <td class="num">{fromNow(received_at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Answered>
  </section>
);

const EmptyOverview = () => (
  <>
    <h1>{say("no_events")}</h1>
    <p class="lede">{say("no_events_lede")}</p>
    <pre>{`echo '{"event_type":"decision.automated_decision_made","asset_id":"credit-scorer"}' | prooftrail send --fill`}</pre>
  </>
);

/** What falls due on each day of a month, as a calendar. Days are those of the reader, as in the filters of the list. */
import type { ComponentChildren } from "preact";
import { addressHere, place } from "../address.ts";
import type { Obligation } from "../answers.ts";
import { type List, useAnswer } from "../api.ts";
import { labelOf } from "../labels.ts";
import { firstWeekday, longDateOf, monthOf, numberOf, weekdayOf } from "../language.ts";
import { say } from "../words.ts";
import { apiFilters, type Filter, FilterForm } from "./filters.tsx";
import { addressOfCase } from "./obligation.tsx";
import { Answered } from "./page-states.tsx";
import { State } from "./said.tsx";

const ROWS_MAX = 1000;
const SHOWN_PER_DAY = 3;
const WEEK = 7;
const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/;

/** The first day of the month of the address, or of this month. */
const monthAsked = (): Date => {
  const [, year, month] = MONTH.exec(place.value.parameters.get("month") ?? "") ?? [];
  const today = new Date();
  return year === undefined || month === undefined
    ? new Date(today.getFullYear(), today.getMonth())
    : new Date(Number(year), Number(month) - 1);
};

const twoDigits = (value: number): string => String(value).padStart(2, "0");
const nameOf = (month: Date): string => `${month.getFullYear()}-${twoDigits(month.getMonth() + 1)}`;
const dayName = (day: Date): string => `${nameOf(day)}-${twoDigits(day.getDate())}`;
const after = (day: Date, days: number): Date =>
  new Date(day.getFullYear(), day.getMonth(), day.getDate() + days);

export const Month = (props: { readonly filters: readonly Filter[]; readonly above: ComponentChildren }) => {
  const first = monthAsked();
  const [before, next] = [-1, 1].map((months) => new Date(first.getFullYear(), first.getMonth() + months));
  const list = useAnswer<List<Obligation>>("v1/obligations", {
    ...apiFilters(props.filters),
    from: first.toISOString(),
    to: next?.toISOString(),
    order: "asc",
    limit: String(ROWS_MAX),
  });
  const { answer } = list;
  const found = answer.kind === "answered" ? answer.body : undefined;
  return (
    <>
      <p class="lede" role="status">
        {found ? say("month_count", { n: numberOf(found.data.length) }) : " "}
        {found?.next_cursor && ` ${say("month_too_many", { n: numberOf(ROWS_MAX) })}`}
      </p>
      {props.above}
      <FilterForm filters={props.filters} />
      <nav class="actions" aria-label={say("as_month")}>
        {before && <a href={addressHere({ month: nameOf(before) })}>{say("month_before")}</a>}
        {next && <a href={addressHere({ month: nameOf(next) })}>{say("month_after")}</a>}
      </nav>
      <Answered asked={list}>{({ data }) => <Calendar first={first} obligations={data} />}</Answered>
    </>
  );
};

const Calendar = ({
  first,
  obligations,
}: {
  readonly first: Date;
  readonly obligations: readonly Obligation[];
}) => {
  const byDay = Map.groupBy(obligations, ({ due_at }) => dayName(new Date(due_at)));
  const start = after(first, -((first.getDay() - firstWeekday() + WEEK) % WEEK));
  const end = new Date(first.getFullYear(), first.getMonth() + 1);
  const weeks: Date[] = [];
  for (let week = start; week < end; week = after(week, WEEK)) weeks.push(week);
  const days = (week: Date): readonly Date[] =>
    Array.from({ length: WEEK }, (_, index) => after(week, index));
  const isOfMonth = (day: Date): boolean => day.getMonth() === first.getMonth();
  const isToday = (day: Date): boolean => dayName(day) === dayName(new Date());
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <table class="month">
      <caption>
        <h2>{monthOf(first.toISOString())}</h2>
        <small>{say("month_lede", { z: zone })}</small>
      </caption>
      <thead>
        <tr>
          {days(start).map((day) => (
            <th key={day.getDay()} scope="col">
              {weekdayOf(day.toISOString())}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map((week) => (
          <tr key={dayName(week)}>
            {days(week).map((day) => (
              <td key={dayName(day)} aria-current={isToday(day) && isOfMonth(day) ? "date" : undefined}>
                {isOfMonth(day) && <Day day={day} obligations={byDay.get(dayName(day)) ?? []} />}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
};

const Day = ({ day, obligations }: { readonly day: Date; readonly obligations: readonly Obligation[] }) => {
  const count = obligations.length;
  if (count === 0) return <span class="day">{day.getDate()}</span>;
  const name = dayName(day);
  const address = addressHere({ view: undefined, month: undefined, from: name, to: name });
  const label = say("day_link", { d: longDateOf(day.toISOString()), n: numberOf(count) });
  return (
    <>
      <a class="day" href={address}>
        <span aria-hidden="true">
          {day.getDate()} <b>{numberOf(count)}</b>
        </span>
        <span class="unseen">{label}</span>
      </a>
      <ul>
        {obligations.slice(0, SHOWN_PER_DAY).map((obligation) => (
          <li key={obligation.obligation_id}>
            <State kind="obligation_states" name={obligation.state} />{" "}
            <a href={addressOfCase(obligation)} title={obligation.asset_id}>
              {labelOf("rules", obligation.rule)}
            </a>
          </li>
        ))}
        {count > SHOWN_PER_DAY && <li>{say("more_on_day", { n: numberOf(count - SHOWN_PER_DAY) })}</li>}
      </ul>
    </>
  );
};

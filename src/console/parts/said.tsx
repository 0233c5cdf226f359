/** Pieces of text that every screen has. */
import type { ComponentChildren } from "preact";
import { addressOf } from "../address.ts";
import type { AuditEvent } from "../answers.ts";
import { type LabelKind, labelOf } from "../labels.ts";
import { fromNow, fullTimeOf, timeOf, yearTimeOf } from "../language.ts";
import { systemName } from "../systems.ts";
import { piecesOf, type Word } from "../words.ts";

/** A sentence with elements in it. */
export const Said = ({
  word,
  ...values
}: { readonly word: Word } & Readonly<Record<string, ComponentChildren>>) => (
  <>{piecesOf(word).map((piece) => (piece.name === undefined ? piece.text : values[piece.name]))}</>
);

/** The label, with the name as it stands in the log one hover away. */
export const Label = ({ kind, name }: { readonly kind: LabelKind; readonly name: string }) => (
  <span title={name}>{labelOf(kind, name)}</span>
);

/** A time, with all of it one hover away. */
export const Time = ({ at }: { readonly at: string | null | undefined }) =>
  at ? (
    <time dateTime={at} title={`${fullTimeOf(at)} (${at})`}>
      {timeOf(at)}
    </time>
  ) : null;

/** With its year. */
export const YearTime = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={`${fullTimeOf(at)} (${at})`}>
    {yearTimeOf(at)}
  </time>
);

/** "2 hours ago", with the time one hover away. */
export const Ago = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={`${fullTimeOf(at)} (${at})`}>
    {fromNow(at)}
  </time>
);

const PERSON_SHOWN = { start: 4, end: 4 };

/** `sha256:5f2a…91c0`: the ends are enough to tell two apart by eye. */
export const shortHash = (hash: string): string => {
  const digits = hash.replace(/^sha256:/, "");
  return digits.length <= 12
    ? digits
    : `${digits.slice(0, PERSON_SHOWN.start)}…${digits.slice(-PERSON_SHOWN.end)}`;
};

export const Person = ({ hash }: { readonly hash: string | null | undefined }) =>
  hash ? (
    <a href={addressOf("decisions", { subject_hash: hash })} title={hash}>
      <code class="short">{shortHash(hash)}</code>
    </a>
  ) : null;

export const System = ({ id }: { readonly id: string | null | undefined }) =>
  id ? (
    <a href={addressOf("system", { id })} title={id}>
      {systemName(id)}
    </a>
  ) : null;

const SHORT_ID = 20;

/** An id in full unless it is very long; then its ends, and all of it one hover away. */
export const Id = ({ id }: { readonly id: string }) => {
  const shown = id.length > 48 ? `${id.slice(0, 30)}…${id.slice(-10)}` : id;
  // A short one is not cut at its hyphens.
  return (
    <code title={id} class={shown.length <= SHORT_ID ? "short" : undefined}>
      {shown}
    </code>
  );
};

/** "Automated decision made: denied". */
export const eventTitle = ({ event_type, metadata }: AuditEvent): string => {
  const label = labelOf("event_types", event_type);
  const said = metadata?.outcome ?? metadata?.resolution;
  return typeof said === "string" ? `${label}: ${said}` : label;
};

export const EventLink = ({ event }: { readonly event: AuditEvent }) => (
  <a href={addressOf("event", { id: event.event_id })} title={event.event_type}>
    {eventTitle(event)}
  </a>
);

const SHAPES: Readonly<Record<string, string>> = {
  overdue: "overdue",
  missing: "overdue",
  breached: "breached",
  due_soon: "soon",
  partial: "soon",
  stale: "soon",
  met: "met",
  covered: "met",
  resolved: "met",
  completed: "met",
  mitigated: "met",
  acknowledged: "open",
  met_late: "late",
  waived: "waived",
  not_applicable: "waived",
  orphan: "soon",
};

/** A state as shape and colour, so that neither is needed alone. */
export const State = ({ kind, name }: { readonly kind: LabelKind; readonly name: string }) => (
  <span class={`state ${SHAPES[name] ?? "open"}`} title={name}>
    {labelOf(kind, name)}
  </span>
);

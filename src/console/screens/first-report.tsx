/** A draft of the first report to the authority (EU AI Act art. 73): what the log knows, and blanks for what it does not. Nothing is sent. */
import { useRef } from "preact/hooks";
import { addressOf, place } from "../address.ts";
import type { Obligation, Row, StoredEvent } from "../answers.ts";
import { type One, useAnswer } from "../api.ts";
import { labelOf, lawText, zoneOfRule } from "../labels.ts";
import { fullTimeOf, zoneOf } from "../language.ts";
import { useCopy } from "../parts/copy.ts";
import { Answered } from "../parts/page-states.tsx";
import { eventTitle } from "../parts/said.tsx";
import { LanguageButton } from "../parts/shell.tsx";
import { session } from "../session.ts";
import { systemName } from "../systems.ts";
import { say, type Word } from "../words.ts";
import { clocksOf, IncidentOf, textOf, useIncidentEvents, useObligations } from "./incident.tsx";

export const FirstReportScreen = () => (
  <>
    <h1>{say("first_report")}</h1>
    <p class="lede">{say("first_report_lede")}</p>
    <IncidentOf>{(row) => <Report row={row} />}</IncidentOf>
  </>
);

const Report = ({ row }: { readonly row: Row }) => {
  const assetId = textOf(row, "asset_id") ?? "";
  const obligations = useObligations(assetId);
  const events = useIncidentEvents(textOf(row, "incident_id") ?? "");
  const system = useAnswer<One<Row>>(`v1/assets/${encodeURIComponent(assetId)}`);
  return (
    <Answered asked={obligations}>
      {({ data: all }) => (
        <Answered asked={events}>
          {({ data: found }) => (
            <Answered asked={system}>
              {({ data }) => (
                <Draft text={draftOf({ row, clocks: clocksOf(row, all), events: found, system: data })} />
              )}
            </Answered>
          )}
        </Answered>
      )}
    </Answered>
  );
};

interface Known {
  readonly row: Row;
  readonly clocks: readonly Obligation[];
  readonly events: readonly StoredEvent[];
  readonly system: Row;
}

const draftOf = ({ row, clocks, events, system }: Known): string => {
  const said = (name: string): string | undefined => textOf(row, name);
  const time = (name: string): string | undefined => {
    const at = said(name);
    return at === undefined ? undefined : `${fullTimeOf(at)} (${at})`;
  };
  const assetId = said("asset_id") ?? "";
  const incidentClass = said("incident_class");
  const mitigated = time("mitigated_at");
  const contact = [system.oversight_person, system.owner]
    .filter((name) => typeof name === "string")
    .join(", ");
  const lines: readonly (readonly [title: Word, said: string | undefined])[] = [
    ["report_to", said("authority")],
    ["report_from", undefined],
    ["report_contact", contact === "" ? undefined : contact],
    ["report_system", `${systemName(assetId)} (${assetId})`],
    ["report_version", undefined],
    ["report_incident", said("incident_id")],
    ["report_class", incidentClass && labelOf("incident_classes", incidentClass)],
    ["severity", said("severity")],
    ["detected", time("detected_at")],
    ["aware", time("aware_at")],
    ["report_happened", undefined],
    ["affected", said("affected_count")],
    ["report_harm", undefined],
    ["report_link", undefined],
    ["cause", said("root_cause")],
    ["report_measures", mitigated && say("report_under_control", { t: mitigated })],
    ["report_next", undefined],
  ];
  const who = session.value;
  return [
    say("report_head"),
    "",
    ...lines.map(([title, text]) => `${say(title)}: ${text ?? say("report_blank")}`),
    "",
    `${say("report_clocks")}:`,
    ...clocks.map((clock) => `- ${clockLine(clock)}`),
    "",
    `${say("report_events")}:`,
    ...events.map(({ event }) => `- ${event.timestamp} ${eventTitle(event)} (${event.event_id})`),
    "",
    say("report_made", {
      n: who instanceof Object ? who.tenant : "",
      t: fullTimeOf(new Date().toISOString()),
    }),
  ].join("\n");
};

const clockLine = ({ rule, due_at, clause, state }: Obligation): string => {
  const zone = zoneOfRule(rule);
  return say("report_clock", {
    d: labelOf("rules", rule),
    t: fullTimeOf(due_at, zone),
    z: zoneOf(zone),
    c: lawText(clause),
    s: labelOf("obligation_states", state),
  });
};

/** Written in where it stands: what the reader fills in goes onto paper, into the clipboard and into the file, and nowhere else. */
const Draft = ({ text }: { readonly text: string }) => {
  const id = place.value.parameters.get("id") ?? "";
  const draft = useRef<HTMLTextAreaElement>(null);
  const [copied, copy] = useCopy();
  const written = (): string => draft.current?.value ?? text;
  const download = (): void => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([written()], { type: "text/plain;charset=utf-8" }));
    link.download = `first-report-${id.replaceAll(/[^\w.-]/g, "_")}.txt`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <>
      <p class="actions">
        <button type="button" onClick={() => print()}>
          {say("print")}
        </button>
        <button type="button" class="plain" onClick={() => draft.current && copy(draft.current)}>
          {say("copy")}
        </button>
        <button type="button" class="plain" onClick={download}>
          {say("download_text")}
        </button>
        <a class="button plain" href={addressOf("incident", { id })}>
          {say("to_incident")}
        </a>
        <LanguageButton />
        <span role="status">{copied && say(copied)}</span>
      </p>
      <textarea
        key={text}
        ref={draft}
        class="draft"
        aria-label={say("first_report")}
        rows={text.split("\n").length}
        spellcheck={false}
        defaultValue={text}
      />
    </>
  );
};

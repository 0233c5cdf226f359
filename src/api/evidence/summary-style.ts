/** The style of summary.html: on paper, on a wide and on a narrow screen. It is embedded, because the page loads nothing. */
export const SUMMARY_STYLE = `
:root { --ink: #1b1e22; --soft: #565b63; --line: #e3e0d8; --line-2: #cfcbc0; --back: #fbfaf6; --accent: #0a5c5a; --overdue: #ad2318; --soon: #8a5a00; --met: #1d6b3e; --open: #4b5563; --breached: #5b1010;
  --text: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans KR", "Noto Sans CJK KR", "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans", sans-serif;
  --head: ui-serif, "Iowan Old Style", Georgia, "Noto Serif KR", "Noto Serif CJK KR", serif; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: var(--ink); font: 15px/1.5 var(--text); }
main { max-width: 1080px; margin: 0 auto; padding: 40px 32px 64px; }
h1 { font: 600 30px/1.2 var(--head); margin: 0 0 8px; overflow-wrap: anywhere; }
h2 { font: 600 20px/1.3 var(--head); margin: 32px 0 12px; padding-top: 16px; border-top: 1px solid var(--ink); }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 3px; }
nav ol { margin: 0; padding-left: 22px; }
nav li { margin-bottom: 4px; }
.count { color: var(--soft); font-variant-numeric: tabular-nums; }
small { display: block; font-size: 12.5px; color: var(--soft); }
p { margin: 0 0 12px; max-width: 75ch; }
.lead { font-size: 17px; margin-bottom: 16px; }
code, .id { font: 13px/1.6 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
pre { background: var(--back); padding: 12px 16px; border-radius: 6px; overflow-x: auto; margin: 0 0 12px; }
pre code { overflow-wrap: normal; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 6px 24px; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; table-layout: fixed; width: 100%; margin: 0 0 12px; font-size: 14px; }
th { text-align: left; font-weight: 600; color: var(--soft); border-bottom: 1px solid var(--line-2); padding: 6px 12px 6px 0; vertical-align: bottom; }
td { border-bottom: 1px solid var(--line); padding: 6px 12px 6px 0; vertical-align: top; overflow-wrap: anywhere; }
/* Marks that stand on one letter do not break: they would cover what stands beside it. */
td:not(.number) { overflow: hidden; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.time { font-variant-numeric: tabular-nums; }
th.number { padding-left: 4px; }
td.time .whole, .state { white-space: nowrap; overflow-wrap: normal; }
/* A shape and a colour, so that neither is needed alone. */
.state { display: inline-flex; gap: 7px; align-items: baseline; font-weight: 600; color: var(--open); }
.state::before { content: ""; width: 10px; height: 10px; flex: none; border: 2px solid currentColor; border-radius: 50%; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.state-overdue, .state-overdue::before { color: var(--overdue); }
.state-overdue::before { background: currentColor; border-radius: 0; }
.state-breached, .state-breached::before { color: var(--breached); }
.state-breached::before { border: 0; border-radius: 0; background: linear-gradient(45deg, transparent 42%, currentColor 42% 58%, transparent 58%), linear-gradient(-45deg, transparent 42%, currentColor 42% 58%, transparent 58%); }
.state-due_soon, .state-due_soon::before { color: var(--soon); }
.state-due_soon::before { border-radius: 0; background: linear-gradient(90deg, currentColor 50%, transparent 50%); }
.state-met, .state-met_late, .state-met::before, .state-met_late::before { color: var(--met); }
.state-met::before { background: currentColor; }
.state-met_late::before { background: currentColor; border-color: var(--soon); }
.state-waived::before { border-style: dashed; }
.lacking { color: var(--overdue); }
.law { font-style: italic; }
ul.steps { margin: 0; padding-left: 16px; max-width: none; }
ul.steps li { margin-bottom: 4px; }
ul { margin: 0 0 12px; padding-left: 22px; max-width: 75ch; }
li { margin-bottom: 6px; }
.none { color: var(--soft); }
@media (max-width: 640px) {
  main { padding: 24px 16px 48px; }
  h1 { font-size: 25px; }
  dl { display: block; }
  dt { font-size: 14px; }
  dd { margin-bottom: 10px; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  colgroup { display: none; }
  table, tbody, tr { display: block; width: 100%; }
  pre { white-space: pre-wrap; }
  pre code { overflow-wrap: anywhere; }
  tr { border-bottom: 1px solid var(--line); padding: 10px 0; }
  td, td.number { display: flow-root; width: 100%; border: 0; padding: 1px 0 1px 116px; min-height: 1.5em; text-align: left; white-space: normal; }
  td::before { content: attr(data-label); float: left; margin-left: -116px; width: 108px; color: var(--soft); font: 14px/1.5 var(--text); }
}
@media print {
  body { font-size: 10pt; }
  h1 { font-size: 20pt; }
  .lead { font-size: 11pt; }
  small, code, .id { font-size: 7pt; }
  ul.steps li { margin-bottom: 2px; }
  p { max-width: none; }
  /* The contents end the first page. */
  nav { break-after: page; }
  a { color: inherit; }
  main { max-width: none; padding: 0; }
  table { font-size: 8pt; line-height: 1.4; }
  th, td { padding: 4px 8px 4px 0; }
  td.time { font-size: 7pt; }
  td .state { gap: 4px; }
  td .state::before { width: 8px; height: 8px; }
  thead { display: table-header-group; }
  tr, dl, pre { break-inside: avoid; }
  h2 { break-after: avoid; }
  pre { border: 1px solid var(--line); white-space: pre-wrap; }
  @page { size: A4; margin: 16mm 14mm; }
}
`;

/** The style of summary.html: on paper, on a wide and on a narrow screen. It is embedded, because the page loads nothing. */
export const SUMMARY_STYLE = `
:root { --ink: #1b2430; --soft: #56616f; --line: #d8dde3; --back: #f5f7f9; --alarm: #a32018; --good: #1c6b3c; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 40px 32px 64px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 8px; overflow-wrap: anywhere; }
h2 { font-size: 20px; line-height: 1.3; margin: 40px 0 12px; padding-top: 20px; border-top: 1px solid var(--line); }
p { margin: 0 0 12px; max-width: 75ch; }
.lead { color: var(--soft); font-size: 18px; margin-bottom: 24px; }
code, .id { font: 13px/1.6 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
pre { background: var(--back); padding: 12px 16px; border-radius: 6px; overflow-x: auto; margin: 0 0 12px; }
pre code { overflow-wrap: normal; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 6px 24px; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; table-layout: fixed; width: 100%; margin: 0 0 12px; font-size: 14px; }
th { text-align: left; font-weight: 600; color: var(--soft); border-bottom: 2px solid var(--line); padding: 6px 12px 6px 0; vertical-align: bottom; }
td { border-bottom: 1px solid var(--line); padding: 6px 12px 6px 0; vertical-align: top; overflow-wrap: anywhere; }
/* Marks that stand on one letter do not break: they would cover what stands beside it. */
td:not(.number) { overflow: hidden; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.time { font-variant-numeric: tabular-nums; }
th.number { padding-left: 4px; }
.state { white-space: nowrap; font-weight: 600; }
.state-overdue, .state-met_late { color: var(--alarm); }
.state-met { color: var(--good); }
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
  td::before { content: attr(data-label); float: left; margin-left: -116px; width: 108px; color: var(--soft); font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
}
@media print {
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  table { font-size: 8.5pt; }
  thead { display: table-header-group; }
  tr, dl, pre { break-inside: avoid; }
  h2 { break-after: avoid; }
  pre { border: 1px solid var(--line); white-space: pre-wrap; }
  @page { margin: 18mm 16mm; }
}
`;

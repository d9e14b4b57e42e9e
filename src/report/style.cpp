// How pages look: system fonts, one accent colour, light and dark by the reader's preference, ink-saving on paper.
// SPDX-License-Identifier: BSD-3-Clause
#include "report/page.hpp"

namespace mercer::report {

std::string_view style_sheet() {
  return R"css(
:root {
  color-scheme: light dark;
  --page: #f5f6f8; --paper: #ffffff; --ink: #171c26; --ink-soft: #586174; --rule: #dfe3ea; --wash: #eef2fb;
  --accent: #2457c5; --on-accent: #ffffff; --second: #c8521b; --third: #15825f; --fourth: #7647bd; --fifth: #ad3168;
  --sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #0e1117; --paper: #161b24; --ink: #e7eaf0; --ink-soft: #9ba5b7; --rule: #2b3342; --wash: #1b2438;
    --accent: #82a9ff; --on-accent: #0b1220; --second: #ff9a66; --third: #4fcfa3; --fourth: #bd9bf5; --fifth: #f58ab8;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 var(--sans); -webkit-text-size-adjust: 100%; }
header, main, footer { max-width: 1040px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 44px; padding-bottom: 20px; }
.brand { margin: 0 0 18px; font-weight: 700; font-size: 13px; letter-spacing: .14em; text-transform: uppercase; color: var(--accent); }
h1 { margin: 0; font-size: 34px; line-height: 1.15; letter-spacing: -.018em; font-weight: 700; overflow-wrap: anywhere; }
.subtitle { margin: 8px 0 0; color: var(--ink-soft); font-size: 17px; overflow-wrap: anywhere; }
section { background: var(--paper); border: 1px solid var(--rule); border-radius: 12px; padding: 24px 28px 28px; margin: 0 0 20px; }
h2 { margin: 0 0 14px; font-size: 20px; line-height: 1.3; letter-spacing: -.01em; }
p { margin: 0 0 14px; max-width: 80ch; overflow-wrap: anywhere; }
.lead { font-size: 19px; line-height: 1.5; max-width: 64ch; margin: 0 0 22px; }
section > :last-child { margin-bottom: 0; }
main > .lead { margin: 4px 0 24px; }
ul { margin: 0 0 14px; padding-left: 1.2em; max-width: 80ch; overflow-wrap: anywhere; }
li + li { margin-top: 4px; }
.formula { margin: 0 0 18px; padding: 12px 16px; max-width: none; background: var(--wash); border-radius: 8px; font: 18px/1.5 "Cambria Math", "STIX Two Math", "Latin Modern Math", Georgia, serif; white-space: pre-wrap; }
.checks { list-style: none; margin: 0 0 22px; padding: 0; max-width: none; }
.checks li { display: grid; grid-template-columns: 5.6em 1fr; gap: 12px; align-items: baseline; }
.checks .mark { padding: 1px 0; border-radius: 999px; text-align: center; font-size: 13px; font-weight: 600; border: 1px solid currentColor; }
.checks .held .mark { color: var(--third); }
.checks .broken .mark { color: var(--fifth); }
.checks .broken { font-weight: 600; }
a { color: var(--accent); }
.tiles { list-style: none; margin: 0 0 22px; padding: 0; max-width: none; display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 14px; }
.tiles li { margin: 0; padding: 16px 18px; background: var(--paper); border: 1px solid var(--rule); border-radius: 12px; display: flex; flex-direction: column; }
.tiles li:first-child { background: var(--wash); border-color: var(--accent); }
section .tiles li { background: var(--page); }
.tiles strong { font-size: 30px; line-height: 1.15; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.tiles .label { margin-top: 6px; font-weight: 600; font-size: 14px; }
.tiles .note { color: var(--ink-soft); font-size: 13px; }
.facts { margin: 0 0 14px; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(400px, 100%), 1fr)); gap: 0 36px; }
.facts div { display: grid; grid-template-columns: 8.5em 1fr; gap: 12px; padding: 8px 0; border-bottom: 1px solid var(--rule); }
dt { color: var(--ink-soft); font-size: 14.5px; }
dd { margin: 0; font-size: 14.5px; overflow-wrap: anywhere; unicode-bidi: isolate; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; margin: 0 0 14px; }
.scroll + .charts, .facts + * { margin-top: 24px; }
table { border-collapse: collapse; width: 100%; font-size: 14.5px; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--ink-soft); padding: 0 0 8px; font-size: 14.5px; }
th, td { text-align: left; padding: 8px 14px 8px 0; border-bottom: 1px solid var(--rule); vertical-align: baseline; unicode-bidi: isolate; overflow-wrap: break-word; }
th:last-child, td:last-child { padding-right: 0; }
thead th { font-size: 13px; color: var(--ink-soft); font-weight: 600; border-bottom-color: var(--ink-soft); white-space: nowrap; }
tbody th { font-weight: 500; }
tbody th:not(.number) { min-width: 9em; }
.number { text-align: right; white-space: nowrap; }
.barred { width: 38%; min-width: 180px; position: relative; }
.barred span:last-child { position: relative; }
.bar { position: absolute; left: 8px; top: 7px; height: 1.6em; background: var(--accent); opacity: .26; border-radius: 3px; }
.marked th, .marked td { font-weight: 700; }
.marked .bar { opacity: .62; }
.soft th, .soft td { color: var(--ink-soft); }
details { margin: 0 0 14px; }
summary { cursor: pointer; color: var(--accent); font-weight: 600; font-size: 14.5px; padding: 4px 0; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(380px, 100%), 1fr)); gap: 28px 36px; margin: 0 0 18px; }
.charts.single { grid-template-columns: 1fr; }
.chart { margin: 0; min-width: 0; display: flex; flex-direction: column; }
figcaption { margin: 0 0 10px; font-size: 14.5px; line-height: 1.45; }
figcaption b { display: block; font-size: 15px; }
figcaption span { color: var(--ink-soft); }
.plot { width: 100%; min-height: 60px; margin-top: auto; }
.plot .mark-text { pointer-events: none; }
.plot .mark-rect path { shape-rendering: crispEdges; }
.plot svg { display: block; max-width: 100%; height: auto; overflow: visible; }
figure { margin: 0 0 18px; }
.strip { display: grid; grid-template-columns: minmax(5em, max-content) 1fr; gap: 6px 14px; align-items: center; font-size: 14.5px; overflow-wrap: anywhere; }
.strip img { width: 100%; max-width: 900px; image-rendering: pixelated; }
.absent { color: var(--ink-soft); border-left: 3px solid var(--second); padding: 6px 0 6px 14px; font-size: 14.5px; }
pre { margin: 0 0 14px; padding: 14px 16px; background: var(--page); border: 1px solid var(--rule); border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere; }
code { font: 13.5px/1.5 var(--mono); unicode-bidi: isolate; }
footer { padding-top: 8px; padding-bottom: 40px; color: var(--ink-soft); font-size: 13.5px; }
#vg-tooltip-element {
  position: fixed; z-index: 1000; visibility: hidden; padding: 8px 11px; border-radius: 8px; font: 13px/1.45 var(--sans); pointer-events: none; max-width: 320px;
  background: var(--ink); color: var(--page); box-shadow: 0 4px 16px rgba(0, 0, 0, .22); overflow-wrap: anywhere; font-variant-numeric: tabular-nums;
}
#vg-tooltip-element.visible { visibility: visible; }
#vg-tooltip-element h2 { font-size: 13px; margin: 0 0 4px; }
#vg-tooltip-element table { font-size: 13px; width: auto; }
#vg-tooltip-element td { border: 0; padding: 1px 0; }
#vg-tooltip-element td.key { opacity: .72; padding-right: 10px; }
@media (max-width: 620px) {
  header, main, footer { padding-left: 14px; padding-right: 14px; }
  section { padding: 18px 16px 20px; }
  h1 { font-size: 27px; }
  .barred { min-width: 120px; }
  th, td { padding-right: 10px; }
}
@media print {
  :root { --page: #ffffff; }
  @page { margin: 16mm 14mm; }
  body { font-size: 10.5pt; }
  header, main, footer { max-width: none; padding: 0; }
  section { border: 0; border-top: 1px solid var(--rule); border-radius: 0; padding: 14px 0 4px; margin: 0; }
  .tiles { grid-template-columns: repeat(auto-fit, minmax(31mm, 1fr)); gap: 8px; }
  .tiles li { padding: 10px 12px; }
  .tiles strong { font-size: 17pt; }
  .facts { grid-template-columns: 1fr 1fr; }
  .charts:not(.single) { grid-template-columns: 1fr 1fr; gap: 16px; }
  #vg-tooltip-element { display: none; }
  .scroll { overflow: visible; }
  table, caption, .facts dt, .facts dd { font-size: 8.5pt; }
  th, td { padding: 4px 8px 4px 0; overflow-wrap: anywhere; }
  thead th { font-size: 8pt; white-space: normal; }
  td.number { white-space: normal; }
  tbody th:not(.number) { min-width: 0; }
  .barred { width: 28%; min-width: 26mm; }
  .bar { top: 3px; }
  details::details-content { display: block; content-visibility: visible; height: auto; }
  summary { display: none; }
  .plot svg { max-height: 95mm; margin: 0 auto; }
  .chart, .tiles li, tr, pre, .facts div { break-inside: avoid; }
  h2 { break-after: avoid; }
  .bar, .tiles li:first-child, .plot { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
)css";
}

}  // namespace mercer::report

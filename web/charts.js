// Draws the charts of a report. Each <figure class="chart"> holds its Vega-Lite specification in a
// <script type="application/json">; colours are CSS variables, so charts follow the page into dark mode and onto paper.
// Expressions are interpreted (ast), never compiled with eval: the page's security policy forbids it.
// SPDX-License-Identifier: BSD-3-Clause
import embed from "vega-embed";

const ink = "var(--ink)";
const soft = "var(--ink-soft)";
const rule = "var(--rule)";
const font = 'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

const axis = {
  labelColor: soft, titleColor: ink, domainColor: rule, tickColor: rule, gridColor: rule, gridOpacity: 0.7,
  labelFontSize: 12, titleFontSize: 12.5, titleFontWeight: 600, titlePadding: 10, labelPadding: 5, tickSize: 4,
};

const config = {
  background: "transparent",
  font,
  padding: 4,
  view: { stroke: null },
  axis,
  legend: { labelColor: soft, titleColor: ink, labelFontSize: 12, titleFontSize: 12.5, titleFontWeight: 600 },
  title: { color: ink, fontSize: 14, anchor: "start" },
  mark: { color: "var(--accent)" },
  text: { color: ink, fontSize: 12 },
  bar: { color: "var(--accent)" },
  point: { color: "var(--accent)", filled: true },
  line: { color: "var(--accent)", strokeWidth: 2 },
  rule: { color: soft },
  range: { category: ["var(--accent)", "var(--second)", "var(--third)", "var(--fourth)", "var(--fifth)"] },
};

// On a narrow screen a legend beside the picture would leave it no room.
if (window.innerWidth < 620) Object.assign(config.legend, { orient: "bottom", columns: 2, layout: { bottom: { direction: "vertical" } } });

async function draw(figure) {
  const target = figure.querySelector(".plot");
  const label = target.getAttribute("aria-label");
  try {
    const spec = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    await embed(target, spec, {
      mode: "vega-lite", renderer: "svg", actions: false, ast: true, defaultStyle: false, config,
      tooltip: { disableDefaultStyle: true, theme: "mercer" },
    });
    const svg = target.querySelector("svg");
    if (svg) {
      // The description stands on the figure; a screen reader need not walk through thousands of marks.
      svg.setAttribute("aria-hidden", "true");
      svg.setAttribute("focusable", "false");
    }
    // Vega puts words of its own in their place.
    target.setAttribute("role", "img");
    target.setAttribute("aria-label", label);
    figure.dataset.state = "drawn";
  } catch (error) {
    figure.dataset.state = "failed";
    target.textContent = "This chart could not be drawn: " + error.message;
  }
}

// One after the other: a page with many charts stays responsive, and the first ones appear first.
async function draw_all() {
  for (const figure of document.querySelectorAll("figure.chart")) await draw(figure);
  document.documentElement.dataset.charts = "ready";
}

// Paper cannot be unfolded.
const folds = () => document.querySelectorAll("details:not([open])");
let unfolded = [];
addEventListener("beforeprint", () => { unfolded = [...folds()]; for (const fold of unfolded) fold.open = true; });
addEventListener("afterprint", () => { for (const fold of unfolded) fold.open = false; });

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", draw_all);
else draw_all();

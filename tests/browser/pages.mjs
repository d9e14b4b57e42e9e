// Opens pages in chromium without a network and says what it saw, as JSON: node pages.mjs CHROMIUM OUTPUT PAGE.html...
// Each page is looked at wide and light, wide and dark, narrow, and as paper; pictures of all go to the folder OUTPUT.
// SPDX-License-Identifier: BSD-3-Clause
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const [executablePath, output, ...files] = process.argv.slice(2);
const args = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const wide = { width: 1280, height: 900 };
const narrow = { width: 400, height: 800 };
const paper = { width: 688, height: 980 };  // A4 less the margins of the style sheet

// In the page: each chart, whether it was drawn and with how many marks.
function charts_seen() {
  return [...document.querySelectorAll("figure.chart")].map((figure) => ({
    title: figure.querySelector("figcaption b")?.textContent ?? "",
    state: figure.dataset.state ?? "none",
    marks: figure.querySelectorAll(".plot svg .role-mark path, .plot svg .role-mark line, .plot svg .role-mark text").length,
    described: (figure.querySelector(".plot")?.getAttribute("aria-label") ?? "").length > 20,
    text: figure.querySelector(".plot svg")?.textContent ?? "",
  }));
}

// Where to point at a chart: the middles of some marks, from all over the picture. The middle of a wide line is seldom on it.
function places_of(figure) {
  const marks = [...figure.querySelectorAll(".plot svg .role-mark path, .plot svg .role-mark line")].filter((mark) => {
    const box = mark.getBoundingClientRect();
    return (box.width < 400 || getComputedStyle(mark).fill !== "none") && (box.width > 0 || box.height > 0);
  });
  const step = Math.max(1, Math.floor(marks.length / 24));
  return marks.filter((_, i) => i % step === 0).map((mark) => {
    const box = mark.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  });
}

async function tooltip_at(page, figure) {
  await figure.scrollIntoViewIfNeeded();
  for (const [x, y] of await figure.evaluate(places_of)) {
    await page.mouse.move(x, y);
    const text = await page.evaluate(() => document.querySelector("#vg-tooltip-element.visible")?.textContent ?? "");
    if (text) return text;
  }
  return "";
}

// Anything that sticks out of the page: the page itself, and on paper every table.
function too_wide(on_paper) {
  const limit = document.documentElement.clientWidth + 1;
  const found = document.documentElement.scrollWidth > limit ? ["the page"] : [];
  for (const box of document.querySelectorAll(on_paper ? "main table, main pre, figure" : "section, pre, figure")) {
    if (box.getBoundingClientRect().right > limit) found.push(`${box.tagName} ${box.textContent.slice(0, 60)}`);
  }
  return found;
}

async function look(browser, file) {
  const name = basename(file, ".html");
  const seen = { name, errors: [], requests: [], dialogs: 0 };
  const context = await browser.newContext({ viewport: wide, colorScheme: "light", offline: true });
  const page = await context.newPage();
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) seen.errors.push(message.text()); });
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("dialog", (dialog) => { seen.dialogs += 1; dialog.dismiss(); });
  page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) seen.requests.push(request.url()); });
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => !document.querySelector("figure.chart") || document.documentElement.dataset.charts === "ready");
  seen.charts = await page.evaluate(charts_seen);
  seen.elements = await page.evaluate(() => ({
    strange: document.querySelectorAll("main img:not([src^='data:']), main iframe, main i, main [onerror]").length,
    sections: [...document.querySelectorAll("h2")].map((h) => h.textContent),
    captions: [...document.querySelectorAll("table")].every((table) => table.caption?.textContent),
    nan: /\b(nan|undefined)\b/i.test(document.querySelector("main").innerText),
  }));
  seen.wide = await page.evaluate(too_wide, false);
  await page.screenshot({ path: join(output, `${name}-light.png`), fullPage: true });
  const figures = await page.$$("figure.chart");
  for (const [i, figure] of figures.entries()) seen.charts[i].tooltip = await tooltip_at(page, figure);
  await page.mouse.move(0, 0);

  const colours = () => page.evaluate(() => ({
    page: getComputedStyle(document.body).backgroundColor,
    label: document.querySelector(".plot svg text") ? getComputedStyle(document.querySelector(".plot svg text")).fill : "",
  }));
  seen.light = await colours();
  await page.emulateMedia({ colorScheme: "dark" });
  seen.dark = await colours();
  await page.screenshot({ path: join(output, `${name}-dark.png`), fullPage: true });

  await page.emulateMedia({ colorScheme: "dark", media: "print" });
  await page.setViewportSize(paper);
  seen.paper = await colours();
  const pdf = await page.pdf({ path: join(output, `${name}.pdf`), format: "A4", printBackground: true, margin: { top: "16mm", bottom: "16mm", left: "14mm", right: "14mm" } });
  seen.pdf = pdf.subarray(0, 5).toString("latin1");
  seen.paper_too_wide = await page.evaluate(too_wide, true);
  await context.close();

  const phone = await browser.newContext({ viewport: narrow, colorScheme: "light", offline: true });
  const small = await phone.newPage();
  await small.goto(pathToFileURL(file).href);
  await small.waitForFunction(() => !document.querySelector("figure.chart") || document.documentElement.dataset.charts === "ready");
  seen.narrow = await small.evaluate(too_wide, false);
  await small.screenshot({ path: join(output, `${name}-narrow.png`), fullPage: true });
  await phone.close();
  return seen;
}

const browser = await chromium.launch({ executablePath, args });
const all = [];
// Two at a time: much of the time goes by waiting.
async function look_at_rest() {
  while (files.length > 0) all.push(await look(browser, files.shift()));
}
try {
  await Promise.all([look_at_rest(), look_at_rest()]);
} finally {
  await browser.close();
}
process.stdout.write(JSON.stringify(all));

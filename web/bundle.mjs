// Bundles charts.js and the libraries it uses into one minified script: node bundle.mjs [OUTPUT]
// The licences of everything inside travel with it, as those licences ask.
// SPDX-License-Identifier: BSD-3-Clause
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2] ?? join(here, "charts.bundle.js");

const result = await build({
  absWorkingDir: here, entryPoints: ["charts.js"], bundle: true, minify: true, format: "iife", platform: "browser",
  target: "es2020", charset: "ascii", legalComments: "none", metafile: true, write: false, logLevel: "warning",
});

const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const match = input.match(/^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (match) packages.add(match[1]);
}

// Packages grouped by licence text: the copyright lines differ, the conditions seldom do.
const groups = new Map();
for (const name of [...packages].sort()) {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = existsSync(folder) && readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  const text = file ? readFileSync(join(folder, file), "utf8") : "";
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const is_notice = (line) => /^copyright /i.test(line);
  const body = lines.filter((line) => !is_notice(line)).join("\n").trim() || `Licence: ${license}`;
  if (!groups.has(body)) groups.set(body, []);
  groups.get(body).push(`${name} ${version} (${license})`, ...lines.filter(is_notice).map((line) => "  " + line));
}
const notices = [...groups].map(([body, heads]) => heads.join("\n") + "\n\n" + body).join("\n\n----\n\n");
const banner = "/*! This script contains the following software.\n\n" + notices.replaceAll("*/", "* /") + "\n*/\n";

const code = (banner + result.outputFiles[0].text).replace(/[^\x00-\x7f]/g, "?");
for (const forbidden of ["</script", "<script", "<!--"]) {
  if (code.toLowerCase().includes(forbidden)) throw new Error(`the bundle contains ${forbidden}, which would end or confuse the page's script element`);
}
writeFileSync(output, code);

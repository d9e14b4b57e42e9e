// Draws the formulas of a page: each is a span or div of class "arithmatex" that holds TeX between \( \) or \[ \].
// SPDX-License-Identifier: BSD-3-Clause
for (const element of document.querySelectorAll(".arithmatex")) {
  const tex = element.textContent.trim();
  katex.render(tex.slice(2, -2), element, { displayMode: tex.startsWith("\\["), throwOnError: false });
}

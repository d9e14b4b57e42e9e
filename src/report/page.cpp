// The page promises to ask nothing of the network: its security policy allows inline style and script and nothing else, so even a
// mistake here could not load a thing.
// SPDX-License-Identifier: BSD-3-Clause
#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mercer/report.hpp"
#include "mercer/version.hpp"
#include "report/escape.hpp"
#include "report/png.hpp"

namespace mercer::report {

namespace {

constexpr std::string_view policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

std::string cell_class(const TableColumn& column) { return column.numeric ? " class=\"number\"" : ""; }

std::string table_row(const TableSpec& table, std::size_t r) {
  const auto& cells = table.rows[r];
  std::string out = "<tr>";
  if (static_cast<int>(r) == table.marked) {
    out = "<tr class=\"marked\">";
  } else if (r < table.soft.size() && table.soft[r]) {
    out = "<tr class=\"soft\">";
  }
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const TableColumn column = c < table.columns.size() ? table.columns[c] : TableColumn{};
    if (c == 0 && r < table.anchors.size() && !table.anchors[r].empty()) {
      out += fmt::format("<th scope=\"row\"{}><a href=\"#{}\">{}</a></th>", cell_class(column), escape_html(table.anchors[r]),
                         escape_html(cells[c]));
    } else if (c == 0) {
      out += fmt::format("<th scope=\"row\"{}>{}</th>", cell_class(column), escape_html(cells[c]));
    } else if (c + 1 == cells.size() && r < table.bars.size()) {
      out += fmt::format(
          "<td class=\"number barred\"><span class=\"bar\" style=\"width:calc((100% - 84px) * {:.4f})\"></span><span>{}</span></td>",
          std::clamp(table.bars[r], 0.0, 1.0), escape_html(cells[c]));
    } else {
      out += fmt::format("<td{}>{}</td>", cell_class(column), escape_html(cells[c]));
    }
  }
  return out + "</tr>\n";
}

std::string table_element(const TableSpec& table, std::size_t begin, std::size_t end, const std::string& caption) {
  std::string out =
      fmt::format("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table><caption>{0}</caption>\n<thead><tr>",
                  escape_html(caption));
  for (const TableColumn& column : table.columns) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", cell_class(column), escape_html(column.title));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = begin; r < end; ++r) out += table_row(table, r);
  return out + "</tbody></table></div>\n";
}

}  // namespace

Page::Page(std::string title, std::string subtitle) : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

void Page::close_section() {
  if (section_open_) body_ += "</section>\n";
  section_open_ = false;
}

void Page::section(const std::string& title, const std::string& anchor) {
  close_section();
  section_open_ = true;
  ++n_sections_;
  const std::string id = anchor.empty() ? "" : fmt::format(" id=\"{}\"", escape_html(anchor));
  body_ += fmt::format("<section{2} aria-labelledby=\"s{0}\">\n<h2 id=\"s{0}\">{1}</h2>\n", n_sections_, escape_html(title), id);
}

void Page::lead(const std::string& text) { body_ += fmt::format("<p class=\"lead\">{}</p>\n", escape_html(text)); }

void Page::paragraph(const std::string& text) { body_ += fmt::format("<p>{}</p>\n", escape_html(text)); }

void Page::list(const std::vector<std::string>& items) {
  if (items.empty()) return;
  body_ += "<ul>\n";
  for (const std::string& item : items) body_ += fmt::format("<li>{}</li>\n", escape_html(item));
  body_ += "</ul>\n";
}

void Page::formula(const std::string& text) { body_ += fmt::format("<p class=\"formula\">{}</p>\n", escape_html(text)); }

void Page::checks(const std::vector<Check>& checks) {
  if (checks.empty()) return;
  body_ += "<ul class=\"checks\">\n";
  for (const Check& check : checks) {
    body_ += fmt::format("<li class=\"{}\"><span class=\"mark\">{}</span><span>{}</span></li>\n", check.held ? "held" : "broken",
                         check.held ? "held" : "not held", escape_html(check.text));
  }
  body_ += "</ul>\n";
}

void Page::facts(const Facts& facts) {
  if (facts.empty()) return;
  body_ += "<dl class=\"facts\">\n";
  for (const auto& [key, value] : facts) body_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_html(key), escape_html(value));
  body_ += "</dl>\n";
}

void Page::tiles(const std::vector<Tile>& tiles) {
  if (tiles.empty()) return;
  body_ += "<ul class=\"tiles\">\n";
  for (const Tile& tile : tiles) {
    body_ += fmt::format("<li><strong>{}</strong><span class=\"label\">{}</span>", escape_html(tile.value), escape_html(tile.label));
    if (!tile.note.empty()) body_ += fmt::format("<span class=\"note\">{}</span>", escape_html(tile.note));
    body_ += "</li>\n";
  }
  body_ += "</ul>\n";
}

void Page::table(const TableSpec& table) {
  const std::size_t n = table.rows.size();
  if (table.folded) {
    body_ += fmt::format("<details><summary>{}</summary>\n{}</details>\n", escape_html(table.caption),
                         table_element(table, 0, n, table.caption));
    return;
  }
  // A fold for one or two rows would hide less than it costs.
  const std::size_t shown = n <= table.visible + 2 ? n : table.visible;
  body_ += table_element(table, 0, shown, table.caption);
  if (shown == n) return;
  body_ += fmt::format("<details><summary>{} more</summary>\n", count_text(static_cast<std::int64_t>(n - shown)));
  body_ += table_element(table, shown, n, table.caption + ", continued");
  body_ += "</details>\n";
}

void Page::charts(const std::vector<Chart>& charts) {
  if (charts.empty()) return;
  body_ += fmt::format("<div class=\"charts{}\">\n", charts.size() == 1 ? " single" : "");
  for (const Chart& chart : charts) {
    ++n_charts_;
    body_ += fmt::format("<figure class=\"chart\"><figcaption><b>{}</b><span>{}</span></figcaption>", escape_html(chart.title),
                         escape_html(chart.description));
    if (charts_available()) {
      body_ += fmt::format(R"(<div class="plot" role="img" aria-label="{}"></div><script type="application/json">{}</script>)",
                           escape_html(chart.title + ". " + chart.description), script_json(chart.spec));
    } else {
      body_ += "<p class=\"absent\">Not drawn: this build of Mercer has no chart libraries.</p>";
    }
    body_ += "</figure>\n";
  }
  body_ += "</div>\n";
}

void Page::images(const ImageFigure& figure) {
  body_ += fmt::format("<figure><figcaption><b>{}</b><span>{}</span></figcaption>\n<div class=\"strip\">", escape_html(figure.title),
                       escape_html(figure.description));
  for (const auto& [title, grey] : figure.lines) {
    body_ += fmt::format("<span>{0}</span><img alt=\"{0}\" src=\"data:image/png;base64,{1}\">\n", escape_html(title), base64(png_of(grey)));
  }
  body_ += "</div></figure>\n";
}

void Page::code(const std::string& text) { body_ += fmt::format("<pre tabindex=\"0\"><code>{}</code></pre>\n", escape_html(text)); }

void Page::run(const Facts& facts, const std::vector<std::string>& notes, const std::string& command) {
  this->facts(facts);
  list(notes);
  if (command.empty()) return;
  paragraph("To make this page again:");
  code(command);
}

std::string Page::html() const {
  const std::string title = escape_html(title_);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"generator\" content=\"Mercer {}\">\n<link rel=\"icon\" "
      "href=\"data:,\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
      policy, version(), title, style_sheet());
  out += fmt::format("<header><p class=\"brand\">Mercer</p><h1>{}</h1><p class=\"subtitle\">{}</p></header>\n<main>\n", title,
                     escape_html(subtitle_));
  if (n_charts_ > 0 && charts_available()) {
    out +=
        "<noscript><p class=\"absent\">The charts of this page are drawn by a script inside it; your browser does not run "
        "scripts.</p></noscript>\n";
  } else if (n_charts_ > 0) {
    out +=
        "<p class=\"absent\">This page has no charts: Mercer was built without the chart libraries. "
        "To have them, install node, run <code>npm ci</code> in <code>web/</code>, build Mercer again, and repeat the command.</p>\n";
  }
  out += body_;
  if (section_open_) out += "</section>\n";
  out += fmt::format("</main>\n<footer>Made by Mercer {}. This page is self-contained: it loads nothing and sends nothing.</footer>\n",
                     version());
  if (n_charts_ > 0 && charts_available()) {
    out += "<script>\n";
    out += chart_script();
    out += "</script>\n";
  }
  return out + "</body>\n</html>\n";
}

}  // namespace mercer::report

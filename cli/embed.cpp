// mercer embed METHOD: rows as points of a few components, drawn and written.
// SPDX-License-Identifier: BSD-3-Clause
#include "embed.hpp"

#include <cmath>

#include "commands.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

constexpr Index images_shown = 10;

std::vector<std::string> feature_names(const Encoder& encoder, Index width) {
  std::vector<std::string> names = encoder.feature_names();
  if (std::ssize(names) == width) return names;
  names.clear();
  for (Index j = 0; j < width; ++j) names.push_back(fmt::format("x{}", j + 1));  // LIBSVM rows have no names
  return names;
}

// The height and width that --images says; empty: those of a square.
std::optional<std::pair<double, double>> said_size(const std::string& words) {
  if (words == "auto") return std::nullopt;
  const std::size_t cross = words.find('x');
  const auto height = cross == std::string::npos ? std::nullopt : parse_number(words.substr(0, cross));
  const auto width = cross == std::string::npos ? std::nullopt : parse_number(words.substr(cross + 1));
  const auto whole = [](const std::optional<double>& side) { return side && *side >= 1 && *side <= 1e6 && *side == std::floor(*side); };
  if (!whole(height) || !whole(width)) throw UsageError(fmt::format("--images: must be auto or HEIGHTxWIDTH, like 16x16, got {}", words));
  return std::pair{*height, *width};
}

std::pair<Index, Index> image_size(const std::string& words, Index columns) {
  if (const auto size = said_size(words)) {
    const auto [height, width] = *size;
    if (height * width != static_cast<double>(columns))
      throw InvalidArgument(
          fmt::format("--images: images of {} have {:.0f} pixels, the rows have {} columns", words, height * width, columns));
    return {static_cast<Index>(height), static_cast<Index>(width)};
  }
  const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(columns))));
  if (side * side != columns)
    throw InvalidArgument(fmt::format("--images: {} columns are not the pixels of a square image; say --images HEIGHTxWIDTH", columns));
  return {side, side};
}

std::string components_table(const Embedding& embedding) {
  constexpr Index listed = 10;
  std::vector<std::vector<std::string>> rows{{"component", "variance", "share", "up to here"}};
  double sum = 0;
  for (Index j = 0; j < std::min(listed, embedding.explained.size()); ++j) {
    sum += embedding.explained[j];
    rows.push_back({fmt::format("PC{}", j + 1), fmt::format("{:.4g}", embedding.variance[j]), percent_word(embedding.explained[j]),
                    percent_word(sum)});
  }
  if (embedding.explained.size() > listed) rows.push_back({"..."});
  return aligned(rows);
}

std::string first_rows(const Matrix& Z, const std::vector<std::string>& names) {
  constexpr Index shown = 5;
  const Index columns = std::min<Index>(Z.cols(), 6);
  std::vector<std::vector<std::string>> rows{{"row"}};
  for (Index j = 0; j < columns; ++j) rows[0].push_back(names[static_cast<std::size_t>(j)]);
  for (Index i = 0; i < std::min(shown, Z.rows()); ++i) {
    rows.push_back({std::to_string(i + 1)});
    for (Index j = 0; j < columns; ++j) rows.back().push_back(fmt::format("{:.5g}", Z(i, j)));
  }
  return aligned(rows);
}

Json vector_json(const Vector& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number_json(value));
  return list;
}

ImageStrip strip_of(const EmbedOptions& o, const Exploration& e, const SavedModel& saved, const Matrix& Z, const Run& run) {
  const auto [height, width] = image_size(o.images, e.data.X.width());
  const Index shown = std::min(images_shown, e.data.X.size());
  std::vector<Index> rows;
  for (Index i = 0; i < shown; ++i) rows.push_back(i * (e.data.X.size() / shown));  // spread over the table, which may be sorted
  const Samples some = e.data.X.subset(rows);
  Matrix scores(shown, Z.cols());
  for (Index i = 0; i < shown; ++i) scores.row(i) = Z.row(rows[static_cast<std::size_t>(i)]);
  const Matrix original = e.data.encoder.scaler.undo(some.to_dense());
  return {.height = height, .width = width, .lines = {{"the rows", original}, {"from their components", denoise(saved, scores, run).rows}}};
}

void write_report(const EmbedOptions& o, const Exploration& e, const Embedding& embedding, const SavedModel& saved, const Matrix& Z,
                  const std::vector<std::string>& names, const Vector& novelty, double seconds) {
  EmbeddingReport page;
  page.method = embedding.title;
  page.method[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(page.method[0])));
  page.source = source_word(o.source());
  page.command = o.command_line;
  page.verdict = embedding.sentence;
  page.verdict[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(page.verdict[0])));
  page.scores = Z;
  page.names = names;
  page.color = e.color;
  page.explained = embedding.explained;
  page.novelty = novelty;
  if (!o.images.empty()) {
    ProgressBar bar;
    page.images = strip_of(o, e, saved, Z, o.common.run(bar.callback()));
  }
  page.facts = {
      {"Rows", std::to_string(Z.rows())}, {"Columns", std::to_string(e.data.X.width())}, {"Components", std::to_string(Z.cols())}};
  page.facts.insert(page.facts.end(), embedding.facts.begin(), embedding.facts.end());
  page.facts.emplace_back("Time", seconds_word(seconds));
  page.notes = e.data.notes;
  const std::string html = embedding_report(page);
  const CarefulStop careful;
  write_text_file(html, o.report);
}

}  // namespace

std::vector<std::string> component_names(const AnyModel& model, Index count) {
  const bool principal = std::holds_alternative<PcaModel>(model) || std::holds_alternative<KernelPcaModel>(model);
  std::vector<std::string> names;
  for (Index j = 0; j < count; ++j) names.push_back(fmt::format("{}{}", principal ? "PC" : "Z", j + 1));
  return names;
}

Vector novelty_of(const AnyModel& model, const Samples& X, const Run& run) {
  if (const auto* pca = std::get_if<PcaModel>(&model)) return pca->reconstruction_error(X, run);
  if (const auto* kpca = std::get_if<KernelPcaModel>(&model)) return kpca->reconstruction_error(X, run);
  throw UsageError("--novelty is for PCA and kernel PCA: other maps have nothing to reconstruct from");
}

Denoised denoise(const SavedModel& saved, const Matrix& scores, const Run& run) {
  Denoised out;
  if (const auto* pca = std::get_if<PcaModel>(&saved.model)) {
    out.rows = pca->inverse_transform(scores);
    out.sentence = fmt::format("reconstructions of {} rows from {} components", scores.rows(), scores.cols());
  } else if (const auto* kpca = std::get_if<KernelPcaModel>(&saved.model)) {
    PreimageOptions options;
    options.run = run;
    Preimages found = preimages(kpca->kernel(), kpca->basis(), kpca->expansion(scores), options);
    out.rows = std::move(found.rows);
    out.sentence = found.summary.sentence;
  } else {
    throw UsageError("--denoise is for PCA and kernel PCA: other maps have no way back to rows");
  }
  if (saved.encoder) out.rows = saved.encoder->scaler.undo(out.rows);
  return out;
}

Index components_up_to(const EmbedOptions& o, Index most, const std::string& what) {
  if (o.components > most) {
    throw InvalidArgument(fmt::format("{}: --components must be at most {}, the number of {}, got {}", source_word(o.reading.path), most,
                                      what, o.components));
  }
  return static_cast<Index>(o.components);
}

void check_embed(const EmbedOptions& o, const std::vector<std::string>& inputs) {
  check_outputs({{"--out", o.out}, {"--model", o.model}, {"--report", o.report}, {"--denoise", o.denoise}}, inputs, o.common.json);
  if (!o.images.empty() && o.report.empty()) throw UsageError("--images draws rows in the report; give --report FILE too");
  if (!o.images.empty()) said_size(o.images);
}

void finish_embedding(const EmbedOptions& o, const Exploration& e, Embedding embedding, const Speaker& speaker) {
  const SavedModel saved{std::move(embedding.model), e.data.encoder};
  Matrix Z;
  Vector novelty;
  Denoised denoised;
  {
    ProgressBar bar;
    const Run run = o.common.run(bar.callback());
    Z = saved.predict(e.data.X, run);
    if (o.novelty) novelty = novelty_of(saved.model, e.data.X, run);
    if (!o.denoise.empty()) denoised = denoise(saved, Z, run);
  }
  const std::vector<std::string> names = component_names(saved.model, Z.cols());
  Matrix numbers = Z;
  std::vector<std::string> columns = names;
  if (o.novelty) {
    numbers.conservativeResize(Eigen::NoChange, Z.cols() + 1);
    numbers.col(Z.cols()) = novelty;
    columns.emplace_back("novelty");
  }
  const double seconds = e.seconds();
  if (!o.report.empty()) write_report(o, e, embedding, saved, Z, names, novelty, seconds);
  if (!o.denoise.empty()) write_answers(denoised.rows, feature_names(e.data.encoder, denoised.rows.cols()), e.kept, o.denoise, o.common);
  if (!o.model.empty()) write_carefully(o.model, o.common, [&](const Run& run) { save_model(saved, o.model, run); });
  if (!o.out.empty()) write_answers(numbers, columns, e.kept, o.out, o.common);
  if (o.common.json) {
    Json json = {{"method", Json()}, {"n", Z.rows()}, {"features", e.data.X.width()}, {"components", Z.cols()}};
    json.update(embedding.json);
    json["explained_variance"] = vector_json(embedding.variance);
    json["explained_variance_ratio"] = vector_json(embedding.explained);
    json["explained"] = embedding.explained.size() > 0 ? number_json(embedding.explained.sum()) : Json();
    json["target"] = e.target.empty() ? Json() : Json(e.target);
    json["color"] = e.color.empty() ? Json() : Json(e.color.name);
    json["sentence"] = embedding.sentence;
    if (!o.denoise.empty()) json["denoise"] = denoised.sentence;
    if (o.out.empty()) json["embedding"] = answers_json(answers_table(numbers, columns, e.kept));
    json["notes"] = e.data.notes;
    json["seconds"] = seconds;
    json["files"] = Json::object();
    for (const auto& [key, path] : {std::pair{"embedding", o.out}, {"model", o.model}, {"report", o.report}, {"denoised", o.denoise}}) {
      if (!path.empty()) json["files"][key] = path;
    }
    print_json(json);
    return;
  }
  speaker.say("{} ({})", embedding.sentence, seconds_word(seconds));
  if (embedding.explained.size() > 0) speaker.table(components_table(embedding));
  if (!o.denoise.empty()) speaker.say("{}", denoised.sentence);
  if (o.out.empty()) {
    speaker.say("The first rows; --out Z.csv writes all:");
    speaker.table(first_rows(numbers, columns));
  } else if (o.out != "-") {
    speaker.say("The components are {}.", o.out);
  }
  if (!o.denoise.empty()) speaker.say("The denoised rows are {}.", o.denoise);
  if (!o.model.empty()) speaker.say("The model is {}; mercer embed apply {} NEWDATA maps new rows.", o.model, o.model);
  if (!o.report.empty())
    speaker.say("The report is {}.{}", o.report, charts_available() ? "" : " It has no charts: make setup, then make build.");
}

void add_embed_shared(CLI::App& command, EmbedOptions& o, Invocation& invocation) {
  add_exploring(command, o, invocation);
  command
      .add_option_function<std::string>(
          "--components",
          [&o](const std::string& text) {
            const auto number = text == "all" ? std::optional<double>(0) : parse_number(text);
            if (!number || *number != std::floor(*number) || *number < (text == "all" ? 0 : 1) || *number > 1e6)
              throw CLI::ValidationError("--components", "must be a whole number from 1 to 1000000, or all, got " + text);
            o.components = static_cast<std::int64_t>(*number);
            o.components_given = true;
          },
          "Number of components, or all (default: 2)")
      ->type_name("N");
  command.add_option("--color", o.color, "Column to colour points by in the report; no feature (default: the target)")->type_name("COL");
  add_exploring_outputs(command, o, "the components");
  command.add_option("--model", o.model, "Save the fitted map, for mercer embed apply")->type_name("FILE");
}

void add_reconstruction(CLI::App& command, EmbedOptions& o) {
  command.add_flag("--novelty", o.novelty, "Add a column: the squared distance of each row to what its components say of it");
  command.add_option("--denoise", o.denoise, "Write the rows that the components stand for to this file")->type_name("FILE");
  command.add_option("--images", o.images, "Columns are pixels: draw some rows and their reconstructions in the report; auto is a square")
      ->type_name("auto|HxW");
}

void add_embed(CLI::App& app, Invocation& invocation) {
  CLI::App* embed = app.add_subcommand("embed", "Rows as points of a few components: PCA, kernel PCA, feature maps");
  embed->require_subcommand(1);
  embed->footer(
      "Examples:\n"
      "  mercer embed kpca data.csv --out Z.csv --report picture.html\n"
      "  mercer embed pca data.csv --components 5 --model m.mercer\n"
      "  mercer embed apply m.mercer new.csv --out Z.csv");
  add_embed_pca(*embed, invocation);
  add_embed_kpca(*embed, invocation);
  add_embed_nystrom(*embed, invocation);
  add_embed_rff(*embed, invocation);
  add_embed_ekm(*embed, invocation);
  add_embed_apply(*embed, invocation);
}

}  // namespace mercer::cli

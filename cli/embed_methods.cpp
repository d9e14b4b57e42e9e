// The methods of mercer embed.
// SPDX-License-Identifier: BSD-3-Clause
#include "apply.hpp"
#include "embed.hpp"
#include "estimates.hpp"
#include "given_gram.hpp"
#include "objects.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

void run_embed(const EmbedOptions& o, const std::function<Embedding(const Exploration&)>& fit) {
  check_embed(o, {o.reading.path, o.gram});
  const Speaker speaker(o.common, o.out);
  const Exploration e = explore(o, speaker);
  if (!o.denoise.empty() || !o.images.empty()) require_numbers(e.data.X, "the way back from components");
  finish_embedding(o, e, fit(e), speaker);
}

std::string components_word(Index n) { return n == 1 ? "1 component has" : fmt::format("{} components have", n); }

// ---- pca

struct PcaCommandOptions : EmbedOptions {
  double variance = 0;
  PcaRoute route = PcaRoute::automatic;
};

Embedding fit(const PcaCommandOptions& o, const Exploration& e) {
  const Samples& X = e.data.X;
  require_numbers(X, "PCA");
  PcaOptions options;
  options.n_components = o.variance > 0 && !o.components_given ? 0 : components_up_to(o, std::min(X.size(), X.width()), "rows or columns");
  options.variance_fraction = o.variance;
  options.whiten = o.whiten;
  options.route = o.route;
  options.seed = o.reading.seed;
  const auto [narrow, wide] = std::minmax(static_cast<double>(X.size()), static_cast<double>(X.width()));
  announce(fmt::format("PCA of {} rows and {} columns", X.size(), X.width()),
           (2 * narrow * narrow * wide + 10 * narrow * narrow * narrow) / estimated_flops(o.common.run()),
           8 * (3 * narrow * narrow + 2 * narrow * wide), o.common.run());
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  PcaModel model = fit_pca(X, options);
  const PcaSummary& s = model.summary();
  Embedding out{.model = model,
                .title = "principal components",
                .sentence = {},
                .variance = model.explained_variance(),
                .explained = model.explained_variance_ratio(),
                .json = {},
                .facts = {{"Solver", s.route}}};
  out.sentence = fmt::format("PCA of {} rows and {} columns: {} {} of the variance, by {}", X.size(), X.width(),
                             components_word(model.n_components()), percent_word(s.explained), s.route);
  out.json = {{"method", "pca"},    {"kernel", Json()},   {"solver", s.route},
              {"whiten", o.whiten}, {"status", s.status}, {"total_variance", number_json(model.total_variance())}};
  return out;
}

// ---- kernel pca

struct KernelPcaCommandOptions : EmbedOptions {
  KernelPcaSolver solver = KernelPcaSolver::automatic;
  std::int64_t rank = 0;
};

Embedding fit(const KernelPcaCommandOptions& o, const Exploration& e) {
  const Samples& X = e.data.X;
  KernelPcaOptions options;
  options.kernel = kernel_of(e);
  options.n_components = components_up_to(o, X.size(), "rows");
  options.output = o.whiten ? KernelPcaOutput::unit_variance : KernelPcaOutput::scores;
  options.solver = o.solver;
  options.rank = static_cast<Index>(o.rank);
  options.seed = o.reading.seed;
  const auto n = static_cast<double>(X.size());
  const double values = n > 20000 ? n * 1000 : n * n;
  announce(fmt::format("kernel PCA of {} rows", X.size()), values * (static_cast<double>(X.width()) + 60) / estimated_flops(o.common.run()),
           values * 4, o.common.run());
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  KernelPcaModel model = fit_kernel_pca(X, options);
  const KernelPcaSummary& s = model.summary();
  Embedding out{.model = model,
                .title = "kernel PCA",
                .sentence = {},
                .variance = model.explained_variance(),
                .explained = model.explained_variance_ratio(),
                .json = {},
                .facts = {{"Kernel", model.kernel().text()}, {"Solver", s.solver}}};
  const std::string landmarks = s.landmarks > 0 ? fmt::format(" on {} landmarks", s.landmarks) : "";
  out.sentence = fmt::format("kernel PCA of {} rows, {}: {} {} of the variance, by the {} solver{}", X.size(), model.kernel().text(),
                             components_word(model.n_components()), percent_word(s.explained), s.solver, landmarks);
  if (s.status != "converged" && !s.status.empty()) out.sentence += fmt::format("; {}", s.status);
  out.json = {{"method", "kpca"},
              {"kernel", model.kernel().text()},
              {"solver", s.solver},
              {"whiten", o.whiten},
              {"status", s.status},
              {"residual", number_json(s.residual)},
              {"landmarks", s.landmarks > 0 ? Json(s.landmarks) : Json()},
              {"trace_error", s.landmarks > 0 ? number_json(s.trace_error) : Json()}};
  return out;
}

// ---- maps made of kernel values

struct LandmarkCommandOptions : EmbedOptions {
  LandmarkMethod landmarks = LandmarkMethod::uniform;
};

void add_landmarks(CLI::App& command, LandmarkMethod& landmarks) {
  add_choice<LandmarkMethod>(command, "--landmarks", landmarks,
                             {{"uniform", LandmarkMethod::uniform},
                              {"kmeans", LandmarkMethod::kmeans},
                              {"rpcholesky", LandmarkMethod::rpcholesky},
                              {"leverage", LandmarkMethod::leverage}},
                             "How the points are chosen among the rows (default: uniform)");
}

// Kernel values with the points, and where they are whitened an eigendecomposition of those of the points.
void announce_map(const EmbedOptions& o, const std::string& what, const Samples& X, Index points, bool whitened) {
  const auto n = static_cast<double>(X.size());
  const auto m = static_cast<double>(points);
  const double flops = 2 * n * m * kernel_value_flops(X) + (whitened ? 2 * n * m * m + 10 * m * m * m : 0);
  announce(fmt::format("{} of {} rows", what, X.size()), flops / estimated_flops(o.common.run()), 8 * (2 * n * m + 3 * m * m),
           o.common.run());
}

Embedding fit_nystrom_map(const LandmarkCommandOptions& o, const Exploration& e) {
  const Samples& X = e.data.X;
  NystromOptions options;
  options.kernel = kernel_of(e);
  options.n_components = components_up_to(o, X.size(), "rows");
  if (options.n_components == 0) options.n_components = X.size();
  options.landmarks = o.landmarks;
  options.seed = o.reading.seed;
  announce_map(o, "Nystrom map", X, options.n_components, true);
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  NystromMap map = fit_nystrom(X, options);
  const double lost = trace_error(map, X, options.run);
  Embedding out{.model = map,
                .title = "the Nystrom map",
                .sentence = {},
                .variance = {},
                .explained = {},
                .json = {},
                .facts = {{"Kernel", map.kernel().text()}, {"Trace not spanned", percent_word(lost)}}};
  out.sentence =
      fmt::format("Nystrom map of {} rows on {} landmarks, {}: {} of the kernel's trace is not spanned{}", X.size(), map.n_components(),
                  map.kernel().text(), percent_word(lost), lost > 0.1 ? "; more --components span more" : "");
  out.json = {{"method", "nystrom"}, {"kernel", map.kernel().text()}, {"solver", "landmarks"}, {"trace_error", number_json(lost)}};
  return out;
}

Embedding fit_empirical_map(const LandmarkCommandOptions& o, const Exploration& e) {
  const Samples& X = e.data.X;
  EmpiricalKernelMapOptions options;
  options.kernel = kernel_of(e);
  options.whiten = o.whiten;
  options.n_components = components_up_to(o, X.size(), "rows");
  options.landmarks = o.landmarks;
  options.seed = o.reading.seed;
  announce_map(o, "empirical kernel map", X, options.n_components > 0 ? options.n_components : X.size(), o.whiten);
  ProgressBar bar;
  options.run = o.common.run(bar.callback());
  KernelMap map = fit_empirical_kernel_map(X, options);
  Embedding out{.model = map,
                .title = "the empirical kernel map",
                .sentence = {},
                .variance = {},
                .explained = {},
                .json = {},
                .facts = {{"Kernel", map.kernel().text()}, {"Points", std::to_string(map.points().size())}}};
  out.sentence = fmt::format("empirical kernel map of {} rows{}, {}: kernel values with {} of them", X.size(), o.whiten ? ", whitened" : "",
                             map.kernel().text(), map.points().size());
  out.json = {{"method", "ekm"}, {"kernel", map.kernel().text()}, {"solver", "landmarks"}, {"whiten", o.whiten}};
  return out;
}

// ---- random features

struct FourierCommandOptions : EmbedOptions {
  std::optional<FourierForm> form{};
  FourierDraw draw = FourierDraw::independent;
};

void check_fourier(const FourierCommandOptions& o) {
  if (o.components == 0)
    throw UsageError("--components all has no meaning for random features, of which there are always more; give a number");
  if (o.components % 2 != 0 && o.form == FourierForm::sine_cosine) {
    throw UsageError(
        fmt::format("--components must be even for --form sincos, which has two features per frequency, got {}; use {}, or --form cos",
                    o.components, o.components + 1));
  }
}

Embedding fit(const FourierCommandOptions& o, const Exploration& e) {
  const Samples& X = e.data.X;
  require_numbers(X, "a map to random Fourier features");
  FourierOptions options;
  options.n_components = static_cast<Index>(o.components);
  const bool odd = options.n_components % 2 != 0;
  options.form = o.form.value_or(odd ? FourierForm::cosine : FourierForm::sine_cosine);
  options.draw = o.draw;
  options.seed = o.reading.seed;
  options.memory = o.common.memory;
  RandomFourierFeatures map = random_fourier_features(kernel_of(e), X.width(), options);
  const auto features = static_cast<double>(X.size()) * static_cast<double>(map.n_components());
  announce(fmt::format("random features of {} rows", X.size()),
           features * (2 * static_cast<double>(X.width()) + 40) / estimated_flops(o.common.run()), 8 * features, o.common.run());
  const bool bounded = map.draw() == FourierDraw::independent;
  Embedding out{.model = map,
                .title = "random Fourier features",
                .sentence = {},
                .variance = {},
                .explained = {},
                .json = {},
                .facts = {{"Kernel", map.kernel().text()}, {"Frequencies", name_of(map.draw())}}};
  out.sentence = fmt::format("{} random Fourier features of {} rows, {}", map.n_components(), X.size(), map.kernel().text());
  if (bounded)
    out.sentence += fmt::format(": kernel values of a pair within {:.2g} with probability 0.95 (Hoeffding)", map.hoeffding_error(0.95));
  out.json = {{"method", "rff"},
              {"kernel", map.kernel().text()},
              {"solver", name_of(map.draw())},
              {"form", map.form() == FourierForm::cosine ? "cos" : "sincos"},
              {"kernel_error", bounded ? number_json(map.hoeffding_error(0.95)) : Json()}};
  return out;
}

const char* kernel_words = "Kernel, like \"gaussian(2) + 0.5*linear\" (default: gaussian(auto), the median distance)";

}  // namespace

void add_embed_pca(CLI::App& embed, Invocation& invocation) {
  auto o = std::make_shared<PcaCommandOptions>();
  CLI::App* command = embed.add_subcommand("pca", "Principal components: the directions along which rows vary most");
  add_embed_shared(*command, *o, invocation);
  add_reconstruction(*command, *o);
  add_number(*command, "--variance", o->variance, 1e-9, 1 - 1e-9, "a number between 0 and 1",
             "As many components as have this share of the variance")
      ->excludes("--components");
  command->add_flag("--whiten", o->whiten, "Components of unit variance");
  add_choice<PcaRoute>(*command, "--solver", o->route,
                       {{"auto", PcaRoute::automatic},
                        {"svd", PcaRoute::svd},
                        {"covariance", PcaRoute::covariance},
                        {"gram", PcaRoute::gram},
                        {"krylov", PcaRoute::krylov}},
                       "How they are found (default: auto, by shape)");
  command->footer(
      "Examples:\n"
      "  mercer embed pca data.csv --out Z.csv --report picture.html\n"
      "  mercer embed pca data.csv --variance 0.95 --model m.mercer");
  command->callback([o, &invocation] { invocation.job = [o] { run_embed(*o, [&](const Exploration& e) { return fit(*o, e); }); }; });
}

void add_embed_kpca(CLI::App& embed, Invocation& invocation) {
  auto o = std::make_shared<KernelPcaCommandOptions>();
  CLI::App* command = embed.add_subcommand("kpca", "Kernel PCA: principal components in the feature space of a kernel");
  add_embed_shared(*command, *o, invocation);
  add_exploring_kernel(*command, *o, kernel_words);
  add_reconstruction(*command, *o);
  command->add_flag("--whiten", o->whiten, "Components of unit variance");
  add_choice<KernelPcaSolver>(*command, "--solver", o->solver,
                              {{"auto", KernelPcaSolver::automatic},
                               {"dense", KernelPcaSolver::dense},
                               {"krylov", KernelPcaSolver::krylov},
                               {"low-rank", KernelPcaSolver::low_rank}},
                              "All eigenpairs, the top few, or landmarks without an n x n matrix (default: auto, by size)");
  add_whole(*command, "--rank", o->rank, 1, 1000000, "Landmarks of --solver low-rank (default: 1000, or 10 for each component)");
  command->footer(
      "Examples:\n"
      "  mercer embed kpca builtin:circles --out Z.csv --report picture.html\n"
      "  mercer embed kpca data.csv --kernel \"laplacian(auto)\" --components 10 --novelty --out Z.csv\n"
      "  mercer embed kpca digits.csv --components 30 --denoise clean.csv --images auto --report digits.html");
  command->callback([o, &invocation] { invocation.job = [o] { run_embed(*o, [&](const Exploration& e) { return fit(*o, e); }); }; });
}

void add_embed_nystrom(CLI::App& embed, Invocation& invocation) {
  auto o = std::make_shared<LandmarkCommandOptions>();
  CLI::App* command = embed.add_subcommand("nystrom", "Features whose products are the kernel on landmarks");
  add_embed_shared(*command, *o, invocation);
  add_exploring_kernel(*command, *o, kernel_words);
  add_landmarks(*command, o->landmarks);
  command->footer("Examples:\n  mercer embed nystrom data.csv --components 100 --landmarks rpcholesky --out Z.csv --model m.mercer");
  command->callback(
      [o, &invocation] { invocation.job = [o] { run_embed(*o, [&](const Exploration& e) { return fit_nystrom_map(*o, e); }); }; });
}

void add_embed_rff(CLI::App& embed, Invocation& invocation) {
  auto o = std::make_shared<FourierCommandOptions>();
  CLI::App* command = embed.add_subcommand("rff", "Random Fourier features, whose products are near the kernel");
  add_embed_shared(*command, *o, invocation);
  add_kernel(*command, o->kernel,
             "Kernel: gaussian, laplacian, matern, rational_quadratic and what is made of them (default: gaussian(auto))");
  add_choice<std::optional<FourierForm>>(*command, "--form", o->form, {{"sincos", FourierForm::sine_cosine}, {"cos", FourierForm::cosine}},
                                         "Sine and cosine of each frequency, or a cosine with a random offset (default: sincos if even)");
  add_choice<FourierDraw>(*command, "--draw", o->draw,
                          {{"independent", FourierDraw::independent},
                           {"orthogonal", FourierDraw::orthogonal},
                           {"structured", FourierDraw::structured},
                           {"quasi", FourierDraw::quasi_random}},
                          "How frequencies are drawn (default: independent)");
  command->footer("Examples:\n  mercer embed rff data.csv --components 500 --draw orthogonal --out Z.npy");
  command->callback([o, &invocation] {
    invocation.job = [o] {
      check_fourier(*o);
      run_embed(*o, [&](const Exploration& e) { return fit(*o, e); });
    };
  });
}

void add_embed_ekm(CLI::App& embed, Invocation& invocation) {
  auto o = std::make_shared<LandmarkCommandOptions>();
  CLI::App* command = embed.add_subcommand("ekm", "Empirical kernel map: kernel values with some or all of the rows");
  add_embed_shared(*command, *o, invocation);
  add_exploring_kernel(*command, *o, kernel_words);
  command->add_flag("--whiten", o->whiten, "Times K^(-1/2): products of features are then kernel values");
  add_landmarks(*command, o->landmarks);
  command->footer("Examples:\n  mercer embed ekm data.csv --components all --whiten --out Z.csv");
  command->callback(
      [o, &invocation] { invocation.job = [o] { run_embed(*o, [&](const Exploration& e) { return fit_empirical_map(*o, e); }); }; });
}

// ---- apply

namespace {

struct MapWords {
  const char* method;
  const char* title;
};

MapWords words_of(const AnyModel& model) {
  if (std::holds_alternative<PcaModel>(model)) return {"pca", "principal components"};
  if (std::holds_alternative<KernelPcaModel>(model)) return {"kpca", "kernel PCA"};
  if (std::holds_alternative<NystromMap>(model)) return {"nystrom", "the Nystrom map"};
  if (std::holds_alternative<RandomFourierFeatures>(model)) return {"rff", "random Fourier features"};
  if (std::holds_alternative<KernelMap>(model)) return {"ekm", "the empirical kernel map"};
  return {nullptr, nullptr};
}

struct ApplyOptions : EmbedOptions {
  std::string map{};  // the model file
};

void run_apply(const ApplyOptions& o) {
  check_embed(o, {o.map, o.reading.path});
  SavedModel saved = open_model(o.map);  // a wrong file is said before the data are read
  const MapWords words = words_of(saved.model);
  if (words.method == nullptr)
    throw UsageError(fmt::format("{} is a {} model, no map: mercer embed --model saves one; mercer predict is for models that predict",
                                 o.map, saved.kind()));
  const Speaker speaker(o.common, o.out);
  const auto start = std::chrono::steady_clock::now();
  const bool from_file = !o.gram.empty();
  const Table table = from_file && o.reading.path.empty() ? Table{} : read_data(o.reading, o.common);
  Dataset data{.X = from_file ? read_gram_rows(o.gram, saved, o.map, o.common) : features_for(saved, table, o.target),
               .y = {},
               .encoder = saved.encoder.value_or(Encoder{}),
               .notes = {}};
  announce_application("mapping", saved, data.X, o.common.run());
  Exploration e{.data = std::move(data), .kept = {}, .color = {}, .target = {}, .start = start};
  for (const auto& [option, name] : {std::pair{"--target", o.target}, {"--color", o.color}}) {
    if (name.empty()) continue;
    const Column& column = table.columns.at(static_cast<std::size_t>(require_column(table, name, fmt::format(" for {}", option))));
    e.color = color_of(column);
    if (e.kept.empty() || e.kept[0].name != column.name) e.kept.push_back(column);
  }
  if (!o.target.empty()) e.target = e.kept[0].name;
  Embedding embedding{.model = std::move(saved.model),
                      .title = words.title,
                      .sentence = {},
                      .variance = {},
                      .explained = {},
                      .json = {},
                      .facts = {{"Model", o.map}}};
  embedding.sentence = fmt::format("{} of {} rows, as {} has it", words.title, e.data.X.size(), o.map);
  embedding.json = {{"method", words.method}, {"model", o.map}};
  finish_embedding(o, e, std::move(embedding), speaker);
}

}  // namespace

void add_embed_apply(CLI::App& embed, Invocation& invocation) {
  auto o = std::make_shared<ApplyOptions>();
  CLI::App* command = embed.add_subcommand("apply", "Map new rows by a model that --model saved");
  command->add_option("MODELFILE", o->map, "A map that mercer embed saved")->required();
  add_reading(*command, o->reading);
  add_gram_file(*command, o->gram, "Kernel values k(new, training object) in place of columns, for a map of a given Gram matrix");
  command->add_option("--target", o->target, "Column to keep beside the components")->type_name("COL");
  command->add_option("--color", o->color, "Column to colour points by in the report, kept too")->type_name("COL");
  add_exploring_outputs(*command, *o, "the components");
  add_reconstruction(*command, *o);
  add_seed(*command, o->reading.seed, "Seed of built-in sets (default: 0)");
  add_common(*command, o->common);
  command->footer(
      "Columns are found by name and scaled as in the fit.\n"
      "Examples:\n"
      "  mercer embed apply m.mercer new.csv --out Z.csv\n"
      "  mercer embed apply m.mercer noisy.csv --denoise clean.csv --novelty");
  o->command_line = invocation.command_line();
  command->callback([o, &invocation] { invocation.job = [o] { run_apply(*o); }; });
}

}  // namespace mercer::cli

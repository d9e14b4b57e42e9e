// mercer compare A B: do samples come from one distribution? A verdict, where they differ, and a page.
// SPDX-License-Identifier: BSD-3-Clause
#include "compare.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>

#include "commands.hpp"
#include "terminal.hpp"

namespace mercer::cli {

namespace {

constexpr Index columns_unasked = 30;  // up to so many columns are looked at without being asked for

Kernel kernel_asked(const SampleSet& s) {
  return resolve_columns(s.kernel.value_or(kernels::gaussian(kernels::LengthScale::automatic())), s.features.encoder.column_names());
}

TwoSampleOptions two_sample_options(const CompareOptions& o, const SampleSet& s, const Run& run) {
  TwoSampleOptions options;
  options.kernel = kernel_asked(s);
  options.statistic = o.statistic.value_or(MmdStatistic::automatic);
  // Some statistics have a null of their own.
  const bool one_pass = options.statistic == MmdStatistic::linear || options.statistic == MmdStatistic::block;
  const bool paired = options.statistic == MmdStatistic::h && o.scheme != Exchange::pairs;
  options.null = o.null.value_or(one_pass ? MmdNull::normal : paired ? MmdNull::wild : MmdNull::permutation);
  if (o.permutations > 0) options.permutations = static_cast<Index>(o.permutations);
  options.exchange = s.exchange;
  options.block_size = static_cast<Index>(o.block_size);
  options.level = o.level;
  options.seed = o.reading.seed;
  options.run = run;
  return options;
}

// `times`: how often it is done.
void announce_test(const CompareOptions& o, const SampleSet& s, const std::string& what = "comparing", double times = 1) {
  const auto n = static_cast<double>(s.pooled.size());
  const double draws = o.permutations > 0 ? static_cast<double>(o.permutations) : o.aggregate ? 4000 : o.fuse ? 2000 : 1000;
  const bool one_pass = o.statistic == MmdStatistic::linear;
  const double kernels = o.aggregate || o.fuse ? 20 : 1;
  const double flops = one_pass ? n * 100 : kernels * n * n * (static_cast<double>(s.pooled.width()) + 30 + draws);
  announce(fmt::format("{} {} rows", what, s.pooled.size()), times * flops / estimated_flops(o.common.run()), n * draws * 8,
           o.common.run());
}

void test_two(const CompareOptions& o, const SampleSet& s, Comparison& out) {
  ProgressBar bar;
  const Run run = o.common.run(bar.callback());
  const Samples& X = s.samples[0];
  const Samples& Y = s.samples[1];
  if (o.aggregate) {
    MmdAggregatedOptions options;
    if (s.kernel) options.kernels = {kernel_asked(s)};
    if (o.permutations > 0) options.permutations = options.level_permutations = static_cast<Index>(o.permutations);
    options.exchange = s.exchange;
    options.level = o.level;
    options.seed = o.reading.seed;
    options.run = run;
    const AggregatedResult r = mmd_aggregated_test(X, Y, options);
    out.test = r;
    out.kernels = r.table;
  } else if (o.fuse) {
    MmdFuseOptions options;
    if (s.kernel) options.kernels = {kernel_asked(s)};
    if (o.permutations > 0) options.permutations = static_cast<Index>(o.permutations);
    options.exchange = s.exchange;
    options.level = o.level;
    options.seed = o.reading.seed;
    options.run = run;
    const AggregatedResult r = mmd_fuse_test(X, Y, options);
    out.test = r;
    out.kernels = r.table;
  } else {
    out.test = two_sample_test(X, Y, two_sample_options(o, s, run));
  }
}

// The kernel that the witness is of: that of the test, or of many the one that told most.
Kernel witness_kernel(const SampleSet& s, const Comparison& c) {
  if (!c.kernels.empty() && !s.kernel) {
    const auto best = std::min_element(c.kernels.begin(), c.kernels.end(), [](const KernelVerdict& a, const KernelVerdict& b) {
      const auto beyond = [](const KernelVerdict& k) { return k.threshold > 0 ? k.statistic / k.threshold : 0; };
      if (a.rejected != b.rejected) return a.rejected;
      return a.p_value != b.p_value ? a.p_value < b.p_value : beyond(a) > beyond(b);
    });
    return parse_kernel(best->kernel);
  }
  return resolve(kernel_asked(s), s.pooled);
}

void look_where(const CompareOptions& o, const SampleSet& s, Comparison& c, const Kernel& kernel) {
  ProgressBar bar;
  const Run run = o.common.run(bar.callback());
  const Index width = s.pooled.width();
  const bool asked = o.columns_table || (!o.report.empty() && width <= 200);
  const bool numbers = !s.pooled.has_objects() && !s.pooled.is_given();
  if (o.columns_table && !numbers)
    throw InvalidArgument("--columns-table compares columns of numbers one by one, and these samples have others; leave it out");
  if (numbers && width > 1 && (asked || (c.test.rejected && width <= columns_unasked))) {
    WitnessColumnsOptions options;
    options.kernel = kernel;
    options.exchange = s.exchange;
    options.max_rows = asked ? 4000 : 2000;
    // An adjusted p-value is at least columns / (1 + exchanges): twice as many as a rejection needs.
    const double needed = std::ceil(2 * static_cast<double>(width) / o.level);
    options.permutations = std::max<Index>(options.permutations, static_cast<Index>(std::min(needed, 20000.0)));
    options.level = o.level;
    options.seed = o.reading.seed;
    options.run = run;
    c.where.columns = witness_columns(s.samples[0], s.samples[1], options);
  }
  if (!o.witness.empty() || !o.report.empty())
    c.where.witness = witness(s.samples[0], s.samples[1], {.kernel = kernel, .weights_x = {}, .weights_y = {}, .run = run});
}

void look_at_level(const CompareOptions& o, const SampleSet& s, Comparison& c, const Kernel& kernel) {
  const Index repetitions = o.level_repetitions > 0 ? static_cast<Index>(o.level_repetitions) : 200;
  if (o.level_check) announce_test(o, s, fmt::format("{} tests of", repetitions), static_cast<double>(repetitions));
  ProgressBar bar;
  const Run run = o.common.run(bar.callback());
  if (o.level_check) {
    c.level = level_check(s.samples[0], s.samples[1], two_sample_options(o, s, run), repetitions);
    c.lines.push_back(as_sentence(c.level->sentence));
  }
  if (o.power) {
    c.power = two_sample_power(s.samples[0], s.samples[1], 0, 0.8, two_sample_options(o, s, run));
    c.lines.push_back(as_sentence(c.power->sentence));
  }
  if (c.kernels.empty() && (o.power || !c.test.rejected)) c.detectable = detectable_shift(s, c.test, kernel, o.power, run);
}

std::string detectable_words(const Detectable& d) {
  if (!std::isfinite(d.shift)) return "with these sizes the test would not reliably find even a shift of 3 standard deviations";
  return fmt::format("with these sizes the test finds a shift of every column by about {:.2g} standard deviations 8 times in 10", d.shift);
}

std::string verdict_of_two(const CompareOptions& o, const SampleSet& s, const Comparison& c) {
  const TestResult& t = c.test;
  std::string verdict;
  if (t.rejected) {
    verdict = fmt::format("The samples differ ({} at level {:g}).", p_word(t.p_value), t.level);
    if (!c.kernels.empty()) {
      const auto rejecting = std::count_if(c.kernels.begin(), c.kernels.end(), [](const KernelVerdict& k) { return k.rejected; });
      verdict += fmt::format(" {} of {} kernels see{} it.", rejecting, c.kernels.size(), rejecting == 1 ? "s" : "");
    }
    if (c.where.columns) {
      const std::string columns = columns_sentence(s, *c.where.columns);
      if (!columns.empty()) verdict += " " + columns;
    }
    return verdict;
  }
  verdict = fmt::format("No difference was found ({} at level {:g}). That is no proof of equality", p_word(t.p_value), t.level);
  if (c.detectable) return verdict + ": " + detectable_words(*c.detectable) + ".";
  const bool may_ask = c.kernels.empty() && !o.power;  // --power is of a test with one kernel
  return verdict + (may_ask ? "; --power says what a test of these sizes can find." : ".");
}

// Which sample is the first: the sign of the witness is a matter of it.
std::string words_of(const SampleSet& s, bool with_witness) {
  return fmt::format("{} ({} rows) against {} ({} rows){}", s.names[0], s.samples[0].size(), s.names[1], s.samples[1].size(),
                     with_witness ? "; witness > 0 where the first is denser" : "");
}

void compare_two(const CompareOptions& o, const SampleSet& s) {
  Comparison c;
  announce_test(o, s);
  test_two(o, s, c);
  const Kernel kernel = witness_kernel(s, c);
  look_where(o, s, c, kernel);
  look_at_level(o, s, c, kernel);
  c.verdict = verdict_of_two(o, s, c);
  c.facts.emplace_back("samples", words_of(s, c.where.witness.has_value()));
  if (!c.kernels.empty()) c.lines.insert(c.lines.begin(), kernels_table(c.kernels));
  if (c.where.columns) {
    c.lines.insert(c.lines.begin(), columns_lines(s, *c.where.columns));
    for (const std::string& remark : c.where.columns->remarks) c.test.remarks.push_back("columns: " + remark);
  }
  finish_comparison(o, s, c, kernel);
}

// Options that only a test of two samples has.
void require_plain(const CompareOptions& o, const std::string& what) {
  const std::vector<std::pair<const char*, bool>> given{{"--statistic", o.statistic.has_value()},
                                                        {"--null", o.null.has_value()},
                                                        {"--aggregate", o.aggregate},
                                                        {"--fuse", o.fuse},
                                                        {"--witness", !o.witness.empty()},
                                                        {"--columns-table", o.columns_table},
                                                        {"--level-check", o.level_check},
                                                        {"--power", o.power}};
  for (const auto& [option, is_given] : given) {
    if (is_given) throw UsageError(fmt::format("{} is offered for two samples, not for {}", option, what));
  }
}

void compare_many(const CompareOptions& o, const SampleSet& s) {
  require_plain(o, fmt::format("{}", s.samples.size()));
  Comparison c;
  announce_test(o, s);
  {
    ProgressBar bar;
    KSampleOptions options;
    options.kernel = kernel_asked(s);
    if (o.permutations > 0) options.permutations = static_cast<Index>(o.permutations);
    options.exchange = s.exchange;
    options.level = o.level;
    options.seed = o.reading.seed;
    options.run = o.common.run(bar.callback());
    options.names = s.names;
    const KSampleResult r = k_sample_test(s.samples, options);
    c.test = r;
    c.pairs = r.pairs;
  }
  const TestResult& t = c.test;
  c.verdict = t.rejected ? fmt::format("The {} samples differ ({} at level {:g}).", s.samples.size(), p_word(t.p_value), t.level)
                         : fmt::format("No difference between the {} samples was found ({} at level {:g}). That is no proof of equality.",
                                       s.samples.size(), p_word(t.p_value), t.level);
  std::vector<std::vector<std::string>> rows{{"sample", "and", "statistic", "p", "p, adjusted", "differ"}};
  std::vector<std::string> different;
  for (const KSamplePair& p : c.pairs) {
    const std::string& a = s.names[static_cast<std::size_t>(p.first)];
    const std::string& b = s.names[static_cast<std::size_t>(p.second)];
    rows.push_back({a, b, fmt::format("{:.4g}", p.squared), fmt::format("{:.4g}", p.p_value), fmt::format("{:.4g}", p.adjusted),
                    p.rejected ? "yes" : "no"});
    if (p.rejected) different.push_back(fmt::format("{} from {}", a, b));
  }
  if (t.rejected) {
    c.verdict += different.empty() ? " No pair stands out by itself."
                 : std::ssize(different) == std::ssize(c.pairs) && different.size() > 1
                     ? " Every pair differs."
                     : fmt::format(" Different are {}.", list_words(different));
  }
  c.lines.push_back(aligned(rows));
  finish_comparison(o, s, c, resolve(kernel_asked(s), s.pooled));
}

void compare_to_normal(const CompareOptions& o, const SampleSet& s) {
  require_plain(o, "one and a law");
  if (o.kernel) throw UsageError("--kernel is not offered with --to");
  for (const FeatureColumn& feature : s.features.encoder.features) {
    if (!feature.categories.empty() || feature.object)
      throw InvalidArgument(fmt::format("{}: column {} holds no numbers, so it has no normal law; leave it out with --drop {}", s.source,
                                        feature.name, feature.name));
  }
  Comparison c;
  announce_test(o, s);
  {
    ProgressBar bar;
    GoodnessOfFitOptions options;
    if (o.permutations > 0) options.draws = static_cast<Index>(o.permutations);
    options.level = o.level;
    options.seed = o.reading.seed;
    options.run = o.common.run(bar.callback());
    c.test = normality_test(s.samples[0], options);
  }
  const TestResult& t = c.test;
  c.verdict = t.rejected
                  ? fmt::format("The rows are not normally distributed ({} at level {:g}).", p_word(t.p_value), t.level)
                  : fmt::format("No departure from a normal distribution was found ({} at level {:g}). That is no proof of normality.",
                                p_word(t.p_value), t.level);
  finish_comparison(o, s, c, kernels::gaussian(1.0));
}

void check_use(const CompareOptions& o) {
  const std::size_t files = o.paths.size();
  check_gram_use(o);
  if (files == 1 && o.by.empty() && o.to.empty()) {
    throw UsageError("compare needs two samples: give two files, or one file with --by COL whose values are the samples, or --to normal");
  }
  if (files > 1 && !o.by.empty()) throw UsageError(fmt::format("--by splits one file, got {} files", files));
  if (files > 1 && !o.to.empty()) throw UsageError(fmt::format("--to compares one sample with a law, got {} files", files));
  if (!o.by.empty() && !o.to.empty()) throw UsageError("--by and --to ask different questions; choose one");
  if (std::count(o.paths.begin(), o.paths.end(), "-") > 1) throw UsageError("standard input (-) can be read only once");
  if (o.aggregate && o.fuse) throw UsageError("--aggregate and --fuse are two tests; choose one");
  if ((o.aggregate || o.fuse) && (o.statistic || o.null)) {
    throw UsageError(fmt::format("{} has its own statistic and null; leave out --{}", o.aggregate ? "--aggregate" : "--fuse",
                                 o.statistic ? "statistic" : "null"));
  }
  if ((o.aggregate || o.fuse) && (o.level_check || o.power))
    throw UsageError(fmt::format("--{} is offered for a test with one kernel", o.level_check ? "level-check" : "power"));
  if (o.block_size > 0 && o.statistic != MmdStatistic::block) throw UsageError("--block-size needs --statistic mmd-block");
  if (o.level_repetitions > 0 && !o.level_check) throw UsageError("--repetitions needs --level-check");
  check_exchange(o);
}

// A table of another kind would be csv under a wrong name. Files without an ending are csv.
void check_witness(const std::string& path) {
  std::string lower = path;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::filesystem::path name(lower);
  if (name.extension() == ".gz" || name.extension() == ".xz") name.replace_extension();
  const std::string ending = name.extension().string();
  if (path != "-" && !ending.empty() && ending != ".csv" && ending != ".tsv" && ending != ".npy")
    throw UsageError(fmt::format("--witness {}: must end in .csv, .tsv or .npy", path));
}

void run_compare(const CompareOptions& o) {
  check_use(o);
  std::vector<std::string> inputs = o.paths;
  if (!o.gram.empty()) inputs.push_back(o.gram);
  check_outputs({{"--witness", o.witness}, {"--report", o.report}}, inputs, o.common.json);
  check_witness(o.witness);
  const SampleSet s = o.gram.empty() ? read_samples(o) : read_given_samples(o);
  Speaker(o.common, o.witness).notes(s.features.notes);
  if (!o.to.empty()) {
    compare_to_normal(o, s);
  } else if (s.samples.size() > 2) {
    compare_many(o, s);
  } else {
    compare_two(o, s);
  }
}

void add_tests(CLI::App& command, CompareOptions& o) {
  add_choice<std::optional<MmdStatistic>>(command, "--statistic", o.statistic,
                                          {{"mmd-u", MmdStatistic::u},
                                           {"mmd-b", MmdStatistic::b},
                                           {"mmd-h", MmdStatistic::h},
                                           {"mmd-linear", MmdStatistic::linear},
                                           {"mmd-block", MmdStatistic::block}},
                                          "What is measured (default: mmd-u, or what the null is for)");
  add_choice<std::optional<MmdNull>>(command, "--null", o.null,
                                     {{"permutation", MmdNull::permutation},
                                      {"binned", MmdNull::binned},
                                      {"wild", MmdNull::wild},
                                      {"gamma", MmdNull::gamma},
                                      {"pearson", MmdNull::pearson},
                                      {"spectral", MmdNull::spectral},
                                      {"normal", MmdNull::normal},
                                      {"bound", MmdNull::bound}},
                                     "What it is compared with (default: permutation, of exact level)");
  add_kernel(command, o.kernel, "Kernel (default: gaussian(auto), the median distance of all rows)");
  add_given(command, o);
  add_whole(command, "--block-size", o.block_size, 2, 1000000000, "Rows of a block of --statistic mmd-block (default: by size)");
  command.add_flag("--aggregate", o.aggregate, "Many kernels at once (MMDAgg): for when the right length scale is not known");
  command.add_flag("--fuse", o.fuse, "Many kernels fused into one statistic (MMD-FUSE)");
  command.add_option("--witness", o.witness, "Write every row with the witness, which says where the samples differ: .csv, .tsv, .npy")
      ->type_name("FILE");
  command.add_flag("--columns-table", o.columns_table, "Say how much of the difference each column carries, whatever the verdict");
  command.add_flag("--level-check", o.level_check, "Find the level that the test really holds, on random halves of all rows");
  add_whole(command, "--repetitions", o.level_repetitions, 1, 1000000, "Tests of --level-check (default: 200)");
  command.add_flag("--power", o.power, "Say how many rows a difference like this needs to be found");
}

}  // namespace

void add_compare(CLI::App& app, Invocation& invocation) {
  auto o = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand("compare", "Do samples come from one distribution? Two files or more, or one split by a column");
  add_reading(*command, o->reading, o->paths, "DATA");
  command->add_option("--by", o->by, "Split one file into samples by the values of this column")->type_name("COL");
  add_choice<std::string>(*command, "--to", o->to, {{"normal", "normal"}}, "Compare one file with a law: the normal one, fitted");
  add_columns(*command, "--columns", o->columns, "Compare these columns alone, separated by commas");
  add_tests(*command, *o);
  add_judging(*command, *o, invocation,
              {Exchange::free, Exchange::within_groups, Exchange::whole_groups, Exchange::blocks, Exchange::shifts, Exchange::pairs});
  command->footer(
      "Examples:\n"
      "  mercer compare before.csv after.csv\n"
      "  mercer compare trial.csv --by arm --drop id --report trial.html\n"
      "  mercer compare a.csv b.csv --aggregate --witness where.csv\n"
      "  mercer compare a.fasta b.fasta --kernel \"spectrum(4)\"\n"
      "  mercer compare --gram K.npy --sizes 30,40\n"
      "  mercer compare residuals.csv --to normal");
  command->callback([o, &invocation] { invocation.job = [o] { run_compare(*o); }; });
}

}  // namespace mercer::cli

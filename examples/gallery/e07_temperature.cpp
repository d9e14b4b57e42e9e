// E7: the temperature of a day of the year, with a length scale that is too short, one that is tuned, and one that is too long. Source D,
// example 3.2 and figure 2. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

#include "gallery.hpp"

namespace mercer::gallery {

namespace {

struct Days {
  Vector day;      // of the year, 1 to 366
  Vector celsius;  // largest of the day
  std::vector<int> year;
};

// "2012/01/31".
std::chrono::year_month_day date_of(const std::string& text) {
  int year = 0;
  unsigned month = 0, day = 0;
  if (std::sscanf(text.c_str(), "%d%*1[/-]%u%*1[/-]%u", &year, &month, &day) != 3)
    throw FileError(fmt::format("\"{}\" is not a date like 2012/01/31; give the weather data as they were downloaded", text));
  return {std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
}

Days read_days(const std::string& path) {
  const Table table = read_table(path);
  const Index date = table.find("date"), largest = table.find("temp_max");
  if (date < 0 || largest < 0)
    throw FileError(fmt::format("{}: has no columns date and temp_max; give a table of days that has both", path));
  const std::vector<std::string>& dates = table.columns[static_cast<std::size_t>(date)].text();
  Days days{Vector(table.rows()), Vector(table.rows()), {}};
  for (Index i = 0; i < table.rows(); ++i) {
    const std::chrono::year_month_day when = date_of(dates[static_cast<std::size_t>(i)]);
    days.day[i] = static_cast<double>((std::chrono::sys_days(when) - std::chrono::sys_days(when.year() / 1 / 1)).count() + 1);
    days.celsius[i] = table.columns[static_cast<std::size_t>(largest)].numbers()[static_cast<std::size_t>(i)];
    days.year.push_back(static_cast<int>(when.year()));
  }
  return days;
}

// Four years of a season with a late, short summer, and weather that lasts some days.
Days simulated_days(std::uint64_t seed) {
  constexpr Index years = 4, length = 365;
  RandomStream random(seed, 7);
  Days days{Vector(years * length), Vector(years * length), {}};
  double weather = 0;
  for (Index i = 0; i < days.day.size(); ++i) {
    const double day = static_cast<double>(i % length + 1), turn = 2 * std::numbers::pi * (day - 205) / length;
    weather = 0.7 * weather + 2.6 * random.normal();
    days.day[i] = day;
    days.celsius[i] = 16 + 9 * std::cos(turn) + 2 * std::cos(2 * turn) + weather;
    days.year.push_back(2012 + static_cast<int>(i / length));
  }
  return days;
}

// Each year set aside in turn.
std::vector<Fold> by_year(const std::vector<int>& year) {
  std::vector<int> distinct = year;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<Fold> folds;
  for (const int out : distinct) {
    Fold& fold = folds.emplace_back();
    for (std::size_t i = 0; i < year.size(); ++i) (year[i] == out ? fold.test : fold.train).push_back(static_cast<Index>(i));
  }
  return folds;
}

}  // namespace

Experiment daily_temperature(const Setting& setting) {
  const auto path = data_file(setting, "weather/seattle-weather.csv");
  const Days days = path ? read_days(*path) : simulated_days(setting.seed);
  const Matrix X = days.day;
  const std::vector<double> lengths =
      setting.quick ? std::vector<double>{4, 15, 60, 100, 200} : std::vector<double>{4, 8, 15, 25, 40, 60, 80, 100, 130, 160, 200};
  KernelRidgeCvOptions options{.kernels = {}, .alphas = {1}, .folds = by_year(days.year), .keep_residuals = true, .run = setting.run};
  for (const double length : lengths) options.kernels.push_back(kernels::gaussian(length));
  const auto length_of = [&](const KernelRidgeCvResult& result) { return lengths[static_cast<std::size_t>(result.best_kernel())]; };

  // Every length scale on each year in turn, from the three others.
  const KernelRidgeCvResult all = fit_kernel_ridge_cv(X, days.celsius, options);
  Vector rmse(std::ssize(lengths));
  for (Index k = 0; k < rmse.size(); ++k)
    rmse[k] = std::sqrt(all.points()[static_cast<std::size_t>(k)].residuals.squaredNorm() / static_cast<double>(X.rows()));
  const double best = length_of(all);

  // The tuned one, chosen each time without the year that judges it: by leaving out the three others in turn.
  double squares = 0;
  std::string chosen;
  const std::vector<Fold> years = options.folds;
  for (const Fold& fold : years) {
    std::vector<int> others;
    for (const Index i : fold.train) others.push_back(days.year[static_cast<std::size_t>(i)]);
    options.folds = by_year(others);
    const KernelRidgeCvResult inner = fit_kernel_ridge_cv(Matrix(X(fold.train, Eigen::all)), Vector(days.celsius(fold.train)), options);
    squares += (inner.model().predict(Matrix(X(fold.test, Eigen::all))).col(0) - Vector(days.celsius(fold.test))).squaredNorm();
    chosen += fmt::format("{}{:g}", chosen.empty() ? "" : ", ", length_of(inner));
  }
  const double tuned = std::sqrt(squares / static_cast<double>(X.rows()));

  Experiment e{.id = "E7", .title = "How far back a day looks", .source = "D example 3.2, figure 2"};
  e.equation = "f̂ = Σ α̂ᵢ k(xᵢ, ·),  α̂ = (K + I)⁻¹y,  k(x, y) = exp(−(x − y)²/(2σ²))";
  e.data =
      path ? fmt::format("Seattle, {} days of {} years: weather/seattle-weather.csv, the column temp_max", X.rows(), years.size())
           : std::string("simulated: four years of a season and of weather that lasts some days; with a data folder, Seattle 2012 to 2015");
  e.see =
      "With σ = 4 days the curve follows the weather of single weeks, with 200 days it cannot follow the summer; in between lies the "
      "season.";
  const Vector grid = Vector::LinSpaced(366, 1, 366);
  Figure curves{.title = "The largest temperature of a day", .x_title = "day of the year", .y_title = "°C"};
  curves.description = fmt::format("Days of {} years as points; curves for σ = 4, {:g} and 200.", years.size(), best);
  curves.layers.push_back(figures::points(days.day, days.celsius, "days"));
  curves.layers.back().soft = true;
  for (const double length : {4.0, best, 200.0}) {
    const auto model = fit_kernel_ridge(X, days.celsius, {.kernel = kernels::gaussian(length), .alpha = 1, .run = setting.run});
    curves.layers.push_back(figures::line(grid, model.predict(grid).col(0), fmt::format("σ = {:g}", length)));
  }
  Figure errors{.title = "Leaving one year out", .x_title = "σ (days)", .y_title = "RMSE (°C)", .log_x = true};
  errors.description = "The error on a year that was left out, against the length scale: lowest in the middle.";
  errors.layers = {figures::line(Eigen::Map<const Vector>(lengths.data(), std::ssize(lengths)), rmse, "RMSE"),
                   figures::upright(best, "tuned")};
  e.figures = {curves, errors};
  const double low = rmse[0], high = rmse[rmse.size() - 1];
  e.tables.push_back({"Error on the year left out",
                      {"σ (days)", "RMSE (°C)"},
                      {{"4", fmt::format("{:.2f}", low)},
                       {fmt::format("tuned without that year: {}", chosen), fmt::format("{:.2f}", tuned)},
                       {"200", fmt::format("{:.2f}", high)}}});
  e.numbers = {{"rmse_short", low}, {"rmse_tuned", tuned}, {"rmse_long", high}, {"tuned_length_scale", best}};
  e.claims = {{fmt::format("tuned beats too short: {:.2f} against {:.2f} at σ = 4", tuned, low), tuned < low},
              {fmt::format("tuned beats too long: {:.2f} against {:.2f} at σ = 200", tuned, high), tuned < high}};
  e.notes = {"D's λ = 1 is scikit-learn's alpha: K + I is inverted, not K + nI. There is no intercept, as there."};
  if (setting.quick) e.notes.push_back(fmt::format("A quick run tries {} length scales in place of 11.", lengths.size()));
  if (!path) e.notes.emplace_back("No data folder was given, or it has no weather/seattle-weather.csv: the days are simulated.");
  e.program = "examples/gallery/e07_temperature.cpp";
  return e;
}

}  // namespace mercer::gallery

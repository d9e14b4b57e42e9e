// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/minimize.hpp"

#include <fmt/format.h>
#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>

#include "mercer/error.hpp"

namespace mercer {

namespace {

// What travels through NLopt's C interface; exceptions wait here until the C code has returned.
struct Search {
  const SmoothFunction& f;
  Index size;
  nlopt_opt handle;
  Minimum best{};
  double worst = 0;  // the largest finite value so far, from which "far too large" is made
  std::exception_ptr error{};
};

double evaluate(unsigned n, const double* x, double* gradient, void* data) {
  Search& search = *static_cast<Search*>(data);
  const Vector at = Eigen::Map<const Vector>(x, search.size);
  Vector slope = Vector::Zero(search.size);
  double value = 0;
  try {
    value = search.f(at, slope);
  } catch (...) {
    search.error = std::current_exception();
    nlopt_force_stop(search.handle);
    return HUGE_VAL;
  }
  ++search.best.evaluations;
  if (!std::isfinite(value) || !slope.allFinite()) {
    value = search.worst + 1e10 * std::max(1.0, std::abs(search.worst));
    slope.setZero();
  } else {
    search.worst = std::max(search.worst, value);
    if (search.best.x.size() == 0 || value < search.best.value) {
      search.best.x = at;
      search.best.value = value;
      search.best.gradient = slope;
    }
    search.best.history.push_back(search.best.value);
  }
  if (gradient != nullptr) std::copy_n(slope.data(), n, gradient);
  return value;
}

std::string words_of(nlopt_result result) {
  switch (result) {
    case NLOPT_SUCCESS:
    case NLOPT_FTOL_REACHED:
    case NLOPT_STOPVAL_REACHED:
      return "the value no longer changes";
    case NLOPT_XTOL_REACHED:
      return "the arguments no longer change";
    case NLOPT_MAXEVAL_REACHED:
      return "the limit of evaluations was reached";
    case NLOPT_ROUNDOFF_LIMITED:
      return "rounding limits further progress";
    default:
      return "no further progress was possible";
  }
}

void require_bounds(const Vector& bounds, Index size, const char* name) {
  if (bounds.size() != 0 && bounds.size() != size)
    throw InvalidArgument(fmt::format("{} {} bounds for {} arguments", bounds.size(), name, size));
}

}  // namespace

Minimum minimize(const SmoothFunction& f, const Vector& start, const Vector& lower, const Vector& upper, const MinimizeOptions& options) {
  const Index n = start.size();
  if (!start.allFinite()) throw InvalidArgument("the start of a search must be finite");
  require_bounds(lower, n, "lower");
  require_bounds(upper, n, "upper");
  Vector x = start;
  if (lower.size() > 0) x = x.cwiseMax(lower);
  if (upper.size() > 0) x = x.cwiseMin(upper);
  if (n == 0) {
    Vector none;
    Minimum only;
    only.value = f(x, none);
    only.evaluations = 1;
    only.converged = true;
    only.status = "there is nothing to choose";
    only.history = {only.value};
    return only;
  }
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> handle(nlopt_create(NLOPT_LD_LBFGS, static_cast<unsigned>(n)),
                                                                      &nlopt_destroy);
  if (!handle) throw Error("the optimiser could not be set up");
  Search search{f, n, handle.get()};
  search.worst = -std::numeric_limits<double>::infinity();
  if (lower.size() > 0) nlopt_set_lower_bounds(handle.get(), lower.data());
  if (upper.size() > 0) nlopt_set_upper_bounds(handle.get(), upper.data());
  nlopt_set_min_objective(handle.get(), evaluate, &search);
  nlopt_set_ftol_rel(handle.get(), options.value_tolerance);
  nlopt_set_xtol_rel(handle.get(), options.argument_tolerance);
  nlopt_set_maxeval(handle.get(), options.max_evaluations);
  double value = 0;
  const nlopt_result result = nlopt_optimize(handle.get(), x.data(), &value);
  if (search.error) std::rethrow_exception(search.error);
  Minimum best = std::move(search.best);
  if (best.x.size() == 0) throw InvalidArgument("the function to minimise has no finite value at its start");
  best.converged = result > 0 && result != NLOPT_MAXEVAL_REACHED;
  best.converged = best.converged || result == NLOPT_ROUNDOFF_LIMITED;
  best.status = words_of(result);
  return best;
}

}  // namespace mercer

// Verdicts on matrices, kernels and functions of a distance: results with their values as attributes, verdicts as str().
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/diagnosis.hpp"

#include <nanobind/stl/pair.h>

#include "bindings.hpp"

namespace mercer::python {

namespace {

using Square = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Eigen::Map<const Matrix> map_of(const Square& K) { return {K.data(), static_cast<Index>(K.shape(0)), static_cast<Index>(K.shape(1))}; }

GramCheckOptions options_of(std::optional<double> alpha, std::optional<Vector> y, bool float32) {
  GramCheckOptions options;
  options.alpha = alpha;
  if (y) options.y = std::move(*y);
  options.precision = float32 ? Precision::float32 : Precision::float64;
  return options;
}

Repair repair_of(const std::string& word) {
  if (word == "clip") return Repair::clip;
  if (word == "flip") return Repair::flip;
  if (word == "shift") return Repair::shift;
  throw InvalidArgument(R"(method must be "clip", "flip" or "shift", got ")" + word + '"');
}

template <auto Member, class Result>
auto value(const GramCheck& (*gram_of)(const Result&)) {
  return [gram_of](const Result& r) { return gram_of(r).*Member; };
}

// The values of a GramCheck as attributes of a result that has one.
template <class Result>
void add_values(nb::class_<Result>& c, const GramCheck& (*of)(const Result&)) {
  c.def_prop_ro("size", value<&GramCheck::size>(of))
      .def_prop_ro("tolerance", value<&GramCheck::tolerance>(of), "what rounding alone may do: n eps max|eigenvalue|")
      .def_prop_ro("symmetric", value<&GramCheck::symmetric>(of))
      .def_prop_ro("asymmetry", value<&GramCheck::asymmetry>(of), "largest |K_ij - K_ji|")
      .def_prop_ro(
          "asymmetry_at", [of](const Result& r) { return std::pair(of(r).asymmetry_row, of(r).asymmetry_col); }, "(i, j) of it")
      .def_prop_ro("psd", value<&GramCheck::psd>(of))
      .def_prop_ro("smallest_eigenvalue", value<&GramCheck::smallest_eigenvalue>(of))
      .def_prop_ro("largest_eigenvalue", value<&GramCheck::largest_eigenvalue>(of))
      .def_prop_ro(
          "violating", [of](const Result& r) { return of(r).psd ? std::nullopt : std::optional<Vector>(of(r).violating); },
          "a unit vector v with v'Kv < 0, or None")
      .def_prop_ro("violation", value<&GramCheck::violation>(of), "v'Kv, 0 when the matrix is positive semi-definite")
      .def_prop_ro("smallest_diagonal", value<&GramCheck::smallest_diagonal>(of))
      .def_prop_ro("negative_diagonal", value<&GramCheck::negative_diagonal>(of), "rows i with K_ii < 0")
      .def_prop_ro("vanishing_diagonal", value<&GramCheck::vanishing_diagonal>(of), "rows with K_ii = 0 that are not zero")
      .def_prop_ro("cauchy_schwarz", value<&GramCheck::cauchy_schwarz>(of), "the pair that breaks K_ij^2 <= K_ii K_jj most, or None")
      .def_prop_ro("strictly_positive", value<&GramCheck::strictly_positive>(of))
      .def_prop_ro("nonsingular", value<&GramCheck::nonsingular>(of))
      .def_prop_ro("rank", value<&GramCheck::rank>(of), "eigenvalues beyond the tolerance")
      .def_prop_ro("condition", value<&GramCheck::condition>(of), "max|eigenvalue| / min|eigenvalue|, infinite when singular")
      .def_prop_ro("duplicates", value<&GramCheck::duplicates>(of),
                   "(row, the earlier row it equals), looked for when the matrix is singular")
      .def_prop_ro("alpha", value<&GramCheck::alpha>(of))
      .def_prop_ro("effective_dimension", value<&GramCheck::effective_dimension>(of), "tr K (K + alpha I)^-1, or None")
      .def_prop_ro("alignment", value<&GramCheck::alignment>(of), "<K, yy'>_F / (|K|_F |y|^2), or None")
      .def_prop_ro("centred_alignment", value<&GramCheck::centred_alignment>(of), "the same of HKH and Hy, or None")
      .def_prop_ro(
          "is_gram", [of](const Result& r) { return of(r).is_gram(); }, "symmetric and positive semi-definite")
      .def("__bool__", [of](const Result& r) { return of(r).is_gram(); })
      .def("__str__", &Result::verdict)
      .def("__repr__", &Result::verdict);
}

void bind_gram_check(nb::module_& m) {
  nb::class_<EntryPair>(m, "EntryPair",
                        "An entry K_ij and the diagonal entries that bound it.\n"
                        "\n"
                        ">>> import mercer\n"
                        ">>> pair = mercer.check_gram([[1.0, 2.0], [2.0, 1.0]]).cauchy_schwarz\n"
                        ">>> pair.entry, pair.row_diagonal\n"
                        "(2.0, 1.0)\n")
      .def_ro("row", &EntryPair::row)
      .def_ro("col", &EntryPair::col)
      .def_ro("entry", &EntryPair::entry, "K_ij, of the symmetric part")
      .def_ro("row_diagonal", &EntryPair::row_diagonal, "K_ii")
      .def_ro("col_diagonal", &EntryPair::col_diagonal, "K_jj")
      .def("__repr__", [](const EntryPair& p) {
        return nb::str("K({}, {}) = {}, K_ii = {}, K_jj = {}").format(p.row, p.col, p.entry, p.row_diagonal, p.col_diagonal);
      });
  nb::class_<GramCheck> check(m, "GramCheck",
                              "Whether a matrix is a Gram matrix, with the evidence.\n"
                              "\n"
                              ">>> import mercer\n"
                              ">>> check = mercer.check_gram([[2.0, 1.0], [1.0, 2.0]])\n"
                              ">>> check.psd, check.rank, round(check.smallest_eigenvalue, 6)\n"
                              "(True, 2, 1.0)\n");
  add_values<GramCheck>(check, [](const GramCheck& c) -> const GramCheck& { return c; });
  m.def(
      "check_gram",
      [](const Square& K, std::optional<double> alpha, std::optional<Vector> y, bool float32, int threads, std::size_t memory,
         nb::object progress) {
        GramCheckOptions options = options_of(alpha, std::move(y), float32);
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          options.run = run;
          return check_gram(map_of(K), options);
        });
      },
      "K"_a, "alpha"_a.none() = nb::none(), "y"_a.none() = nb::none(), "float32"_a = false, "threads"_a = 0, "memory"_a = 0,
      "progress"_a.none() = nb::none());
}

void bind_kernel_check(nb::module_& m) {
  nb::class_<KernelCheck> check(m, "KernelCheck",
                                "A kernel on given samples: what is known of it, and what its Gram matrix shows.\n"
                                "\n"
                                ">>> import mercer\n"
                                ">>> check = mercer.check_kernel(\"sigmoid(1, -1)\", [[0.0], [1.0], [3.0]])\n"
                                ">>> check.claims_psd, check.psd\n"
                                "(False, False)\n");
  check.def_ro("kernel", &KernelCheck::kernel, "its text, automatic length scales set")
      .def_ro("claims_psd", &KernelCheck::claims_psd, "known to be positive semi-definite for every sample")
      .def_prop_ro("agrees", &KernelCheck::agrees, "the data do not contradict the claim");
  add_values<KernelCheck>(check, [](const KernelCheck& c) -> const GramCheck& { return c.gram; });
  m.def(
      "check_kernel",
      [](const Kernel& kernel, const Samples& X, std::optional<double> alpha, std::optional<Vector> y, int threads, std::size_t memory,
         nb::object progress) {
        GramCheckOptions options = options_of(alpha, std::move(y), false);
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) {
          options.run = run;
          return check_kernel(kernel, X, options);
        });
      },
      "kernel"_a, "X"_a, "alpha"_a.none() = nb::none(), "y"_a.none() = nb::none(), "threads"_a = 0, "memory"_a = 0,
      "progress"_a.none() = nb::none());
}

void bind_repair(nb::module_& m) {
  nb::class_<GramRepair>(m, "GramRepair",
                         "A matrix made positive semi-definite, and how far it moved.\n"
                         "\n"
                         ">>> import mercer\n"
                         ">>> repair = mercer.repair_gram([[1.0, 2.0], [2.0, 1.0]])\n"
                         ">>> repair.changed, round(repair.frobenius_distance, 6)\n"
                         "(1, 1.0)\n")
      .def_prop_ro(
          "K",
          [](nb::handle self) {
            const auto& K = nb::cast<const GramRepair&>(self).K;
            const auto n = static_cast<std::size_t>(K.rows());
            return nb::ndarray<nb::numpy, const double, nb::ndim<2>>(K.data(), {n, n}, self);
          },
          "the repaired matrix, symmetric; read-only")
      .def_prop_ro("method",
                   [](const GramRepair& r) { return r.method == Repair::clip   ? "clip"
                                                    : r.method == Repair::flip ? "flip"
                                                                               : "shift"; })
      .def_ro("changed", &GramRepair::changed, "eigenvalues that moved")
      .def_ro("frobenius_distance", &GramRepair::frobenius_distance, "|given - K|_F")
      .def_ro("spectral_distance", &GramRepair::spectral_distance, "the largest change of an eigenvalue")
      .def_ro("shift", &GramRepair::shift, "what was added to the diagonal, for \"shift\"")
      .def("__str__", &GramRepair::sentence)
      .def("__repr__", &GramRepair::sentence);
  m.def(
      "repair_gram",
      [](const Square& K, const std::string& method, int threads, std::size_t memory, nb::object progress) {
        const Repair how = repair_of(method);
        Job job(threads, memory, std::move(progress));
        return job([&](const Run& run) { return repair_gram(map_of(K), how, run); });
      },
      "K"_a, "method"_a, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none());
}

// The function is called on the thread that holds the job, some dozens of times, with the GIL for each.
RadialProfile python_profile(const nb::callable& f) {
  return [&f](const Vector& r) {
    const nb::gil_scoped_acquire held;
    return nb::cast<Vector>(f(nb::cast(r)));
  };
}

BochnerOptions bochner_options(int dimension, std::optional<double> window, std::optional<double> max_frequency, Index frequencies,
                               const Run& run) {
  return {dimension, window, max_frequency, frequencies, run};
}

void bind_bochner(nb::module_& m) {
  nb::class_<BochnerCheck>(m, "BochnerCheck",
                           "Whether a function of a distance is a kernel on R^d, by the sign of its Fourier transform.\n"
                           "\n"
                           ">>> import mercer\n"
                           ">>> check = mercer.check_bochner(\"gaussian(1)\", dimension=2)\n"
                           ">>> check.violated, check.dimension\n"
                           "(False, 2)\n")
      .def_ro("function", &BochnerCheck::function)
      .def_ro("dimension", &BochnerCheck::dimension)
      .def_ro("at_zero", &BochnerCheck::at_zero, "f(0)")
      .def_ro("exceeding", &BochnerCheck::exceeding, "(r, f(r)) with |f(r)| > f(0), or None")
      .def_ro("window", &BochnerCheck::window)
      .def_ro("cut", &BochnerCheck::cut)
      .def_ro("tail_bound", &BochnerCheck::tail_bound)
      .def_ro("evaluations", &BochnerCheck::evaluations)
      .def_ro("frequencies", &BochnerCheck::frequencies)
      .def_ro("transform", &BochnerCheck::transform)
      .def_ro("bound", &BochnerCheck::bound)
      .def_ro("lowest", &BochnerCheck::lowest)
      .def_ro("lowest_frequency", &BochnerCheck::lowest_frequency)
      .def_ro("lowest_bound", &BochnerCheck::lowest_bound)
      .def_ro("violated", &BochnerCheck::violated, "whether f is no kernel on R^d")
      .def("__bool__", [](const BochnerCheck& c) { return !c.violated; })
      .def("__str__", &BochnerCheck::verdict)
      .def("__repr__", &BochnerCheck::verdict);
  m.def(
      "check_bochner_function",
      [](const nb::callable& f, int dimension, std::optional<double> window, std::optional<double> max_frequency, Index frequencies,
         int threads, nb::object progress) {
        Job job(threads, 0, std::move(progress));
        return job([&](const Run& run) {
          return check_bochner(python_profile(f), bochner_options(dimension, window, max_frequency, frequencies, run));
        });
      },
      "f"_a, "dimension"_a, "window"_a.none(), "max_frequency"_a.none(), "frequencies"_a, "threads"_a = 0,
      "progress"_a.none() = nb::none());
  m.def(
      "check_bochner_kernel",
      [](const Kernel& kernel, int dimension, std::optional<double> window, std::optional<double> max_frequency, Index frequencies,
         int threads, nb::object progress) {
        Job job(threads, 0, std::move(progress));
        return job(
            [&](const Run& run) { return check_bochner(kernel, bochner_options(dimension, window, max_frequency, frequencies, run)); });
      },
      "kernel"_a, "dimension"_a, "window"_a.none(), "max_frequency"_a.none(), "frequencies"_a, "threads"_a = 0,
      "progress"_a.none() = nb::none());
}

}  // namespace

void bind_diagnosis(nb::module_& m) {
  m.def(
      "kernel_remarks",
      [](const Kernel& kernel, const Samples& X) {
        const nb::gil_scoped_release release;
        return kernel_remarks(kernel, X);
      },
      "kernel"_a, "X"_a);
  bind_gram_check(m);
  bind_kernel_check(m);
  bind_repair(m);
  bind_bochner(m);
}

}  // namespace mercer::python

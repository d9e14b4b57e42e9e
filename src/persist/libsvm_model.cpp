// Writing models of support vectors as LIBSVM text. Reading is libsvm_model_read.cpp.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/libsvm_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/file.hpp"
#include "mercer/error.hpp"

namespace mercer {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw InvalidArgument("the model cannot be written as a LIBSVM model: " + why); }

// "polynomial(2, scale=0.5)": the numbers of a kernel that is nothing but this one, those not written as in `values`.
bool takes(std::string_view text, std::string_view kernel, const std::vector<std::string_view>& names, std::vector<double>& values) {
  if (!text.starts_with(kernel)) return false;
  text.remove_prefix(kernel.size());
  if (text.empty()) return true;
  if (text.front() != '(' || text.back() != ')') return false;
  text = text.substr(1, text.size() - 2);
  for (std::size_t place = 0; !text.empty(); ++place) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    std::size_t which = place;
    if (const std::size_t equals = word.find('='); equals != std::string_view::npos) {
      which = static_cast<std::size_t>(std::find(names.begin(), names.end(), word.substr(0, equals)) - names.begin());
      word.remove_prefix(equals + 1);
    }
    const auto number = parse_number(word);
    if (!number || which >= names.size()) return false;
    values[which] = *number;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

std::string kernel_lines(const Kernel& kernel) {
  const std::string text = kernel.text();
  if (text == "linear") return "kernel_type linear\n";
  if (std::vector<double> l{1}; takes(text, "gaussian", {"length_scale"}, l))
    return fmt::format("kernel_type rbf\ngamma {:.17g}\n", 1 / (2 * l[0] * l[0]));
  if (std::vector<double> p{3, 1, 1}; takes(text, "polynomial", {"degree", "scale", "offset"}, p))
    return fmt::format("kernel_type polynomial\ndegree {:.0f}\ngamma {:.17g}\ncoef0 {:.17g}\n", p[0], p[1], p[2]);
  if (std::vector<double> p{1, 0}; takes(text, "sigmoid", {"scale", "offset"}, p))
    return fmt::format("kernel_type sigmoid\ngamma {:.17g}\ncoef0 {:.17g}\n", p[0], p[1]);
  refuse(fmt::format("it has no kernel {}; it has linear, polynomial, gaussian with one length scale and sigmoid. Fit one of these", text));
}

std::vector<std::int32_t> whole_labels(const SavedModel& saved, Index classes) {
  std::vector<std::int32_t> out;
  if (!saved.encoder || saved.encoder->task != Task::classification) {
    for (Index c = 0; c < classes; ++c) out.push_back(static_cast<std::int32_t>(c));
    return out;
  }
  for (const std::string& label : saved.encoder->classes) {
    const auto number = parse_number(label);
    const double most = std::numeric_limits<std::int32_t>::max();
    if (!number || *number != std::floor(*number) || std::abs(*number) > most) {
      refuse(fmt::format("its labels are whole numbers, and the class \"{}\" is none. Number the classes in the training data", label));
    }
    out.push_back(static_cast<std::int32_t>(*number));
  }
  return out;
}

void check_columns(const SavedModel& saved) {
  if (!saved.encoder) return;
  if (saved.encoder->scaler.kind != ScalingKind::none)
    refuse("it was fitted on scaled columns, and such a file has no place for the scales. Fit it with --scale none");
  for (const FeatureColumn& column : saved.encoder->features) {
    if (!column.categories.empty())
      refuse(fmt::format("column \"{}\" is text, made into 0/1 columns, which such a file cannot tell. Leave it out (--drop {})",
                         column.name, column.name));
  }
}

// index:value pairs behind the coefficients, zeros left out.
void append_vectors(const SupportExpansion& e, double sign, std::string& out) {
  std::visit(
      [&]<class Rows>(const Rows& rows) {
        for (Index i = 0; i < rows.rows; ++i) {
          for (Index c = 0; c < e.coef.cols(); ++c) fmt::format_to(std::back_inserter(out), "{:.17g} ", sign * e.coef(i, c));
          const auto pair = [&](Index column, double value) {
            if (value != 0) fmt::format_to(std::back_inserter(out), "{}:{:.17g} ", column + 1, value);
          };
          if constexpr (requires { rows.offsets; }) {
            for (Index at = rows.begin(i); at < rows.end(i); ++at) pair(rows.columns[at], static_cast<double>(rows.values[at]));
          } else {
            for (Index j = 0; j < rows.cols; ++j) pair(j, static_cast<double>(rows.row(i)[j]));
          }
          out += '\n';
        }
      },
      e.vectors.storage());
}

void append_numbers(std::string_view name, const Vector& values, std::string& out) {
  out += name;
  for (const double value : values) fmt::format_to(std::back_inserter(out), " {:.17g}", value);
  out += '\n';
}

std::string text_of(const SvcModel& model, const SavedModel& saved) {
  const Index k = model.n_classes();
  if (k > 2 && model.multi_class() == MultiClass::one_vs_rest)
    refuse("it tells every class from the rest, where such a file has pairs of classes. Fit it with multi-class ovo");
  const double sign = k == 2 ? -1 : 1;  // LIBSVM: positive is the first class
  std::string out = fmt::format("svm_type {}\n{}", model.setting().by_nu ? "nu_svc" : "c_svc", kernel_lines(model.kernel()));
  fmt::format_to(std::back_inserter(out), "nr_class {}\ntotal_sv {}\n", k, model.samples().size());
  append_numbers("rho", -sign * model.intercept(), out);
  out += "label";
  for (const std::int32_t label : whole_labels(saved, k)) fmt::format_to(std::back_inserter(out), " {}", label);
  out += '\n';
  if (model.has_probabilities()) {
    append_numbers("probA", model.sigmoids().col(0), out);
    append_numbers("probB", sign * model.sigmoids().col(1), out);
  }
  out += "nr_sv";
  for (const Index count : model.n_support()) fmt::format_to(std::back_inserter(out), " {}", count);
  out += "\nSV\n";
  append_vectors(model.parts(), sign, out);
  return out;
}

std::string text_of_one_function(const char* type, const SupportExpansion& e) {
  std::string out = fmt::format("svm_type {}\n{}nr_class 2\ntotal_sv {}\n", type, kernel_lines(e.kernel), e.vectors.size());
  append_numbers("rho", -e.intercept, out);
  out += "SV\n";
  append_vectors(e, 1, out);
  return out;
}

}  // namespace

std::string libsvm_model_to_text(const SavedModel& saved) {
  check_columns(saved);
  if (const auto* svc = std::get_if<SvcModel>(&saved.model)) return text_of(*svc, saved);
  if (const auto* svr = std::get_if<SvrModel>(&saved.model))
    return text_of_one_function(svr->setting().by_nu ? "nu_svr" : "epsilon_svr", svr->parts());
  if (const auto* one = std::get_if<OneClassModel>(&saved.model)) return text_of_one_function("one_class", one->parts());
  refuse(fmt::format("it is a {} model; such files hold svc, svr and one-class models", saved.kind()));
}

void write_libsvm_model(const SavedModel& saved, const std::string& path) { write_file_atomically(path, libsvm_model_to_text(saved)); }

}  // namespace mercer

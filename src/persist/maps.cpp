// Feature maps in files: Nystrom, kernel maps (empirical, whitened, Mercer's), random Fourier features and tensor sketches. A map is kept
// by what it is made of, never by a seed, so that a file outlives changes of the draw. SPDX-License-Identifier: BSD-3-Clause
#include "persist/maps.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "mercer/error.hpp"
#include "persist/models.hpp"
#include "persist/parts.hpp"

namespace mercer::persist {

namespace {

constexpr const char* sine_cosine = "sincos";
constexpr const char* cosine = "cos";

void write_rows(const std::vector<Index>& rows, ContainerWriter& out) {
  const auto numbers = std::make_shared<std::vector<std::int64_t>>(rows.begin(), rows.end());
  out.tensor("rows", {std::ssize(rows)}, numbers->data(), numbers);
}

std::vector<Index> read_rows(const ContainerReader& in) {
  std::vector<Index> rows;
  for (const std::int64_t row : in.tensor<std::int64_t>("rows")) {
    if (row < 0) in.fail("a row number of its points is negative");
    rows.push_back(row);
  }
  return rows;
}

void write_hashes(const std::string& name, const TensorSketch::Hashes& hashes, ContainerWriter& out) {
  out.tensor(name, {hashes.rows(), hashes.cols()}, hashes.data());
}

TensorSketch::Hashes read_hashes(const std::string& name, const ContainerReader& in) {
  const std::vector<Index> shape = in.shape(name);
  if (shape.size() != 2) in.fail(fmt::format("its tensor {} must have two dimensions", name));
  return Eigen::Map<const TensorSketch::Hashes>(in.tensor<std::int32_t>(name).data(), shape[0], shape[1]);
}

FourierDraw draw_from(const ContainerReader& in, const Json& options) {
  const auto orthogonal = options.at("orthogonal").get<bool>();
  if (!options.contains("draw")) return orthogonal ? FourierDraw::orthogonal : FourierDraw::independent;
  const auto word = options.at("draw").get<std::string>();
  for (const FourierDraw draw : {FourierDraw::structured, FourierDraw::quasi_random}) {
    if (word == name_of(draw)) return draw;
  }
  in.fail(fmt::format("its frequencies have the unknown draw {:?}", word));
}

}  // namespace

void add_fourier_options(const RandomFourierFeatures& map, Json& options) {
  options["form"] = map.form() == FourierForm::cosine ? cosine : sine_cosine;
  options["orthogonal"] = map.draw() == FourierDraw::orthogonal || map.draw() == FourierDraw::structured;
  options["scale"] = number_to_json(map.scale());
  if (map.draw() == FourierDraw::structured || map.draw() == FourierDraw::quasi_random) options["draw"] = name_of(map.draw());
}

void write_fourier(const RandomFourierFeatures& map, ContainerWriter& out) {
  write_matrix("frequencies", map.frequencies(), out);
  write_vector("offsets", map.offsets(), out);
  write_vector("centre", map.centre(), out);  // of length 0 where there is none
  if (const HadamardFactors* factors = map.hadamard()) {
    write_matrix("hadamard.signs", factors->signs, out);
    write_vector("hadamard.lengths", factors->lengths, out);
    write_vector("hadamard.column_scale", factors->column_scale, out);
  }
}

RandomFourierFeatures read_fourier(const ContainerReader& in, const Json& options, const KernelLibrary& library) {
  const auto form = options.at("form").get<std::string>();
  if (form != cosine && form != sine_cosine) in.fail(fmt::format("its features have the unknown form {:?}", form));
  RandomFourierFeatures map = RandomFourierFeatures::from_parts(
      read_kernel(in, library), form == cosine ? FourierForm::cosine : FourierForm::sine_cosine, draw_from(in, options),
      in.matrix("frequencies"), in.vector("offsets"), number_from_json(options.at("scale")), in.vector("centre"));
  if (!in.has_tensor("hadamard.signs")) return map;
  return map.with_hadamard({in.matrix("hadamard.signs"), in.vector("hadamard.lengths"), in.vector("hadamard.column_scale")});
}

void write_fourier_map(const AnyModel& any, ContainerWriter& out) {
  const auto& map = std::get<RandomFourierFeatures>(any);
  write_kernel(map.kernel(), out);
  Json options = Json::object();
  add_fourier_options(map, options);
  out.json("options", options);
  write_fourier(map, out);
}

AnyModel read_fourier_map(const ContainerReader& in, const KernelLibrary& library) { return read_fourier(in, in.json("options"), library); }

void write_nystrom(const AnyModel& any, ContainerWriter& out) {
  const auto& map = std::get<NystromMap>(any);
  write_kernel(map.kernel(), out);
  write_samples(map.landmarks(), out);
  write_rows(map.landmark_rows(), out);
  write_matrix("normalization", map.normalization(), out);
}

AnyModel read_nystrom(const ContainerReader& in, const KernelLibrary& library) {
  Kernel kernel = read_kernel(in, library);
  return NystromMap::from_parts(std::move(kernel), read_samples(in), read_rows(in), in.matrix("normalization"));
}

void write_kernel_map(const AnyModel& any, ContainerWriter& out) {
  const auto& map = std::get<KernelMap>(any);
  write_kernel(map.kernel(), out);
  out.json("options", {{"map", name_of(map.kind())}});
  write_samples(map.points(), out);
  write_rows(map.point_rows(), out);
  if (map.projection().size() > 0) write_matrix("projection", map.projection(), out);
  write_vector("eigenvalues", map.eigenvalues(), out);
}

AnyModel read_kernel_map(const ContainerReader& in, const KernelLibrary& library) {
  const auto word = in.json("options").at("map").get<std::string>();
  for (const KernelMapKind kind : {KernelMapKind::empirical, KernelMapKind::whitened, KernelMapKind::mercer}) {
    if (word != name_of(kind)) continue;
    Kernel kernel = read_kernel(in, library);
    return KernelMap::from_parts(kind, std::move(kernel), read_samples(in), read_rows(in),
                                 in.has_tensor("projection") ? in.matrix("projection") : Matrix(), in.vector("eigenvalues"));
  }
  in.fail(fmt::format("it holds the unknown kernel map {:?}", word));
}

void write_tensor_sketch(const AnyModel& any, ContainerWriter& out) {
  const auto& map = std::get<TensorSketch>(any);
  out.text("kernel", map.kernel().text());
  out.json("options",
           {{"n_components", map.n_components()}, {"scale", number_to_json(map.scale())}, {"offset", number_to_json(map.offset())}});
  write_hashes("places", map.places(), out);
  write_hashes("signs", map.signs(), out);
}

AnyModel read_tensor_sketch(const ContainerReader& in, const KernelLibrary& /*library*/) {
  const Json options = in.json("options");
  return TensorSketch::from_parts(number_from_json(options.at("scale")), number_from_json(options.at("offset")),
                                  options.at("n_components").get<Index>(), read_hashes("places", in), read_hashes("signs", in));
}

}  // namespace mercer::persist

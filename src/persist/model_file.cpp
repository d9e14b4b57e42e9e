// Saving and loading models. A file is read whole, not mapped: another process that changes a mapped file after the checks could
// undo them. The samples stay in the bytes that were read, so a loaded model takes the file's size once.
// SPDX-License-Identifier: BSD-3-Clause
#include "mercer/model_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/buffer.hpp"
#include "core/file.hpp"
#include "mercer/error.hpp"
#include "mercer/libsvm_model.hpp"
#include "persist/kinds.hpp"
#include "persist/parts.hpp"

namespace mercer {

namespace {

using persist::ContainerReader;
using persist::ContainerWriter;
using Bytes = Buffer<char>;

std::string_view view_of(const Bytes& bytes) { return {bytes.data() == nullptr ? "" : bytes.data(), bytes.size()}; }

std::shared_ptr<const Bytes> read_whole(const std::string& path) {
  const auto fail = [&](const std::string& why) { throw FileError(fmt::format("{}: cannot be read: {}", path, why)); };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not hang here; it is refused below
  if (descriptor < 0) fail(std::strerror(errno));
  const struct Closer {
    int descriptor;
    ~Closer() { ::close(descriptor); }
  } closer{descriptor};
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) fail(std::strerror(errno));
  if (S_ISDIR(info.st_mode)) fail("it is a directory");
  if (!S_ISREG(info.st_mode)) fail("a model must be a regular file");
  auto bytes = std::make_shared<Bytes>(static_cast<std::size_t>(info.st_size));
  std::size_t done = 0;
  while (done < bytes->size()) {
    const ssize_t got = ::read(descriptor, bytes->data() + done, bytes->size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(std::strerror(errno));
    if (got == 0) fail("it became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

// Returns what is wrong, or nothing.
std::string mismatch(const SavedModel& saved) {
  if (!saved.encoder) return {};
  const Encoder& encoder = *saved.encoder;
  if (encoder.width != saved.width()) {
    return fmt::format("the encoder makes {} columns, the model takes {}", encoder.width, saved.width());
  }
  const auto classes = static_cast<Index>(encoder.classes.size());
  const Index columns = saved.n_targets();
  if (encoder.task == Task::classification && classes != (columns == 1 ? 2 : columns)) {
    return fmt::format("{} class labels do not fit {} column{} of scores", classes, columns, columns == 1 ? "" : "s");
  }
  return {};
}

ContainerWriter pack(const SavedModel& saved) {
  if (const std::string wrong = mismatch(saved); !wrong.empty()) throw InvalidArgument("the model cannot be saved: " + wrong);
  const persist::ModelKind& kind = persist::kind_of(saved.model);
  ContainerWriter out;
  out.text("kind", std::string(kind.name));
  kind.write(saved.model, out);
  if (saved.encoder) persist::write_encoder(*saved.encoder, out);
  return out;
}

SavedModel unpack(const ContainerReader& in, const KernelLibrary& library) {
  const std::string name = in.text("kind");
  const persist::ModelKind* kind = persist::find_kind(name);
  if (kind == nullptr) in.fail(fmt::format("holds a model of kind {:?}; this Mercer knows {}", name, persist::kind_names()));
  try {
    SavedModel saved{kind->read(in, library), std::nullopt};
    if (in.has("encoder")) saved.encoder = persist::read_encoder(in);
    if (const std::string wrong = mismatch(saved); !wrong.empty()) in.fail(wrong);
    return saved;
  } catch (const FileError&) {
    throw;
  } catch (const Error& error) {
    in.fail(error.what());
  } catch (const persist::Json::exception&) {
    in.fail("a setting in its header is missing or has the wrong type");
  }
}

// What there is to say of a LIBSVM model, under the names that model files have.
persist::Json libsvm_info(const SavedModel& saved) {
  persist::Json info = {{"format", "libsvm"}, {"kind", saved.kind()}, {"width", saved.width()}, {"classes", saved.encoder->classes}};
  std::visit(
      [&](const auto& model) {
        if constexpr (requires { model.parts().vectors; }) {
          info["kernel"] = model.kernel().text();
          info["support_vectors"] = model.parts().vectors.size();
        }
      },
      saved.model);
  return info;
}

}  // namespace

// The word of `mercer fit`: machines by nu share the file kind of their twins.
std::string SavedModel::kind() const {
  const auto* svc = std::get_if<SvcModel>(&model);
  const auto* svr = std::get_if<SvrModel>(&model);
  const bool by_nu = (svc != nullptr && svc->setting().by_nu) || (svr != nullptr && svr->setting().by_nu);
  return (by_nu ? "nu-" : "") + std::string(persist::kind_of(model).name);
}

Matrix SavedModel::predict(const Samples& X, const Run& run) const {
  return std::visit(
      [&](const auto& m) {
        if constexpr (requires { m.predict(X, run); }) {
          return m.predict(X, run);
        } else if constexpr (requires { m.transform(X, run); }) {
          return m.transform(X, run);
        } else {
          Matrix out;
          with_run(run, [&] { out = m.predict(X); });
          return out;
        }
      },
      model);
}

std::vector<Index> SavedModel::classes(const Samples& X, const Run& run) const {
  return std::visit(
      [&](const auto& m) {
        if constexpr (requires { m.classes(X, run); }) {
          return std::vector<Index>(m.classes(X, run));
        } else {
          return classes_from_scores(predict(X, run));
        }
      },
      model);
}

Matrix SavedModel::probabilities(const Samples& X, const Run& run) const {
  return std::visit(
      [&](const auto& m) -> Matrix {
        if constexpr (requires { m.probabilities(X, run); }) {
          return m.probabilities(X, run);
        } else {
          throw NotOffered(fmt::format("a {} model has scores but no probabilities; fit logistic has both", kind()));
        }
      },
      model);
}

Index SavedModel::width() const {
  return std::visit(
      [](const auto& m) {
        if constexpr (requires { m.n_features(); }) {
          return m.n_features();
        } else {
          return m.samples().width();
        }
      },
      model);
}

Index SavedModel::n_targets() const {
  return std::visit(
      [](const auto& m) {
        if constexpr (requires { m.n_targets(); }) {
          return m.n_targets();
        } else if constexpr (requires { m.n_components(); }) {
          return m.n_components();
        } else {
          return m.intercept().size();
        }
      },
      model);
}

void save_model(const SavedModel& model, const std::string& path, const Run& run) {
  const ContainerWriter out = pack(model);
  write_file_atomically(path, [&](const ByteSink& sink) { out.write(sink, run.progress); });
}

std::string model_to_bytes(const SavedModel& model) {
  std::string bytes;
  pack(model).write([&](std::string_view part) { bytes += part; });
  return bytes;
}

SavedModel load_model(const std::string& path, const KernelLibrary& library) {
  const auto bytes = read_whole(path);
  if (is_libsvm_model_text(view_of(*bytes))) return libsvm_model_from_text(view_of(*bytes), path);
  return unpack(ContainerReader(view_of(*bytes), bytes, path), library);
}

SavedModel model_from_bytes(std::string_view bytes, const std::string& source, const KernelLibrary& library) {
  auto copy = std::make_shared<Bytes>(bytes.size());
  if (!bytes.empty()) std::memcpy(copy->data(), bytes.data(), bytes.size());
  return unpack(ContainerReader(view_of(*copy), copy, source), library);
}

std::string model_info(const std::string& path) {
  const auto bytes = read_whole(path);
  if (is_libsvm_model_text(view_of(*bytes))) return libsvm_info(libsvm_model_from_text(view_of(*bytes), path)).dump(2);
  const ContainerReader in(view_of(*bytes), bytes, path);
  // What a file says can be read without the functions of the program that wrote it.
  const auto never = [](const Samples&, const Samples&) -> Matrix { throw InvalidArgument("this kernel was written in another program"); };
  const SavedModel saved = unpack(in, {{any_kernel, kernels::function("unknown", never)}});
  persist::Json info = in.description();
  info["kind"] = saved.kind();
  return info.dump(2);
}

std::vector<Index> classes_from_scores(const MatrixRef& scores) {
  std::vector<Index> classes(static_cast<std::size_t>(scores.rows()));
  for (Index i = 0; i < scores.rows(); ++i) {
    Index best = scores.cols() == 1 && scores(i, 0) > 0 ? 1 : 0;
    if (scores.cols() > 1) scores.row(i).maxCoeff(&best);
    classes[static_cast<std::size_t>(i)] = best;
  }
  return classes;
}

}  // namespace mercer

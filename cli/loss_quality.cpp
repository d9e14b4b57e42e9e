// SPDX-License-Identifier: BSD-3-Clause
#include "loss_quality.hpp"

namespace mercer::cli {

void add_loss_quality(const SavedModel& saved, const Vector& truth, const Matrix& predicted, Quality& quality) {
  const auto* model = std::get_if<RepresenterModel>(&saved.model);
  if (model == nullptr || predicted.cols() != 1 || (saved.encoder && saved.encoder->task == Task::classification)) return;
  const Loss& loss = model->loss();
  const Vector f = predicted.col(0);
  if (loss.kind() == Loss::Kind::quantile) {
    const double pinball = loss(truth, f).value.mean();
    const double below = (truth.array() <= f.array()).cast<double>().mean();
    quality.json["pinball"] = number_json(pinball);
    quality.json["share_below"] = below;
    quality.lines.push_back(fmt::format("pinball loss {:.6g}", pinball));
    quality.lines.push_back(fmt::format("share of rows below the prediction {:.6g} (level {:g})", below, loss.parameter()));
  }
  if (loss.kind() == Loss::Kind::epsilon || loss.kind() == Loss::Kind::squared_epsilon) {
    const double within = ((truth - f).array().abs() <= loss.parameter()).cast<double>().mean();
    quality.json["share_within"] = within;
    quality.lines.push_back(fmt::format("share of rows within {:g} of the prediction {:.6g}", loss.parameter(), within));
  }
}

}  // namespace mercer::cli

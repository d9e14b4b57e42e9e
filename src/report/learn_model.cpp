// The model of a `learn` run in words, of whatever kind it is. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "report/escape.hpp"
#include "report/learn_sections.hpp"
#include "select/verdict.hpp"

namespace mercer::report {

namespace {

// What the kinds of models have in common is asked for by name; a kind that lacks it says nothing of it.
void add_size(Facts& facts, const AnyModel& model, Index n_train) {
  std::visit(
      [&]<class Model>(const Model& m) {
        const auto of_training = [&](Index n) {
          return n_train > 0 ? fmt::format("{} of {} training rows", count_text(n), count_text(n_train)) : count_text(n);
        };
        if constexpr (requires { m.support().size(); }) {
          facts.emplace_back("Support vectors", of_training(std::ssize(m.support())));
        } else if constexpr (requires { m.landmarks().size(); }) {
          facts.emplace_back("Landmarks", count_text(m.landmarks().size()));
        } else if constexpr (requires { m.samples().size(); }) {
          facts.emplace_back("Kernel terms", count_text(m.samples().size()));
        }
      },
      model);
}

std::string sentence_of(const AnyModel& model) {
  return std::visit(
      []<class Model>(const Model& m) -> std::string {
        if constexpr (requires { std::string(m.summary().sentence); }) {
          return m.summary().sentence;
        } else {
          return "";
        }
      },
      model);
}

std::string kernel_text(const AnyModel& model) {
  return std::visit(
      []<class Model>(const Model& m) -> std::string {
        if constexpr (requires { m.kernel().text(); }) {
          return m.kernel().text();
        } else {
          return "";
        }
      },
      model);
}

}  // namespace

std::string model_words(const LearnResult& result) {
  return result.candidates.empty() ? result.model.kind() : mercer::model_words(result.candidates.front());
}

Facts model_facts(const LearnResult& result) {
  const AnyModel& model = result.model.model;
  const std::string word = result.candidates.empty() ? result.model.kind() : result.candidates.front().model;
  Facts facts = {{"Model", fmt::format("{} ({})", model_words(result), word)}};
  const std::string kernel = kernel_text(model);
  if (!kernel.empty()) facts.emplace_back("Kernel", kernel);
  if (!result.candidates.empty()) {
    const Candidate& chosen = result.candidates.front();
    if (!chosen.penalty.empty()) facts.emplace_back("Penalty", fmt::format("{} = {}", chosen.penalty, number_text(chosen.value)));
    if (chosen.epsilon > 0) facts.emplace_back("Tube", fmt::format("epsilon = {}", number_text(chosen.epsilon)));
  }
  add_size(facts, model, result.n_train);
  const std::string sentence = sentence_of(model);
  if (!sentence.empty()) facts.emplace_back("Final fit", sentence);
  return facts;
}

}  // namespace mercer::report

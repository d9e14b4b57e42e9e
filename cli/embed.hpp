// What the methods of `mercer embed` share: their options, what a fit gives, and the run from a table to components, files and a page.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "explore.hpp"

namespace mercer::cli {

struct EmbedOptions : ExploreOptions {
  std::int64_t components = 2;  // 0: all there are
  bool components_given = false;
  bool whiten = false;
  bool novelty = false;   // a column of reconstruction errors
  std::string denoise{};  // file for the rows that the components say
  std::string images{};   // "auto" or "16x16": draw rows as images in the report; empty: no
};

// A fitted map with what is to be said about it.
struct Embedding {
  AnyModel model;
  std::string title{};     // "kernel PCA"
  std::string sentence{};  // what was done, how well, by what solver
  Vector variance{};       // of the components; empty: the method has none
  Vector explained{};      // their shares of the whole
  Json json;               // what is special about the method
  ReportFacts facts{};
};

// PC1, PC2, ... of components that are principal ones, else Z1, Z2, ...
std::vector<std::string> component_names(const AnyModel& model, Index count);

// What PCA and kernel PCA can say besides components; NotOffered for other maps.
Vector novelty_of(const AnyModel& model, const Samples& X, const Run& run);
struct Denoised {
  Matrix rows;  // in the units of the table
  std::string sentence{};
};
Denoised denoise(const SavedModel& saved, const Matrix& scores, const Run& run);

// The number of components as the library takes it; throws when there are fewer than asked for: `most` of `what` ("rows").
Index components_up_to(const EmbedOptions& o, Index most, const std::string& what);

void add_embed_shared(CLI::App& command, EmbedOptions& o, Invocation& invocation);
void add_reconstruction(CLI::App& command, EmbedOptions& o);
void check_embed(const EmbedOptions& o, const std::vector<std::string>& inputs);

// Components, files, page, words: what comes after a fit, and after loading a model.
void finish_embedding(const EmbedOptions& o, const Exploration& e, Embedding embedding, const Speaker& speaker);

void add_embed_pca(CLI::App& embed, Invocation& invocation);
void add_embed_kpca(CLI::App& embed, Invocation& invocation);
void add_embed_nystrom(CLI::App& embed, Invocation& invocation);
void add_embed_rff(CLI::App& embed, Invocation& invocation);
void add_embed_ekm(CLI::App& embed, Invocation& invocation);
void add_embed_apply(CLI::App& embed, Invocation& invocation);

}  // namespace mercer::cli

// What is said about every kernel and operation, in two tables: `mercer kernels`, the docs and Python read them. The verdicts are those of
// the kernel itself.
// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/node.hpp"

namespace mercer {

namespace {

constexpr const char* scale_range = "> 0, one per column as [1, 2.5], or auto (the median distance)";

std::vector<KernelInfo> described_objects() {
  const ParameterInfo normalized{"normalized", "true", "true, so that k(x,x) = 1, or false"};
  const char* strings = "of strings; letters are Unicode code points; a string too short has the value 0";
  const char* graphs = "of graphs, with or without labels of nodes and edges";
  return {
      {"spectrum",
       "sum over strings u of k letters of count(u in x) count(u in y)",
       {{"k", "3", "whole, 1 to 1000"}, normalized},
       strings,
       "Leslie 2002"},
      {"weighted_degree",
       "sum over d = 1 .. degree of 2 (degree-d+1)/(degree (degree+1)) times the places where both have the same d letters",
       {{"degree", "3", "whole, 1 to 1000"}, normalized},
       "of strings that are aligned; those of different length up to the shorter one",
       "Raetsch 2004"},
      {"mismatch",
       "spectrum where u counts in x wherever at most m of its letters differ",
       {{"k", "3", "whole, 1 to 20"},
        {"m", "1", "whole, 0 to k - 1"},
        {"letters", "0", "how many letters there are; 0: as many as in the data"},
        normalized},
       strings,
       "Leslie 2004"},
      {"gappy",
       "spectrum where u counts in every window of k + gaps letters that has its letters in order",
       {{"k", "3", "whole, 1 to 20"}, {"gaps", "1", "whole, 0 to 20"}, normalized},
       strings,
       "Leslie 2004"},
      {"subsequence",
       "sum over strings u of k letters, found in order at places i in x and j in y, of decay^(span(i) + span(j))",
       {{"k", "2", "whole, 1 to 100"}, {"decay", "0.5", "in (0, 1]"}, normalized},
       strings,
       "Lodhi 2002"},
      {"edit_distance",
       "exp(-d(x,y) / length_scale), d the least number of letters to insert, delete or change",
       {{"length_scale", "1", "> 0, or auto (the median distance)"}},
       "of strings; not a kernel in the strict sense: some Gram matrices have negative eigenvalues",
       "elsewhere"},
      {"bag_of",
       "sum over x in A, y in B of kernel(x,y); mean: divided by |A| |B|; best: the mean of every element's best match",
       {{"kernel", "gaussian(1)", "of the elements"}, {"form", "sum", "sum, mean or best"}},
       "of sets; best is not psd; bag_of(k, mean).radial(auto) compares distributions",
       "L"},
      {"bag_of_words",
       "sum over words w of weight(w)^2 count(w in x) count(w in y)",
       {{"weights", "tfidf", "tfidf (learned from data), count or binary"}, normalized},
       "of texts, or sets of words; weight(w) = ln((1 + texts) / (1 + texts with w)) + 1",
       "scikit-learn"},
      {"words",
       "kernel(v(x), v(y)), v(x) the mean of the vectors that a table has for the words of x",
       {{"table", "none", "the name of a table of words and vectors (GloVe, word2vec) that is given along"},
        {"kernel", "linear", "of the vectors"}},
       "of texts, or sets of words; a text without a known word has the vector 0",
       "D 4.1"},
      {"convolution",
       "sum over parts p of x, q of y of kernel(p,q)",
       {{"parts", "words", "words, letters, lines, or the name of a decomposition that is given along"},
        {"kernel", "spectrum(3)", "of the parts"}},
       "of objects that are taken apart",
       "Haussler 1999"},
      {"weisfeiler_lehman",
       "common colours of nodes, each refined iterations times by those of its neighbours; assignment: the best one-to-one match of nodes",
       {{"iterations", "5", "whole, 0 to 1000"}, {"form", "subtree", "subtree or assignment"}, normalized},
       graphs,
       "Shervashidze 2011, Kriege 2016"},
      {"shortest_path", "common (label, label, distance) of pairs of nodes", {normalized}, graphs, "Borgwardt 2005"},
      {"random_walk",
       "sum over lengths l of decay^l times the pairs of equal walks of length l",
       {{"decay", "0", "in (0, 1), below 1 / (largest degree)^2; 0: 1 / (1 + (largest degree)^2) of the data"}, normalized},
       graphs,
       "Gaertner 2003"},
      {"graphlet",
       "common connected subgraphs of size nodes, by their shape",
       {{"size", "3", "3, 4 or 5"}, normalized},
       "of graphs; labels are not looked at",
       "Shervashidze 2009"},
  };
}

std::vector<KernelInfo> described() {
  const ParameterInfo length_scale{"length_scale", "1", scale_range};
  std::vector<KernelInfo> all{
      {"linear", "<x,y>", {}, "", "K 3.2, L"},
      {"polynomial",
       "(offset + scale <x,y>)^degree",
       {{"degree", "3", "whole, 1 to 1000"}, {"scale", "1", "any number"}, {"offset", "1", "any number"}},
       "psd when scale > 0 and offset >= 0 (S9); offset = 0 is the homogeneous form",
       "K 3.2, D 2.5, N 4"},
      {"sigmoid",
       "tanh(scale <x,y> + offset)",
       {{"scale", "1", "any number"}, {"offset", "0", "any number"}},
       "not a kernel in the strict sense: some Gram matrices have negative eigenvalues",
       "L"},
      {"exponential_dot",
       "exp(scale <x,y>)",
       {{"scale", "1", "> 0"}},
       "embeds a distribution as its moment generating function; scale the data, values grow fast",
       "N 4, L"},
      {"cosine", "<x,y> / (|x| |y|)", {}, "0 where a row is zero", "scikit-learn"},
      {"gaussian", "exp(-|x-y|^2 / (2 length_scale^2))", {length_scale}, "", "K 3.2, D 2.5, N 4"},
      {"laplacian",
       "exp(-|x-y| / length_scale)",
       {length_scale, {"norm", "l2", "l2 (Euclidean) or l1 (sum of absolute differences, scikit-learn's)"}},
       "",
       "K 5.1, D 2.5"},
      {"matern",
       "nu = 0.5: exp(-a); 1.5: (1 + a) exp(-a); 2.5: (1 + a + a^2/3) exp(-a); a = sqrt(2 nu) |x-y| / length_scale",
       {{"nu", "1.5", "0.5, 1.5 or 2.5"}, length_scale},
       "functions of the space have nu + d/2 derivatives",
       "scikit-learn"},
      {"rational_quadratic",
       "(1 + |x-y|^2 / (2 alpha length_scale^2))^-alpha",
       {length_scale, {"alpha", "1", "> 0"}},
       "a mixture of Gaussians of all length scales",
       "scikit-learn"},
      {"periodic",
       "exp(-2 sum_j sin^2(pi (x_j-y_j) / period_j) / length_scale_j^2)",
       {{"length_scale", "1", "> 0, or one per column"}, {"period", "1", "> 0, or one per column"}},
       "per column; the form with |x-y| inside the sine is a kernel in one dimension only",
       "K 5.1"},
      {"chi2",
       "exp(-gamma sum_j (x_j-y_j)^2 / (x_j+y_j))",
       {{"gamma", "1", "> 0"}},
       "for rows that are nowhere negative (histograms)",
       "scikit-learn"},
      {"histogram_intersection", "sum_j min(x_j, y_j)", {}, "for rows that are nowhere negative (histograms)", "elsewhere"},
      {"constant", "value", {{"value", "1", "any number"}}, "psd when value >= 0", "K 3.2"},
      {"white",
       "variance where a sample meets itself, else 0",
       {{"variance", "1", "any number"}},
       "noise: 0 between two sample sets even for equal rows; psd when variance >= 0",
       "scikit-learn"},
      {"precomputed", "K_ij", {}, "entries of a Gram matrix that you give", "D 2.4"},
  };
  const std::vector<KernelInfo> objects = described_objects();
  all.insert(all.end(), objects.begin(), objects.end());
  for (KernelInfo& info : all) {
    // A table of words has no text: its kernel is judged as the one of the vectors.
    const Properties p = (info.name == "words" ? kernels::bag_of_words() : parse_kernel(info.name)).node().properties();
    info.psd = p.psd;
    info.strictly_pd = p.strictly_pd;
    info.universal = p.universal;
    info.characteristic = p.characteristic;
    info.bounded = p.bounded;
    info.shift_invariant = p.shift_invariant;
  }
  return all;
}

}  // namespace

const std::vector<KernelInfo>& kernel_catalogue() {
  static const std::vector<KernelInfo> all = described();
  return all;
}

const std::vector<KernelOperation>& kernel_operations() {
  static const std::vector<KernelOperation> all{
      {"k + l", "k(x,y) + l(x,y)", "psd if both are; universal or characteristic if one is and sees all columns"},
      {"k * l", "k(x,y) l(x,y)", "psd if both are; universal if both are"},
      {"2.5*k", "2.5 k(x,y)", "psd if k is and the factor is >= 0"},
      {"k + 3", "k(x,y) + 3", "the same as k + constant(3)"},
      {"k^3", "k(x,y)^3", "also k**3; a whole power from 1 on"},
      {"k.normalized()", "k(x,y) / sqrt(k(x,x) k(y,y))", "needs k(x,x) > 0"},
      {"k.normalized(product)", "k(x,y) / (k(x,x) k(y,y))", "needs k(x,x) > 0 (S10)"},
      {"k.exp()", "exp(k(x,y))", "also exp(k)"},
      {"k.geometric()", "1 / (1 - k(x,y)) = 1 + k + k^2 + ...", "needs k(x,x) < 1"},
      {"k.series([1, 0, 0.5])", "1 + 0 k + 0.5 k^2", "psd if k is and the coefficients are >= 0"},
      {"k.on(0, 3, 5:9)", "k of columns 0, 3, 5, 6, 7, 8 alone",
       "also by name: k.on(\"age\"); k.on(A) + l.on(B) is a direct sum, k.on(A)*l.on(B) a tensor product"},
      {"k.radial(auto)", "exp(-d(x,y)^2 / (2 length_scale^2)), d(x,y)^2 = k(x,x) + k(y,y) - 2 k(x,y)",
       "a Gaussian of the distance in the feature space; psd if k is; a number, or auto (the median distance)"},
      {"k.over([[0, 1], [2, 3]])", "sum over the points z of k(x,z) k(z,y)", "psd whatever k is"},
  };
  return all;
}

}  // namespace mercer

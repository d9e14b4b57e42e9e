// Kernels of graphs: explicit features, or values pair by pair. All are positive semidefinite, and none depends on how nodes are numbered.
//
// Labels: where graphs have them, nodes (and edges) are alike only if their labels are equal; see graph_adjacency.hpp. A graph without
// nodes has no features, and its kernel values are 0. Everything is exact but random_walk, whose accuracy it states; nothing depends on the
// number of threads. Bad graphs and parameters throw InvalidArgument.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "objects/features.hpp"

namespace mercer::objects {

// Weisfeiler-Lehman subtree kernel (Shervashidze, Schweitzer, van Leeuwen, Mehlhorn & Borgwardt 2011). The colour of a node is its label
// at first; at every further iteration it is its own colour with the multiset of (edge label, colour) of its neighbours. Features are the
// numbers of nodes of each colour at iterations 0 to h, k their dot product. Colours are compared in full, never by their hashes alone.
// Cost: O(h (nodes + edges log degree)) for all graphs together.
Features weisfeiler_lehman(const BothGraphs& both, int iterations);

// The same counts for the optimal assignment kernel (Kriege, Giscard & Wilson 2016): the best one-to-one assignment of nodes, where two
// are worth the number of iterations at which their colours agree, is the sum over all colours of the smaller count. So k is the sum of
// minima of these rows, and k(x, x) = nodes * (h + 1).
Features weisfeiler_lehman_assignment(const BothGraphs& both, int iterations);

// Shortest path kernel (Borgwardt & Kriegel 2005): features are the numbers of node pairs with the labels {a, b} at distance d, by
// breadth-first search from every node; edge labels are not looked at. Every unordered pair of different connected nodes counts once, as
// an edge of the paper's graph of shortest paths. Programs that count ordered pairs (GraKeL) have twice these counts and so 4 k without
// labels; with labels they keep (a, b, d) and (b, a, d) apart, so their sum is 4 times this one over equal labels and 2 times over
// different ones. Cost: O(nodes * edges) a graph.
Features shortest_path(const BothGraphs& both);

// Graphlet kernel (Shervashidze, Vishwanathan, Petri, Mehlhorn & Borgwardt 2009), connected graphlets: features are the numbers of
// node sets of this size (3, 4 or 5) whose induced subgraph is connected, by its type up to isomorphism: 2, 6 or 21 columns, by the
// number of edges. Labels are not looked at. Exact: sizes 3 and 4 from numbers of triangles, squares and cliques, size 5 by enumeration
// of every such set once (Wernicke 2006). Cost: O(edges * degree) for 3, plus the cliques and pairs at distance 2 for 4, O(sets) for 5.
Features graphlet(const BothGraphs& both, int size);

// Geometric random walk kernel (Gaertner, Flach & Wrobel 2003; Vishwanathan, Schraudolph, Kondor & Borgwardt 2010):
// k(G, H) = 1' (I - decay W)^-1 1 = sum over lengths l of decay^l * number of pairs of walks of length l, one in each graph, with equal
// labels all along. W is the adjacency of the direct product graph on the node pairs of equal labels; edge labels must agree too. With
// `labelled` false no label is looked at.
// W is never formed: conjugate gradients apply it as A X B over blocks of equal labels. They stop when what is missing in k is bounded by
// 1e-15 k (see the .cpp), so rounding is what remains. Cost a pair: steps * (edges(G) nodes(H) + nodes(G) edges(H)) / labels; the steps
// grow as 1 / sqrt(1 - decay rho(G) rho(H)), where rho is the largest eigenvalue of an adjacency matrix. Where labels do not matter, all
// graphs have at most 256 nodes and decay rho^2 <= 0.999, their spectra make it O(nodes(G) nodes(H)) a pair, to some 1e-12 k.
// The sum exists only for decay * rho(G) rho(H) < 1: a larger decay throws with the graph and what is allowed.
std::unique_ptr<PairValues> random_walk(const BothGraphs& both, double decay, bool labelled = true);

// A decay at which random_walk converges for these graphs: 1 / (1 + D^2), D the largest degree of any of them.
double safe_decay(std::span<const Graph* const> graphs);

}  // namespace mercer::objects

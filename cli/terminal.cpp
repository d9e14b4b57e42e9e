// SPDX-License-Identifier: BSD-3-Clause
#include "terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace mercer::cli {

namespace {

std::atomic<int> asked_to_stop{0};  // the signal
std::atomic<int> careful{0};
std::atomic<bool> bar_on_screen{false};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

constexpr std::string_view erase_line = "\r\033[K";

void on_signal(int signal) {
  if (careful.load() > 0 && asked_to_stop.exchange(signal) == 0) return;
  constexpr std::string_view words = "mercer: stopped\n";
  const auto put = [](std::string_view text) { return ::write(STDERR_FILENO, text.data(), text.size()) >= 0; };
  (void)(!bar_on_screen.load() || put(erase_line));
  (void)put(words);
  ::_exit(128 + signal);
}

}  // namespace

void prepare_process() {
  // The wrong direction on purpose: writing to a closed standard output must fail, not vanish.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) == -1) (void)::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
  std::signal(SIGPIPE, SIG_IGN);
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

CarefulStop::CarefulStop() { ++careful; }
CarefulStop::~CarefulStop() { --careful; }

int stop_status() {
  const int signal = asked_to_stop.load();
  return signal == 0 ? 0 : 128 + signal;
}

ProgressBar::ProgressBar() {
  const char* terminal = std::getenv("TERM");
  enabled_ = ::isatty(STDERR_FILENO) == 1 && (terminal == nullptr || std::string_view(terminal) != "dumb");
  std::fflush(stdout);  // what was said so far comes before the bar
}

ProgressCallback ProgressBar::callback() {
  return [this](const ProgressEvent& event) {
    if (enabled_) draw(event);
    return stop_status() == 0;
  };
}

void ProgressBar::draw(const ProgressEvent& event) {
  const auto now = Clock::now();
  if (now - start_ < std::chrono::milliseconds(300) || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  constexpr int width = 30;
  const auto filled = static_cast<std::size_t>(std::lround(width * std::clamp(event.fraction, 0.0, 1.0)));
  const double seconds = std::chrono::duration<double>(now - start_).count();
  fmt::print(stderr, "{}{:<24.24} [{}{}] {:3.0f} %  {:.1f} s", erase_line, event.stage, std::string(filled, '#'),
             std::string(width - filled, '.'), 100 * event.fraction, seconds);
  std::fflush(stderr);
  drawn_ = true;
  bar_on_screen = true;
}

void ProgressBar::erase() {
  if (!drawn_) return;
  fmt::print(stderr, "{}", erase_line);
  std::fflush(stderr);
  drawn_ = false;
  bar_on_screen = false;
}

double estimated_flops(const Run& run) {
  constexpr double each_core = 1.5e10;  // double precision, measured on ordinary cores; half of what a good one does
  return each_core * (run.threads > 0 ? run.threads : default_threads());
}

void announce(const std::string& what, double seconds, double bytes, const Run& run) {
  if (seconds < 2 || bytes > static_cast<double>(memory_budget(run.memory))) return;
  const std::string time = seconds < 120 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.0f} minutes", seconds / 60);
  fmt::print(stderr, "{}: about {} and {} of memory\n", what, time, format_bytes(bytes));
}

}  // namespace mercer::cli

// SPDX-License-Identifier: BSD-3-Clause
#include "terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mercer/unfinished_files.hpp>
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
  remove_unfinished_files();
  (void)put(words);
  ::_exit(128 + signal);
}

// A terminal that does not say how wide it is has the width of most.
int columns_of_terminal() {
  constexpr int usual = 80;
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

// Names of files stand in the names of stages: what would steer the terminal does not.
std::string printable(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
  return out;
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
  struct sigaction before {};
  ::sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);  // nohup has it ignored
}

bool terminal_is_dumb() {
  const char* terminal = std::getenv("TERM");
  return terminal != nullptr && std::string_view(terminal) == "dumb";
}

CarefulStop::CarefulStop() { ++careful; }
CarefulStop::~CarefulStop() { --careful; }

int stop_status() {
  const int signal = asked_to_stop.load();
  return signal == 0 ? 0 : 128 + signal;
}

ProgressBar::ProgressBar(Stop stop) : enabled_(::isatty(STDERR_FILENO) == 1 && !terminal_is_dumb()) {
  if (stop == Stop::careful) careful_.emplace();
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
  remaining_.note(event.stage, event.fraction, event.seconds);
  if (now - start_ < std::chrono::milliseconds(300) || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  // The last column stays free: some terminals begin a new line there.
  const std::string line = progress_line(printable(event.stage), event.fraction, seconds, remaining_.seconds(), columns_of_terminal() - 1);
  fmt::print(stderr, "{}{}", erase_line, line);
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
  const std::string time = seconds < 120    ? fmt::format("{:.0f} s", seconds)
                           : seconds < 7200 ? fmt::format("{:.0f} minutes", seconds / 60)
                                            : fmt::format("{:.1f} hours", seconds / 3600);
  fmt::print(stderr, "{}: about {} and {} of memory\n", what, time, format_bytes(bytes));
}

}  // namespace mercer::cli

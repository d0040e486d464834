// Metrics: numbers about pawl's own work, read by Prometheus.
//
//   const auto buckets = metrics::LabelSet::from_configuration(bucket_names);
//   metrics::Counter& refused =
//       registry.counter("pawl_requests_total", "Requests decided.",
//                        {{"decision", "refused"}, {"bucket", buckets.value(name)}});
//   refused.add();
//
// Why:      a handle is looked up once, at the start; counting is then one relaxed atomic
//           addition, without a lock or a search.
// Contract: names are literals of the code, checked by the compiler: pawl_ and snake_case,
//           counters end in _total and nothing else does, lengths of time are in _seconds. A
//           label's value is a literal or comes out of a LabelSet; a string of the running
//           program cannot become one, so no client can make the registry grow. The same name and
//           labels give the same handle; the same name as another type, or with other help, label
//           names or buckets, is a bug and asserts.
// Bounds:   bounds::metric_label_values_max values a LabelSet, bounds::metric_series_max series a
//           name; what is beyond is counted under "other".
// Threads:  any. A handle is good as long as its Registry.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::metrics {

namespace detail {

// Not constexpr: an expression that reaches one of these is no constant and does not compile.
void a_metric_name_is_pawl_and_snake_case();
void a_counter_name_ends_in_total_and_no_other_does();
void a_length_of_time_is_in_seconds();
void a_metric_name_must_not_look_like_a_part_of_a_histogram();
void a_label_name_is_snake_case_and_not_le();

constexpr bool is_snake_case(std::string_view text) {
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (!plain) return false;
  }
  return !text.empty() && !(text.front() >= '0' && text.front() <= '9');
}

constexpr bool ends_in_any(std::string_view text, std::initializer_list<std::string_view> ends) {
  for (const std::string_view end : ends) {
    if (text.ends_with(end)) return true;
  }
  return false;
}

}  // namespace detail

enum class Type : std::uint8_t { counter, gauge, histogram };

template <Type type>
class Name {
 public:
  consteval Name(const char* text) : text_(text) {
    if (!text_.starts_with("pawl_") || !detail::is_snake_case(text_)) {
      detail::a_metric_name_is_pawl_and_snake_case();
    }
    std::string_view stem = text_;
    if (stem.ends_with("_total") != (type == Type::counter)) {
      detail::a_counter_name_ends_in_total_and_no_other_does();
    }
    if (type == Type::counter) stem.remove_suffix(6);
    if (detail::ends_in_any(
            stem, {"_ns", "_us", "_ms", "_nanoseconds", "_microseconds", "_milliseconds", "_millis",
                   "_minutes", "_hours", "_days", "_duration", "_latency", "_time"})) {
      detail::a_length_of_time_is_in_seconds();
    }
    if (detail::ends_in_any(text_, {"_bucket", "_count", "_sum"})) {
      detail::a_metric_name_must_not_look_like_a_part_of_a_histogram();
    }
  }
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

class Help {
 public:
  consteval Help(const char* text) : text_(text) {}
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

class LabelName {
 public:
  consteval LabelName(const char* text) : text_(text) {
    if (!detail::is_snake_case(text_) || text_.starts_with("__") || text_ == "le") {
      detail::a_label_name_is_snake_case_and_not_le();
    }
  }
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

class LabelValue {
 public:
  consteval LabelValue(const char* text) : text_(text) {}
  constexpr std::string_view text() const { return text_; }

 private:
  friend class LabelSet;
  explicit constexpr LabelValue(std::string_view member) : text_(member) {}

  std::string_view text_;
};

struct Label {
  LabelName name;
  LabelValue value;
};

// The values a label may have, all known beforehand.
class LabelSet {
 public:
  LabelSet(std::initializer_list<LabelValue> values);
  // Names an operator chose, such as those of buckets. Those past the bound are left out.
  static LabelSet from_configuration(std::span<const std::string> names);

  // The value when it is in the set, else "other". Good as long as the set.
  LabelValue value(std::string_view text) const;

 private:
  LabelSet() = default;

  std::vector<std::string> values_;  // sorted
};

// Handles stand on a cache line of their own: two that are next to each other in memory must not
// slow each other down.
inline constexpr std::size_t cache_line_bytes = 64;

class alignas(cache_line_bytes) Counter {
 public:
  void add(std::uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

class alignas(cache_line_bytes) Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  void add(double difference) { value_.fetch_add(difference, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

class alignas(cache_line_bytes) Histogram {
 public:
  // Upper ends of the buckets, ascending and finite; the last bucket, without an end, comes by
  // itself.
  explicit Histogram(std::span<const double> bucket_ends);

  void observe(double value);

  std::span<const double> bucket_ends() const { return ends_; }
  // How many values were at most bucket_ends()[i]; at the end of it, how many in all.
  std::vector<std::uint64_t> cumulative() const;
  double sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  std::vector<double> ends_;
  std::vector<std::atomic<std::uint64_t>> counts_;
  std::atomic<double> sum_ = 0;
};

// From half a millisecond to ten seconds: for requests and their parts.
inline constexpr double request_seconds[] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                             0.1,    0.25,  0.5,    1,     2.5,  5,     10};

// A counter or gauge as it stands. Good during the visit.
struct Reading {
  std::string_view name;
  std::span<const std::pair<std::string, std::string>> labels;  // by name
  double value = 0;
};

class Registry {
 public:
  using Labels = std::initializer_list<Label>;

  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  Counter& counter(Name<Type::counter> name, Help help, Labels labels = {});
  Gauge& gauge(Name<Type::gauge> name, Help help, Labels labels = {});
  Histogram& histogram(Name<Type::histogram> name, Help help, std::span<const double> bucket_ends,
                       Labels labels = {});

  // Every counter and gauge, by name and labels. `visit` must not use the registry.
  void for_each(const std::function<void(const Reading&)>& visit) const;

  // Everything, in Prometheus' text format 0.0.4, ordered by name and labels.
  std::string text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace pawl::metrics

#include "metrics/metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sstream>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/bounds.h"

namespace pawl::metrics {
namespace {

using LabelTexts = std::vector<std::pair<std::string, std::string>>;  // sorted by name
using Metric = std::variant<Counter, Gauge, Histogram>;

struct Family {
  std::string help;
  // A map never moves what it holds, so a handle stays good. Nothing is ever taken out.
  std::map<LabelTexts, Metric> series;
};

LabelTexts texts_of(std::initializer_list<Label> labels) {
  LabelTexts texts;
  for (const Label& label : labels) texts.emplace_back(label.name.text(), label.value.text());
  std::ranges::sort(texts);
  const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
  PAWL_ASSERT(std::ranges::adjacent_find(texts, same_name) == texts.end());
  return texts;
}

bool same_names(const LabelTexts& a, const LabelTexts& b) {
  return std::ranges::equal(a, b, {}, &LabelTexts::value_type::first,
                            &LabelTexts::value_type::first);
}

// The serializer escapes the values of labels, but not the help.
std::string escaped_help(std::string_view help) {
  std::string out;
  for (const char c : help) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

prometheus::ClientMetric sample(const Counter& counter) {
  prometheus::ClientMetric metric;
  metric.counter.value = static_cast<double>(counter.value());
  return metric;
}

prometheus::ClientMetric sample(const Gauge& gauge) {
  prometheus::ClientMetric metric;
  metric.gauge.value = gauge.value();
  return metric;
}

prometheus::ClientMetric sample(const Histogram& histogram) {
  prometheus::ClientMetric metric;
  const std::vector<std::uint64_t> cumulative = histogram.cumulative();
  for (std::size_t i = 0; i < histogram.bucket_ends().size(); ++i) {
    metric.histogram.bucket.push_back({cumulative[i], histogram.bucket_ends()[i]});
  }
  metric.histogram.sample_count = cumulative.back();
  metric.histogram.sample_sum = histogram.sum();
  return metric;
}

prometheus::MetricType type_of(const Metric& metric) {
  constexpr prometheus::MetricType types[] = {prometheus::MetricType::Counter,
                                              prometheus::MetricType::Gauge,
                                              prometheus::MetricType::Histogram};
  return types[metric.index()];
}

prometheus::MetricFamily collect(const std::string& name, const Family& family) {
  prometheus::MetricFamily out;
  out.name = name;
  out.help = family.help;
  out.type = type_of(family.series.begin()->second);
  for (const auto& [labels, metric] : family.series) {
    out.metric.push_back(std::visit([](const auto& m) { return sample(m); }, metric));
    for (const auto& [label, value] : labels) out.metric.back().label.push_back({label, value});
  }
  return out;
}

}  // namespace

LabelSet::LabelSet(std::initializer_list<LabelValue> values) {
  PAWL_ASSERT(values.size() <= bounds::metric_label_values_max);
  for (const LabelValue& value : values) values_.emplace_back(value.text());
  std::ranges::sort(values_);
}

LabelSet LabelSet::from_configuration(std::span<const std::string> names) {
  LabelSet set;
  const auto kept = names.first(std::min(names.size(), bounds::metric_label_values_max));
  set.values_.assign(kept.begin(), kept.end());
  std::ranges::sort(set.values_);
  return set;
}

LabelValue LabelSet::value(std::string_view text) const {
  const auto found = std::ranges::lower_bound(values_, text, std::less<>());
  if (found == values_.end() || *found != text) return "other";
  return LabelValue(std::string_view(*found));
}

Histogram::Histogram(std::span<const double> bucket_ends)
    : ends_(bucket_ends.begin(), bucket_ends.end()), counts_(bucket_ends.size() + 1) {
  PAWL_ASSERT(std::ranges::adjacent_find(ends_, std::greater_equal<>()) == ends_.end());
  PAWL_ASSERT(std::ranges::all_of(ends_, [](double end) { return std::isfinite(end); }));
}

void Histogram::observe(double value) {
  PAWL_ASSERT(!std::isnan(value));  // it would spoil the sum for good
  const auto bucket = std::ranges::lower_bound(ends_, value) - ends_.begin();
  counts_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

std::vector<std::uint64_t> Histogram::cumulative() const {
  std::vector<std::uint64_t> sums;
  std::uint64_t sum = 0;
  for (const auto& count : counts_) sums.push_back(sum += count.load(std::memory_order_relaxed));
  return sums;
}

struct Registry::Families {
  mutable std::mutex mutex;
  std::map<std::string, Family, std::less<>> by_name;  // guarded by mutex

  template <class T, class... Arguments>
  T& find_or_make(std::string_view name, Help help, Labels labels, Arguments... arguments) {
    const std::lock_guard lock(mutex);
    const auto [at, is_new] = by_name.try_emplace(std::string(name));
    Family& family = at->second;
    LabelTexts texts = texts_of(labels);
    if (is_new) {
      family.help = escaped_help(help.text());
    } else {
      const auto& [first_texts, first_metric] = *family.series.begin();
      PAWL_ASSERT(std::holds_alternative<T>(first_metric));
      PAWL_ASSERT(family.help == escaped_help(help.text()));
      PAWL_ASSERT(same_names(first_texts, texts));
    }
    if (family.series.size() >= bounds::metric_series_max && !family.series.contains(texts)) {
      for (auto& [label, value] : texts) value = "other";
    }
    const auto series =
        family.series.try_emplace(std::move(texts), std::in_place_type<T>, arguments...).first;
    return std::get<T>(series->second);
  }
};

Registry::Registry() : families_(std::make_unique<Families>()) {}
Registry::~Registry() = default;

Counter& Registry::counter(Name<Type::counter> name, Help help, Labels labels) {
  return families_->find_or_make<Counter>(name.text(), help, labels);
}

Gauge& Registry::gauge(Name<Type::gauge> name, Help help, Labels labels) {
  return families_->find_or_make<Gauge>(name.text(), help, labels);
}

Histogram& Registry::histogram(Name<Type::histogram> name, Help help,
                               std::span<const double> bucket_ends, Labels labels) {
  Histogram& histogram = families_->find_or_make<Histogram>(name.text(), help, labels, bucket_ends);
  PAWL_ASSERT(std::ranges::equal(histogram.bucket_ends(), bucket_ends));
  return histogram;
}

void Registry::for_each(const std::function<void(const Reading&)>& visit) const {
  const std::lock_guard lock(families_->mutex);
  for (const auto& [name, family] : families_->by_name) {
    for (const auto& [labels, metric] : family.series) {
      if (const auto* counter = std::get_if<Counter>(&metric)) {
        visit({.name = name, .labels = labels, .value = static_cast<double>(counter->value())});
      } else if (const auto* gauge = std::get_if<Gauge>(&metric)) {
        visit({.name = name, .labels = labels, .value = gauge->value()});
      }
    }
  }
}

std::string Registry::text() const {
  std::vector<prometheus::MetricFamily> collected;
  {
    const std::lock_guard lock(families_->mutex);
    for (const auto& [name, family] : families_->by_name)
      collected.push_back(collect(name, family));
  }
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, collected);
  return std::move(out).str();
}

}  // namespace pawl::metrics

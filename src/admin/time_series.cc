#include "admin/time_series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace pawl::admin {

std::optional<Span> span_of(std::string_view name) {
  if (name == "15m") return Span::quarter_hour;
  if (name == "1h") return Span::hour;
  if (name == "1d") return Span::day;
  return std::nullopt;
}

// What lies between the newest point and this one was not sampled: the places are emptied.
void TimeSeries::step_to(std::size_t span, std::int64_t step) {
  const auto points = static_cast<std::int64_t>(scales_[span].points);
  const std::int64_t last = newest_[span];
  const std::int64_t first = last < 0 ? step : std::max(last + 1, step - points + 1);
  for (auto& [name, rings] : lines_) {
    for (std::int64_t at = first; at <= step; ++at) {
      rings[span][static_cast<std::size_t>(at % points)] = {};
    }
  }
  const std::int64_t grown =
      last < 0 ? 1 : std::min(points, static_cast<std::int64_t>(filled_[span]) + (step - last));
  filled_[span] = static_cast<std::size_t>(grown);
  newest_[span] = step;
}

std::array<TimeSeries::Ring, 3>* TimeSeries::line_of(const std::string& name) {
  const auto found = lines_.find(name);
  if (found != lines_.end()) return &found->second;
  if (lines_.size() >= lines_max_) return nullptr;
  std::array<Ring, 3>& rings = lines_[name];
  for (std::size_t span = 0; span < scales_.size(); ++span)
    rings[span].resize(scales_[span].points);
  return &rings;
}

void TimeSeries::add(Instant now, const Sample& sample) {
  const std::int64_t second = now.ns() / 1'000'000'000;
  for (std::size_t span = 0; span < scales_.size(); ++span) {
    const std::int64_t step = second / scales_[span].step_seconds;
    if (step > newest_[span]) step_to(span, step);
  }
  for (const auto& [name, value] : sample) {
    std::array<Ring, 3>* rings = line_of(name);
    if (rings == nullptr) continue;
    for (std::size_t span = 0; span < scales_.size(); ++span) {
      const auto points = static_cast<std::int64_t>(scales_[span].points);
      Point& point = (*rings)[span][static_cast<std::size_t>(newest_[span] % points)];
      if (point.samples == std::numeric_limits<std::uint16_t>::max()) continue;
      point.sum += static_cast<float>(value);
      ++point.samples;
    }
  }
}

std::vector<std::int64_t> TimeSeries::times(Span span) const {
  const auto at = static_cast<std::size_t>(span);
  std::vector<std::int64_t> out;
  const std::int64_t first = newest_[at] - static_cast<std::int64_t>(filled_[at]) + 1;
  for (std::int64_t step = first; step <= newest_[at] && filled_[at] > 0; ++step) {
    out.push_back(step * scale(span).step_seconds);
  }
  return out;
}

std::vector<std::string> TimeSeries::lines() const {
  std::vector<std::string> out;
  for (const auto& [name, rings] : lines_) out.push_back(name);
  return out;
}

std::vector<std::optional<double>> TimeSeries::values(std::string_view line, Span span) const {
  const auto found = lines_.find(line);
  const auto at = static_cast<std::size_t>(span);
  std::vector<std::optional<double>> out(filled_[at]);
  if (found == lines_.end()) return out;
  const auto points = static_cast<std::int64_t>(scale(span).points);
  const std::int64_t first = newest_[at] - static_cast<std::int64_t>(filled_[at]) + 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t step = first + static_cast<std::int64_t>(i);
    const Point& point = found->second[at][static_cast<std::size_t>(step % points)];
    if (point.samples > 0) out[i] = static_cast<double>(point.sum) / point.samples;
  }
  return out;
}

json::Value rounded(double value) {
  if (!std::isfinite(value)) return json::Value();
  std::array<char, 64> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.3f", value);
  std::string number(text.data(), static_cast<std::size_t>(size));
  number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  return json::Number{number == "-0" ? "0" : number};
}

json::Value numbers_json(const std::vector<std::int64_t>& numbers) {
  json::Array out;
  for (const std::int64_t number : numbers) out.emplace_back(number);
  return out;
}

json::Value values_json(const std::vector<std::optional<double>>& values) {
  json::Array out;
  for (const auto& value : values) out.push_back(value ? rounded(*value) : json::Value());
  return out;
}

}  // namespace pawl::admin

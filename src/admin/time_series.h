// TimeSeries: numbers of late, sampled by a steady beat, for the last 15 minutes, hour and day.
//
// Why:      a panel shows how things went before it was opened, without another server that
//           gathers metrics.
// Contract: a sample is a value a line for each beat. Each span keeps points of its own: a point is
//           the mean of the samples within its step, so a spike shows in the finest span as it was
//           and in the others as its share. A line that a sample does not have has a hole there. A
//           clock that went back begins no new points until it has caught up.
// Bounds:   as many lines as it was made for; a further one is left out. 4 bytes a point.
// Threads:  none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "pawl/time.h"

namespace pawl::admin {

enum class Span : std::uint8_t { quarter_hour, hour, day };
std::optional<Span> span_of(std::string_view name);  // 15m, 1h, 1d

class TimeSeries {
 public:
  struct Scale {
    std::int64_t step_seconds = 1;
    std::size_t points = 0;
  };
  using Scales = std::array<Scale, 3>;  // in the order of Span
  using Sample = std::vector<std::pair<std::string, double>>;

  TimeSeries(Scales scales, std::size_t lines_max) : scales_(scales), lines_max_(lines_max) {}

  void add(Instant now, const Sample& sample);

  std::int64_t step_seconds(Span span) const { return scale(span).step_seconds; }
  // Of the points, in seconds since 1970; the oldest first.
  std::vector<std::int64_t> times(Span span) const;
  std::vector<std::string> lines() const;
  // As many as times(); nothing where the line was not sampled.
  std::vector<std::optional<double>> values(std::string_view line, Span span) const;

 private:
  struct Point {
    float sum = 0;
    std::uint16_t samples = 0;
  };
  using Ring = std::vector<Point>;

  const Scale& scale(Span span) const { return scales_[static_cast<std::size_t>(span)]; }
  void step_to(std::size_t span, std::int64_t step);
  std::array<Ring, 3>* line_of(const std::string& name);

  Scales scales_;
  std::size_t lines_max_;
  std::map<std::string, std::array<Ring, 3>, std::less<>> lines_;
  // By span: the step of the newest point, and how many points there are.
  std::array<std::int64_t, 3> newest_ = {-1, -1, -1};
  std::array<std::size_t, 3> filled_ = {};
};

// {"step_seconds":…,"times":[…]} and the lines, as `lines` names them.
json::Value numbers_json(const std::vector<std::int64_t>& numbers);
json::Value values_json(const std::vector<std::optional<double>>& values);
// With three digits behind the point, as far as they are none.
json::Value rounded(double value);

}  // namespace pawl::admin

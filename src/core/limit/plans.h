// Plans: which rate a bucket has for whom: its own, the one of the caller's plan, or the one that
// was agreed with that very tenant.
//
// Why:      "free" and "pro" are the same limit with another number, and a tenant that changes its
//           plan must not get what it has used back. So every policy made here keeps its bucket's
//           name, and with it the counts; carry_over() does the rest.
// Contract: pure. A tenant's rate beats its plan's, which beats the bucket's. All policies are made
//           beforehand: resolve() makes none, and what it gives lives as long as the Plans, which
//           may be moved, but not copied.
// Threads:  any, once made.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/limit/policy.h"
#include "core/limit/rate.h"
#include "pawl/result.h"

namespace pawl::limit {

// `base` at another rate. Of a token bucket the burst stays. Of slots, the count is how many, and
// the period how long each is lent. Of a calendar limit only the count is taken, and the period
// must be as long as one of its windows can be (a month: 28d to 31d).
Result<Policy> with_rate(const Policy& base, const Rate& rate);

using Rates = std::map<std::string, Rate>;  // by the bucket's name

struct PlanTable {
  std::vector<Policy> buckets;
  std::map<std::string, Rates> plans = {};
  std::map<std::string, Rates> tenants = {};
  std::string default_plan;  // one of `plans`; where there are none, it changes nothing
};

struct Plan {
  std::string name;
  std::vector<const Policy*> policies;  // by the bucket's place in the table
};

class Plans {
 public:
  // An error names the plan or tenant, and the bucket.
  static Result<Plans> make(PlanTable table);

  Plans(Plans&&) = default;
  Plans& operator=(Plans&&) = default;

  // What is not there is an error that says what is.
  Result<const Plan*> find(std::string_view name) const;
  const Plan& default_plan() const { return *default_; }

  const Policy& resolve(std::size_t bucket, const Plan& plan, std::string_view tenant) const;

 private:
  using Row = std::vector<const Policy*>;  // nullptr: not overridden

  Plans() = default;
  Result<Row> row_of(const std::vector<Policy>& buckets, const Rates& rates);

  std::deque<Policy> policies_;  // stay where they are
  std::map<std::string, Plan, std::less<>> plans_;
  std::map<std::string, Row, std::less<>> tenants_;
  const Plan* default_ = nullptr;
};

}  // namespace pawl::limit

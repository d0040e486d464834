// Router: finds the route of a request, and reads its parameters as the route says.
//
// Contract: pure. Literal segments are compared as they are written: there is one spelling of each
//           path. A parameter that the route does not name, or that does not fit its schema, is an
//           error that names it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "admin/route.h"

namespace pawl::admin {

struct Found {
  const Route* route = nullptr;  // nullptr: none with this method
  std::vector<std::pair<std::string_view, std::string_view>> names = {};  // as written, in the path
  std::string allow = {};  // when there is none: the methods of this path; empty: no such path
};

class Router {
 public:
  // The routes outlive it.
  explicit Router(const Routes& routes) : routes_(routes) {}

  // What was found points into the target.
  Found find(std::string_view method, std::string_view target) const;

 private:
  const Routes& routes_;
};

// Those of the path and of the query.
Result<Values> read_parameters(const Found& found, std::string_view target);

}  // namespace pawl::admin

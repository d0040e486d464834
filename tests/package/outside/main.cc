#include <cstdlib>
#include <iostream>

#include <pawl/pawl.h>

int main() {
  std::cout << "pawl " << pawl::version() << "\n";
  pawl::Result<pawl::Limiter> limiter =
      pawl::Limiter::make({.count = 1, .period = pawl::Duration::hours(1)});
  if (!limiter) return EXIT_FAILURE;
  const pawl::Decision first = limiter->check("acme");
  const pawl::Decision second = limiter->check("acme");
  std::cout << first.allowed << second.allowed << "\n";
  return pawl::Limiter::make({.count = 0}).has_value() ? EXIT_FAILURE : EXIT_SUCCESS;
}

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
  if (pawl::Limiter::make({.count = 0})) return EXIT_FAILURE;
  // Memory survives nothing; the libraries of every other store must be linked to hear so.
  return pawl::Executor::make({.durability = pawl::Durability::fsync}) ? EXIT_FAILURE
                                                                       : EXIT_SUCCESS;
}

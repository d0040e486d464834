// Paces calls by customer: two at once, then one every 200 ms. The clock here is the program's own,
// so that the example needs no waiting and always prints the same; without one, the machine's is
// used.
#include <iostream>
#include <string>

#include <pawl/pawl.h>

namespace {

class HandMovedClock final : public pawl::Clock {
 public:
  pawl::Instant wall_now() override { return wall_; }
  pawl::SteadyInstant steady_now() override { return steady_; }

  void advance(pawl::Duration by) {
    wall_ = wall_ + by;
    steady_ = steady_ + by;
  }

 private:
  pawl::Instant wall_;
  pawl::SteadyInstant steady_;
};

void call(pawl::Limiter& limiter, const std::string& customer) {
  const pawl::Decision decision = limiter.check(customer);
  std::cout << customer << ": ";
  if (decision.allowed) {
    std::cout << "go, " << decision.remaining << " left\n";
  } else {
    std::cout << "wait " << to_string(decision.retry_after) << "\n";
  }
}

}  // namespace

int main() {
  HandMovedClock clock;
  pawl::Result<pawl::Limiter> limiter =
      pawl::Limiter::make({.count = 5, .period = pawl::Duration::seconds(1), .burst = 1}, &clock);
  if (!limiter) {
    std::cerr << limiter.error().message << "\n";
    return 1;
  }
  call(*limiter, "acme");
  call(*limiter, "acme");
  call(*limiter, "acme");
  call(*limiter, "globex");
  clock.advance(pawl::Duration::milliseconds(200));
  call(*limiter, "acme");
}

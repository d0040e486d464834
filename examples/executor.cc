// Charges a card once, though the network fails twice and the program asks twice.
//
//   executor                      keys live and die with the process
//   executor sqlite:intents.db    they outlive it: run it again, and nothing is charged
#include <iostream>
#include <string>

#include <pawl/pawl.h>

namespace {

// What a payment API might do: not reachable at first.
pawl::Result<std::string> charge(const pawl::Attempt& attempt) {
  std::cout << "attempt " << attempt.number << ": ";
  if (attempt.number < 3) {
    std::cout << "connection refused\n";
    return pawl::failure(pawl::Code::unavailable, "connection refused");
  }
  std::cout << "charged\n";
  return "charge-17";
}

int fail(const pawl::Error& error) {
  std::cerr << error.message << "\n";
  return static_cast<int>(error.code);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string store = count > 1 ? arguments[1] : "memory";
  auto executor = pawl::Executor::make({.store = store});
  if (!executor) return fail(executor.error());
  const auto key =
      pawl::compute_idempotency_key("charge card", "acme", "order-17", R"({"amount":"9.99"})");
  if (!key) return fail(key.error());

  pawl::RetryPolicy policy = pawl::retry_policy("RETRY_API_REQUEST");
  policy.base_delay = pawl::Duration::milliseconds(10);  // a second is long for an example
  const pawl::ExecuteOptions how{.policy = policy, .idempotency_key = *key, .tenant_id = "acme"};
  for (int i = 0; i < 2; ++i) {
    const pawl::Result<std::string> answer =
        executor->execute_with_retry("RETRY_API_REQUEST", "charge card", charge, how);
    if (!answer) return fail(answer.error());
    std::cout << "answer: " << *answer << "\n";
  }
}

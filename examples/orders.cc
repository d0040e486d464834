// Places an order on OKX once, though the program asks twice.
//
//   orders URL    of OKX, or of `pawl emulate okx`
#include <iostream>
#include <string>

#include <pawl/pawl.h>

namespace {

int fail(const pawl::Error& error) {
  std::cerr << error.message << "\n";
  return static_cast<int>(error.code);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "orders URL\n";
    return 2;
  }
  auto orders = pawl::Orders::make({.database = "orders.db",
                                    .okx = pawl::OkxAccount{.base_url = arguments[1],
                                                            .api_key = "key",
                                                            .secret_key = "secret",
                                                            .passphrase = "phrase"}});
  if (!orders) return fail(orders.error());
  const pawl::OrderRequest request{.external_reference = "example1",
                                   .order = {.venue = "okx",
                                             .instrument = "BTC-USDT-SWAP",
                                             .side = pawl::Side::buy,
                                             .type = pawl::OrderType::limit,
                                             .size = "0.1",
                                             .price = "50000"}};
  for (int i = 0; i < 2; ++i) {
    const auto placed = orders->place(request);
    if (!placed) return fail(placed.error());
    std::cout << to_string(placed->status) << " " << placed->order_id
              << (placed->replayed ? " (nothing was sent)" : "") << "\n";
    if (!placed->message.empty()) std::cout << placed->message << "\n";
  }
  const auto quota = orders->quota();
  if (!quota) return fail(quota.error());
  std::cout << quota->used << "/" << quota->limit << " orders this week\n";
}

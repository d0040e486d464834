// OutboxBook: the deliveries of webhooks in a SQLite file, within one transaction.
//
// Contract: each step is one of Outbox's (port/outbox.h), one after the other, all at the one
//           moment of the transaction. A step that fails by itself changes nothing, and the next
//           one may go on.
// Bounds:   `pending_max` pending ones; one more is an error. `ended_max` others; the oldest go.
// Threads:  one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapter/sqlite/book.h"
#include "adapter/sqlite/writer.h"
#include "port/outbox.h"

namespace pawl {

class OutboxBook final : public sqlite::Book {
 public:
  static const sqlite::Schema schema;

  struct Bounds {
    std::size_t pending_max;
    std::size_t ended_max;
  };
  OutboxBook(const sqlite::Transaction& transaction, Bounds bounds)
      : Book(transaction.database), now_(transaction.now), bounds_(bounds) {}

  Result<std::size_t> add(const std::vector<NewDelivery>& deliveries);
  Result<DueDeliveries> due(const std::string& endpoint, std::size_t limit);
  Result<void> save(const std::string& endpoint, const std::string& event_id,
                    const DeliveryStep& step);
  Result<std::vector<webhook::Delivery>> list(std::size_t limit,
                                              std::optional<webhook::State> state);

  Result<void> save() override;
  void touch() override { changed_ = totals() != nullptr; }

 private:
  struct Totals {
    std::int64_t pending = 0;
    std::int64_t ended = 0;
  };

  Totals* totals();
  bool has(const NewDelivery& one);
  Result<void> look(const std::string& endpoint, std::size_t limit, DueDeliveries& found);
  Result<void> end(std::int64_t number, const DeliveryStep& step);
  void forget_some();

  const Instant now_;
  const Bounds bounds_;
  std::optional<Totals> totals_;
  bool changed_ = false;
};

}  // namespace pawl

#include "adapter/sqlite/sqlite_outbox.h"

#include <utility>

namespace pawl {

using webhook::Delivery;
using webhook::State;

Result<std::unique_ptr<SqliteOutbox>> SqliteOutbox::open(SqliteOutboxOptions options,
                                                         Clock& clock) {
  const OutboxBook::Bounds bounds = {options.pending_max, options.ended_max};
  auto writer =
      PAWL_TRY(sqlite::Writer::open({.database = {.path = std::move(options.path),
                                                  .schema = OutboxBook::schema,
                                                  .busy_timeout = options.busy_timeout}},
                                    clock, [bounds](const sqlite::Transaction& transaction) {
                                      return std::make_unique<OutboxBook>(transaction, bounds);
                                    }));
  return std::unique_ptr<SqliteOutbox>(new SqliteOutbox(std::move(writer)));
}

void SqliteOutbox::add(std::vector<NewDelivery> deliveries, Done<std::size_t> done) {
  const std::size_t rows = deliveries.size();
  writer_->submit<OutboxBook>(
      rows, std::move(done),
      [deliveries = std::move(deliveries)](OutboxBook& book) { return book.add(deliveries); });
}

void SqliteOutbox::due(const std::string& endpoint, std::size_t limit, Done<DueDeliveries> done) {
  writer_->submit<OutboxBook>(0, std::move(done), [endpoint, limit](OutboxBook& book) {
    return book.due(endpoint, limit);
  });
}

void SqliteOutbox::save(const std::string& endpoint, const std::string& event_id, DeliveryStep step,
                        Done<void> done) {
  writer_->submit<OutboxBook>(0, std::move(done),
                              [endpoint, event_id, step = std::move(step)](OutboxBook& book) {
                                return book.save(endpoint, event_id, step);
                              });
}

void SqliteOutbox::list(std::size_t limit, std::optional<State> state,
                        Done<std::vector<Delivery>> done) {
  writer_->submit<OutboxBook>(0, std::move(done),
                              [limit, state](OutboxBook& book) { return book.list(limit, state); });
}

}  // namespace pawl

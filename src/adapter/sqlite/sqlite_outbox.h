// SqliteOutbox: the deliveries of webhooks in a SQLite file: what was taken survives kill -9 and a
// power cut, and goes on after a restart.
//
// Contract: Outbox. What a call changed is on the disk before it is answered; looking costs no
//           sync. Time is the world's clock, which restarts have in common.
// Speed, trouble, bounds, threads: writer.h. A file that is gone is not made anew: that would lose
//           what was to be sent. See outbox_book.h for what the file holds.
// One file: a path of its own. Processes of one machine may share it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapter/sqlite/outbox_book.h"
#include "adapter/sqlite/writer.h"
#include "pawl/clock.h"
#include "port/outbox.h"

namespace pawl {

struct SqliteOutboxOptions {
  std::string path;
  std::size_t pending_max = bounds::webhook_pending_max;
  std::size_t ended_max = bounds::webhook_ended_max;
  Duration busy_timeout = bounds::sqlite_busy_timeout;
};

class SqliteOutbox final : public Outbox {
 public:
  // Makes the file where it is missing. `clock` must outlive the outbox.
  static Result<std::unique_ptr<SqliteOutbox>> open(SqliteOutboxOptions options, Clock& clock);

  void add(std::vector<NewDelivery> deliveries, Done<std::size_t> done) override;
  void due(const std::string& endpoint, std::size_t limit, Done<DueDeliveries> done) override;
  void save(const std::string& endpoint, const std::string& event_id, DeliveryStep step,
            Done<void> done) override;
  void list(std::size_t limit, std::optional<webhook::State> state,
            Done<std::vector<webhook::Delivery>> done) override;
  Result<void> health() override { return writer_->health(); }

 private:
  explicit SqliteOutbox(std::unique_ptr<sqlite::Writer> writer) : writer_(std::move(writer)) {}

  std::unique_ptr<sqlite::Writer> writer_;
};

}  // namespace pawl

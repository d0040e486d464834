// OkxReading: one look at everything in which OKX may show an order, step by step.
//
//   public/time ─▶ order by ordId, if known ─▶ order by clOrdId ─▶ orders-pending ─▶
//   orders-history ─▶ orders-history-archive, if it may be that old ─▶ fills of the ordId, if known
//   and nothing else shows it
//
// Why:      an order that filled at once is not pending; one that was canceled without a fill
//           leaves the history after two hours; and of several orders with one clOrdId the order
//           call shows the latest alone. Each list shows what the others may not. Pending comes
//           before the history: an order that goes from one to the other meanwhile is seen in the
//           second at the latest.
// Contract: pure: next() is the call to make, heard() its answer, until there is no next. The
//           venue's time is read before everything else, so nothing was read earlier than it.
//           Orders are this intent's by ordId or clOrdId; OKX shows the clOrdId of every order we
//           send, so there are no probable ones by their looks. Fills of an order that no list
//           shows make it probable: it was there, whatever it was.
// Whole:    every source was read to its end, the venue's time is known, and the intent is younger
//           than the two hours for which OKX keeps canceled orders without a fill, less
//           bounds::okx_retention_margin. Where local and venue's clock disagree on its age, the
//           older counts; one from the future has no age.
// Bounds:   bounds::okx_read_pages_max pages of a list.
// Threads:  none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/order/answer.h"
#include "pawl/result.h"
#include "port/http_client.h"
#include "port/venue.h"
#include "venue/okx/okx_pace.h"

namespace pawl::okx {

// What OKX keeps of orders that are over.
inline constexpr Duration canceled_kept = Duration::hours(2);  // without a fill
inline constexpr Duration history_kept = Duration::days(7);
inline constexpr Duration archive_kept = Duration::days(90);
inline constexpr Duration fills_kept = Duration::days(3);

struct ReadCall {
  ReadKind kind = ReadKind::order;
  std::string name = {};  // "trade/orders-pending", for people
  std::string path = {};  // with its query
  bool is_public = false;
};
ReadCall time_call();
// By ordId where it is not empty, else by clOrdId.
ReadCall order_call(const std::string& instrument, const std::string& order_id,
                    const std::string& client_id);

class OkxReading {
 public:
  explicit OkxReading(ReadAsk ask);

  // Nothing: all was read.
  std::optional<ReadCall> next() const;
  void heard(const Result<HttpAnswer>& answer, Instant at);
  order::Reading result() const;

 private:
  enum class Source : std::uint8_t {
    time,
    by_order_id,
    by_client_id,
    pending,
    history,
    archive,
    fills
  };

  ReadCall list_call(Source source) const;
  ReadCall fills_call() const;
  void time_heard(const Result<HttpAnswer>& answer, Instant at);
  void order_heard(const Result<HttpAnswer>& answer, Instant at);
  void list_heard(const Result<HttpAnswer>& answer, Instant at);
  void fills_heard(const Result<HttpAnswer>& answer, Instant at);
  void unreadable(const std::string& why, Instant at);
  void read(order::SourceRead::Found found, std::string says, Instant at);
  // Keeps those that are this intent's; says how many are.
  std::size_t keep(const std::vector<order::VenueOrder>& orders);
  Duration age() const;
  std::string why_not_whole() const;

  ReadAsk ask_;
  std::string client_id_;
  std::deque<Source> steps_;
  order::Reading reading_;
  std::string unread_;  // why a source could not be read
  // Of the list that is being read:
  std::string after_;
  std::size_t pages_ = 0;
  std::size_t rows_ = 0;
  std::size_t ours_ = 0;
};

}  // namespace pawl::okx

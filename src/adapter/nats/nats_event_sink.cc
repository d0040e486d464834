#include "adapter/nats/nats_event_sink.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "adapter/nats/nats_connection.h"
#include "core/audit/chain.h"

namespace pawl {
namespace {

// Other processes that append at the same time may come first so often before the writer rests.
constexpr int overtaken_max = 100;
// What a place in the chain adds to a draft, generously.
constexpr std::size_t link_bytes_max = 256;

void block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

class NatsEventSink::ChainStream {
 public:
  ChainStream(std::unique_ptr<nats::Connection> connection, std::string subject, Duration deadline)
      : connection_(std::move(connection)), subject_(std::move(subject)), deadline_(deadline) {}

  // Finds out where the chain ends.
  Result<void> catch_up();
  // Makes some of the drafts durable, from the first on, and says how many. After an error it must
  // be called with the same drafts again, and may be with more of them.
  Result<std::size_t> append(std::span<const audit::Draft> drafts);

  Durability durability() const { return connection_->durability(); }
  std::size_t message_bytes_max() const {
    return std::min(connection_->message_bytes_max(), bounds::audit_batch_bytes_max);
  }

 private:
  struct Message {
    std::string text = {};
    std::size_t drafts = 0;
    audit::Link head = {};  // when it is kept
  };

  nats::Until until() const { return nats::from_now(deadline_); }
  Message linked(std::span<const audit::Draft> drafts) const;
  // What came of a message that was refused or not answered: the sequence it is kept under, or none
  // when another took its place. An error: it may come yet, or cannot be asked.
  Result<std::optional<std::uint64_t>> trace(const Error& error);

  const std::unique_ptr<nats::Connection> connection_;
  const std::string subject_;
  const Duration deadline_;
  audit::Link head_;             // of the last message, which has
  std::uint64_t sequence_ = 0;   // this sequence
  std::optional<Message> sent_;  // and is not known to be kept
};

Result<void> NatsEventSink::ChainStream::catch_up() {
  const std::optional<nats::Kept> last = PAWL_TRY(connection_->last(subject_, until()));
  audit::Link head;
  if (last) {
    std::string_view text = last->data;
    if (text.ends_with('\n')) text.remove_suffix(1);
    const auto before = text.rfind('\n');
    Result<audit::Link> link =
        audit::read_link(before == text.npos ? text : text.substr(before + 1));
    if (!link) {
      return failure(Code::invalid, "the last message of subject " + subject_ +
                                        " in the audit stream is not pawl's: " +
                                        link.error().message + "; name another stream");
    }
    head = *std::move(link);
  }
  head_ = std::move(head);
  sequence_ = last ? last->sequence : 0;
  return {};
}

NatsEventSink::ChainStream::Message NatsEventSink::ChainStream::linked(
    std::span<const audit::Draft> drafts) const {
  audit::Chain chain(head_);
  Message message;
  for (const audit::Draft& draft : drafts) {
    const bool fits =
        message.text.size() + draft.text.size() + link_bytes_max <= message_bytes_max();
    if (!fits && message.drafts > 0) break;
    chain.link(draft, message.text);
    ++message.drafts;
  }
  message.head = chain.head();
  return message;
}

Result<std::optional<std::uint64_t>> NatsEventSink::ChainStream::trace(const Error& error) {
  std::optional<nats::Kept> next;
  PAWL_TRY(connection_->walk(
      subject_, sequence_ + 1,
      [&](const nats::Kept& kept) {
        next = kept;
        return false;
      },
      until()));
  if (next) {
    return next->data == sent_->text ? std::optional(next->sequence) : std::nullopt;
  }
  const std::optional<nats::Kept> last = PAWL_TRY(connection_->last(subject_, until()));
  if ((last ? last->sequence : 0) < sequence_) {
    return failure(Code::invalid, "the audit stream does not end as pawl left it, with message " +
                                      std::to_string(sequence_) + " of subject " + subject_ +
                                      ": it was emptied, or the server lost its end");
  }
  return std::unexpected(Error(Code::unavailable, error.outcome, error.message));
}

Result<std::size_t> NatsEventSink::ChainStream::append(std::span<const audit::Draft> drafts) {
  for (int tries = 0; tries < overtaken_max; ++tries) {
    if (!sent_) sent_ = linked(drafts);
    const Result<std::uint64_t> put =
        connection_->put({.subject = subject_, .data = sent_->text, .after = sequence_}, until());
    std::optional<std::uint64_t> kept;
    if (put) {
      kept = *put;
    } else {
      const bool may_be_kept = !may_send_again(put.error().outcome);
      if (put.error().code != Code::refused && !may_be_kept) return std::unexpected(put.error());
      kept = PAWL_TRY(trace(put.error()));
    }
    const Message message = *std::exchange(sent_, std::nullopt);
    if (kept) {
      head_ = message.head;
      sequence_ = *kept;
      return message.drafts;
    }
    PAWL_TRY(catch_up());
  }
  return failure(Code::unavailable, "others append to the audit stream all the time");
}

Result<std::unique_ptr<NatsEventSink>> NatsEventSink::open(const NatsEventSinkOptions& options) {
  const std::string subject = "pawl.audit." + options.url.name;
  auto connection = PAWL_TRY(nats::Connection::open(
      options.url, {.name = options.url.name, .subjects = subject, .last_of_each_subject = false}));
  if (connection->message_bytes_max() < bounds::audit_event_bytes_max) {
    return failure(Code::invalid, "the audit stream " + options.url.name +
                                      " takes messages of at most " +
                                      std::to_string(connection->message_bytes_max()) +
                                      " bytes; an event may have " +
                                      std::to_string(bounds::audit_event_bytes_max));
  }
  auto stream = std::make_unique<ChainStream>(std::move(connection), subject, options.deadline);
  PAWL_TRY(stream->catch_up());
  try {
    return std::unique_ptr<NatsEventSink>(new NatsEventSink(std::move(stream), options.queue));
  } catch (const std::system_error& error) {
    return failure(Code::unavailable,
                   std::string("cannot start the audit stream's writer thread: ") + error.what());
  }
}

NatsEventSink::NatsEventSink(std::unique_ptr<ChainStream> stream,
                             const EventQueue::Options& options)
    : queue_(options),
      stream_(std::move(stream)),
      durability_(stream_->durability()),
      writer_([this] { write_until_closed(); }) {}

NatsEventSink::~NatsEventSink() {
  queue_.close();
  writer_.join();
}

Durability NatsEventSink::durability() const {
  return durability_;
}

void NatsEventSink::write_until_closed() {
  block_signals();
  while (true) {
    const std::span<const audit::Draft> batch = queue_.batch(stream_->message_bytes_max());
    if (batch.empty()) return;
    const Result<std::size_t> written = stream_->append(batch);
    if (written) {
      queue_.durable(*written);
      continue;
    }
    if (written.error().code != Code::unavailable) return queue_.fail(written.error());
    if (!queue_.pause_after(written.error(), bounds::nats_backoff)) return;
  }
}

}  // namespace pawl

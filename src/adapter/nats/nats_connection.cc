#include "adapter/nats/nats_connection.h"

#include <algorithm>
#include <csignal>
#include <mutex>
#include <nats/nats.h>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "adapter/nats/put_answer.h"
#include "base/bounds.h"

namespace pawl::nats {
namespace {

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* object) const {
    destroy(object);
  }
};
using Options = std::unique_ptr<natsOptions, Destroy<natsOptions_Destroy>>;
using Message = std::unique_ptr<natsMsg, Destroy<natsMsg_Destroy>>;
using Subscription = std::unique_ptr<natsSubscription, Destroy<natsSubscription_Destroy>>;
using StreamInfo = std::unique_ptr<jsStreamInfo, Destroy<jsStreamInfo_Destroy>>;

constexpr std::int64_t fetch_ms = 250;
// How long a server keeps what belongs to a walk whose walker has died.
constexpr std::int64_t walk_kept_ns = 30'000'000'000;

// Of what the two headers take; servers count them with the message.
constexpr std::int64_t header_bytes_max = 256;
constexpr const char* after_header = "Nats-Expected-Last-Subject-Sequence";
constexpr const char* stream_header = "Nats-Expected-Stream";

// At least one: the library takes none for "no limit" in places.
std::int64_t milliseconds_to(Until until) {
  const auto left = until - std::chrono::steady_clock::now();
  return std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::milliseconds>(left).count());
}

jsOptions options_until(Until until) {
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = milliseconds_to(until);
  return options;
}

// Threads inherit the mask: signals are for those that expect them.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

Outcome outcome_of(natsStatus status) {
  switch (status) {
    case NATS_INSUFFICIENT_BUFFER:  // while it reconnects: the library may keep nothing
    case NATS_MAX_PAYLOAD:
    case NATS_NO_RESPONDERS:
    case NATS_INVALID_ARG:
    case NATS_INVALID_SUBJECT:
    case NATS_NOT_PERMITTED:
    case NATS_NO_MEMORY:
      return Outcome::not_applied;
    default:
      return Outcome::unknown;
  }
}

std::string why(natsStatus status) {
  switch (status) {
    case NATS_TIMEOUT:
      return "it did not answer in time";
    case NATS_CONNECTION_DISCONNECTED:
    case NATS_CONNECTION_CLOSED:
      return "the connection broke before it answered";
    case NATS_INSUFFICIENT_BUFFER:
      return "the connection is lost; it is being sought";
    case NATS_NO_RESPONDERS:
      return "nobody there keeps the stream: JetStream is not ready, or the stream is gone";
    default:
      return natsStatus_GetText(status);
  }
}

// What the library, or the server, said to this thread last. It has no URL with a password in it.
std::string last_words(natsStatus status) {
  const char* found = nats_GetLastError(nullptr);
  std::string_view words = found == nullptr ? "" : found;
  if (const auto place = words.find("): "); place != words.npos) words.remove_prefix(place + 3);
  return words.empty() ? why(status) : std::string(words);
}

// Connected, or on the way to be again. Destroying it closes the connection.
struct Link {
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() {
    jsCtx_Destroy(stream);
    natsConnection_Destroy(connection);
  }

  natsConnection* connection = nullptr;
  jsCtx* stream = nullptr;
};

Result<Options> options_of(const NatsUrl& url) {
  natsOptions* made = nullptr;
  natsStatus status = natsOptions_Create(&made);
  Options options(made);
  const auto set = [&](natsStatus next) { status = status == NATS_OK ? next : status; };

  std::vector<std::string> servers;
  for (const Target& server : url.servers) {
    servers.push_back((url.tls ? "tls://" : "nats://") + to_string(server));
  }
  std::vector<const char*> names;
  for (const std::string& server : servers) names.push_back(server.c_str());
  set(natsOptions_SetServers(made, names.data(), static_cast<int>(names.size())));
  set(natsOptions_SetName(made, "pawl"));
  if (!url.user.empty()) {
    set(natsOptions_SetUserInfo(made, url.user.c_str(), url.password.reveal().c_str()));
  } else if (!url.password.empty()) {
    set(natsOptions_SetToken(made, url.password.reveal().c_str()));
  }
  if (url.tls) set(natsOptions_SetSecure(made, true));
  if (!url.ca_file.empty()) {
    set(natsOptions_LoadCATrustedCertificates(made, url.ca_file.c_str()));
  }
  set(natsOptions_SetTimeout(made, bounds::nats_connect_deadline.milliseconds_up()));
  set(natsOptions_SetWriteDeadline(made, bounds::nats_silence_max.milliseconds_up()));
  // A server is given up when two questions have got no answer.
  set(natsOptions_SetPingInterval(made, bounds::nats_silence_max.milliseconds_up() / 2));
  set(natsOptions_SetMaxPingsOut(made, 1));
  set(natsOptions_SetSendAsap(made, true));
  set(natsOptions_SetMaxReconnect(made, -1));
  set(natsOptions_SetReconnectWait(made, bounds::nats_backoff.milliseconds_up()));
  // Nothing is kept to be sent later, and nobody waits for answers that cannot come.
  set(natsOptions_SetReconnectBufSize(made, 0));
  set(natsOptions_SetFailRequestsOnDisconnect(made, true));
  if (status != NATS_OK) {
    return failure(Code::invalid,
                   "cannot set up the connection to " + to_string(url) + ": " + why(status) +
                       (url.ca_file.empty() ? "" : "; is ca= a file of certificates?"));
  }
  return options;
}

jsStreamConfig config_of(const StreamForm& form, const char** subjects) {
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  config.Name = form.name.c_str();
  config.Subjects = subjects;
  config.SubjectsLen = 1;
  config.Storage = js_FileStorage;
  config.Discard = js_DiscardNew;
  config.DenyDelete = true;
  config.MaxMsgsPerSubject = form.last_of_each_subject ? 1 : -1;
  // A log is only ever appended to; a bucket is what other tools expect of one.
  config.DenyPurge = !form.last_of_each_subject;
  config.AllowRollup = form.last_of_each_subject;
  config.AllowDirect = form.last_of_each_subject;
  return config;
}

// What makes a stream unfit; empty when nothing does.
std::string unfit(const jsStreamConfig& config, const StreamForm& form) {
  const std::span subjects(config.Subjects, static_cast<std::size_t>(config.SubjectsLen));
  if (std::ranges::none_of(subjects, [&](const char* s) { return form.subjects == s; })) {
    return "it does not take the subject " + form.subjects;
  }
  if (config.MaxAge > 0) return "it forgets by age; set its maximum age to 0";
  if (config.Retention != js_LimitsPolicy) return "it forgets what was read; use limits retention";
  if ((config.MaxMsgs > 0 || config.MaxBytes > 0) && config.Discard != js_DiscardNew) {
    return "it forgets the oldest when it is full; set its discard policy to new";
  }
  if (form.last_of_each_subject != (config.MaxMsgsPerSubject == 1)) {
    return form.last_of_each_subject ? "it keeps a history; set its messages a subject to 1"
                                     : "it limits its messages a subject; set no limit";
  }
  if (config.NoAck || config.Sealed || config.Mirror != nullptr) {
    return "it is a mirror, sealed, or acknowledges nothing";
  }
  return {};
}

}  // namespace

Until from_now(Duration duration) {
  return std::chrono::steady_clock::now() + std::chrono::nanoseconds(duration.ns());
}

class Connection::Core {
 public:
  Core(const NatsUrl& url, StreamForm form) : url_(url), form_(std::move(form)) {}

  Result<std::shared_ptr<Link>> link();
  Result<void> health();
  Result<void> connect();
  Result<void> prepare(Until until);

  Error error(natsStatus status, Code code = Code::unavailable) const {
    return {code, outcome_of(status), "NATS at " + where() + ": " + why(status)};
  }
  // What the server itself answered to a question about the stream.
  Error told(natsStatus status, jsErrCode code, std::string_view doing) const;
  Error refusal(const PutAnswer& answer) const;
  Result<Message> message(const Put& put) const;
  PutAnswer answer_in(natsMsg& message) const;
  Result<std::optional<Kept>> read(const char* subject, std::uint64_t sequence, Until until);
  Result<void> fetch(natsSubscription& walk, Until until, bool& more,
                     const std::function<bool(const Kept&)>& each) const;

  std::string where() const { return to_string(url_); }
  const StreamForm& form() const { return form_; }
  Durability durability() const { return durability_; }
  std::size_t message_bytes_max() const { return message_bytes_max_; }

 private:
  Result<StreamInfo> stream_info(Link& link, Until until);

  const NatsUrl url_;
  const StreamForm form_;
  Durability durability_ = Durability::none;
  std::size_t message_bytes_max_ = 0;

  std::mutex mutex_;  // guards what follows
  std::shared_ptr<Link> link_;
  Until connect_at_ = {};  // not before, when the library has given up
};

// The library connects again by itself, but gives up for good when a login was refused twice: then
// a call begins anew, now and then, and those beside it fail at once.
Result<std::shared_ptr<Link>> Connection::Core::link() {
  std::unique_lock lock(mutex_);
  if (natsConnection_IsClosed(link_->connection) &&
      std::chrono::steady_clock::now() > connect_at_) {
    connect_at_ = Until::max();
    lock.unlock();
    const Result<void> connected = connect();
    lock.lock();
    connect_at_ = from_now(bounds::nats_backoff);
    if (!connected) return std::unexpected(connected.error());
  }
  if (natsConnection_Status(link_->connection) == NATS_CONN_STATUS_CONNECTED) return link_;
  return std::unexpected(error(NATS_INSUFFICIENT_BUFFER));
}

Result<void> Connection::Core::health() {
  const std::lock_guard guard(mutex_);
  if (natsConnection_Status(link_->connection) == NATS_CONN_STATUS_CONNECTED) return {};
  return std::unexpected(error(NATS_INSUFFICIENT_BUFFER));
}

Result<void> Connection::Core::connect() {
  const Options options = PAWL_TRY(options_of(url_));
  const SignalsBlocked blocked;
  auto link = std::make_shared<Link>();
  natsStatus status = natsConnection_Connect(&link->connection, options.get());
  if (status == NATS_OK) {
    status = natsConnection_JetStream(&link->stream, link->connection, nullptr);
  }
  if (status != NATS_OK) {
    return failure(Code::unavailable,
                   "cannot connect to NATS at " + where() + ": " + last_words(status));
  }
  const std::lock_guard guard(mutex_);
  link_ = std::move(link);
  return {};
}

Error Connection::Core::told(natsStatus status, jsErrCode code, std::string_view doing) const {
  if (code == 0) return error(status);
  return {Code::unavailable, Outcome::not_applied,
          "NATS at " + where() + " refused to " + std::string(doing) + ": " + last_words(status)};
}

Error Connection::Core::refusal(const PutAnswer& answer) const {
  const Code code =
      answer.verdict == PutAnswer::Verdict::overtaken ? Code::refused : Code::unavailable;
  return {code, answer.outcome(), "NATS at " + where() + ": " + answer.words};
}

Result<StreamInfo> Connection::Core::stream_info(Link& link, Until until) {
  jsOptions options = options_until(until);
  jsStreamInfo* info = nullptr;
  jsErrCode code = {};
  natsStatus status = js_GetStreamInfo(&info, link.stream, form_.name.c_str(), &options, &code);
  if (status == NATS_NOT_FOUND || code == JSStreamNotFoundErr) {
    const char* subjects[] = {form_.subjects.c_str()};
    jsStreamConfig config = config_of(form_, subjects);
    status = js_AddStream(&info, link.stream, &config, &options, &code);
    if (code == JSStreamNameExistErr) {  // made by a neighbour meanwhile
      status = js_GetStreamInfo(&info, link.stream, form_.name.c_str(), &options, &code);
    }
  }
  if (status != NATS_OK) return std::unexpected(told(status, code, "make stream " + form_.name));
  return StreamInfo(info);
}

Result<void> Connection::Core::prepare(Until until) {
  const auto link = PAWL_TRY(this->link());
  const StreamInfo info = PAWL_TRY(stream_info(*link, until));
  const jsStreamConfig& config = *info->Config;
  if (const std::string flaw = unfit(config, form_); !flaw.empty()) {
    return failure(Code::invalid,
                   "stream " + form_.name + " of NATS at " + where() + " is not fit: " + flaw);
  }
  durability_ = config.Storage == js_FileStorage ? Durability::process : Durability::none;
  std::int64_t bytes_max = natsConnection_GetMaxPayload(link->connection);
  if (config.MaxMsgSize > 0) bytes_max = std::min<std::int64_t>(bytes_max, config.MaxMsgSize);
  message_bytes_max_ =
      static_cast<std::size_t>(std::max<std::int64_t>(0, bytes_max - header_bytes_max));
  return {};
}

Result<Message> Connection::Core::message(const Put& put) const {
  if (put.data.size() > message_bytes_max_) {
    return failure(Code::invalid, "NATS at " + where() + " takes messages of at most " +
                                      std::to_string(message_bytes_max_) + " bytes, and this has " +
                                      std::to_string(put.data.size()));
  }
  natsMsg* made = nullptr;
  natsStatus status = natsMsg_Create(&made, put.subject.c_str(), nullptr, put.data.data(),
                                     static_cast<int>(put.data.size()));
  Message message(made);
  if (status == NATS_OK) {
    status = natsMsgHeader_Set(made, after_header, std::to_string(put.after).c_str());
  }
  if (status == NATS_OK) status = natsMsgHeader_Set(made, stream_header, form_.name.c_str());
  if (status != NATS_OK) return std::unexpected(error(status, Code::internal));
  return message;
}

PutAnswer Connection::Core::answer_in(natsMsg& message) const {
  if (natsMsg_IsNoResponders(&message)) {
    return {.verdict = PutAnswer::Verdict::refused, .words = why(NATS_NO_RESPONDERS)};
  }
  return read_put_answer(
      {natsMsg_GetData(&message), static_cast<std::size_t>(natsMsg_GetDataLength(&message))});
}

Result<std::unique_ptr<Connection>> Connection::open(const NatsUrl& url, StreamForm form) {
  auto core = std::make_unique<Core>(url, std::move(form));
  PAWL_TRY(core->connect());
  PAWL_TRY(core->prepare(from_now(bounds::nats_deadline)));
  return std::unique_ptr<Connection>(new Connection(std::move(core)));
}

Connection::Connection(std::unique_ptr<Core> core) : core_(std::move(core)) {}

Connection::~Connection() = default;

Result<std::uint64_t> Connection::put(const Put& put, Until until) {
  const auto link = PAWL_TRY(core_->link());
  const Message message = PAWL_TRY(core_->message(put));
  natsMsg* reply = nullptr;
  const natsStatus status =
      natsConnection_RequestMsg(&reply, link->connection, message.get(), milliseconds_to(until));
  const Message owned(reply);
  if (status != NATS_OK) return std::unexpected(core_->error(status));
  const PutAnswer answer = core_->answer_in(*reply);
  if (answer.verdict != PutAnswer::Verdict::kept) return std::unexpected(core_->refusal(answer));
  return answer.sequence;
}

namespace {

Kept kept_of(natsMsg& message, std::uint64_t sequence) {
  return {.sequence = sequence,
          .subject = natsMsg_GetSubject(&message),
          .data = {natsMsg_GetData(&message),
                   static_cast<std::size_t>(natsMsg_GetDataLength(&message))}};
}

}  // namespace

// The last of the subject, or without one what has this sequence.
Result<std::optional<Kept>> Connection::Core::read(const char* subject, std::uint64_t sequence,
                                                   Until until) {
  const auto link = PAWL_TRY(this->link());
  jsOptions options = options_until(until);
  const char* name = form_.name.c_str();
  natsMsg* found = nullptr;
  jsErrCode code = {};
  const natsStatus status =
      subject != nullptr ? js_GetLastMsg(&found, link->stream, name, subject, &options, &code)
                         : js_GetMsg(&found, link->stream, name, sequence, &options, &code);
  const Message message(found);
  if (code == JSNoMessageFoundErr) return std::nullopt;
  if (status != NATS_OK) return std::unexpected(told(status, code, "read"));
  return kept_of(*found, natsMsg_GetSequence(found));
}

Result<std::optional<Kept>> Connection::last(const std::string& subject, Until until) {
  return core_->read(subject.c_str(), 0, until);
}

Result<std::optional<Kept>> Connection::at(std::uint64_t sequence, Until until) {
  return core_->read(nullptr, sequence, until);
}

Result<void> Connection::Core::fetch(natsSubscription& walk, Until until, bool& more,
                                     const std::function<bool(const Kept&)>& each) const {
  jsOptions options = options_until(until);
  jsConsumerInfo* info = nullptr;
  jsErrCode code = {};
  natsStatus status = natsSubscription_GetConsumerInfo(&info, &walk, &options, &code);
  more = status == NATS_OK && info->NumPending > 0;
  jsConsumerInfo_Destroy(info);
  if (status != NATS_OK) return std::unexpected(told(status, code, "list"));
  if (!more) return {};
  natsMsgList list = {};
  status = natsSubscription_Fetch(&list, &walk, static_cast<int>(bounds::nats_fetch_max),
                                  std::min(milliseconds_to(until), fetch_ms), &code);
  // Not in so short a time: what was there a moment ago may have been forgotten. Ask again.
  if (status == NATS_TIMEOUT && std::chrono::steady_clock::now() < until) return {};
  if (status != NATS_OK) return std::unexpected(told(status, code, "list"));
  for (int i = 0; i < list.Count && more; ++i) {
    jsMsgMetaData* place = nullptr;
    if (natsMsg_GetMetaData(&place, list.Msgs[i]) != NATS_OK) continue;
    more = each(kept_of(*list.Msgs[i], place->Sequence.Stream)) && place->NumPending > 0;
    jsMsgMetaData_Destroy(place);
  }
  natsMsgList_Destroy(&list);
  return {};
}

Result<void> Connection::walk(const std::string& subjects, std::uint64_t first,
                              const std::function<bool(const Kept&)>& each, Until until) {
  const auto link = PAWL_TRY(core_->link());
  jsOptions options = options_until(until);
  jsSubOptions how;
  jsSubOptions_Init(&how);
  how.Stream = core_->form().name.c_str();
  how.Config.AckPolicy = js_AckNone;
  how.Config.DeliverPolicy = js_DeliverByStartSequence;
  how.Config.OptStartSeq = std::max<std::uint64_t>(1, first);
  how.Config.InactiveThreshold = walk_kept_ns;
  how.Config.MemoryStorage = true;
  natsSubscription* made = nullptr;
  jsErrCode code = {};
  const natsStatus status =
      js_PullSubscribe(&made, link->stream, subjects.c_str(), nullptr, &options, &how, &code);
  const Subscription walk(made);
  if (status != NATS_OK) return std::unexpected(core_->told(status, code, "list"));

  Result<void> walked;
  bool more = true;
  while (walked && more) walked = core_->fetch(*made, until, more, each);
  natsSubscription_Unsubscribe(made);
  return walked;
}

Result<void> Connection::forget(const std::string& subject, std::uint64_t up_to, Until until) {
  const auto link = PAWL_TRY(core_->link());
  jsOptions options = options_until(until);
  options.Stream.Purge.Subject = subject.c_str();
  options.Stream.Purge.Sequence = up_to + 1;
  jsErrCode code = {};
  const natsStatus status =
      js_PurgeStream(link->stream, core_->form().name.c_str(), &options, &code);
  if (status != NATS_OK) return std::unexpected(core_->told(status, code, "forget"));
  return {};
}

Durability Connection::durability() const {
  return core_->durability();
}

std::size_t Connection::message_bytes_max() const {
  return core_->message_bytes_max();
}

Result<void> Connection::health() const {
  return core_->health();
}

Result<void> Connection::seek() {
  PAWL_TRY(core_->link());
  return {};
}

}  // namespace pawl::nats

#include "adapter/curl/curl_http_client.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <curl/curl.h>
#include <deque>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/text.h"
#include "core/http/chars.h"

namespace pawl {
namespace {

constexpr int poll_ms = 1'000;

// libcurl counts those who have initialised it.
struct Library {
  Library() : ready(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK) {}
  ~Library() {
    if (ready) curl_global_cleanup();
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  const bool ready;
};

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, FreeEasy>;
using Multi = std::unique_ptr<CURLM, FreeMulti>;
using List = std::unique_ptr<curl_slist, FreeList>;

std::optional<IpAddress> address_of(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    std::array<std::uint8_t, 4> bytes{};
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in&>(address).sin_addr, 4);
    return IpAddress::v4(bytes);
  }
  if (address.sa_family != AF_INET6) return std::nullopt;
  std::array<std::uint8_t, 16> bytes{};
  std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, 16);
  return IpAddress::v6(bytes);
}

bool has_field(const HttpRequest& request, std::string_view name) {
  return std::ranges::any_of(request.fields, [&](const HttpField& field) {
    return equal_ignoring_case(field.name, name);
  });
}

Result<void> check(const HttpRequest& request) {
  const auto bad = [](std::string_view why) {
    return failure(Code::invalid, "this is no HTTP request: " + std::string(why));
  };
  if (!http::is_token(request.method)) return bad("its method is no token");
  if (!is_visible(request.url)) return bad("its URL has characters that no URL has");
  if (request.connect_deadline <= Duration() || request.deadline <= Duration()) {
    return bad("it has no time: both deadlines must be above zero");
  }
  for (const HttpField& field : request.fields) {
    const bool well =
        http::is_token(field.name) && std::ranges::all_of(field.value, http::is_field_char);
    if (!well) return bad("the field '" + field.name + "' has characters that no field has");
  }
  return {};
}

bool brings_body(const HttpRequest& request) {
  return !request.body.empty() || request.method == "POST" || request.method == "PUT" ||
         request.method == "PATCH";
}

// What the caller gave, and nothing that libcurl would add; an empty value is written "Name;".
List field_lines(const HttpRequest& request) {
  curl_slist* lines = nullptr;
  const auto add = [&](const std::string& line) {
    curl_slist* longer = curl_slist_append(lines, line.c_str());
    if (longer != nullptr) lines = longer;
  };
  for (const HttpField& field : request.fields) {
    add(field.name + (field.value.empty() ? ";" : ": " + field.value));
  }
  for (const char* unwanted : {"Expect", "Accept", "Content-Type"}) {
    if (!has_field(request, unwanted)) add(std::string(unwanted) + ":");
  }
  return List(lines);
}

long milliseconds(Duration duration) {
  const std::int64_t up = (duration.ns() + 999'999) / 1'000'000;
  return static_cast<long>(std::clamp<std::int64_t>(up, 1, 1'000'000'000));
}

}  // namespace

// One request under way. libcurl calls back on the client's thread alone.
class CurlHttpClient::Transfer {
 public:
  Transfer(HttpRequest request, Done done) : request_(std::move(request)), done_(std::move(done)) {}

  // Nothing: libcurl has no memory.
  CURL* open(const CurlHttpClientOptions& options);
  void end(CURLcode code);
  void fail(Error error) { std::exchange(done_, {})(std::unexpected(std::move(error))); }
  CURL* easy() const { return easy_.get(); }

 private:
  template <class T>
  void set(CURLoption option, T value) {
    well_ = curl_easy_setopt(easy_.get(), option, value) == CURLE_OK && well_;
  }
  void set_request();
  void set_callbacks();

  bool may_connect(const std::optional<IpAddress>& address);
  bool on_field(std::string_view line);
  bool on_body(std::string_view piece);
  Error error_of(CURLcode code) const;

  static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int before_request(void* self, char* address, char*, int, int);
  static std::size_t field(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t body(char* data, std::size_t size, std::size_t count, void* self);

  const HttpRequest request_;
  Done done_;
  Easy easy_;
  List lines_;
  bool well_ = true;
  std::array<char, CURL_ERROR_SIZE> words_ = {};

  bool refused_ = false;  // an address
  bool allowed_ = false;  // another one
  bool asked_ = false;    // from here on something may have left
  bool again_ = false;    // libcurl wanted to send it a second time
  HttpAnswer answer_;
  std::size_t field_bytes_ = 0;
  bool head_ended_ = false;
};

CURL* CurlHttpClient::Transfer::open(const CurlHttpClientOptions& options) {
  easy_.reset(curl_easy_init());
  lines_ = field_lines(request_);
  if (easy_ == nullptr || lines_ == nullptr) return nullptr;
  set_request();
  set_callbacks();
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_ERRORBUFFER, words_.data());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // a resolver that hangs does not hold up the others
  // Libcurl would look at the environment otherwise.
  set(CURLOPT_PROXY, options.proxy.reveal().c_str());
  set(CURLOPT_NOPROXY, "");
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_2TLS});
  set(CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  if (!options.ca_file.empty()) set(CURLOPT_CAINFO, options.ca_file.c_str());
  return well_ ? easy_.get() : nullptr;
}

void CurlHttpClient::Transfer::set_request() {
  set(CURLOPT_URL, request_.url.c_str());
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_HTTPHEADER, lines_.get());
  // The field itself is the caller's; this has libcurl unpack what comes.
  if (has_field(request_, "Accept-Encoding")) set(CURLOPT_ACCEPT_ENCODING, "gzip");
  set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request_.connect_deadline));
  set(CURLOPT_TIMEOUT_MS, milliseconds(request_.deadline));
  if (request_.stall > Duration()) {
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(request_.stall.seconds_up()));
  }
  if (request_.method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
    return;
  }
  if (brings_body(request_)) {
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    set(CURLOPT_POSTFIELDS, request_.body.data());
  }
  set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
}

void CurlHttpClient::Transfer::set_callbacks() {
  set(CURLOPT_OPENSOCKETFUNCTION, open_socket);
  set(CURLOPT_OPENSOCKETDATA, this);
  set(CURLOPT_PREREQFUNCTION, before_request);
  set(CURLOPT_PREREQDATA, this);
  set(CURLOPT_HEADERFUNCTION, field);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, body);
  set(CURLOPT_WRITEDATA, this);
}

bool CurlHttpClient::Transfer::may_connect(const std::optional<IpAddress>& address) {
  if (!request_.may_connect) return true;
  const bool may = address && request_.may_connect(*address);
  refused_ = refused_ || !may;
  allowed_ = allowed_ || may;
  return may;
}

curl_socket_t CurlHttpClient::Transfer::open_socket(void* self, curlsocktype,
                                                    curl_sockaddr* address) {
  auto& transfer = *static_cast<Transfer*>(self);
  if (!transfer.may_connect(address_of(address->addr))) return CURL_SOCKET_BAD;
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

int CurlHttpClient::Transfer::before_request(void* self, char* address, char*, int, int) {
  auto& transfer = *static_cast<Transfer*>(self);
  if (transfer.asked_) {
    transfer.again_ = true;
    return CURL_PREREQFUNC_ABORT;
  }
  const auto parsed = parse_ip(address);
  if (!transfer.may_connect(parsed ? std::optional(*parsed) : std::nullopt)) {
    return CURL_PREREQFUNC_ABORT;
  }
  transfer.asked_ = true;
  return CURL_PREREQFUNC_OK;
}

std::size_t CurlHttpClient::Transfer::field(char* data, std::size_t size, std::size_t count,
                                            void* self) {
  const std::size_t bytes = size * count;
  return static_cast<Transfer*>(self)->on_field({data, bytes}) ? bytes : 0;
}

std::size_t CurlHttpClient::Transfer::body(char* data, std::size_t size, std::size_t count,
                                           void* self) {
  const std::size_t bytes = size * count;
  return static_cast<Transfer*>(self)->on_body({data, bytes}) ? bytes : 0;
}

// A line of a head, the first and the empty last one too. Each head (100, 103, then the real one)
// takes the place of the one before; what comes behind a body is not looked at.
bool CurlHttpClient::Transfer::on_field(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/") && answer_.body.empty()) {
    answer_ = {};
    field_bytes_ = 0;
    head_ended_ = false;
    long status = 0;
    (void)curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    answer_.status = static_cast<int>(status);
    return true;
  }
  if (head_ended_) return true;
  head_ended_ = line.empty();
  field_bytes_ += line.size();
  if (field_bytes_ > bounds::http_call_fields_bytes_max) return false;
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return true;
  HttpField one{.name = std::string(trim_blanks(line.substr(0, colon))),
                .value = std::string(trim_blanks(line.substr(colon + 1)))};
  std::ranges::transform(one.name, one.name.begin(), ascii_lower);
  answer_.fields.push_back(std::move(one));
  return true;
}

bool CurlHttpClient::Transfer::on_body(std::string_view piece) {
  const std::size_t room = request_.body_bytes_max - answer_.body.size();
  answer_.body.append(piece.substr(0, room));
  return piece.size() <= room;
}

void CurlHttpClient::Transfer::end(CURLcode code) {
  if (head_ended_ && answer_.status >= 200) {
    answer_.complete = code == CURLE_OK;
    return std::exchange(done_, {})(std::move(answer_));
  }
  fail(error_of(code));
}

Error CurlHttpClient::Transfer::error_of(CURLcode code) const {
  if (refused_ && !allowed_) {
    return {Code::refused, Outcome::not_applied,
            "the host leads to an address that may not be called from here"};
  }
  const Outcome outcome = asked_ ? Outcome::unknown : Outcome::not_applied;
  if (again_) {
    return {Code::unavailable, outcome, "the connection broke before an answer came"};
  }
  const bool malformed = code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL;
  const std::string_view words = words_[0] != '\0' ? words_.data() : curl_easy_strerror(code);
  return {malformed ? Code::invalid : Code::unavailable, outcome,
          "no answer: " + std::string(words)};
}

// The thread and what it works on.
class CurlHttpClient::Worker {
 public:
  explicit Worker(CurlHttpClientOptions options)
      : options_(std::move(options)), multi_(curl_multi_init()) {}
  ~Worker() { close(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Result<void> start();
  void take(std::unique_ptr<Transfer> transfer);

 private:
  void close();
  void run();
  void begin_new();
  void finish_some();
  void break_off_all();

  const CurlHttpClientOptions options_;
  const Library library_;
  const Multi multi_;
  std::map<CURL*, std::unique_ptr<Transfer>> under_way_;  // the thread's alone

  std::mutex mutex_;  // guards what follows
  std::deque<std::unique_ptr<Transfer>> waiting_;
  std::size_t open_ = 0;  // waiting, or under way
  bool closing_ = false;
  std::thread thread_;
};

Result<void> CurlHttpClient::Worker::start() {
  if (!library_.ready || multi_ == nullptr) {
    return failure(Code::unavailable, "cannot set up libcurl: it has no memory");
  }
  curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, long{bounds::http_calls_idle_max});
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return failure(Code::unavailable,
                   std::string("cannot start the thread of the HTTP client: ") + error.what());
  }
  return {};
}

void CurlHttpClient::Worker::take(std::unique_ptr<Transfer> transfer) {
  {
    const std::lock_guard lock(mutex_);
    if (open_ < bounds::http_calls_max && !closing_) {
      ++open_;
      waiting_.push_back(std::move(transfer));
    }
  }
  if (transfer == nullptr) {
    curl_multi_wakeup(multi_.get());
    return;
  }
  transfer->fail({Code::unavailable, Outcome::not_applied,
                  std::to_string(bounds::http_calls_max) +
                      " HTTP requests are under way, and no more may be begun"});
}

void CurlHttpClient::Worker::close() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  curl_multi_wakeup(multi_.get());
  thread_.join();
}

void CurlHttpClient::Worker::run() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are for the threads that expect them
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (closing_) break;
    }
    begin_new();
    int running = 0;
    (void)curl_multi_perform(multi_.get(), &running);
    finish_some();
    (void)curl_multi_poll(multi_.get(), nullptr, 0, poll_ms, nullptr);
  }
  break_off_all();
}

void CurlHttpClient::Worker::begin_new() {
  std::deque<std::unique_ptr<Transfer>> fresh;
  {
    const std::lock_guard lock(mutex_);
    fresh.swap(waiting_);
  }
  for (std::unique_ptr<Transfer>& transfer : fresh) {
    CURL* easy = transfer->open(options_);
    if (easy != nullptr && curl_multi_add_handle(multi_.get(), easy) == CURLM_OK) {
      under_way_.emplace(easy, std::move(transfer));
      continue;
    }
    {
      const std::lock_guard lock(mutex_);
      --open_;
    }
    transfer->fail({Code::unavailable, Outcome::not_applied, "cannot begin: no memory"});
  }
}

void CurlHttpClient::Worker::finish_some() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    const auto found = under_way_.find(message->easy_handle);
    const std::unique_ptr<Transfer> ended = std::move(found->second);
    under_way_.erase(found);
    curl_multi_remove_handle(multi_.get(), ended->easy());
    {
      const std::lock_guard lock(mutex_);
      --open_;
    }
    ended->end(code);
  }
}

void CurlHttpClient::Worker::break_off_all() {
  for (auto& [easy, transfer] : under_way_) {
    curl_multi_remove_handle(multi_.get(), easy);
    transfer->end(CURLE_ABORTED_BY_CALLBACK);
  }
  under_way_.clear();
  for (const auto& transfer : std::exchange(waiting_, {})) {
    transfer->fail({Code::unavailable, Outcome::not_applied, "it was not begun: pawl is ending"});
  }
}

Result<std::unique_ptr<CurlHttpClient>> CurlHttpClient::open(CurlHttpClientOptions options) {
  auto worker = std::make_unique<Worker>(std::move(options));
  PAWL_TRY(worker->start());
  return std::unique_ptr<CurlHttpClient>(new CurlHttpClient(std::move(worker)));
}

CurlHttpClient::CurlHttpClient(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}
CurlHttpClient::~CurlHttpClient() = default;

void CurlHttpClient::send(HttpRequest request, Done done) {
  if (const Result<void> valid = check(request); !valid) {
    return done(std::unexpected(valid.error()));
  }
  worker_->take(std::make_unique<Transfer>(std::move(request), std::move(done)));
}

}  // namespace pawl

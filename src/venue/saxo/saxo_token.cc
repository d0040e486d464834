#include "venue/saxo/saxo_token.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/bounds.h"
#include "base/json.h"
#include "base/percent.h"
#include "base/text.h"
#include "venue/common/wire.h"
#include "venue/saxo/saxo_token_file.h"

namespace pawl::saxo {
namespace {

// Nothing where it is missing, negative or zero: then a 401 tells.
std::optional<Instant> end_of(const json::Value& body, std::string_view member, Instant now) {
  const std::string text = venue::text_of(body, member);
  std::int64_t seconds = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, seconds);
  if (read.ec != std::errc() || seconds <= 0) return std::nullopt;
  return now + Duration::seconds(seconds);
}

bool is_good_token(std::string_view token) {
  return !token.empty() && token.size() <= bounds::token_bytes_max && is_visible(token);
}

HttpRequest renewal(const TokenOptions& options, const Tokens& tokens) {
  HttpRequest request{.method = "POST", .url = options.url, .deadline = bounds::token_deadline};
  request.fields = {{"Content-Type", "application/x-www-form-urlencoded"},
                    {"Accept", "application/json"},
                    {"Accept-Encoding", "gzip"}};
  request.body = venue::query_of(
      {{"grant_type", "refresh_token"}, {"refresh_token", tokens.refresh.reveal()}});
  if (!options.app_secret.empty()) {
    const std::string pair = options.app_key + ':' + options.app_secret.reveal();
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(pair.data());
    request.fields.push_back({"Authorization", "Basic " + to_base64({bytes, pair.size()})});
  } else if (!options.app_key.empty()) {
    request.body += "&client_id=" + percent_encoded(options.app_key);
  }
  return request;
}

// The words of OAuth for what went wrong; nothing of the body besides.
std::string oauth_error(const HttpAnswer& answer) {
  const auto body = json::parse(answer.body);
  const std::string word = body ? venue::text_of(*body, "error") : "";
  const bool plain = word.size() <= 40 && std::ranges::all_of(word, [](char c) {
                       return (c >= 'a' && c <= 'z') || c == '_';
                     });
  return "HTTP " + std::to_string(answer.status) + (plain && !word.empty() ? " " + word : "");
}

Result<Tokens> tokens_of(const Result<HttpAnswer>& answer, const Tokens& before, Instant now) {
  if (!answer) {
    return failure(Code::unavailable, "no answer to the renewal of the access token: " +
                                          venue::for_people(answer.error().message));
  }
  if (answer->status == 400 || answer->status == 401 || answer->status == 403) {
    return failure(Code::refused, "Saxo does not renew the access token (" + oauth_error(*answer) +
                                      "): log in again, and set new tokens");
  }
  const auto body = json::parse(answer->body);
  const bool good = (answer->status == 200 || answer->status == 201) && answer->complete && body &&
                    is_good_token(venue::text_of(*body, "access_token"));
  if (!good) {
    return failure(Code::unavailable,
                   "the renewal of the access token had an answer that makes "
                   "no sense (" +
                       oauth_error(*answer) + ")");
  }
  Tokens tokens{.access = Secret(venue::text_of(*body, "access_token")),
                .refresh = before.refresh,
                .since = now,
                .access_ends = end_of(*body, "expires_in", now),
                .refresh_ends = end_of(*body, "refresh_token_expires_in", now),
                .origin = before.origin};
  const std::string refresh = venue::text_of(*body, "refresh_token");
  if (is_good_token(refresh)) tokens.refresh = Secret(refresh);
  return tokens;
}

}  // namespace

class TokenKeeper::State : public std::enable_shared_from_this<State> {
 public:
  State(TokenOptions options, Ports ports) : options_(std::move(options)), ports_(ports) {}

  Result<void> load();
  Result<Secret<std::string>> at_hand();
  void get(Done done);
  void refused(const std::string& token);
  void renew(const std::string& refused, Done done);

 private:
  // Holding the mutex.
  bool is_near_end() const;
  bool is_over() const;
  void begin();
  void ask_lock(SteadyInstant deadline);
  void ask_saxo();
  void take(const Result<HttpAnswer>& answer);
  bool adopt(const std::optional<Tokens>& kept);
  void keep();
  void finish(Result<void> result);
  void note(const std::string& text) {
    if (ports_.note) ports_.note(text);
  }

  const TokenOptions options_;
  const Ports ports_;
  std::optional<TokenFile> file_;

  std::mutex mutex_;  // guards what follows; nobody is called while it is held
  Tokens tokens_;
  std::string passed_over_;  // origin of a file that is older than the configuration
  bool unsaved_ = false;
  bool renewing_ = false;
  std::string refused_;
  std::string turned_away_;  // the last token that Saxo did not take
  std::string why_;          // the last renewal did not work; empty: it did
  std::vector<Done> waiters_;

  std::optional<TokenFile::Lock> lock_;  // whoever renews
};

Result<void> TokenKeeper::State::load() {
  tokens_ = {.access = options_.access,
             .refresh = options_.refresh,
             .origin = origin_of(options_.access, options_.refresh)};
  if (options_.file.empty()) return {};
  file_.emplace(options_.file);
  const auto kept = PAWL_TRY(file_->load());
  if (!kept) return {};
  const bool configured = !options_.access.empty() || !options_.refresh.empty();
  if (configured && kept->origin != tokens_.origin) {
    passed_over_ = kept->origin;
  } else {
    tokens_ = *kept;
  }
  return {};
}

bool TokenKeeper::State::is_near_end() const {
  if (tokens_.refresh.empty()) return false;
  if (is_over()) return true;
  if (!tokens_.access_ends) return false;
  Duration margin = bounds::token_margin_max;
  if (tokens_.since) {
    const Duration life = *tokens_.access_ends - *tokens_.since;
    margin = std::min(margin, life / 4);
  }
  return ports_.clock.wall_now() >= *tokens_.access_ends - margin;
}

// One that cannot be renewed is tried again whatever was said of it.
bool TokenKeeper::State::is_over() const {
  if (tokens_.access.empty()) return true;
  if (tokens_.refresh.empty()) return false;
  const bool ended = tokens_.access_ends && ports_.clock.wall_now() >= *tokens_.access_ends;
  return ended || tokens_.access.reveal() == turned_away_;
}

Result<Secret<std::string>> TokenKeeper::State::at_hand() {
  const std::lock_guard lock(mutex_);
  if (!is_over()) return tokens_.access;
  return failure(
      Code::unavailable,
      "not sent: there is no access token that Saxo takes" +
          (why_.empty() ? ", or it ended while the call waited for its turn" : ": " + why_));
}

void TokenKeeper::State::refused(const std::string& token) {
  const std::lock_guard lock(mutex_);
  turned_away_ = token;
}

void TokenKeeper::State::get(Done done) {
  Secret<std::string> token;
  bool near = false;
  bool over = false;
  bool hopeless = false;
  {
    const std::lock_guard lock(mutex_);
    near = is_near_end();
    over = is_over();
    token = tokens_.access;
    hopeless = token.empty() || token.reveal() == turned_away_;
  }
  if (!near) {
    if (token.empty()) {
      return done(failure(Code::refused, "there is no access token: log in, and set one"));
    }
    keep();
    return done(std::move(token));
  }
  // Ahead of its end it is still good, should the renewal not work. At its end it may be, by a
  // clock that is not ours, unless Saxo wants a login.
  const std::string held = token.reveal();
  renew(held, [over, hopeless, token = std::move(token),
               done = std::move(done)](Result<Secret<std::string>> renewed) mutable {
    const bool is_worth_trying =
        !renewed && !hopeless && (!over || renewed.error().code != Code::refused);
    if (is_worth_trying) return done(std::move(token));
    done(std::move(renewed));
  });
}

void TokenKeeper::State::renew(const std::string& refused, Done done) {
  std::optional<Result<Secret<std::string>>> at_once;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (!renewing_ && !tokens_.access.empty() && tokens_.access.reveal() != refused) {
      at_once = tokens_.access;  // somebody else has renewed it meanwhile
    } else if (tokens_.refresh.empty()) {
      at_once = failure(Code::refused,
                        "Saxo does not take the access token, and there is no refresh token to "
                        "renew it with: log in again, and set new tokens");
    } else if (waiters_.size() >= bounds::token_waiters_max) {
      at_once = failure(Code::unavailable, "too many calls wait for a new access token");
    } else {
      first = !std::exchange(renewing_, true);
      if (first) refused_ = refused;
      waiters_.push_back(std::move(done));
    }
  }
  if (at_once) return done(*std::move(at_once));
  if (first) begin();
}

void TokenKeeper::State::begin() {
  if (!file_) return ask_saxo();
  ask_lock(ports_.clock.steady_now() + bounds::token_lock_wait);
}

void TokenKeeper::State::ask_lock(SteadyInstant deadline) {
  auto locked = file_->try_lock();
  if (!locked) return finish(std::unexpected(locked.error()));
  if (*locked) {
    lock_ = **std::move(locked);
    const auto kept = file_->load();
    if (!kept) return finish(std::unexpected(kept.error()));
    if (adopt(*kept)) return finish({});
    return ask_saxo();
  }
  if (ports_.clock.steady_now() >= deadline) {
    return finish(failure(Code::unavailable,
                          "another process has been renewing the access token for too long; it "
                          "holds the lock of " +
                              file_->path()));
  }
  ports_.timers.after(bounds::token_lock_poll, [self = shared_from_this(), deadline](bool over) {
    if (over) return self->finish(failure(Code::unavailable, "pawl is ending"));
    self->ask_lock(deadline);
  });
}

// Whether the file has a token that is worth trying.
bool TokenKeeper::State::adopt(const std::optional<Tokens>& kept) {
  const std::lock_guard lock(mutex_);
  if (!kept || (!passed_over_.empty() && kept->origin == passed_over_)) return false;
  if (unsaved_) return false;  // what we hold is newer than the file
  const bool other = !kept->access.empty() && kept->access.reveal() != refused_;
  tokens_ = *kept;
  return other && !is_near_end();
}

void TokenKeeper::State::ask_saxo() {
  Tokens tokens;
  {
    const std::lock_guard lock(mutex_);
    tokens = tokens_;
  }
  ports_.http.send(
      renewal(options_, tokens),
      [self = shared_from_this()](const Result<HttpAnswer>& answer) { self->take(answer); });
}

void TokenKeeper::State::take(const Result<HttpAnswer>& answer) {
  Tokens before;
  {
    const std::lock_guard lock(mutex_);
    before = tokens_;
  }
  Result<Tokens> fresh = tokens_of(answer, before, ports_.clock.wall_now());
  if (!fresh) return finish(std::unexpected(fresh.error()));
  Result<void> stored;
  if (file_) stored = file_->store(*fresh);
  {
    const std::lock_guard lock(mutex_);
    tokens_ = *std::move(fresh);
    passed_over_.clear();
    unsaved_ = !stored;
  }
  note("the access token was renewed");
  if (!stored) {
    note("the new tokens could not be kept, and a restart would need a new login: " +
         stored.error().message);
  }
  finish({});
}

// Once more, what the disk did not take.
void TokenKeeper::State::keep() {
  {
    const std::lock_guard lock(mutex_);
    if (!unsaved_ || renewing_) return;
  }
  const auto locked = file_->try_lock();
  if (!locked || !*locked) return;
  Tokens tokens;
  {
    // Behind the lock: nobody can put newer ones there meanwhile.
    const std::lock_guard lock(mutex_);
    if (!unsaved_) return;
    tokens = tokens_;
  }
  if (!file_->store(tokens)) return;
  note("the tokens are kept now");
  const std::lock_guard lock(mutex_);
  unsaved_ = false;
}

void TokenKeeper::State::finish(Result<void> result) {
  lock_.reset();
  std::vector<Done> waiters;
  Secret<std::string> token;
  {
    const std::lock_guard lock(mutex_);
    renewing_ = false;
    why_ = result ? "" : result.error().message;
    waiters.swap(waiters_);
    token = tokens_.access;
  }
  if (!result) note("the access token was not renewed: " + result.error().message);
  for (Done& done : waiters) {
    if (result) {
      done(token);
    } else {
      done(std::unexpected(result.error()));
    }
  }
}

Result<std::unique_ptr<TokenKeeper>> TokenKeeper::open(TokenOptions options, Ports ports) {
  auto state = std::make_shared<State>(std::move(options), std::move(ports));
  PAWL_TRY(state->load());
  return std::unique_ptr<TokenKeeper>(new TokenKeeper(std::move(state)));
}

TokenKeeper::TokenKeeper(std::shared_ptr<State> state) : state_(std::move(state)) {}
TokenKeeper::~TokenKeeper() = default;

Result<Secret<std::string>> TokenKeeper::at_hand() const {
  return state_->at_hand();
}

void TokenKeeper::get(Done done) {
  state_->get(std::move(done));
}

void TokenKeeper::refused(const Secret<std::string>& token) {
  state_->refused(token.reveal());
}

void TokenKeeper::renew(const Secret<std::string>& refused, Done done) {
  state_->renew(refused.reveal(), std::move(done));
}

}  // namespace pawl::saxo

#include "emulator/server.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/bounds.h"
#include "emulator/core/faults.h"

namespace pawl::emulator {
namespace {

constexpr Duration tick_every = Duration::milliseconds(50);

}  // namespace

Server::Server(net::Loop& loop, Clock& clock, Venue venue)
    : loop_(loop),
      clock_(clock),
      venue_(std::move(venue)),
      log_(std::nullopt),
      door_(loop, clock,
            {.make_handler =
                 [this](server::Connection& connection) {
                   return make_door(connection,
                                    {.take =
                                         [this](Call call, const std::shared_ptr<Line>& line) {
                                           take(std::move(call), line);
                                         },
                                     .channels = venue_.channels.get(),
                                     .body_bytes_max = venue_.body_bytes_max});
                 }}),
      control_(loop, clock, {.make_handler = [this](server::Connection& connection) {
                 return server::make_responder(
                     connection, [this](const server::Request& asked) { return control(asked); },
                     bounds::emulator_body_bytes_max);
               }}) {
  tick();  // so that channels know the time from the first call on
  loop_.every(tick_every, [this] { tick(); });
}

Result<void> Server::play(const std::string& script) {
  return venue_.exchange->play(PAWL_TRY(parse_script(script)));
}

Result<void> Server::keep_book(const std::string& path) {
  book_ = PAWL_TRY(AppendedFile::open(path));
  std::size_t number = 0;
  for (const std::string& line : book_->take_lines()) {
    ++number;
    const Result<void> restored = venue_.exchange->restore(line);
    if (!restored) {
      return failure(Code::invalid, path + ", line " + std::to_string(number) + ": " +
                                        restored.error().message +
                                        "; move the file away to begin with an empty book");
    }
  }
  return {};
}

Result<void> Server::keep_log(const std::string& path) {
  log_ = CallLog(PAWL_TRY(AppendedFile::open(path)));
  return {};
}

Result<Endpoint> Server::listen(const Endpoint& endpoint) {
  return door_.listen(endpoint);
}

Result<Endpoint> Server::listen_for_control(const Endpoint& endpoint) {
  return control_.listen(endpoint);
}

void Server::take(Call call, const std::shared_ptr<Line>& line) {
  call.number = ++calls_;
  work(call, line);
}

void Server::work(const Call& call, const std::shared_ptr<Line>& line) {
  const Instant now = clock_.now();
  const Reply reply = venue_.exchange->answer(call, now);
  if (reply.hold > Duration()) {
    later(reply.hold, [this, call, line] {
      Call again = call;
      again.held = true;
      work(again, line);
    });
    return;
  }
  if (!keep_changes()) return line->send({.wire = Wire::drop}, now);
  const Result<void> logged = log_.add(call, reply, now);
  if (!logged) fail(logged.error());
  push(true);
  if (reply.delay > Duration()) {
    later(reply.delay, [this, reply, line] { line->send(reply, clock_.now()); });
  } else {
    line->send(reply, now);
  }
  push(false);
  if (reply.wire == Wire::restart) restart();
}

void Server::push(bool before_reply) {
  std::ranges::move(venue_.exchange->take_pushes(), std::back_inserter(pushes_));
  std::vector<Push> rest;
  for (Push& push : std::exchange(pushes_, {})) {
    if (before_reply && !push.before_reply) {
      rest.push_back(std::move(push));
    } else if (venue_.channels) {
      venue_.channels->push(push);
    }
  }
  pushes_ = std::move(rest);
}

// False: the disk does not take them.
bool Server::keep_changes() {
  const std::vector<std::string> changes = venue_.exchange->take_changes();
  if (!book_ || changes.empty()) return true;
  const Result<void> kept = book_->append(changes, true);
  if (!kept) fail(kept.error());
  return kept.has_value();
}

void Server::fail(const Error& error) {
  if (!failed_) failed_ = error;
  loop_.stop();
}

void Server::restart() {
  venue_.exchange->forget();
  loop_.post([this] { door_.abort(); });
}

void Server::later(Duration wait, std::function<void()> action) {
  const auto place = waits_.emplace(waits_.end());
  place->timer = loop_.timer([this, place, action = std::move(action)] {
    action();
    // Not within the timer's own call.
    loop_.post([this, place] { waits_.erase(place); });
  });
  place->timer->start(wait);
}

void Server::tick() {
  const Instant now = clock_.now();
  venue_.exchange->tick(now);
  if (!keep_changes()) return;
  push(false);
  if (venue_.channels) venue_.channels->tick(now);
}

}  // namespace pawl::emulator

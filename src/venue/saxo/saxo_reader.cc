#include "venue/saxo/saxo_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/bounds.h"
#include "venue/common/wire.h"

namespace pawl::saxo {
namespace {

using order::SourceRead;

class Pages : public std::enable_shared_from_this<Pages> {
 public:
  Pages(std::shared_ptr<Caller> caller, std::string_view path,
        std::move_only_function<void(Rows)> done)
      : caller_(std::move(caller)), path_(path), done_(std::move(done)) {}

  void next(std::string query) {
    if (++pages_ > bounds::venue_pages_max) {
      return end("it has more than " + std::to_string(bounds::venue_pages_max) + " pages");
    }
    query_ = query;
    caller_->send(
        {.path = path_, .query = std::move(query)},
        [self = shared_from_this()](const Result<HttpAnswer>& answer) { self->take(answer); });
  }

 private:
  void take(const Result<HttpAnswer>& answer) {
    if (!answer) return end(venue::for_people(answer.error().message));
    if (!rows_.venue_time) rows_.venue_time = venue::time_of(*answer);
    auto body = venue::body_of(*answer, "it");
    if (!body) return end(body.error().message);
    auto page = page_of(*std::move(body));
    if (!page) return end(page.error().message);
    const std::size_t on_page = page->rows.size();
    std::ranges::move(page->rows, std::back_inserter(rows_.rows));
    if (!page->next.empty()) {
      if (page->next == query_) return end("its next page is the same one again");
      return next(std::move(page->next));
    }
    const bool full = on_page >= static_cast<std::size_t>(bounds::venue_page_rows);
    if (page->count ? *page->count > rows_.rows.size() : full) {
      return end("its last page is full, and names no next one");
    }
    end("");
  }
  void end(std::string problem) {
    rows_.problem = std::move(problem);
    std::exchange(done_, {})(std::move(rows_));
  }

  const std::shared_ptr<Caller> caller_;
  const std::string path_;
  std::move_only_function<void(Rows)> done_;
  std::string query_;
  std::size_t pages_ = 0;
  Rows rows_;
};

using Add = void (Sightings::*)(const json::Value&);

class IntentReader : public std::enable_shared_from_this<IntentReader> {
 public:
  IntentReader(ReaderPorts ports, const Account& account, ReadAsk ask,
               std::move_only_function<void(order::Reading)> done)
      : ports_(std::move(ports)),
        account_(account),
        ask_(std::move(ask)),
        done_(std::move(done)),
        since_(ask_.since) {}

  void begin() {
    if (ask_.order_id.empty()) return read_open();
    read(activities_path, activities_query(account_, {.order_id = ask_.order_id}),
         [self = shared_from_this()](Rows rows) {
           self->note("GET " + std::string(activities_path) + " of order " + self->ask_.order_id,
                      std::move(rows), &Sightings::add_activity);
           self->read_open();
         });
  }

 private:
  struct Source {
    std::string name;
    Instant at;
    std::string problem;  // empty: it was read to its end
    bool helps;           // it is read only to learn whose an order is
    Sightings shown;
  };

  void read(std::string_view path, std::string query, std::move_only_function<void(Rows)> done) {
    read_rows(ports_.caller, path, std::move(query), std::move(done));
  }

  void read_open() {
    read(open_orders_path, open_orders_query(), [self = shared_from_this()](Rows rows) {
      self->note("GET " + std::string(open_orders_path), std::move(rows), &Sightings::add_open);
      self->read_activities();
    });
  }

  void read_activities() {
    const Instant from = since_ - bounds::venue_look_back;
    read(activities_path, activities_query(account_, {.from = from}),
         [self = shared_from_this()](Rows rows) {
           self->note("GET " + std::string(activities_path), std::move(rows),
                      &Sightings::add_activity);
           self->decide();
         });
  }

  // Events carry references where activities do not.
  void decide() {
    undecided_ = weigher().undecided(all_);
    if (undecided_.empty()) return finish();
    helping_ = true;
    const Instant from = since_ - bounds::venue_likely_back;
    const std::string query = venue::query_of({{"Activities", "Orders"},
                                               {"FromDateTime", to_string(from)},
                                               {"$top", std::to_string(bounds::venue_page_rows)}});
    read(events_path, query, [self = shared_from_this()](Rows rows) {
      self->help(std::move(rows));
      self->undecided_ = self->weigher().undecided(self->all_);
      self->read_details();
    });
  }

  void help(Rows rows) {
    Sightings own;
    for (const json::Value& row : rows.rows) {
      own.add_activity(row);
      // Only to learn references: events are no proof of anything else.
      all_.learn_reference(row);
    }
    push_source("GET " + std::string(events_path), rows.problem, std::move(own));
  }

  void read_details() {
    if (undecided_.empty() || details_ >= bounds::venue_details_max) return finish();
    ++details_;
    const std::string id = undecided_.back();
    undecided_.pop_back();
    const std::string path = "/port/v1/orders/" + id + "/details";
    ports_.caller->send(
        {.path = path, .query = venue::query_of({{"ClientKey", account_.client_key}})},
        [self = shared_from_this(), path](const Result<HttpAnswer>& answer) {
          auto body = answer ? venue::body_of(*answer, "it") : std::unexpected(answer.error());
          Sightings own;
          if (body) {
            own.add_open(*body);
            self->all_.add_open(*body);
          }
          self->push_source("GET " + path, body ? "" : venue::for_people(body.error().message),
                            std::move(own));
          self->read_details();
        });
  }

  void note(const std::string& source, Rows rows, Add add) {
    if (rows.venue_time && !reading_.venue_time) learn_time(*rows.venue_time);
    Sightings own;
    for (const json::Value& row : rows.rows) {
      (own.*add)(row);
      (all_.*add)(row);
    }
    std::string problem = std::move(rows.problem);
    if (problem.empty() && own.nameless() > 0) problem = "it has rows that name no order";
    if (!problem.empty() && reading_.why_not_whole.empty()) {
      reading_.why_not_whole = source + ": " + problem;
    }
    push_source(source, problem, std::move(own));
  }

  void push_source(std::string source, std::string problem, Sightings own) {
    sources_.push_back({.name = std::move(source),
                        .at = ports_.clock.wall_now(),
                        .problem = std::move(problem),
                        .helps = helping_,
                        .shown = std::move(own)});
  }

  SourceRead told(const Source& source) const {
    auto [found, says] = weigher().found(source.shown, all_);
    // What was found was found; what was not may stand on a page that could not be read.
    if (!source.problem.empty() && found == SourceRead::Found::absent) {
      found = SourceRead::Found::unreadable;
      says = source.problem;
    }
    return {.source = source.name, .at = source.at, .found = found, .says = std::move(says)};
  }

  // From our clock to Saxo's.
  void learn_time(Instant venue_time) {
    reading_.venue_time = venue_time;
    const Instant here = ports_.clock.wall_now();
    since_ = std::min(ask_.since - (here - venue_time), venue_time);
  }

  Weigher weigher() const { return Weigher(ask_, account_, since_ - bounds::venue_likely_back); }

  void finish() {
    const bool decided = weigher().undecided(all_).empty();
    for (const Source& source : sources_) {
      // Nobody needs the help that did not come when it was found elsewhere.
      const bool idle = source.helps && !source.problem.empty() && decided;
      if (!idle) reading_.sources.push_back(told(source));
    }
    reading_.whole = reading_.why_not_whole.empty();
    weigher().fill(reading_, all_);
    std::exchange(done_, {})(std::move(reading_));
  }

  const ReaderPorts ports_;
  const Account account_;
  const ReadAsk ask_;
  std::move_only_function<void(order::Reading)> done_;
  Instant since_;
  Sightings all_;
  std::vector<std::string> undecided_;
  std::size_t details_ = 0;
  bool helping_ = false;  // what must be read was
  std::vector<Source> sources_;
  order::Reading reading_;
};

}  // namespace

void read_rows(const std::shared_ptr<Caller>& caller, std::string_view path, std::string query,
               std::move_only_function<void(Rows)> done) {
  std::make_shared<Pages>(caller, path, std::move(done))->next(std::move(query));
}

std::string activities_query(const Account& account, const ActivityWindow& window) {
  return venue::query_of({{"ClientKey", account.client_key},
                          {"AccountKey", account.account_key},
                          {"OrderId", window.order_id},
                          {"FromDateTime", window.from ? to_string(*window.from) : ""},
                          {"ToDateTime", window.to ? to_string(*window.to) : ""},
                          {"EntryType", "All"},
                          {"$top", std::to_string(bounds::venue_page_rows)}});
}

std::string open_orders_query() {
  return venue::query_of({{"Status", "All"}, {"$top", std::to_string(bounds::venue_page_rows)}});
}

void read_intent(ReaderPorts ports, const Account& account, ReadAsk ask,
                 std::move_only_function<void(order::Reading)> done) {
  std::make_shared<IntentReader>(std::move(ports), account, std::move(ask), std::move(done))
      ->begin();
}

void look_at_order(ReaderPorts ports, const Account& account, const std::string& order_id,
                   std::move_only_function<void(Result<order::VenueOrder>)> done) {
  const std::string query = activities_query(account, {.order_id = order_id});
  auto caller = ports.caller;
  read_rows(caller, activities_path, query,
            [caller, order_id, done = std::move(done)](Rows activities) mutable {
              auto sightings = std::make_shared<Sightings>();
              for (const json::Value& row : activities.rows) sightings->add_activity(row);
              const Seen* seen = sightings->find(order_id);
              if (seen != nullptr && activities.problem.empty()) return done(seen->order);
              read_rows(caller, open_orders_path, open_orders_query(),
                        [=, problem = std::move(activities.problem),
                         done = std::move(done)](Rows open) mutable {
                          for (const json::Value& row : open.rows) sightings->add_open(row);
                          const Seen* shown = sightings->find(order_id);
                          if (shown != nullptr) return done(shown->order);
                          if (problem.empty()) problem = open.problem;
                          if (problem.empty()) {
                            return done(
                                failure(Code::not_found, "Saxo no longer shows order " + order_id));
                          }
                          done(failure(Code::unavailable, "Saxo was not heard: " + problem));
                        });
            });
}

void look_at_terms(ReaderPorts ports, const Account& account, const std::string& order_id,
                   std::move_only_function<void(Result<order::VenueOrder>)> done) {
  const auto with_terms = [order_id](Result<order::VenueOrder> shown) {
    if (!shown || !shown->instrument.empty()) return shown;
    return Result<order::VenueOrder>(
        failure(Code::unavailable, "Saxo does not show the terms of order " + order_id));
  };
  auto caller = ports.caller;
  read_rows(
      caller, open_orders_path, open_orders_query(),
      [=, ports = std::move(ports), done = std::move(done)](Rows open) mutable {
        Sightings sightings;
        for (const json::Value& row : open.rows) sightings.add_open(row);
        const Seen* seen = sightings.find(order_id);
        if (seen != nullptr) return done(with_terms(seen->order));
        if (!open.problem.empty()) {
          return done(failure(Code::unavailable, "the open orders were not read: " + open.problem));
        }
        look_at_order(std::move(ports), account, order_id,
                      [=, done = std::move(done)](Result<order::VenueOrder> shown) mutable {
                        done(with_terms(std::move(shown)));
                      });
      });
}

}  // namespace pawl::saxo

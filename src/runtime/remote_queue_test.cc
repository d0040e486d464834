// Goal: whoever asks brokers hears the same as whoever has the queue, and goes on when they are
//       away: at the next one, or at the store; nothing is done twice, and nothing is lost that was
//       acknowledged. Method: brokers made of local queues on one store in memory, behind a client
//       that loses requests and answers as the test says.
#include "runtime/remote_queue.h"

#include <deque>
#include <gmock/gmock.h>
#include <map>

#include "base/bounds_queue.h"
#include "runtime/local_queue_fixture.h"

namespace pawl {
namespace {

using broker::Look;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Answers as admin/broker.cc does.
class Brokers final : public HttpClient {
 public:
  enum class Fault : std::uint8_t {
    none,
    away,
    answer_lost,
    cut,
    locked,
    no_queue,
    broken,
    broken_once
  };
  struct Broker {
    TaskQueue* queue = nullptr;
    Fault fault = Fault::none;
    std::optional<Error> store_error = {};
    std::size_t asked = 0;
    std::string mark = "m";
  };

  void send(HttpRequest request, Done done) override {
    const std::size_t path = request.url.find('/', std::string_view("http://").size());
    Broker& broker = all[request.url.substr(0, path)];
    ++broker.asked;
    last = request;
    switch (broker.fault) {
      case Fault::away:
        return done(
            std::unexpected(Error(Code::unavailable, Outcome::not_applied, "connection refused")));
      case Fault::locked:
        return done(HttpAnswer{
            .status = 401, .body = R"({"detail":"A token is missing."})", .complete = true});
      case Fault::no_queue:
        return done(HttpAnswer{.status = 404, .body = "<html>", .complete = true});
      case Fault::broken_once:
        broker.fault = Fault::none;
        [[fallthrough]];
      case Fault::broken:
        return done(HttpAnswer{.status = 502, .body = "", .complete = true});
      default:
        break;
    }
    for (const HttpField& field : request.fields) {
      if (field.name == broker::mark_field && field.value != broker.mark) {
        return done(HttpAnswer{.status = 409, .body = "{}", .complete = true});
      }
    }
    if (broker.store_error)
      return answer<broker::Hello>(broker, std::move(done))(std::unexpected(*broker.store_error));
    handle(broker, request.url.substr(path), request.body, std::move(done));
  }

  std::map<std::string, Broker> all;
  HttpRequest last;

 private:
  template <class T>
  static TaskQueue::Done<T> answer(const Broker& broker, Done done) {
    return [fault = broker.fault, done = std::move(done)](const Result<T>& result) mutable {
      if (fault == Fault::answer_lost) {
        return done(
            std::unexpected(Error(Code::unavailable, Outcome::unknown, "the connection broke")));
      }
      std::string body = broker::write_result(result);
      if (fault == Fault::cut) body.resize(body.size() / 2);
      done(HttpAnswer{.status = 200,
                      .fields = {{"content-type", std::string(broker::content_type)}},
                      .body = std::move(body),
                      .complete = fault != Fault::cut});
    };
  }

  static void handle(const Broker& broker, const std::string& path, const std::string& body,
                     Done done) {
    TaskQueue& queue = *broker.queue;
    if (path == broker::commands_path) {
      EXPECT_LE(body.size(), bounds::broker_ask_bytes_max);
      return queue.give(broker::read_commands(body).value(),
                        answer<std::vector<queue::Reply>>(broker, std::move(done)));
    }
    if (path == broker::claim_path) {
      return queue.claim(broker::read_claim(body).value(),
                         answer<ClaimedTasks>(broker, std::move(done)));
    }
    const Look look = broker::read_look(body).value();
    using Kind = Look::Kind;
    switch (look.kind) {
      case Kind::hello:
        return answer<broker::Hello>(
            broker, std::move(done))(broker::Hello{.view = queue.view(), .mark = broker.mark});
      case Kind::task:
        return queue.find(look.id, answer<queue::Task>(broker, std::move(done)));
      case Kind::history:
        return queue.history(look.id, answer<queue::History>(broker, std::move(done)));
      case Kind::why:
        return queue.why(look.id, answer<queue::Why>(broker, std::move(done)));
      case Kind::list:
        EXPECT_LE(look.filter.limit, bounds::broker_tasks_max);
        return queue.list(look.filter, answer<std::vector<queue::Task>>(broker, std::move(done)));
      case Kind::stats:
        return queue.stats(answer<queue::Stats>(broker, std::move(done)));
      case Kind::schedules:
        return queue.schedules(answer<std::vector<queue::Schedule>>(broker, std::move(done)));
      case Kind::closings:
        return queue.closings(answer<std::vector<queue::Closing>>(broker, std::move(done)));
      case Kind::limits:
        return queue.limits(answer<std::vector<queue::SetLimit>>(broker, std::move(done)));
    }
  }
};

using Fault = Brokers::Fault;

class RemoteQueueTest : public LocalQueues {
 protected:
  RemoteQueueTest() {
    settings.shards = 1;
    for (const auto& [url, process] : {std::pair{"http://a:1", &first}, {"http://b:2", &second}}) {
      *process = LocalQueues::process();
      brokers.all[url].queue = (*process)->queue.get();
    }
    own = LocalQueues::process();
    remote = make();
    bool opened = false;
    remote->open([&](const Result<void>& result) { opened = result.has_value(); });
    EXPECT_TRUE(opened);
  }
  ~RemoteQueueTest() override { timers.close(); }

  std::unique_ptr<RemoteQueue> make() {
    return std::make_unique<RemoteQueue>(
        RemoteQueue::Options{.brokers = {"http://a:1", "http://b:2"},
                             .token = Secret<std::string>("horse")},
        RemoteQueue::Ports{.http = brokers,
                           .clock = clock,
                           .timers = timers,
                           .open_directly =
                               [this](const std::optional<broker::Hello>& named, auto done) {
                                 named_directly.push_back(named ? named->mark : "nothing");
                                 done(directly);
                               },
                           .note = [this](const std::string& text) { notes.push_back(text); }});
  }

  Answer<Replies> give(std::vector<queue::Command> commands) {
    return ask<Replies>([&](auto done) { remote->give(std::move(commands), std::move(done)); });
  }
  Answer<Tasks> claim(Duration wait = {}, std::uint32_t count = 10) {
    return ask<Tasks>([&](auto done) {
      remote->claim({.claim = {.worker = "w", .count = count}, .wait = wait},
                    tasks_for(std::move(done)));
    });
  }
  Answer<Tasks> list(std::size_t limit = 1000) {
    return ask<Tasks>([&](auto done) { remote->list({.limit = limit}, std::move(done)); });
  }
  Answer<queue::Task> find(const queue::TaskId& id) {
    return ask<queue::Task>([&](auto done) { remote->find(id, std::move(done)); });
  }
  Brokers::Broker& a() { return brokers.all["http://a:1"]; }
  Brokers::Broker& b() { return brokers.all["http://b:2"]; }

  Brokers brokers;
  std::unique_ptr<Process> first;
  std::unique_ptr<Process> second;
  std::unique_ptr<Process> own;  // for whoever goes to the store
  Result<RemoteQueue::Direct> directly = failure(Code::unavailable, "not from here");
  std::vector<std::string> named_directly;
  std::vector<std::string> notes;
  std::unique_ptr<RemoteQueue> remote;
};

TEST_F(RemoteQueueTest, DoesAllThatAQueueDoes) {
  const auto id = reply<queue::Submitted>(give({submit("mail", "acme")})).id;
  const Tasks tasks = got(claim());
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].id, id);
  EXPECT_EQ(tasks[0].terms.key, "acme");
  const auto done = reply<queue::Changed>(
      give({queue::Complete{.id = id, .fence = tasks[0].fence, .output = "{\"n\":1}"}}));
  EXPECT_EQ(done.status, queue::Status::completed);
  EXPECT_EQ(got(find(id)).output, "{\"n\":1}");
  const auto history = ask<queue::History>([&](auto to) { remote->history(id, std::move(to)); });
  EXPECT_EQ(got(history).versions.size(), 3U);
  const auto why = ask<queue::Why>([&](auto to) { remote->why(id, std::move(to)); });
  EXPECT_EQ(got(why).hold, queue::Hold::is_over);
  EXPECT_EQ(error(find({.bytes = {9}})).code, Code::not_found);
}

TEST_F(RemoteQueueTest, ShowsTheQueueAsItIs) {
  give(
      {submit("mail"),
       queue::Close{
           .scope = queue::Scope::key, .name = "k", .until = clock.wall_now() + Duration::hours(1)},
       queue::SetLimit{.limited = queue::Limited::key, .name = "k", .running = 2},
       queue::SetSchedule{.name = "s",
                          .cron = "@daily",
                          .terms = {.type = "t", .input = "{}"},
                          .next = clock.wall_now() + Duration::hours(1)}});
  const auto stats = ask<queue::Stats>([&](auto to) { remote->stats(std::move(to)); });
  ASSERT_EQ(got(stats).types.size(), 1U);
  EXPECT_EQ(got(stats).types[0].due, 1U);
  EXPECT_EQ(remote->view().commits, first->queue->view().commits);
  EXPECT_EQ(got(ask<std::vector<queue::Closing>>([&](auto to) {
              remote->closings(std::move(to));
            })).size(),
            1U);
  EXPECT_EQ(got(ask<std::vector<queue::SetLimit>>([&](auto to) {
              remote->limits(std::move(to));
            })).size(),
            1U);
  EXPECT_EQ(got(ask<std::vector<queue::Schedule>>([&](auto to) {
              remote->schedules(std::move(to));
            })).size(),
            1U);
}

TEST_F(RemoteQueueTest, TellsTheTokenToTheBrokerAndToNobodyElse) {
  give({submit()});
  EXPECT_THAT(brokers.last.fields, ::testing::Contains(HttpField{"Authorization", "Bearer horse"}));
  a().fault = Fault::locked;
  const Error no = error(give({submit()}));
  EXPECT_EQ(no.code, Code::refused);
  EXPECT_THAT(no.message, HasSubstr("PAWL_ADMIN_TOKEN"));
  EXPECT_THAT(no.message, HasSubstr("A token is missing."));
  EXPECT_THAT(no.message, Not(HasSubstr("horse")));
}

TEST_F(RemoteQueueTest, GoesToTheNextBrokerAndStaysThere) {
  a().fault = Fault::away;
  const auto id = reply<queue::Submitted>(give({submit()})).id;
  EXPECT_EQ(got(find(id)).id, id);
  const std::size_t asked = a().asked;
  give({submit()});
  EXPECT_EQ(a().asked, asked) << "it is known to be away";
  EXPECT_THAT(notes, ElementsAre(HasSubstr("http://b:2 is used")));
  b().fault = Fault::broken;
  a().fault = Fault::none;
  clock.advance(bounds::queue_look_age + Duration::milliseconds(1));
  EXPECT_EQ(got(list()).size(), 2U);
}

TEST_F(RemoteQueueTest, GivesAgainWhatMayHaveArrivedAndItIsOneTask) {
  a().fault = Fault::answer_lost;
  const auto again = reply<queue::Submitted>(give({submit()}));
  EXPECT_FALSE(again.fresh) << "the first one did arrive";
  EXPECT_EQ(got(list()).size(), 1U);
}

TEST_F(RemoteQueueTest, AsksABrokerASecondTimeWhenTheConnectionBroke) {
  a().fault = Fault::broken_once;
  b().fault = Fault::away;
  EXPECT_TRUE(reply<queue::Submitted>(give({submit()})).fresh);
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(RemoteQueueTest, SaysThatNobodyKnowsWhenNobodyDoes) {
  a().fault = Fault::answer_lost;
  b().fault = Fault::away;
  const Error lost = error(give({submit()}));
  EXPECT_EQ(lost.code, Code::unavailable);
  EXPECT_EQ(lost.outcome, Outcome::unknown);
  a().fault = Fault::away;
  EXPECT_EQ(error(give({submit()})).outcome, Outcome::not_applied);
}

TEST_F(RemoteQueueTest, GoesToTheStoreWhenNoBrokerAnswersAndBackWhenOneDoes) {
  directly = RemoteQueue::Direct{.queue = own->queue.get(), .mark = "m"};
  a().fault = b().fault = Fault::away;
  const auto id = reply<queue::Submitted>(give({submit()})).id;
  EXPECT_EQ(got(find(id)).id, id);
  EXPECT_THAT(named_directly, ElementsAre("m"));
  const std::size_t asked = a().asked;
  EXPECT_EQ(got(claim()).size(), 1U);
  EXPECT_EQ(a().asked, asked) << "brokers are not asked each time";
  a().fault = Fault::none;
  clock.advance(Duration::seconds(11));
  EXPECT_EQ(got(find(id)).status, queue::Status::running);
  EXPECT_EQ(a().asked, asked + 1);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("the store is used directly"),
                                 HasSubstr("http://a:1 answers again")));
}

// It has never heard of a broker.
class RemoteQueueAloneTest : public RemoteQueueTest {
 protected:
  RemoteQueueAloneTest() {
    a().fault = b().fault = Fault::away;
    remote = make();
  }
  Result<void> open() {
    std::optional<Result<void>> opened;
    remote->open([&](const Result<void>& result) { opened = result; });
    return opened.value();
  }
};

TEST_F(RemoteQueueAloneTest, BeginsAtTheStoreAndGoesToABrokerOfTheSameQueue) {
  directly = RemoteQueue::Direct{.queue = own->queue.get(), .mark = "m"};
  ASSERT_TRUE(open());
  EXPECT_THAT(named_directly, ElementsAre("nothing"));
  const auto id = reply<queue::Submitted>(give({submit()})).id;
  a().fault = Fault::none;
  const std::size_t asked = a().asked;
  clock.advance(Duration::seconds(11));
  EXPECT_EQ(got(find(id)).id, id);
  EXPECT_EQ(a().asked, asked + 1);
}

TEST_F(RemoteQueueAloneTest, GivesNothingToABrokerThatHasAnotherQueue) {
  directly = RemoteQueue::Direct{.queue = own->queue.get(), .mark = "other"};
  ASSERT_TRUE(open());
  b().fault = Fault::none;
  notes.clear();
  for (std::size_t i = 0; i < 2; ++i) {
    clock.advance(Duration::seconds(11));
    EXPECT_TRUE(reply<queue::Submitted>(give({submit()})).fresh);
    EXPECT_EQ(got(list()).size(), i + 1) << "at the store";
  }
  EXPECT_THAT(notes, ElementsAre(HasSubstr("http://b:2: it has another queue"))) << "once";
}

TEST_F(RemoteQueueTest, PassesOverABrokerThatHasAnotherQueue) {
  const auto id = reply<queue::Submitted>(give({submit()})).id;
  const Tasks tasks = got(claim());
  b().mark = "other";
  a().fault = Fault::away;
  const Error away =
      error(give({queue::Complete{.id = id, .fence = tasks.at(0).fence, .output = "1"}}));
  EXPECT_EQ(away.code, Code::unavailable) << "told again later, not taken for a refusal";
  EXPECT_EQ(away.outcome, Outcome::not_applied);
  EXPECT_THAT(away.message, HasSubstr("http://b:2: it has another queue"));
  a().fault = Fault::none;
  EXPECT_EQ(reply<queue::Changed>(
                give({queue::Complete{.id = id, .fence = tasks.at(0).fence, .output = "1"}}))
                .status,
            queue::Status::completed);
}

TEST_F(RemoteQueueAloneTest, SaysThatNeitherAnswers) {
  const Result<void> opened = open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("; nor directly: not from here"));
}

TEST_F(RemoteQueueTest, DoesNotGoRoundBrokersWhoseStoreIsAway) {
  directly = RemoteQueue::Direct{.queue = own->queue.get(), .mark = "m"};
  for (Brokers::Broker* each : {&a(), &b()}) {
    each->store_error = Error(Code::unavailable, Outcome::not_applied, "the store is away");
  }
  const Error away = error(give({submit()}));
  EXPECT_EQ(away.code, Code::unavailable);
  EXPECT_THAT(away.message, HasSubstr("the store is away"));
  EXPECT_THAT(named_directly, IsEmpty());
}

TEST_F(RemoteQueueTest, SaysWhyTheStoreCannotBeReachedEither) {
  a().fault = b().fault = Fault::away;
  const Error away = error(give({submit()}));
  EXPECT_THAT(away.message, HasSubstr("http://b:2: connection refused; nor directly: not from"));
  give({submit()});
  EXPECT_EQ(named_directly.size(), 1U) << "it is not tried each time";
  clock.advance(Duration::seconds(11));
  give({submit()});
  EXPECT_EQ(named_directly.size(), 2U);
}

TEST_F(RemoteQueueTest, DoesNotTakeAnythingElseForABroker) {
  a().fault = Fault::no_queue;
  const Error none = error(give({submit()}));
  EXPECT_EQ(none.code, Code::not_found);
  EXPECT_THAT(none.message, HasSubstr("there is no broker at this address"));
}

TEST_F(RemoteQueueTest, DoesNotBelieveAnAnswerThatBrokeOff) {
  a().fault = b().fault = Fault::cut;
  EXPECT_EQ(error(give({submit()})).outcome, Outcome::unknown);
}

TEST_F(RemoteQueueTest, WaitsForTasksFromCallToCall) {
  const auto waiting = claim(Duration::minutes(1));
  timers.advance(Duration::seconds(45));
  EXPECT_FALSE(*waiting) << "three calls, and a third of a minute each";
  EXPECT_GE(a().asked, 3U);
  give({submit()});
  EXPECT_EQ(got(waiting).size(), 1U);
  const auto in_vain = claim(Duration::seconds(30));
  timers.advance(Duration::seconds(31));
  EXPECT_THAT(got(in_vain), IsEmpty());
}

TEST_F(RemoteQueueTest, GivesBackWhatComesAfterItStopped) {
  const auto waiting = claim(Duration::minutes(1));
  remote->stop_claims();
  EXPECT_THAT(got(waiting), IsEmpty());
  const auto id = reply<queue::Submitted>(give({submit()})).id;
  timers.advance(Duration::seconds(1));
  const queue::Task task = got(find(id));
  EXPECT_EQ(task.status, queue::Status::pending);
  EXPECT_EQ(task.attempt, 1U) << "the broker claimed it for whoever had left";
  EXPECT_EQ(task.reschedule_count, 0U);
}

TEST_F(RemoteQueueTest, CutsMuchIntoSeveralRequests) {
  std::vector<queue::Command> commands;
  for (int i = 0; i < 12; ++i) {
    queue::Submit one = submit("t" + std::to_string(i));
    one.terms.input = "\"" + std::string(200'000, 'x') + "\"";
    commands.emplace_back(std::move(one));
  }
  std::get<queue::Submit>(commands[5]).terms.input = "no JSON";
  const std::size_t asked = a().asked;
  const Replies replies = got(give(std::move(commands)));
  EXPECT_EQ(a().asked - asked, 3U);
  ASSERT_EQ(replies.size(), 12U);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    EXPECT_EQ(std::holds_alternative<queue::Refusal>(replies[i]), i == 5) << i;
  }
  const auto last = std::get<queue::Submitted>(replies[11]);
  EXPECT_EQ(got(find(last.id)).terms.type, "t11");
}

TEST_F(RemoteQueueTest, ListsMoreThanOneAnswerHolds) {
  std::vector<queue::Command> commands;
  for (int i = 0; i < 150; ++i) commands.emplace_back(submit());
  give(std::move(commands));
  EXPECT_EQ(got(list()).size(), 150U);
  EXPECT_EQ(got(list(100)).size(), 100U);
  EXPECT_EQ(got(list(64)).size(), 64U);
  EXPECT_LE(got(claim({}, 150)).size(), bounds::broker_tasks_max);
}

TEST_F(RemoteQueueTest, SaysSinceWhenATaskIsOurs) {
  const auto waits = ask<ClaimedTasks>([&](auto done) {
    remote->claim({.claim = {.worker = "w"}, .wait = Duration::minutes(2)}, std::move(done));
  });
  timers.advance(Duration::seconds(50));
  got(LocalQueues::give(*first, {submit()}));
  EXPECT_EQ(got(waits).tasks.size(), 1U);
  EXPECT_EQ(got(waits).waited, Duration::seconds(50)) << "over all of its calls";
}

TEST_F(RemoteQueueTest, WaitsForOneOfSeveralWaysNoLongerThanItsPartOfALease) {
  directly = RemoteQueue::Direct{.queue = own->queue.get(), .mark = "m"};
  const queue::Renew renew{.id = submit().id, .fence = 1, .lease = Duration::seconds(18)};
  got(give({renew}));
  EXPECT_EQ(brokers.last.deadline, Duration::seconds(2)) << "two brokers, and the store";
  got(give({submit()}));
  EXPECT_EQ(brokers.last.deadline, Duration::nanoseconds(30'000'000'000 / 9)) << "without a lease";
  const auto claimed = got(claim());
  ASSERT_EQ(claimed.size(), 1U);
  got(give({queue::Complete{.id = claimed[0].id, .fence = claimed[0].fence, .output = "{}"}}));
  EXPECT_LT(brokers.last.deadline, Duration::seconds(10)) << "an ending is as urgent";
}

TEST_F(RemoteQueueTest, WaitsForTheOnlyWayAsLongAsForAnything) {
  auto only = std::make_unique<RemoteQueue>(
      RemoteQueue::Options{.brokers = {"http://a:1"}},
      RemoteQueue::Ports{.http = brokers, .clock = clock, .timers = timers});
  only->open([](const Result<void>& result) { EXPECT_TRUE(result); });
  only->give({queue::Renew{.id = submit().id, .fence = 1, .lease = Duration::seconds(6)}},
             [](const auto& replies) { EXPECT_TRUE(replies); });
  EXPECT_EQ(brokers.last.deadline, Duration::seconds(30));
}

// A broker that answers as it likes.
class OtherQueue final : public TaskQueue {
 public:
  explicit OtherQueue(TaskQueue& inside) : inside_(inside) {}
  void give(std::vector<queue::Command> commands, Done<std::vector<queue::Reply>> done) override {
    inside_.give(std::move(commands), std::move(done));
  }
  void claim(ClaimAsk, Done<ClaimedTasks> done) override { done(ClaimedTasks{.tasks = tasks}); }
  void find(queue::TaskId, Done<queue::Task>) override {}
  void history(queue::TaskId, Done<queue::History>) override {}
  void why(queue::TaskId, Done<queue::Why>) override {}
  void list(queue::TaskFilter, Done<std::vector<queue::Task>> done) override {
    ++listed;
    done(tasks);
  }
  void stats(Done<queue::Stats>) override {}
  void schedules(Done<std::vector<queue::Schedule>>) override {}
  void closings(Done<std::vector<queue::Closing>>) override {}
  void limits(Done<std::vector<queue::SetLimit>>) override {}
  QueueView view() override { return inside_.view(); }
  void stop_claims() override {}

  std::vector<queue::Task> tasks;
  int listed = 0;

 private:
  TaskQueue& inside_;
};

TEST_F(RemoteQueueTest, BelievesABrokerNoFurtherThanItWasAsked) {
  OtherQueue other(*own->queue);
  a().queue = b().queue = &other;
  const auto claim_mail = [&] {
    return ask<ClaimedTasks>([&](auto done) {
      remote->claim({.claim = {.worker = "w", .types = {"mail"}, .count = 2}}, std::move(done));
    });
  };
  for (std::uint32_t i = 1; i <= 3; ++i) {
    other.tasks.push_back({.id = submit().id, .terms = {.type = "mail", .input = "{}"}});
  }
  EXPECT_THAT(error(claim_mail()).message, HasSubstr("more tasks than was asked for"));
  other.tasks.pop_back();
  EXPECT_EQ(got(claim_mail()).tasks.size(), 2U);
  other.tasks[0].terms.type = "bill";
  EXPECT_THAT(error(claim_mail()).message, HasSubstr("another type than was asked for"));
}

TEST_F(RemoteQueueTest, DoesNotGoOnForEverWithAListThatDoesNot) {
  OtherQueue other(*own->queue);
  a().queue = b().queue = &other;
  for (std::size_t i = 0; i < bounds::broker_tasks_max; ++i) {
    other.tasks.push_back({.id = submit().id, .terms = {.type = "mail", .input = "{}"}});
  }
  EXPECT_THAT(error(list()).message, HasSubstr("another order of tasks than was asked for"));
  EXPECT_EQ(other.listed, 2) << "the same page twice";
  EXPECT_THAT(error(list(10)).message, HasSubstr("a longer page than was asked for"));
}

TEST_F(RemoteQueueTest, AnswersWhoeverWaitsWhenItEnds) {
  const auto waiting = claim(Duration::minutes(1));
  remote.reset();
  EXPECT_THAT(got(waiting), IsEmpty());
}

TEST_F(RemoteQueueTest, DoesNotOpenWithoutABroker) {
  a().fault = b().fault = Fault::away;
  const auto other = make();
  const auto opened = ask<void>([&](auto done) { other->open(std::move(done)); });
  EXPECT_THAT(error(opened).message, HasSubstr("http://b:2: connection refused"));
}

}  // namespace
}  // namespace pawl

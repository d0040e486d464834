#include "net/tls_connector.h"

#include <string>
#include <utility>

namespace pawl::net {

class TlsConnector::Attempt final : public std::enable_shared_from_this<Attempt> {
 public:
  struct Parts {
    std::shared_ptr<const Tls> tls;
    Target target;
    Done done;
  };

  Attempt(TlsConnector& connector, Parts parts)
      : connector_(connector),
        parts_(std::move(parts)),
        timer_(connector.loop_.timer([this] { fail("no answer in time"); })) {}
  ~Attempt() {
    if (stream_) stream_->close();
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  void begin(Duration deadline) {
    timer_->start(deadline);
    connector_.loop_.connect(parts_.target, deadline,
                             [weak = weak_from_this()](Result<StreamPtr> plain) {
                               const auto self = weak.lock();
                               if (!self) {
                                 if (plain) (*plain)->close();
                               } else if (!plain) {
                                 self->end(std::unexpected(plain.error()));
                               } else {
                                 self->greet(std::move(*plain));
                               }
                             });
  }

 private:
  void greet(StreamPtr plain) {
    auto stream = parts_.tls->connect(connector_.loop_, std::move(plain), parts_.target.host,
                                      [this](Result<void> how) {
                                        if (!how) return fail(how.error().message);
                                        end(std::exchange(stream_, nullptr));
                                      });
    if (!stream) return fail(stream.error().message);
    stream_ = std::move(*stream);
  }

  void fail(const std::string& why) {
    end(std::unexpected(Error(Code::unavailable, Outcome::not_applied,
                              "cannot connect to " + to_string(parts_.target) + ": " + why)));
  }

  void end(Result<StreamPtr> how) {
    const auto self = shared_from_this();
    timer_->stop();
    connector_.under_way_.erase(this);
    parts_.done(std::move(how));
  }

  TlsConnector& connector_;
  Parts parts_;
  TimerPtr timer_;
  StreamPtr stream_;  // while it is greeted
};

TlsConnector::TlsConnector(Loop& loop) : loop_(loop) {}
TlsConnector::~TlsConnector() = default;

void TlsConnector::connect(std::shared_ptr<const Tls> tls, const Target& target, Duration deadline,
                           Done done) {
  const auto attempt = std::make_shared<Attempt>(
      *this, Attempt::Parts{.tls = std::move(tls), .target = target, .done = std::move(done)});
  under_way_.emplace(attempt.get(), attempt);
  attempt->begin(deadline);
}

}  // namespace pawl::net

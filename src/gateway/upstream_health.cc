#include "gateway/upstream_health.h"

#include <string>
#include <utility>

#include "base/bounds.h"
#include "base/text.h"
#include "core/http/head.h"

namespace pawl::gateway {

// The checks of one upstream, one after the other.
class UpstreamHealth::Check final : public net::StreamHandler,
                                    public std::enable_shared_from_this<Check> {
 public:
  Check(net::TlsConnector& connector, UpstreamsPtr upstreams,
        std::shared_ptr<SharedUpstream> upstream)
      : connector_(connector),
        upstreams_(std::move(upstreams)),
        upstream_(std::move(upstream)),
        next_(connector.loop().timer([this] { begin(); })),
        timeout_(connector.loop().timer([this] { end(false, "no answer in time"); })) {}

  void begin() {
    next_->start(upstreams_->health.interval);
    if (under_way_) return;  // the timeout is longer than the interval
    under_way_ = true;
    const Duration timeout = upstreams_->health.timeout;
    timeout_->start(timeout);
    upstreams_->connect(connector_, *upstream_, timeout,
                        [self = shared_from_this(), round = round_](Result<net::StreamPtr> stream) {
                          self->on_connected(std::move(stream), round);
                        });
  }

  void stop() {
    stopped_ = true;
    next_->stop();
    finish();
  }

  void on_data(std::string_view bytes) override {
    const auto self = shared_from_this();
    answer_.append(bytes);
    http::ResponseHead head;
    const auto progress = http::parse_response(answer_, false, head);
    if (!progress) return end(false, progress.error().reason);
    if (*progress == http::HeadProgress::needs_more) return;
    const bool good = head.status >= 200 && head.status < 300;
    std::string status = "it answered with ";
    append_number(status, head.status);
    end(good, status);
  }
  void on_drained() override {}
  void on_closed() override {
    const auto self = shared_from_this();
    end(false, "it closed the connection without an answer");
  }

 private:
  void on_connected(Result<net::StreamPtr> stream, std::uint64_t round) {
    if (round != round_) {  // given up in the meantime
      if (stream) (*stream)->close();
      return;
    }
    if (!stream) return end(false, stream.error().message);
    stream_ = std::move(*stream);
    const std::string& path = upstreams_->health.path;
    if (path.empty()) return end(true, "");
    answer_.clear();
    stream_->start(*this);
    stream_->send("GET " + path + " HTTP/1.1\r\nHost: " + upstream_->address().host +
                  "\r\nUser-Agent: pawl\r\nConnection: close\r\n\r\n");
  }

  void end(bool good, std::string_view reason) {
    if (!under_way_) return;
    finish();
    if (!stopped_) upstreams_->note(*upstream_, good, reason);
  }

  void finish() {
    under_way_ = false;
    ++round_;
    timeout_->stop();
    if (stream_) std::exchange(stream_, nullptr)->close();
  }

  net::TlsConnector& connector_;
  UpstreamsPtr upstreams_;
  std::shared_ptr<SharedUpstream> upstream_;
  net::TimerPtr next_;
  net::TimerPtr timeout_;
  net::StreamPtr stream_;
  std::string answer_;
  std::uint64_t round_ = 0;  // of the check that is under way, or comes next
  bool under_way_ = false;
  bool stopped_ = false;
};

UpstreamHealth::UpstreamHealth(net::Loop& loop) : connector_(loop) {}

UpstreamHealth::~UpstreamHealth() {
  for (const auto& check : checks_) check->stop();
}

void UpstreamHealth::watch(const UpstreamsPtr& upstreams) {
  for (const auto& check : checks_) check->stop();
  checks_.clear();
  for (const auto& upstream : upstreams->all) {
    checks_.push_back(std::make_shared<Check>(connector_, upstreams, upstream));
    checks_.back()->begin();
  }
}

}  // namespace pawl::gateway

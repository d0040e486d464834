#include "gateway/upstream_pool.h"

#include <utility>

#include "base/bounds.h"

namespace pawl::gateway {

// Watches a connection while nobody uses it.
class UpstreamPool::Resting final : public net::StreamHandler {
 public:
  Resting(UpstreamPool& pool, net::StreamPtr stream) : pool_(pool), stream_(std::move(stream)) {
    stream_->start(*this);
  }

  net::StreamPtr release() { return std::exchange(stream_, nullptr); }
  void close() {
    if (stream_) stream_->close();
  }

  void on_data(std::string_view) override { leave(); }
  void on_drained() override {}
  void on_closed() override { leave(); }

 private:
  void leave() {
    close();
    std::erase_if(pool_.resting_, [this](const auto& other) { return other.get() == this; });
  }

  UpstreamPool& pool_;
  net::StreamPtr stream_;
};

UpstreamPool::~UpstreamPool() {
  for (const auto& resting : resting_) resting->close();
}

void UpstreamPool::take(const net::Target& target, Done done) {
  if (target == target_ && !resting_.empty()) {
    net::StreamPtr stream = resting_.back()->release();
    resting_.pop_back();
    done(Taken{.stream = std::move(stream), .reused = true});
    return;
  }
  loop_.connect(target, bounds::upstream_connect_deadline,
                [done = std::move(done)](Result<net::StreamPtr> stream) mutable {
                  if (!stream) {
                    done(std::unexpected(stream.error()));
                  } else {
                    done(Taken{.stream = std::move(*stream), .reused = false});
                  }
                });
}

void UpstreamPool::give_back(const net::Target& target, net::StreamPtr stream) {
  if (target != target_) {
    for (const auto& resting : resting_) resting->close();
    resting_.clear();
    target_ = target;
  }
  if (resting_.size() >= bounds::upstream_idle_max) {
    stream->close();
    return;
  }
  resting_.push_back(std::make_shared<Resting>(*this, std::move(stream)));
}

}  // namespace pawl::gateway

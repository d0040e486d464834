#include "gateway/upstream_router.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace pawl::gateway {

UpstreamLink::UpstreamLink(UpstreamRouter& router, std::shared_ptr<SharedUpstream> upstream)
    : router_(router), upstream_(std::move(upstream)) {}

UpstreamLink::~UpstreamLink() {
  if (used_) upstream_->end_request();
  if (stream_) stream_->close();
}

void UpstreamLink::use() {
  used_ = true;
  upstream_->begin_request();
}

void UpstreamLink::rest() {
  used_ = false;
  reused_ = true;
  upstream_->end_request();
  stream_->start(*this);
}

void UpstreamLink::on_data(std::string_view) {
  router_.forget(*this);
}

void UpstreamLink::on_closed() {
  router_.forget(*this);
}

// One request that waits for a connection.
struct UpstreamRouter::Attempt {
  Purpose purpose;
  Done done;
  UpstreamsPtr upstreams;                                                      // of its beginning
  std::array<const SharedUpstream*, bounds::config_upstreams_max> tried = {};  // in vain
  std::size_t tried_count = 0;
  std::optional<Error> last = {};

  bool has_tried(const SharedUpstream& upstream) const {
    return std::find(tried.begin(), tried.begin() + tried_count, &upstream) !=
           tried.begin() + tried_count;
  }
};

void UpstreamRouter::use(UpstreamsPtr upstreams) {
  PAWL_ASSERT(!upstreams->all.empty() && upstreams->all.size() <= bounds::config_upstreams_max);
  std::vector<Lane> lanes;
  for (const auto& upstream : upstreams->all) {
    Lane* known = lane_of(*upstream);
    lanes.push_back({.upstream = upstream, .resting = {}});
    if (known == nullptr) continue;
    // Whom we trust may be another one now.
    const bool trusted_alike = !upstream->address().tls || upstreams->tls == upstreams_->tls;
    if (trusted_alike) lanes.back().resting = std::move(known->resting);
  }
  upstreams_ = std::move(upstreams);
  lanes_ = std::move(lanes);
}

void UpstreamRouter::take(Purpose purpose, Done done) {
  Lane& lane = lanes_[*choose(nullptr)];
  if (UpstreamLinkPtr link = take_resting(lane, purpose)) {
    done(std::move(link));
    return;
  }
  auto attempt = std::make_unique<Attempt>(
      Attempt{.purpose = purpose, .done = std::move(done), .upstreams = upstreams_});
  auto link = std::make_unique<UpstreamLink>(*this, lane.upstream);
  connect(std::move(link), std::move(attempt));
}

// Another upstream, after one could not be connected to.
void UpstreamRouter::try_next(std::unique_ptr<Attempt> attempt) {
  attempt->upstreams = upstreams_;  // there may have been a reload
  const bool tried_enough = attempt->tried_count == attempt->tried.size();
  const auto chosen = tried_enough ? std::nullopt : choose(attempt.get());
  if (!chosen) {
    attempt->done(std::unexpected(*std::move(attempt->last)));
    return;
  }
  Lane& lane = lanes_[*chosen];
  if (UpstreamLinkPtr link = take_resting(lane, attempt->purpose)) {
    attempt->done(std::move(link));
    return;
  }
  connect(std::make_unique<UpstreamLink>(*this, lane.upstream), std::move(attempt));
}

void UpstreamRouter::connect(UpstreamLinkPtr link, std::unique_ptr<Attempt> attempt) {
  link->use();
  const Upstreams& upstreams = *attempt->upstreams;
  const SharedUpstream& upstream = link->upstream();
  upstreams.connect(connector_, upstream, upstreams.connect_deadline,
                    [this, made = std::move(link),
                     waiting = std::move(attempt)](Result<net::StreamPtr> stream) mutable {
                      const UpstreamsPtr known = waiting->upstreams;
                      if (stream) {
                        known->note(*made->upstream_, true, "");
                        made->stream_ = std::move(*stream);
                        waiting->done(std::move(made));
                        return;
                      }
                      known->note(*made->upstream_, false, stream.error().message);
                      waiting->tried[waiting->tried_count++] = made->upstream_.get();
                      waiting->last = std::move(stream.error());
                      made.reset();
                      try_next(std::move(waiting));
                    });
}

UpstreamLinkPtr UpstreamRouter::take_resting(Lane& lane, Purpose purpose) {
  while (!lane.resting.empty()) {
    UpstreamLinkPtr link = std::move(lane.resting.back());
    lane.resting.pop_back();
    const bool fit =
        purpose == Purpose::write ? link->stream_->is_quiet() : !link->stream_->has_input();
    if (!fit) continue;
    link->use();
    return link;
  }
  return nullptr;
}

std::optional<std::size_t> UpstreamRouter::choose(const Attempt* attempt) {
  // With one upstream there is nothing to choose, and most have one.
  if (lanes_.size() == 1 && attempt == nullptr) return 0;
  std::array<upstream::Candidate, bounds::config_upstreams_max> candidates;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const SharedUpstream& upstream = *lanes_[i].upstream;
    candidates[i] = {.pending = upstream.pending(),
                     .healthy = upstream.is_healthy(),
                     .tried = attempt != nullptr && attempt->has_tried(upstream)};
  }
  return upstream::choose(std::span(candidates).first(lanes_.size()), turn_++);
}

void UpstreamRouter::give_back(UpstreamLinkPtr link) {
  Lane* lane = lane_of(link->upstream());
  if (lane == nullptr || lane->resting.size() >= bounds::upstream_idle_max) return;
  lane->resting.push_back(std::move(link));
  lane->resting.back()->rest();
}

UpstreamRouter::Lane* UpstreamRouter::lane_of(const SharedUpstream& upstream) {
  const auto found = std::ranges::find_if(
      lanes_, [&upstream](const Lane& lane) { return lane.upstream.get() == &upstream; });
  return found == lanes_.end() ? nullptr : &*found;
}

void UpstreamRouter::forget(UpstreamLink& link) {
  Lane* lane = lane_of(link.upstream());
  PAWL_ASSERT(lane != nullptr);
  std::erase_if(lane->resting, [&link](const auto& other) { return other.get() == &link; });
}

}  // namespace pawl::gateway

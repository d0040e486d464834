// UpstreamRouter: one loop's way to the upstreams. It chooses one for each request, and keeps the
// connections that allow another request, the last used first.
//
// Contract: take() gives a connection that nobody else uses, and counts a request of its upstream
//           until the link is given back or dropped. An upstream that cannot be connected to is
//           told of, and another one is tried: nothing has left by then. That counts as a failed
//           check; a connect that succeeds counts for nothing, or busy traffic would hide what the
//           checks find. One that has said something while it rested is not used, or that would be
//           taken for an answer. For a write it is looked at closely before it is used: one that
//           the other side has closed would leave the outcome open. Only a link whose
//           answer is whole and allows another request is given back. A connection that says
//           anything while it rests is closed.
// Bounds:   bounds::upstream_idle_max resting connections an upstream.
// Threads:  those of its loop, which outlives it and does not run any more when it ends.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/bounds.h"
#include "core/upstream/choice.h"
#include "gateway/upstreams.h"
#include "net/loop.h"

namespace pawl::gateway {

class UpstreamRouter;

// A connection to an upstream, for one request at a time. Dropping it closes the connection.
class UpstreamLink final : public net::StreamHandler {
 public:
  UpstreamLink(UpstreamRouter& router, std::shared_ptr<SharedUpstream> upstream);
  ~UpstreamLink();
  UpstreamLink(const UpstreamLink&) = delete;
  UpstreamLink& operator=(const UpstreamLink&) = delete;

  // Whoever took the link starts it.
  net::Stream& stream() const { return *stream_; }
  const SharedUpstream& upstream() const { return *upstream_; }
  // It has carried a request before this one.
  bool reused() const { return reused_; }

  // While it rests.
  void on_data(std::string_view) override;
  void on_drained() override {}
  void on_closed() override;

 private:
  friend class UpstreamRouter;

  void use();
  void rest();

  UpstreamRouter& router_;
  std::shared_ptr<SharedUpstream> upstream_;
  net::StreamPtr stream_;
  bool used_ = false;
  bool reused_ = false;
};
using UpstreamLinkPtr = std::unique_ptr<UpstreamLink>;

class UpstreamRouter {
 public:
  enum class Purpose : std::uint8_t { read, write };  // read: may be sent again if need be
  // Called once; before take() returns when a connection rests.
  using Done = std::move_only_function<void(Result<UpstreamLinkPtr>)>;

  explicit UpstreamRouter(net::Loop& loop) : connector_(loop) {}

  // From now on these. Connections to those that stay are kept, unless whom to trust was read anew.
  void use(UpstreamsPtr upstreams);
  void take(Purpose purpose, Done done);
  void give_back(UpstreamLinkPtr link);

 private:
  friend class UpstreamLink;

  // What this loop has of one upstream.
  struct Lane {
    std::shared_ptr<SharedUpstream> upstream;
    std::vector<UpstreamLinkPtr> resting;
  };
  struct Attempt;

  void try_next(std::unique_ptr<Attempt> attempt);
  void connect(UpstreamLinkPtr link, std::unique_ptr<Attempt> attempt);
  UpstreamLinkPtr take_resting(Lane& lane, Purpose purpose);
  std::optional<std::size_t> choose(const Attempt* attempt);
  Lane* lane_of(const SharedUpstream& upstream);
  void forget(UpstreamLink& link);

  net::TlsConnector connector_;
  UpstreamsPtr upstreams_;
  std::vector<Lane> lanes_;  // in the order of the upstreams
  std::size_t turn_ = 0;
};

}  // namespace pawl::gateway

// TlsConnector: connects to a target and greets it, all within one deadline.
//
// Contract: as Loop::connect: `done` is called once and later; not connected means that nothing
//           left here. What is under way when the connector ends is given up without a word.
// Threads:  those of its loop.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include "net/loop.h"
#include "net/tls.h"

namespace pawl::net {

class TlsConnector {
 public:
  using Done = std::move_only_function<void(Result<StreamPtr>)>;

  explicit TlsConnector(Loop& loop);
  ~TlsConnector();

  Loop& loop() const { return loop_; }
  void connect(std::shared_ptr<const Tls> tls, const Target& target, Duration deadline, Done done);

 private:
  class Attempt;

  Loop& loop_;
  std::unordered_map<Attempt*, std::shared_ptr<Attempt>> under_way_;
};

}  // namespace pawl::net

#include "config/tree.h"

#include <algorithm>
#include <utility>

namespace pawl::config {

Node Node::of(std::string_view text) {
  Node node;
  node.kind = Kind::text;
  node.text = text;
  return node;
}

Node Node::list(std::vector<Node> items) {
  Node node;
  node.kind = Kind::list;
  node.items = std::move(items);
  return node;
}

Node Node::texts(std::initializer_list<std::string_view> texts) {
  std::vector<Node> items;
  for (const std::string_view each : texts) items.push_back(of(each));
  return list(std::move(items));
}

Node Node::map(std::vector<Member> members) {
  Node node;
  node.kind = Kind::map;
  node.members = std::move(members);
  return node;
}

bool same(const Node& a, const Node& b) {
  const auto same_member = [](const Member& x, const Member& y) {
    return x.key == y.key && same(x.value, y.value);
  };
  return a.kind == b.kind && a.text == b.text && std::ranges::equal(a.items, b.items, same) &&
         std::ranges::equal(a.members, b.members, same_member);
}

}  // namespace pawl::config

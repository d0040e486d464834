// hiredis' one file.
#include "adapter/redis/resp.h"

#include <hiredis/read.h>
#include <utility>

#include "base/assert.h"
#include "base/bounds.h"
#include "base/text.h"

namespace pawl::redis {
namespace {

// More than the loop reads at once, so that the reader keeps its buffer from one read to the next.
constexpr std::size_t idle_buffer_bytes_max = 512 * 1024;

struct FreeReader {
  void operator()(redisReader* reader) const { redisReaderFree(reader); }
};

// Grows in place: hiredis' functions below fill the node they are told to and own nothing.
struct Growing {
  Reply root;
  std::size_t items = 0;
  std::size_t bytes = 0;
  bool is_too_large = false;

  void* put(const redisReadTask* task, Reply value) {
    Reply& node =
        task->parent == nullptr
            ? root
            : static_cast<Reply*>(task->parent->obj)->items()[static_cast<std::size_t>(task->idx)];
    node = std::move(value);
    return &node;
  }
  // No value makes the reader give up.
  void* refuse() {
    is_too_large = true;
    return nullptr;
  }
};

Growing& growing(const redisReadTask* task) {
  return *static_cast<Growing*>(task->privdata);
}

Reply::Kind kind_of(int type) {
  if (type == REDIS_REPLY_STATUS) return Reply::Kind::status;
  return type == REDIS_REPLY_ERROR ? Reply::Kind::error : Reply::Kind::string;
}

void* create_string(const redisReadTask* task, char* text, std::size_t size) {
  Growing& reply = growing(task);
  reply.bytes += size;
  if (reply.bytes > bounds::redis_reply_bytes_max) return reply.refuse();
  return reply.put(task, Reply(kind_of(task->type), std::string(text, size)));
}

void* create_array(const redisReadTask* task, int size) {
  Growing& reply = growing(task);
  reply.items += static_cast<std::size_t>(size);
  if (reply.items > bounds::redis_reply_items_max) return reply.refuse();
  return reply.put(task, Reply(std::vector<Reply>(static_cast<std::size_t>(size))));
}

void* create_integer(const redisReadTask* task, long long number) {
  return growing(task).put(task, Reply(std::int64_t{number}));
}

void* create_nil(const redisReadTask* task) {
  return growing(task).put(task, Reply());
}

}  // namespace

struct ReplyReader::State {
  redisReplyObjectFunctions functions = {create_string, create_array, create_integer, create_nil,
                                         [](void*) {}};
  Growing reply;
  std::unique_ptr<redisReader, FreeReader> reader;
};

std::span<const Reply> Reply::items() const {
  const auto* items = std::get_if<std::vector<Reply>>(&value_);
  return items == nullptr ? std::span<const Reply>() : *items;
}

std::span<Reply> Reply::items() {
  auto* items = std::get_if<std::vector<Reply>>(&value_);
  return items == nullptr ? std::span<Reply>() : *items;
}

std::string to_string(const Reply& reply) {
  switch (reply.kind()) {
    case Reply::Kind::nil:
      return "(nil)";
    case Reply::Kind::integer:
      return std::to_string(*reply.integer());
    case Reply::Kind::string:
      return '"' + *reply.text() + '"';
    case Reply::Kind::status:
    case Reply::Kind::error:
      return *reply.text();
    case Reply::Kind::array:
      break;
  }
  std::string text = "[";
  for (const Reply& item : reply.items()) {
    if (text.size() > 1) text += ", ";
    text += to_string(item);
  }
  return text + "]";
}

void append_command(std::string& out, std::span<const std::string_view> words) {
  out += '*';
  append_number(out, words.size());
  out += "\r\n";
  for (const std::string_view word : words) {
    out += '$';
    append_number(out, word.size());
    out += "\r\n";
    out += word;
    out += "\r\n";
  }
}

ReplyReader::ReplyReader() : state_(std::make_unique<State>()) {
  state_->reader.reset(redisReaderCreateWithFunctions(&state_->functions));
  PAWL_ASSERT(state_->reader != nullptr);
  state_->reader->privdata = &state_->reply;
  state_->reader->maxbuf = idle_buffer_bytes_max;
}

ReplyReader::~ReplyReader() = default;

void ReplyReader::feed(std::string_view bytes) {
  redisReaderFeed(state_->reader.get(), bytes.data(), bytes.size());
}

Result<std::optional<Reply>> ReplyReader::next() {
  redisReader& reader = *state_->reader;
  Growing& reply = state_->reply;
  void* whole = nullptr;
  const bool good = redisReaderGetReply(&reader, &whole) == REDIS_OK;
  const bool is_hoarding = reader.len - reader.pos > bounds::redis_reply_bytes_max;
  if (reply.is_too_large || (good && whole == nullptr && is_hoarding)) {
    reply.is_too_large = true;
    return failure(Code::invalid, "the reply is larger than " +
                                      std::to_string(bounds::redis_reply_bytes_max) + " bytes or " +
                                      std::to_string(bounds::redis_reply_items_max) + " items");
  }
  if (!good) {
    const std::string words = reader.errstr;
    return failure(Code::invalid, "what came is not the Redis protocol: " + words);
  }
  if (whole == nullptr) return std::nullopt;
  reply.items = 0;
  reply.bytes = 0;
  return std::exchange(reply.root, Reply());
}

}  // namespace pawl::redis

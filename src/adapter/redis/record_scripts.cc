#include "adapter/redis/record_scripts.h"

#include <string>
#include <string_view>

namespace pawl::redis {
namespace {

// What all share: the time, and records as they are kept.
constexpr std::string_view records = R"lua(
local match, format, sub, max, min = string.match, string.format, string.sub, math.max, math.min
local number_max = 2^53
local fingerprint_max, metadata_max, body_max, head_max = 128, 65536, 4194304, 256
local statuses = {in_flight = true, done = true, failed = true, unknown = true}
local key, now, slack = KEYS[1], tonumber(ARGV[1]), 3600000 -- by hand a clock may stand still

-- What the server refuses ends the script, and is told.
local function call(...)
  local found = redis.pcall(...)
  if type(found) == 'table' and found.err then
    error({'trouble', (select(2, ...)) or '', found.err})
  end
  return found
end

local function damaged(at, text)
  error({'damaged', at, sub(text, 1, head_max)})
end

local function digits(number)
  return format('%.0f', number)
end

local function head(r)
  return format('pawl-record 1 %s %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f\n', r.status,
                r.fence, r.created, r.lease, r.expires, r.replays, r.tombstone, #r.fingerprint,
                #r.metadata, r.size)
end

-- Whether the machine could have made it.
local function is_possible(r)
  if not statuses[r.status] or r.fence < 1 then return false end
  if max(r.fence, r.created, r.lease, r.expires, r.replays) > number_max then return false end
  if r.tombstone == 1 and r.size > 0 then return false end
  if r.replays > 0 and r.status ~= 'done' then return false end
  if r.status ~= 'in_flight' then return r.lease == 0 end
  return r.lease <= r.expires and r.tombstone == 0 and r.metadata == '' and r.size == 0
end

-- `text` is the whole, or all but the end of the body; `size` is that of the whole.
local function parse(at, text, size)
  local status, fence, created, lease, expires, replays, tombstone, f, m, b, rest = match(text,
      '^pawl%-record 1 ([%l_]+) (%d+) (%d+) (%d+) (%d+) (%d+) ([01]) (%d+) (%d+) (%d+)\n()')
  if not rest then damaged(at, text) end
  f, m, b = tonumber(f), tonumber(m), tonumber(b)
  if f > fingerprint_max or m > metadata_max or b > body_max or rest - 1 > head_max
      or rest - 1 + f + m + b ~= size then
    damaged(at, text)
  end
  local r = {status = status, fence = tonumber(fence), created = tonumber(created),
             lease = tonumber(lease), expires = tonumber(expires), replays = tonumber(replays),
             tombstone = tonumber(tombstone), fingerprint = sub(text, rest, rest + f - 1),
             metadata = sub(text, rest + f, rest + f + m - 1), size = b, text = text}
  r.body = sub(text, rest + f + m)
  if not is_possible(r) or head(r) ~= sub(text, 1, rest - 1) then damaged(at, text) end
  return r
end

-- One byte more than the longest there is: what is longer does not fit its head.
local function load()
  local text = call('GETRANGE', key, 0, head_max + fingerprint_max + metadata_max + body_max)
  return text ~= '' and parse(key, text, #text) or nil
end

-- As it reads now; nil when there is none.
local function status_of(r)
  if not r then return nil end
  if r.status == 'in_flight' and now < r.lease then return 'in_flight' end
  if r.expires <= now then return nil end
  return r.status == 'in_flight' and 'unknown' or r.status
end

local function save(r)
  r.size = #r.body
  local ms = math.ceil(max(0, r.expires - now) / 1000) + slack
  call('SET', key, head(r) .. r.fingerprint .. r.metadata .. r.body, 'PX', digits(ms))
end

-- May get lost: a server that is full still replays. In place where it fits.
local function count_replay(r)
  local before = #head(r)
  r.replays = min(r.replays + 1, number_max)
  if #head(r) == before then
    redis.pcall('SETRANGE', key, 0, head(r))
  else
    pcall(save, r)
  end
end

local function after_now(microseconds)
  return min(now + microseconds, number_max)
end

-- How it ended: what complete and settle are told.
local function finish(r)
  r.status, r.tombstone, r.metadata, r.body = ARGV[2], tonumber(ARGV[4]), ARGV[5], ARGV[6]
  r.lease, r.expires = 0, after_now(tonumber(ARGV[3]))
  save(r)
end

local function refused(r)
  return {now, 'refused', r.text}
end
)lua";

// `step` does the work of the script.
constexpr std::string_view ending = R"lua(
local told, reply = pcall(function()
  if not now then
    local time = call('TIME')
    now, slack = time[1] * 1000000 + time[2], 2 -- expiry is reckoned from a whole millisecond
  end
  return step()
end)
if told then return reply end
if type(reply) ~= 'table' then error(reply) end
return {now or 0, reply[1], reply[2], reply[3]}
)lua";

constexpr std::string_view begin = R"lua(
local fence_key, newest, name, prefix = KEYS[2], KEYS[3], sub(key, 11), sub(key, 1, 10)

-- The clock is its lower bound: so fences grow also where a server has forgotten the last one.
local function next_fence(r)
  local found = call('GET', fence_key) or '0'
  local last = match(found, '^%d+$') and max(tonumber(found), r and r.fence or 0) or number_max
  if last >= number_max then damaged(fence_key, found) end -- there is none that is greater
  local fence = max(last + 1, now)
  call('SET', fence_key, digits(fence))
  return fence
end

-- Three names a start, anywhere: at most every third name in the list is that of a record which
-- has gone.
local function forget_some()
  local many = call('ZCARD', newest)
  if many == 0 then return end
  local from = now % many
  for _, other in ipairs(call('ZRANGE', newest, digits(from), digits(from + 2))) do
    if redis.pcall('EXISTS', prefix .. other) == 0 then call('ZREM', newest, other) end
  end
end

local function start(r, verdict)
  local fence = next_fence(r)
  forget_some()
  call('ZADD', newest, digits(now), name)
  local lease = after_now(tonumber(ARGV[3]))
  save({status = 'in_flight', fence = fence, created = now, lease = lease,
        expires = min(lease + tonumber(ARGV[4]), number_max), replays = 0, tombstone = 0,
        fingerprint = ARGV[2], metadata = '', body = ''})
  return {now, verdict, r and r.text or '', fence}
end

local function step()
  local r = load()
  local status = status_of(r)
  if not status then return start(r, 'started') end
  if r.fingerprint ~= ARGV[2] then return {now, 'mismatch', r.text, 0} end
  if status == 'failed' then return start(r, 'started') end
  if status == 'unknown' and ARGV[5] == '1' then return start(r, 'took_over') end
  if status == 'done' then
    count_replay(r)
    return {now, 'replay', r.text, 0}
  end
  return {now, status, r.text, 0}
end
)lua";

constexpr std::string_view complete = R"lua(
-- Of a tombstone nobody can tell what it was.
local function is_said(r)
  if r.status ~= ARGV[2] then return false end
  return r.tombstone == 1
      or (ARGV[4] == '0' and r.metadata == ARGV[5] and r.body == ARGV[6])
end

local function step()
  local r = load()
  if not status_of(r) then return {now, 'none'} end
  if digits(r.fence) ~= ARGV[7] then return refused(r) end
  if is_said(r) then return {now, 'ok'} end
  if r.status ~= 'in_flight' then return refused(r) end
  finish(r)
  return {now, 'ok'}
end
)lua";

constexpr std::string_view settle = R"lua(
local function step()
  local r = load()
  local status = status_of(r)
  if not status then return {now, 'none'} end
  if status ~= 'unknown' then return refused(r) end
  finish(r)
  return {now, 'ok'}
end
)lua";

constexpr std::string_view renew = R"lua(
local function step()
  local r = load()
  if not status_of(r) then return {now, 'none'} end
  if digits(r.fence) ~= ARGV[3] or r.status ~= 'in_flight' then return refused(r) end
  local ttl = r.expires - r.lease
  r.lease = max(r.lease, after_now(tonumber(ARGV[2])))
  r.expires = min(r.lease + ttl, number_max)
  save(r)
  return {now, 'ok'}
end
)lua";

constexpr std::string_view clear = R"lua(
local function step()
  local r = load()
  local status = status_of(r)
  if not status then return {now, 'none'} end
  if status == 'in_flight' and ARGV[2] == '0' then return refused(r) end
  call('ZREM', KEYS[2], sub(key, 11))
  call('DEL', key)
  return {now, 'ok'}
end
)lua";

// With a fingerprint it is asked by who repeats a request.
constexpr std::string_view get = R"lua(
local function step()
  local r = load()
  if not r then return {now, 'none'} end
  if status_of(r) == 'done' and r.fingerprint == ARGV[2] then count_replay(r) end
  return {now, 'ok', r.text}
end
)lua";

constexpr std::string_view list = R"lua(
local newest, prefix, names_max, bytes_max = key, sub(key, 1, 10), 500, 1048576
local scope, limit, oldest, after_time, after, wanted = ARGV[2], tonumber(ARGV[3]),
    tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7]

local function first_rank()
  if after == '' then return 0 end
  if call('ZSCORE', newest, after) == after_time then return call('ZREVRANK', newest, after) + 1 end
  return call('ZCOUNT', newest, after_time, '+inf') -- it has gone, or was begun again
end

-- Its text without the body. False when it does not count; nil when there is no record.
local function shown(at)
  local text = call('GETRANGE', at, 0, head_max + fingerprint_max + metadata_max - 1)
  if text == '' then return nil end
  local r = parse(at, text, call('STRLEN', at))
  local status = status_of(r)
  if not status or (wanted ~= '' and status ~= wanted) then return false end
  r.size = 0
  return head(r) .. r.fingerprint .. r.metadata
end

local function step()
  local from = first_rank()
  local names = call('ZREVRANGE', newest, from, from + names_max - 1, 'WITHSCORES')
  local reply, bytes = {now, 'page', '', ''}, 0
  for i = 1, #names, 2 do
    local name, is_last = names[i], i + 1 == 2 * names_max
    if tonumber(names[i + 1]) < oldest then return reply end
    if sub(name, 1, #scope) == scope then
      local text = shown(prefix .. name)
      if text then
        reply[#reply + 1], reply[#reply + 2] = name, text
        bytes = bytes + #text
        if #reply == 4 + 2 * limit then return reply end
        is_last = is_last or bytes >= bytes_max
      elseif text == nil and not is_last then
        redis.pcall('ZREM', newest, name)
      end
    end
    if is_last then
      reply[3], reply[4] = names[i + 1], name
      return reply
    end
  end
  return reply
end
)lua";

std::string whole(std::string_view step) {
  return std::string(records).append(step).append(ending);
}

}  // namespace

RecordScripts::RecordScripts()
    : begin(whole(redis::begin)),
      complete(whole(redis::complete)),
      settle(whole(redis::settle)),
      renew(whole(redis::renew)),
      clear(whole(redis::clear)),
      get(whole(redis::get)),
      list(whole(redis::list)) {}

}  // namespace pawl::redis

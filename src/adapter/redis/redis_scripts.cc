#include "adapter/redis/redis_scripts.h"

#include <string>
#include <string_view>

namespace pawl::redis {
namespace {

// What `ask` and `amend` share: the time, and counts as they are kept.
constexpr std::string_view counts = R"lua(
local match, format, max, min = string.match, string.format, math.max, math.min
local now, slack = tonumber(ARGV[1]), 3600000 -- a clock moved by hand may stand still for long
if not now then
  local time = redis.call('TIME')
  now, slack = time[1] * 1000000 + time[2], 2 -- expiry is reckoned from a whole millisecond
end
local step_max, count_max, used_max, period_max = 60000000, 1073741824, 2^53, 31622400000000

local function kept(n)
  local reply = {now, -1}
  for i = 1, n do
    local key, sort = KEYS[i], redis.call('TYPE', KEYS[i]).ok
    if sort == 'none' then
      reply[i + 2] = ''
    elseif sort == 'string' then
      reply[i + 2] = redis.call('GET', key)
    elseif sort == 'list' then
      reply[i + 2] = table.concat(redis.call('LRANGE', key, 0, -1), '\n')
    else
      reply[i + 2] = '?' .. sort
    end
  end
  return reply
end

-- The counts of a sliding window as they stand in the window of now.
local function slide(c)
  c.start = now - now % c.span
  if c.a + c.span <= c.start then
    c.current, c.previous = 0, c.a + c.span == c.start and c.b or 0
  elseif c.a > c.start then
    c.current, c.previous = min(count_max, c.b + c.p), 0
  else
    c.current, c.previous = c.b, c.p
  end
end

-- The window of the calendar that is counted in, and what was used in it. False: it is not known.
local function turn(c, starts)
  local at = now
  if c.a > now and c.a - now <= step_max then at = c.a end
  local s = {match(starts, '^(%d+) (%d+) (%d+) (%d+)$')}
  for i = 1, 3 do
    c.start, c.finish = tonumber(s[i]), tonumber(s[i + 1])
    if c.start <= at and at < c.finish then
      c.used = c.a >= c.start and c.b or 0
      return true
    end
  end
  return false
end

-- One count. Without it: what to answer instead, or nothing when it stands under another rule.
local function load(key, rule)
  local starts, found, shift, ahead
  if rule:byte() == 99 then rule, starts = match(rule, '^(.*)\n(.*)$') end
  local kind, most, span = match(rule, '^(%a) (%d+) ?(%d*)')
  most, span = tonumber(most), tonumber(span)
  if kind == 'l' or kind == 's' then
    shift, ahead = kind == 'l' and span or 0, kind == 's' and span or 0
    found = redis.pcall('LINDEX', key, 0)
  else
    found = redis.pcall('GET', key)
  end
  -- All that will be in it, so that it is made once.
  local c = {key = key, rule = rule, kind = kind, most = most, span = span, shift = shift,
             ahead = ahead, a = 0, b = 0, p = 0, closed = 0, there = false, room = false,
             start = 0, used = 0}
  if found then
    if type(found) == 'table' then return nil end
    local a, b, p, closed, under = match(found, '^(%d+) (%d+) (%d+) (%d+) (.*)$')
    if under ~= rule then return nil end
    c.a, c.b, c.p, c.closed = tonumber(a), tonumber(b), tonumber(p), tonumber(closed)
    c.there = true
  end
  if kind == 'w' then
    slide(c)
  elseif kind == 'c' and not turn(c, starts) then
    return nil, {now, -2}
  end
  return c
end

-- Most are 0, and printing a number is dear.
local function digits(number)
  return number == 0 and '0' or format('%.0f', number)
end

local function head(c)
  return digits(c.a) .. ' ' .. digits(c.b) .. ' ' .. digits(c.p) .. ' ' .. digits(c.closed) .. ' '
      .. c.rule
end

-- How many milliseconds the count is kept for: until it equals none. Zero or less: it does.
local function life(c, rests_at)
  return math.ceil((max(rests_at, c.closed) - now) / 1000)
end

local function save(c)
  local rests_at = 0
  if c.kind == 't' then
    rests_at = c.a
  elseif c.kind == 'c' then
    rests_at = c.b > 0 and c.finish or 0
  else
    rests_at = c.b > 0 and c.a + 2 * c.span or c.p > 0 and c.a + c.span or 0
  end
  local ms = life(c, rests_at)
  if ms > 0 then
    redis.call('SET', c.key, head(c), 'PX', ms + slack)
  elseif c.there then
    redis.call('DEL', c.key)
  end
end

-- The marks that still count, or all there are; none later than one that is made now.
local function marks_of(c, all)
  local marks = {}
  if not c.there then return marks end
  for _, text in ipairs(redis.call('LRANGE', c.key, 1, -1)) do
    local at, cost, holder = match(text, '^(%d+) (%d+) (%x+)$')
    at = min(tonumber(at), now + c.ahead)
    if all or at + c.shift > now then
      marks[#marks + 1] = {at = at, cost = tonumber(cost), holder = holder}
    end
  end
  return marks
end

local function text_of(mark)
  return format('%.0f %.0f %s', mark.at, mark.cost, mark.holder)
end

local function save_marks(c, marks)
  local words, rests_at = {''}, 0
  c.b = 0
  for i, mark in ipairs(marks) do
    c.b, rests_at, words[i + 1] = c.b + mark.cost, mark.at + c.shift, text_of(mark)
  end
  words[1] = head(c)
  if c.there then redis.call('DEL', c.key) end
  local ms = life(c, rests_at)
  if ms <= 0 then return end
  for from = 1, #words, 1000 do
    redis.call('RPUSH', c.key, unpack(words, from, min(from + 999, #words)))
  end
  redis.call('PEXPIRE', c.key, ms + slack)
end

-- When the token bucket is full; it may owe b more than an empty one.
local function full_at(c)
  return max(now, min(c.a, now + c.span * c.most + c.b))
end

local function fill_in(c, full)
  c.a, c.b = full, max(0, full - now - c.span * c.most)
end

-- Takes `cost`, or what is left of it; not of slots or logs.
local function take(c, cost)
  if c.kind == 't' then
    local full = full_at(c)
    fill_in(c, min(full + c.span * cost, max(full, now + c.span * c.most)))
  elseif c.kind == 'w' then
    c.a, c.b, c.p = c.start, min(count_max, c.current + cost), c.previous
  else
    c.a, c.b = c.start, min(used_max, c.used + cost)
  end
  save(c)
end
)lua";

constexpr std::string_view ask = R"lua(
-- Whether a * b >= c * d, exactly: a and c below 2^30, b and d below 2^45.
local function product_reaches(a, b, c, d)
  local b_low, d_low = b % 4194304, d % 4194304
  local low, other_low = a * b_low, c * d_low
  local high = a * ((b - b_low) / 4194304) + math.floor(low / 4194304)
  local other_high = c * ((d - d_low) / 4194304) + math.floor(other_low / 4194304)
  if high ~= other_high then return high > other_high end
  return low % 4194304 >= other_low % 4194304
end

-- Reads marks from the oldest on, until it is known when one use and when `cost` uses have come
-- back. The rest need not be looked at: their sum is known, and the last one's time.
local function survey(c, cost)
  c.over, c.gone, c.last, c.sums = 0, 0, 0, {0, 0, 0, 0, 0, 0}
  local sums, from, freed, part = c.sums, 1, 0, 0
  local used, one, all, texts
  repeat
    texts = c.there and redis.call('LRANGE', c.key, from, from + 15) or {}
    for _, text in ipairs(texts) do
      local at, n = match(text, '^(%d+) (%d+)')
      at, n = tonumber(at), tonumber(n)
      c.last = at
      if at + c.shift <= now then
        c.over, c.gone = c.over + 1, c.gone + n
      else
        if not used then
          used = c.b - c.gone
          one = max(1, used - c.most + 1)
          all = cost <= c.most and max(one, used + cost - c.most) or one
        end
        freed, part = freed + n, part + n
        if sums[2] == 0 then
          if freed >= one then sums[1], sums[2], part = at, part, 0 end
        elseif freed >= all then
          sums[3], sums[4], part = at, part, 0
        end
        if freed >= all then break end
      end
    end
    from = from + 16
  until #texts < 16 or (used and freed >= all)
  c.used = used or 0
  if freed < c.used then
    c.last = tonumber(match(redis.call('LINDEX', c.key, -1), '^(%d+)'))
    sums[5], sums[6] = c.last, c.used - freed
  end
end

local function has_room(c, cost)
  if c.kind == 't' then
    return cost <= c.most and full_at(c) - c.span * (c.most - cost) <= now
  elseif c.kind == 'w' then
    local room = c.most - c.current - cost
    if room < 0 then return false end
    return c.previous <= room
        or product_reaches(room, c.span, c.previous, c.start + c.span - now)
  end
  return c.used + cost <= c.most
end

local function take_marks(c, cost, holder)
  local mark = {at = now + c.ahead, cost = cost, holder = holder}
  if not c.there or c.last > mark.at then
    local marks = marks_of(c)
    marks[#marks + 1] = mark
    return save_marks(c, marks)
  end
  c.b = c.b - c.gone + cost
  if c.over > 0 then redis.call('LTRIM', c.key, c.over, -1) end
  redis.call('LSET', c.key, 0, head(c))
  redis.call('RPUSH', c.key, text_of(mark))
  redis.call('PEXPIRE', c.key, life(c, mark.at + c.shift) + slack)
end

-- After the clock went back; else it changes nothing.
local function rewind(c)
  local changed = c.closed > now + period_max
  c.closed = min(c.closed, now + period_max)
  if c.shift then
    if changed or c.last > now + c.ahead then save_marks(c, marks_of(c, true)) end
    return
  end
  if c.kind == 't' and c.a > now + c.span * c.most + c.b then
    c.a, changed = now + c.span * c.most + c.b, true
  elseif c.kind == 'w' and c.a > c.start then
    c.a, c.b, c.p, changed = c.start, c.current, c.previous, true
  elseif c.kind == 'c' and c.a > c.start then
    c.a, changed = c.start, true
  end
  if changed then save(c) end
end

local cost, shadows = tonumber(ARGV[2]), ARGV[3]
local charges = cost > 0
cost = math.abs(cost)
local n, counts, allowed, charged = #shadows, {}, 1, 0
local holder, hold, undoable = ARGV[n + 4] or '0', ARGV[n + 5], ARGV[n + 6]
local reply = {now, 0}
for i = 1, n do
  local c, instead = load(KEYS[i], ARGV[i + 3])
  if not c then return instead or kept(n) end
  if c.shift then survey(c, cost) end
  c.room = cost == 0 or (c.closed <= now and has_room(c, cost))
  if not c.room and shadows:byte(i) == 48 then allowed = 0 end
  counts[i] = c
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3], reply[at + 4] = c.a, c.b, c.p, c.closed
  for j = 1, c.shift and 6 or 0 do reply[at + 4 + j] = c.sums[j] end
end
for i = 1, n do
  local c = counts[i]
  if allowed == 1 and c.room then charged = charged + 2^(i - 1) end
  if not charges then
    -- told, and left as it is
  elseif allowed == 0 or not c.room then
    rewind(c)
  elseif c.shift then
    take_marks(c, cost, holder)
  else
    take(c, cost)
  end
end
if hold and allowed == 1 then
  local record = format('%.0f %.0f %.0f %.0f', cost, now + hold, charged, now)
  local stays = max(tonumber(hold), tonumber(undoable))
  redis.call('SET', KEYS[n + 1], record, 'PX', math.ceil(stays / 1000) + slack)
end
reply[2] = allowed
return reply
)lua";

constexpr std::string_view amend = R"lua(
-- What was charged at `at` and time has not brought back by itself.
local function give_back(c, cost, at)
  if c.kind == 't' then
    fill_in(c, max(now, full_at(c) - max(0, c.span * cost - max(0, now - at))))
  elseif c.kind == 'w' then
    local start = at - at % c.span
    c.a, c.b, c.p = c.start, c.current, c.previous
    if start >= c.start then
      c.b = c.b - min(c.b, cost)
    elseif start + c.span == c.start then
      c.p = c.p - min(c.p, cost)
    end
  else
    c.a, c.b = c.start, at >= c.start and c.used - min(c.used, cost) or c.used
  end
  save(c)
end

-- Without those of the holder, and how much that is.
local function without(marks, holder)
  local others, cost = {}, 0
  for _, mark in ipairs(marks) do
    if mark.holder == holder then
      cost = cost + mark.cost
    else
      others[#others + 1] = mark
    end
  end
  return others, cost
end

-- Slots come back by their holder; uses from its own first, from the newest where it has no name.
local function give_back_marks(c, cost, holder)
  local marks = marks_of(c)
  if c.kind == 's' then
    marks = without(marks, holder)
  else
    for i = #marks, 1, -1 do
      local mark = marks[i]
      if holder == '0' or mark.holder == holder then
        local part = min(cost, mark.cost)
        mark.cost, cost = mark.cost - part, cost - part
        if mark.cost == 0 then table.remove(marks, i) end
      end
    end
  end
  save_marks(c, marks)
end

-- Whatever the marks are.
local function save_head(c)
  local last = c.there and match(redis.call('LINDEX', c.key, -1), '^(%d+) %d+ %x+$') or 0
  if c.there then
    redis.call('LSET', c.key, 0, head(c))
  else
    redis.call('RPUSH', c.key, head(c))
  end
  redis.call('PEXPIRE', c.key, life(c, last + c.shift) + slack)
end

local verb, number, holder, n = ARGV[2], tonumber(ARGV[3]), ARGV[4], #ARGV - 4
local record, cost, charged, charged_at = KEYS[n + 1], number, nil, now
if record then
  local found = redis.call('GET', record)
  local reserved, ends, mask, at = match(found or '', '^(%d+) (%d+) (%d+) (%d+)$')
  if not at or (tonumber(ends) <= now and verb ~= 'undo') then return {now, 0} end
  cost, charged, charged_at = tonumber(reserved), tonumber(mask), tonumber(at)
end
local counts = {}
for i = 1, n do
  local c, instead = load(KEYS[i], ARGV[i + 4])
  if not c then return instead or kept(n) end
  local is_charged = not charged or math.floor(charged / 2^(i - 1)) % 2 == 1
  if is_charged then counts[#counts + 1] = c end
end

if verb == 'renew' then
  local lent = {}
  for _, c in ipairs(counts) do
    if c.kind == 's' then
      local marks, slots = without(marks_of(c), holder)
      if slots == 0 then return {now, 0} end
      marks[#marks + 1] = {at = now + c.span, cost = slots, holder = holder}
      lent[c] = marks
    end
  end
  for _, c in ipairs(counts) do
    if lent[c] then save_marks(c, lent[c]) end
  end
  local renewed = format('%.0f %.0f %.0f %.0f', cost, now + number, charged, charged_at)
  redis.call('SET', record, renewed, 'PX', math.ceil(number / 1000) + slack)
  return {now, 1}
end

if record then redis.call('DEL', record) end
for _, c in ipairs(counts) do
  if verb == 'close' then
    c.closed = max(c.closed, now + number)
    if c.shift then save_head(c) else save(c) end
  else
    local back = verb == 'commit' and cost - number or cost
    if c.shift and (c.kind == 's' or back > 0) then
      give_back_marks(c, back, holder)
    elseif back > 0 then
      give_back(c, back, charged_at)
    elseif back < 0 and c.shift then
      local marks = marks_of(c)
      marks[#marks + 1] = {at = now, cost = -back, holder = '0'}
      save_marks(c, marks)
    elseif back < 0 then
      take(c, -back)
    end
  end
end
return {now, 1}
)lua";

constexpr std::string_view carry = R"lua(
for i, key in ipairs(KEYS) do
  local sort, found = redis.call('TYPE', key).ok, ''
  if sort == 'string' then
    found = redis.call('GET', key)
  elseif sort == 'list' then
    found = table.concat(redis.call('LRANGE', key, 0, -1), '\n')
  end
  if found ~= ARGV[3 * i - 2] then return 0 end
end
for i, key in ipairs(KEYS) do
  local new, ms = ARGV[3 * i - 1], tonumber(ARGV[3 * i])
  redis.call('DEL', key)
  if ms > 0 and new:match('^%d+ %d+ %d+ %d+ [ls] ') then
    for line in new:gmatch('[^\n]+') do redis.call('RPUSH', key, line) end
    redis.call('PEXPIRE', key, ms)
  elseif ms > 0 then
    redis.call('SET', key, new, 'PX', ms)
  end
end
return 1
)lua";

std::string joined(std::string_view first, std::string_view second) {
  return std::string(first).append(second);
}

}  // namespace

Scripts::Scripts()
    : ask(joined(counts, redis::ask)),
      amend(joined(counts, redis::amend)),
      carry(std::string(redis::carry)) {}

}  // namespace pawl::redis

-- Token buckets, each decided and written in one step, on this server's clock.
-- KEYS the buckets; ARGV[1] the tolerance in tokens, then three for each bucket: capacity, window in microseconds, cost
-- (1 take, 0 peek, -1 give back).
-- Answers two for each bucket: allowed (1 or 0, -1 where something else stands under its name), and the tokens left as
-- text: Redis would cut a number to an integer.
local tolerance = tonumber(ARGV[1])
local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]
local answers = {}

local function decide(key, capacity, window_us, cost)
  local held = redis.pcall('HMGET', key, 'tokens', 'updated_us')
  if held.err then
    return -1, ''
  end
  local before = tonumber(held[1] or capacity)
  local updated_us = tonumber(held[2] or now_us)
  local elapsed_us = math.max(0, now_us - updated_us)
  local tokens = math.min(capacity, before + elapsed_us * capacity / window_us)

  local allowed = cost < 0 or tokens >= 1 - tolerance
  if allowed then
    tokens = math.min(capacity, math.max(0, tokens - cost))
  end

  -- A refusal writes nothing, except after the clock was set back: the bucket counts on from the new time.
  if cost ~= 0 and (allowed or now_us < updated_us) then
    local full_ms = math.ceil((capacity - tokens) * window_us / capacity / 1000)
    redis.call('HSET', key, 'tokens', string.format('%.17g', tokens), 'updated_us', string.format('%.0f', now_us))
    redis.call('PEXPIRE', key, string.format('%.0f', full_ms + 1000))
  end
  return allowed and 1 or 0, string.format('%.17g', tokens)
end

for place, key in ipairs(KEYS) do
  local first = 3 * place - 1
  local allowed, tokens = decide(key, tonumber(ARGV[first]), tonumber(ARGV[first + 1]), tonumber(ARGV[first + 2]))
  answers[2 * place - 1], answers[2 * place] = allowed, tokens
end
return answers

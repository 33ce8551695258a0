-- One token bucket, decided and written in one step, on this server's clock.
-- KEYS[1] the bucket; ARGV: capacity, window in microseconds, cost (1 take, 0 peek, -1 give back), tolerance in tokens.
-- Answers {allowed (1 or 0), tokens left as text}: Redis would cut a number to an integer.
local capacity, window_us = tonumber(ARGV[1]), tonumber(ARGV[2])
local cost, tolerance = tonumber(ARGV[3]), tonumber(ARGV[4])

local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]

local held = redis.call('HMGET', KEYS[1], 'tokens', 'updated_us')
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
  redis.call('HSET', KEYS[1], 'tokens', string.format('%.17g', tokens), 'updated_us', string.format('%.0f', now_us))
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', full_ms + 1000))
end

return {allowed and 1 or 0, string.format('%.17g', tokens)}

-- The turns of all workers together, by the rule of turns.py, each step in one piece and on this server's clock.
-- KEYS[1] what the names below begin with; ARGV[1] the step, the others as each says.
--   accounts         who waits, in order of turns      hosts:ACCOUNT   where it waits, likewise
--   ids:ACCOUNT HOST  what waits there, oldest first    count           the last number given
--   running          id -> "ACCOUNT HOST"              leases, workers  until when each is believed in
local begin = KEYS[1]
local accounts, running, leases, workers = begin .. 'accounts', begin .. 'running', begin .. 'leases', begin .. 'workers'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function hosts_of(account) return begin .. 'hosts:' .. account end
local function ids_of(account, host) return begin .. 'ids:' .. account .. ' ' .. host end
local function next_number() return redis.call('INCR', begin .. 'count') end

local function forget_the_dead()
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now)) do
        redis.call('ZREM', leases, id)
        redis.call('HDEL', running, id)
    end
    redis.call('ZREMRANGEBYSCORE', workers, '-inf', now)
end

-- ARGV: id, account, host of each. Answers how many are being read.
local function wait()
    for n = 2, #ARGV, 3 do
        local id, account, host = ARGV[n], ARGV[n + 1], ARGV[n + 2]
        if redis.call('HEXISTS', running, id) == 0 then
            local number = next_number()
            redis.call('ZADD', accounts, 'NX', number, account)
            redis.call('ZADD', hosts_of(account), 'NX', number, host)
            redis.call('ZADD', ids_of(account, host), 'NX', number, id)
        end
    end
    return redis.call('HLEN', running)
end

local function keep(worker, lease_ms, id, account, host)
    redis.call('ZADD', workers, now + lease_ms, worker)
    redis.call('ZADD', leases, now + lease_ms, id)
    redis.call('HSET', running, id, account .. ' ' .. host)
end

local function count_running()
    local of_account, of_host, of_both = {}, {}, {}
    for _, both in ipairs(redis.call('HVALS', running)) do
        local account, host = string.match(both, '^(.-) (.*)$')
        of_account[account] = (of_account[account] or 0) + 1
        of_host[host] = (of_host[host] or 0) + 1
        of_both[both] = (of_both[both] or 0) + 1
    end
    return of_account, of_host, of_both
end

local function host_for(account, of_a_host, of_host, of_both)
    local best, fewest = nil, nil
    for _, host in ipairs(redis.call('ZRANGE', hosts_of(account), 0, -1)) do
        local own = of_both[account .. ' ' .. host] or 0
        if own < of_a_host - (of_host[host] or 0) and (not best or own < fewest) then
            best, fewest = host, own
            if own == 0 then break end
        end
    end
    return best
end

local function choose(free, of_a_host)
    local of_account, of_host, of_both = count_running()
    local chosen, its_host, fewest = nil, nil, nil
    for _, account in ipairs(redis.call('ZRANGE', accounts, 0, -1)) do
        local own = of_account[account] or 0
        if own < free and (not chosen or own < fewest) then
            local host = host_for(account, of_a_host, of_host, of_both)
            if host then
                chosen, its_host, fewest = account, host, own
                if own == 0 then break end
            end
        end
    end
    return chosen, its_host
end

local function leave_or_go_to_the_end(line, member, waiting)
    if redis.call('ZCARD', waiting) == 0 then
        redis.call('ZREM', line, member)
    else
        redis.call('ZADD', line, next_number(), member)
    end
end

-- ARGV: worker, its lease in milliseconds, slots of a worker, slots of a host.
local function take()
    local worker, lease_ms, slots, of_a_host = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
    redis.call('ZADD', workers, now + lease_ms, worker)
    local free = redis.call('ZCARD', workers) * slots - redis.call('HLEN', running)
    local account, host = choose(free, of_a_host)
    if not account then return nil end
    local id = redis.call('ZPOPMIN', ids_of(account, host))[1]
    leave_or_go_to_the_end(hosts_of(account), host, ids_of(account, host))
    leave_or_go_to_the_end(accounts, account, hosts_of(account))
    if not id then return nil end
    keep(worker, lease_ms, id, account, host)
    return {id, account, host}
end

forget_the_dead()
if ARGV[1] == 'wait' then
    return wait()
elseif ARGV[1] == 'take' then
    return take()
elseif ARGV[1] == 'keep' then
    -- ARGV: worker, its lease in milliseconds, id, account, host.
    return keep(ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6])
end
-- 'end'; ARGV: id, account.
redis.call('ZREM', leases, ARGV[2])
redis.call('HDEL', running, ARGV[2])
return redis.call('ZADD', accounts, 'XX', next_number(), ARGV[3])

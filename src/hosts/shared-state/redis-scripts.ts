/*
 * Each step of the shared state as one script, by Redis' own clock. All keys are of one hash tag, so that a cluster has them on one node.
 *
 * `seen`    sorted set: member → when it was last heard of, in ms
 * `members` hash: member → what it says of itself, as JSON
 * `gone`    sorted set: member that is gone and has calls → since when
 * `calls`   hash: call → "member carrier-key"
 * `keys`    hash: carrier's key → call
 * `owned`   sorted set of "member call", read by its first word
 * `slots`   hash: "member name" → how many
 * `store`   random id of this Redis, lost with everything else
 * `state:…` hash of one call: who may write it (member), its data folder, machine, takes, record and state (`call-states.ts`)
 */

/** KEYS[1] is `seen`; ARGV[1] the ms after which a member is gone, ARGV[2] the member that asks. */
const MEMBERS = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local since = now - tonumber(ARGV[1])
local own = ARGV[2]
local function is_there(member)
  local at = redis.call('ZSCORE', KEYS[1], member)
  return at and tonumber(at) > since
end
local function there()
  return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. string.format('%.0f', since), '+inf')
end
local function first_word(text)
  return string.match(text, '^(%S*)')
end
local function second_word(text)
  return string.match(text, '^%S* (.*)$')
end
`;

/**
 * This member is there. Removes those that are gone, with their slots, and calls whose members have been gone for an hour.
 * ARGV[3] what it says of itself, [4] ms for which calls of gone members stay, then names of slots with what it holds of each, where that is
 * known for sure.
 * @returns 1 where it was not there, its calls, the members there, then the sum of each of those slots
 */
const HEARTBEAT = `${MEMBERS}
local was_there = is_there(own)
local late = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', since), 'LIMIT', 0, 100)
for _, member in ipairs(late) do
  redis.call('ZREM', KEYS[1], member)
  redis.call('HDEL', KEYS[2], member)
  if redis.call('ZLEXCOUNT', KEYS[6], '[' .. member .. ' ', '[' .. member .. '!') > 0 then redis.call('ZADD', KEYS[3], now, member) end
end
redis.call('ZADD', KEYS[1], now, own)
redis.call('HSET', KEYS[2], own, ARGV[3])
redis.call('ZREM', KEYS[3], own)
if #late > 0 then
  for _, field in ipairs(redis.call('HKEYS', KEYS[7])) do
    if not is_there(first_word(field)) then redis.call('HDEL', KEYS[7], field) end
  end
end
local old = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', string.format('%.0f', now - tonumber(ARGV[4])), 'LIMIT', 0, 1)[1]
if old then
  local owned = redis.call('ZRANGEBYLEX', KEYS[6], '[' .. old .. ' ', '[' .. old .. '!', 'LIMIT', 0, 500)
  for _, text in ipairs(owned) do
    local call = second_word(text)
    local key = second_word(redis.call('HGET', KEYS[4], call) or '')
    if key and redis.call('HGET', KEYS[5], key) == call then redis.call('HDEL', KEYS[5], key) end
    redis.call('HDEL', KEYS[4], call)
    redis.call('ZREM', KEYS[6], text)
  end
  if #owned < 500 then redis.call('ZREM', KEYS[3], old) end
end
local members = there()
local reply = { was_there and 0 or 1, redis.call('ZLEXCOUNT', KEYS[6], '[' .. own .. ' ', '[' .. own .. '!'), #members }
for at = 5, #ARGV, 2 do
  local name, count = ARGV[at], tonumber(ARGV[at + 1])
  if count > 0 then redis.call('HSET', KEYS[7], own .. ' ' .. name, count) else redis.call('HDEL', KEYS[7], own .. ' ' .. name) end
  local total = 0
  for _, member in ipairs(members) do total = total + (tonumber(redis.call('HGET', KEYS[7], member .. ' ' .. name)) or 0) end
  reply[#reply + 1] = total
end
return reply`;

/**
 * This member ends, or another says so of it: what it holds is free at once, and whatever calls it still has are for others to go on with.
 * ARGV[3] ms for which it must not have been heard of, 0 for any.
 * @returns 0 where it was
 */
const GOODBYE = `${MEMBERS}
local at = redis.call('ZSCORE', KEYS[1], own)
local unheard = tonumber(ARGV[3])
if at and unheard > 0 and tonumber(at) > now - unheard then return 0 end
redis.call('ZREM', KEYS[1], own)
redis.call('HDEL', KEYS[2], own)
if redis.call('ZLEXCOUNT', KEYS[4], '[' .. own .. ' ', '[' .. own .. '!') > 0 then redis.call('ZADD', KEYS[3], now, own) end
for _, field in ipairs(redis.call('HKEYS', KEYS[5])) do
  if first_word(field) == own then redis.call('HDEL', KEYS[5], field) end
end
return 1`;

/** @returns what each member that is there says of itself, the member's id before it */
const LIST = `${MEMBERS}
local reply = {}
for _, member in ipairs(there()) do
  reply[#reply + 1] = member
  reply[#reply + 1] = redis.call('HGET', KEYS[2], member) or ''
end
return reply`;

/**
 * Claims calls. ARGV[3] most calls, then each call with the carrier's key, empty for none.
 * @returns 1 or 0 for each; -1 alone where this member is not there
 */
const CLAIM = `${MEMBERS}
if not is_there(own) then return { -1 } end
local reply = {}
for at = 4, #ARGV, 2 do
  local call, key = ARGV[at], ARGV[at + 1]
  local entry = redis.call('HGET', KEYS[2], call)
  local owner = entry and first_word(entry)
  local free = true
  if owner then free = owner == own or not is_there(owner)
  else free = redis.call('HLEN', KEYS[2]) < tonumber(ARGV[3]) end
  if free and key ~= '' then
    local other = redis.call('HGET', KEYS[3], key)
    if other and other ~= call then
      local other_entry = redis.call('HGET', KEYS[2], other)
      local other_owner = other_entry and first_word(other_entry)
      free = not other_owner or other_owner == own or not is_there(other_owner)
    end
  end
  if free then
    local old_key = entry and second_word(entry) or ''
    if key == '' then key = old_key end
    if old_key ~= '' and old_key ~= key and redis.call('HGET', KEYS[3], old_key) == call then redis.call('HDEL', KEYS[3], old_key) end
    if owner and owner ~= own then redis.call('ZREM', KEYS[4], owner .. ' ' .. call) end
    redis.call('HSET', KEYS[2], call, own .. ' ' .. key)
    redis.call('ZADD', KEYS[4], 0, own .. ' ' .. call)
    if key ~= '' then redis.call('HSET', KEYS[3], key, call) end
  end
  reply[#reply + 1] = free and 1 or 0
end
return reply`;

/** ARGV[1] a call, or ARGV[2] a carrier's key. @returns the call and its entry, or nothing */
const FIND = `
local call = ARGV[1] ~= '' and ARGV[1] or redis.call('HGET', KEYS[2], ARGV[2])
local entry = call and redis.call('HGET', KEYS[1], call)
return entry and { call, entry } or {}`;

const RELEASE = `${MEMBERS}
local call = ARGV[3]
local entry = redis.call('HGET', KEYS[2], call)
if not entry or first_word(entry) ~= own then return 0 end
local key = second_word(entry)
redis.call('HDEL', KEYS[2], call)
if redis.call('HGET', KEYS[3], key) == call then redis.call('HDEL', KEYS[3], key) end
redis.call('ZREM', KEYS[4], own .. ' ' .. call)
return 1`;

/** @returns calls of this member */
const OWNED = `${MEMBERS}
local reply = {}
for _, text in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], '[' .. own .. ' ', '[' .. own .. '!')) do reply[#reply + 1] = second_word(text) end
return reply`;

/** ARGV[3] at most so many. @returns each call and its entry */
const ORPHANS = `${MEMBERS}
local reply = {}
local most = tonumber(ARGV[3])
local function add(member)
  local rest = most - #reply / 2
  if rest <= 0 or is_there(member) then return end
  local owned = redis.call('ZRANGEBYLEX', KEYS[3], '[' .. member .. ' ', '[' .. member .. '!', 'LIMIT', 0, rest)
  if #owned == 0 then redis.call('ZREM', KEYS[2], member) end
  for _, text in ipairs(owned) do
    local call = second_word(text)
    reply[#reply + 1] = call
    reply[#reply + 1] = redis.call('HGET', KEYS[4], call) or (member .. ' ')
  end
end
for _, member in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do add(member) end
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', since))) do add(member) end
return reply`;

/**
 * Each key is of one id. ARGV[1] who spends, and which time, then until when each can be forgotten; a minute is added, by which clocks may differ.
 * @returns 1 or 0 for each
 */
const SPEND = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local reply = {}
for at, key in ipairs(KEYS) do
  local life = math.min(math.max(0, tonumber(ARGV[at + 1]) - now) + 60000, 2678400000)
  local set = redis.call('SET', key, ARGV[1], 'NX', 'PX', string.format('%.0f', life))
  reply[at] = (set or redis.call('GET', key) == ARGV[1]) and 1 or 0
end
return reply`;

const IS_SPENT = `return redis.call('EXISTS', KEYS[1])`;

/** ARGV[3] name, [4] most, [5] wanted. @returns how many are granted, or -1 where this member is not there; then the sum, and the members */
const TAKE_SLOTS = `${MEMBERS}
if not is_there(own) then return { -1, 0, 1 } end
local members = there()
local total = 0
for _, member in ipairs(members) do total = total + (tonumber(redis.call('HGET', KEYS[2], member .. ' ' .. ARGV[3])) or 0) end
local granted = math.max(0, math.min(tonumber(ARGV[5]), tonumber(ARGV[4]) - total))
if granted > 0 then redis.call('HINCRBY', KEYS[2], own .. ' ' .. ARGV[3], granted) end
return { granted, total + granted, #members }`;

/** ARGV[3] name, [4] how many. */
const GIVE_SLOTS = `${MEMBERS}
local field = own .. ' ' .. ARGV[3]
local left = (tonumber(redis.call('HGET', KEYS[2], field)) or 0) - tonumber(ARGV[4])
if left > 0 then redis.call('HSET', KEYS[2], field, left) else redis.call('HDEL', KEYS[2], field) end
return 1`;

/** ARGV[3] name. */
const HELD_SLOTS = `${MEMBERS}
local total = 0
for _, member in ipairs(there()) do total = total + (tonumber(redis.call('HGET', KEYS[2], member .. ' ' .. ARGV[3])) or 0) end
return total`;

/**
 * The generic cell rate algorithm: a bucket of ARGV[2] that gets one more in each ARGV[1] ms. ARGV[3] is 1 to take one.
 * The key lives until the bucket is full again.
 * @returns 0, or the ms to wait
 */
const RATE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local interval = tonumber(ARGV[1])
local full = math.max(now, tonumber(redis.call('GET', KEYS[1]) or now))
local wait = full - now - (tonumber(ARGV[2]) - 1) * interval
if wait > 0.001 then return math.max(1, math.ceil(wait)) end
if ARGV[3] == '1' then
  redis.call('SET', KEYS[1], string.format('%.3f', full + interval), 'PX', string.format('%.0f', math.ceil(full + interval - now)))
end
return 0`;

/** ARGV[1] a random id. @returns the one that is there, which is that one where there was none */
const STORE_ID = `
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])`;

/** ARGV[1] name, [2] what to write where there is none. @returns what is there */
const SECRET = `
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1])`;

/** ARGV[1] name, [2] as it is, [3] as it should be. */
const RESEAL = `
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
return 1`;

/**
 * Keeps parts of a call. ARGV[1] the member that has it, [2] its data folder, [3] its address, [4] takes, [5] ms to live, then each part with its text.
 * @returns 0 where another member took it
 */
const KEEP_STATE = `
local member = redis.call('HGET', KEYS[1], 'member')
if member and member ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'member', ARGV[1], 'folder', ARGV[2], 'machine', ARGV[3], 'takes', ARGV[4], unpack(ARGV, 6))
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1`;

const STATE = `
local function state(key)
  local reply = redis.call('HMGET', key, 'folder', 'machine', 'takes', 'record', 'state')
  for at = 1, 5 do reply[at] = reply[at] or '' end
  return reply
end
`;

/** @returns folder, machine, takes, record and state, empty where there is none */
const FIND_STATE = `${STATE}
return state(KEYS[1])`;

/**
 * KEYS[1] is `calls`; ARGV[1] the member that takes it, [2] the call, [3] its data folder, [4] its address, [5] ms to live.
 * @returns 0 where the member does not own the call; else as FIND_STATE, of the member that had it, with the takes of now
 */
const TAKE_STATE = `${STATE}
local entry = redis.call('HGET', KEYS[1], ARGV[2])
if not entry or string.match(entry, '^(%S*)') ~= ARGV[1] then return 0 end
local was = state(KEYS[2])
if was[1] == '' then return was end
if was[1] ~= ARGV[3] then was[3] = string.format('%.0f', (tonumber(was[3]) or 0) + 1) end
if was[4] ~= '' then
  redis.call('HSET', KEYS[2], 'member', ARGV[1], 'folder', ARGV[3], 'machine', ARGV[4], 'takes', was[3])
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
return was`;

/** ARGV[1] the member that has it, [2] ms for which it is known that a call went on in another data folder. */
const FORGET_STATE = `
if redis.call('HGET', KEYS[1], 'member') ~= ARGV[1] then return 0 end
if (tonumber(redis.call('HGET', KEYS[1], 'takes')) or 0) == 0 then return redis.call('DEL', KEYS[1]) end
redis.call('HDEL', KEYS[1], 'record', 'state')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`;

/** Each script and the keys that it gets, without their namespace; none where the caller names them. */
export const SCRIPTS = {
  offhookHeartbeat: { lua: HEARTBEAT, keys: ['seen', 'members', 'gone', 'calls', 'keys', 'owned', 'slots'] },
  offhookGoodbye: { lua: GOODBYE, keys: ['seen', 'members', 'gone', 'owned', 'slots'] },
  offhookMembers: { lua: LIST, keys: ['seen', 'members'] },
  offhookClaim: { lua: CLAIM, keys: ['seen', 'calls', 'keys', 'owned'] },
  offhookFind: { lua: FIND, keys: ['calls', 'keys'] },
  offhookRelease: { lua: RELEASE, keys: ['seen', 'calls', 'keys', 'owned'] },
  offhookOwned: { lua: OWNED, keys: ['seen', 'owned'] },
  offhookOrphans: { lua: ORPHANS, keys: ['seen', 'gone', 'owned', 'calls'] },
  offhookSpend: { lua: SPEND, keys: [] },
  offhookIsSpent: { lua: IS_SPENT, keys: [] },
  offhookTakeSlots: { lua: TAKE_SLOTS, keys: ['seen', 'slots'] },
  offhookGiveSlots: { lua: GIVE_SLOTS, keys: ['seen', 'slots'] },
  offhookHeldSlots: { lua: HELD_SLOTS, keys: ['seen', 'slots'] },
  offhookRate: { lua: RATE, keys: [] },
  offhookSecret: { lua: SECRET, keys: ['secrets'] },
  offhookStoreId: { lua: STORE_ID, keys: ['store'] },
  offhookKeepState: { lua: KEEP_STATE, keys: [] },
  offhookFindState: { lua: FIND_STATE, keys: [] },
  offhookTakeState: { lua: TAKE_STATE, keys: [] },
  offhookForgetState: { lua: FORGET_STATE, keys: [] },
  offhookReseal: { lua: RESEAL, keys: ['secrets'] },
} as const satisfies Readonly<Record<string, { readonly lua: string; readonly keys: readonly string[] }>>;

export type ScriptName = keyof typeof SCRIPTS;

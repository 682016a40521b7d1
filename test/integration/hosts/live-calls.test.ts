import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { API_KEYS_FILE, ApiKeys, API_SCOPES, type ApiScope } from '../../../src/http/api/system/api-keys.ts';
import { AUDIT_FILE } from '../../../src/records/retention/audit-log.ts';
import { CallerEar } from '../../../src/sim/caller/ear.ts';
import { SimulatedTwilioApi } from '../../../src/sim/twilio/api.ts';
import type { SimulatedCall } from '../../../src/sim/twilio/carrier.ts';
import { sayTones } from '../platform/tone-engines.ts';
import { eventually } from '../../support/eventually.ts';
import { startPatientClock } from '../../../src/kernel/patient-clock.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

const ACCOUNT = `AC${'2'.repeat(32)}`;
const PASSWORD = 'correct horse battery';
let bench: GatewayBench;
const time = startPatientClock();
let api: SimulatedTwilioApi;

beforeAll(async () => {
  const authToken = 'live-test-token';
  api = await new SimulatedTwilioApi(ACCOUNT, authToken, { clock: time.clock }).listen();
  bench = await startGatewayBench({
    clock: time.clock,
    env: {
      OFFHOOK_TWILIO_ACCOUNT_SID: ACCOUNT,
      OFFHOOK_TWILIO_AUTH_TOKEN: authToken,
      OFFHOOK_TWILIO_API_URL: api.url,
      OFFHOOK_ADMIN_PASSWORD: PASSWORD,
    },
  });
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  time[Symbol.dispose]();
});

interface LiveCall {
  readonly id: string;
  readonly from: string;
  readonly phase: string;
  readonly muted: boolean;
  readonly mutedUntil: string | null;
  readonly words: { readonly caller: string; readonly bot: string } | null;
}

function keyFor(scopes: readonly ApiScope[], tenantId = 'default') {
  return new ApiKeys(join(bench.dataDir, API_KEYS_FILE)).create({ name: 'test', tenantId, scopes: [...scopes] }, 0);
}

async function ask(path: string, secret: string, body?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  return fetch(`${bench.gateway.url}/api${path}`, {
    headers,
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
}

async function liveCalls(secret: string): Promise<LiveCall[]> {
  return ((await (await ask('/live-calls', secret)).json()) as { calls: LiveCall[] }).calls;
}

function earOf(call: SimulatedCall): CallerEar {
  const ear = new CallerEar();
  ear.listen(call.stream.buffer.heard);
  return ear;
}

/** A call whose greeting was heard to its end, and which only waits. */
async function greeted(): Promise<{ call: SimulatedCall; id: string }> {
  const call = await bench.dial();
  api.register(call);
  const session = bench.sessionOf(call);
  // Quiet for long enough that what is said next is another phrase.
  await eventually(
    'the end of the greeting',
    () => earOf(call).phrases.at(-1)?.toMs !== undefined && session.standing.phase === 'listening',
  );
  return { call, id: session.id };
}

it.concurrent('shows who is on the line, and no number or word without the scope for it', async () => {
  const { call, id } = await greeted();
  const mine = async (scopes: readonly ApiScope[]) => (await liveCalls(keyFor(scopes).secret)).find((each) => each.id === id);
  expect(await mine(API_SCOPES)).toMatchObject({
    phase: 'listening',
    muted: false,
    mutedUntil: null,
    words: { caller: '', bot: expect.stringContaining('Hello') },
  });
  const bare = await mine(['calls:read']);
  expect(bare?.words).toBeNull();
  expect(bare?.from).toMatch(/^\*+\d\d$/u);
  expect(await liveCalls(keyFor(API_SCOPES, 'other').secret)).toEqual([]);
  await call.hangUp();
});

it.concurrent('speaks to the caller, silences the bot and gives it its voice back, and hangs up', async () => {
  const { call, id } = await greeted();
  const { secret, key } = keyFor(['calls:control']);
  const spellsBefore = earOf(call).phrases.length;
  expect((await ask(`/live-calls/${id}/say`, secret, { text: 'A colleague will be with you.' })).status).toBe(200);
  await eventually('the words at the ear', () => earOf(call).phrases.length > spellsBefore);

  // Muted in the middle of them: silence at the ear, and it stays that way though the caller speaks.
  const muted = await ask(`/live-calls/${id}/mute`, secret, {});
  expect(await muted.json()).toMatchObject({ id, muted: true, mutedUntil: expect.any(String), words: null });
  await eventually('silence at the ear', () => earOf(call).finished);
  const silentSinceMs = earOf(call).lastSoundMs;
  const session = bench.gateway.calls.calls.find((each) => each.id === id)!;
  call.stream.say(sayTones(['alpha'], 8_000));
  await eventually('the turn that is kept', () => session.standing.callerText === 'alpha');
  await eventually('a second after it', () => call.stream.nowMs > silentSinceMs! + 3_500);
  expect(earOf(call).lastSoundMs).toBe(silentSinceMs);

  await ask(`/live-calls/${id}/mute`, secret, { on: false });
  call.stream.say(sayTones(['bravo'], 8_000));
  await eventually('the answer at the ear', () => (earOf(call).lastSoundMs ?? 0) > silentSinceMs! + 500);
  expect(session.standing.callerText).toBe('bravo');

  expect((await ask(`/live-calls/${id}/hang-up`, secret, {})).status).toBe(200);
  const record = await session.ended;
  expect(record.endReason).toBe('operator-hangup');
  await call.ended;
  expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha', 'bravo']);
  // Cut by the mute, the ledger has the words that were heard and no others.
  expect(record.turns[0]?.botText).toContain('A colleague will be with you.');
  expect(record.turns[0]?.botHeardText.length).toBeLessThan(record.turns[0]!.botText.length);
  const audit = readFileSync(join(bench.dataDir, AUDIT_FILE), 'utf8').trimEnd().split('\n');
  const events = audit.map((line) => JSON.parse(line) as { subject: string; by: string; action: string; outcome: string });
  expect(events.filter(({ subject }) => subject === id).map(({ by, action, outcome }) => [by, action, outcome])).toEqual(
    ['say', 'mute', 'unmute', 'hang-up'].map((act) => [key.id, `live-call.${act}`, 'done']),
  );
  expect(audit.join('\n')).not.toContain('colleague');

  const late = await ask(`/live-calls/${id}/say`, secret, { text: 'Hello?' });
  expect(late.headers.get('content-type')).toContain('application/problem+json');
  await eventually(
    'the stored call',
    async () => (await ask(`/live-calls/${id}/say`, secret, { text: 'Hello?' })).status === 409,
  );
});

it.concurrent('transfers the caller to another number', async () => {
  const { call, id } = await greeted();
  const { secret } = keyFor(['calls:control']);
  expect((await ask(`/live-calls/${id}/transfer`, secret, { to: '00 wrong' })).status).toBe(400);
  const session = bench.sessionOf(call);
  expect((await ask(`/live-calls/${id}/transfer`, secret, { to: '+15550100' })).status).toBe(200);
  expect((await session.ended).endReason).toBe('transferred');
  expect(call.dialled).toBe('+15550100');
});

it.concurrent('refuses a key without the scope, another tenant, and a call of another process, and says which', async () => {
  const { call, id } = await greeted();
  const { secret } = keyFor(['calls:control']);
  expect((await ask(`/live-calls/${id}/hang-up`, keyFor(['calls:read', 'calls:listen']).secret, {})).status).toBe(403);
  expect((await ask(`/live-calls/${id}/hang-up`, keyFor(['calls:control'], 'other').secret, {})).status).toBe(404);
  expect((await ask('/live-calls/call_nobody/mute', secret, {})).status).toBe(404);
  const folder = join(bench.dataDir, 'calls');
  await mkdir(folder, { recursive: true });
  // The parent of this process is alive, and not this one.
  await writeFile(join(folder, 'call_far.lease'), String(process.ppid));
  await writeFile(join(folder, 'call_far.json'), JSON.stringify({ tenantId: 'default' }));
  const far = await ask('/live-calls/call_far/mute', secret, {});
  expect(far.status).toBe(409);
  expect(await far.json()).toMatchObject({ detail: expect.stringContaining('another process') });
  expect((await ask('/live-calls/call_far/mute', keyFor(['calls:control'], 'other').secret, {})).status).toBe(404);
  expect(bench.sessionOf(call).attached).toBe(true);
  await call.hangUp();
});

it('shows the queues of the gateway to who has the admin password', async () => {
  const url = `${bench.gateway.url}/admin/queues/api/queues`;
  expect((await fetch(url)).status).toBe(401);
  const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
  const { queues } = (await (await fetch(url, { headers: { authorization } })).json()) as { queues: { name: string }[] };
  expect(queues.map(({ name }) => name)).toContain('post-call');
});

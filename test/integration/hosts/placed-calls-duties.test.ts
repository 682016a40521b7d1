import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_KEYS_FILE, ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { type OnDial, type SimulatedCallee, zoneAtNoon } from '../../../src/sim/caller/callee.ts';
import { ScriptedCaller } from '../../../src/sim/caller/caller.ts';
import { SimulatedTwilioApi } from '../../../src/sim/twilio/api.ts';
import { eventually } from '../../support/eventually.ts';
import { startPatientClock } from '../../../src/kernel/patient-clock.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

const ACCOUNT = `AC${'3'.repeat(32)}`;
const CALLER_ID = '+442079460001';
const DISCLOSURE = 'This is an automated call from Acme.';
const GREETING = 'Hello there, please say a word.';
const OPT_OUT_HOW = 'Say stop or press 9 to not be called again.';

/** The profile without rules, and with what a call has to do itself. */
function profiles(): string {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-profiles-'));
  mkdirSync(folder, { recursive: true });
  const none = readFileSync(new URL('../../../config/dialling/none.yaml', import.meta.url), 'utf8');
  const duties = ['say-identity-first', 'opt-out-in-call'].map((duty) => `  - { duty: ${duty}, source: the test }`).join('\n');
  writeFileSync(join(folder, 'strict.yaml'), `${none.replace('name: none', 'name: strict')}\nduties:\n${duties}\n`);
  return folder;
}

describe('a placed call with duties', () => {
  const time = startPatientClock();
  let api: SimulatedTwilioApi;
  let bench: GatewayBench;
  let key: string;
  const folder = profiles();
  const callees = new Map<string, SimulatedCallee>();

  beforeAll(async () => {
    const authToken = 'duties-test-token';
    const onDial: OnDial = ({ to }) => callees.get(to) ?? { outcome: { kind: 'failed', sip: 404 } };
    api = await new SimulatedTwilioApi(ACCOUNT, authToken, { clock: time.clock, onDial }).listen();
    bench = await startGatewayBench({
      clock: time.clock,
      env: {
        OFFHOOK_TWILIO_ACCOUNT_SID: ACCOUNT,
        OFFHOOK_TWILIO_AUTH_TOKEN: authToken,
        OFFHOOK_TWILIO_API_URL: api.url,
        OFFHOOK_DIALLING__CARRIER: 'twilio',
        // It is always noon where these people are.
        OFFHOOK_DIALLING__ZONE_SOURCE: 'given',
        OFFHOOK_DIALLING__CALLER_IDS: `${CALLER_ID}@twilio`,
        OFFHOOK_DIALLING__CALLS_PER_SECOND: '100',
        OFFHOOK_DIALLING__FOLDER: folder,
        OFFHOOK_DIALLING__PROFILE: 'strict',
        OFFHOOK_DIALLING__IDENTITY_NAME: 'Acme',
      },
    });
    const keys = new ApiKeys(join(bench.dataDir, API_KEYS_FILE));
    key = keys.create({ name: 'test', tenantId: 'default', scopes: ['calls:dial', 'calls:read'] }, 0).secret;
  });
  afterAll(async () => {
    await bench[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
    time[Symbol.dispose]();
  });

  async function dial(to: string, outcome: SimulatedCallee['outcome']): Promise<Record<string, unknown>> {
    callees.set(to, { outcome });
    const answer = await fetch(`${bench.gateway.url}/api/calls`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to, from: CALLER_ID, bot: 'echo', zone: zoneAtNoon() }),
    });
    return (await answer.json()) as Record<string, unknown>;
  }

  async function over(to: string, outcome: SimulatedCallee['outcome']) {
    const { store } = bench.gateway.backlog;
    const id = String((await dial(to, outcome))['id']);
    const attempt = () => store.attempts.get('default', id);
    await eventually('the end', async () => (await attempt())?.state === 'ended');
    return { record: await store.calls.get('default', id), attempt: await attempt() };
  }

  /** Whether the bot has begun to say this to that person. */
  const says = (to: string, text: string): boolean => {
    const call = bench.gateway.calls.calls.find(({ identity }) => identity.inbound.to === to);
    return bench.news.some((item) => item.type === 'saying' && item.callId === call?.id && item.text === text);
  };

  it.concurrent('says who calls before its greeting, and proves that it was heard', async () => {
    const to = '+442079460110';
    const { record } = await over(to, {
      kind: 'answered',
      fullMedia: true,
      talk: () => eventually('the greeting', () => says(to, GREETING)),
    });
    const greeting = record?.turns.find(({ botText }) => botText !== '');
    expect(greeting?.botText).toBe(`${DISCLOSURE} ${OPT_OUT_HOW} ${GREETING}`);
    expect(record?.outbound).toMatchObject({ identified: true });
  });

  it.concurrent('has not said who calls to somebody who hangs up at once', async () => {
    const to = '+442079460120';
    const { record } = await over(to, {
      kind: 'answered',
      fullMedia: true,
      talk: () => eventually('the first word', () => says(to, DISCLOSURE)),
    });
    expect(record?.outbound).toMatchObject({ identified: false });
  });

  it.concurrent('ends by the key, and the number is not called again', async () => {
    const to = '+442079460130';
    const { record, attempt } = await over(to, {
      kind: 'answered',
      fullMedia: true,
      talk: (line) =>
        new ScriptedCaller(line, 20_000).run([{ kind: 'press', digits: '9', afterMs: 200 }, { kind: 'wait-for-end' }]),
    });
    expect(record).toMatchObject({ endReason: 'opt-out', optOut: { kind: 'opt-out', how: 'keyed' } });
    expect(attempt?.disposition).toBe('opt-out');
    const { suppressions } = bench.gateway.backlog.store;
    expect(await suppressions.of('default', to)).toMatchObject([{ list: 'own', source: 'caller', callId: record?.id }]);
    expect(await dial(to, { kind: 'busy' })).toMatchObject({ refusal: 'suppressed' });
  });
});

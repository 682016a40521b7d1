import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { GatewayNote } from '../../../src/cli/running-gateways.ts';
import { API_KEYS_FILE, ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import type { attemptView } from '../../../src/http/api/calls/call-views.ts';
import { type OnDial, type SimulatedCallee, zoneAtNoon } from '../../../src/sim/caller/callee.ts';
import { ScriptedCaller } from '../../../src/sim/caller/caller.ts';
import { CallRefused } from '../../../src/sim/errors.ts';
import { SimulatedTwilioApi } from '../../../src/sim/twilio/api.ts';
import { SimulatedVonageApi } from '../../../src/sim/vonage/api.ts';
import type { Attempt } from '../../../src/records/dialling.ts';
import { runCommand } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { startPatientClock } from '../../../src/kernel/patient-clock.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

const ACCOUNT = `AC${'2'.repeat(32)}`;
const APPLICATION = '78d335fa-323d-0114-9c3d-d6f0d48968cf';
const CALLER_ID = '+442079460001';
const VONAGE_ID = '+442079460002';

describe('outbound calls', () => {
  const time = startPatientClock();
  let api: SimulatedTwilioApi;
  let vonage: SimulatedVonageApi;
  let bench: GatewayBench;
  let key: string;
  const callees = new Map<string, SimulatedCallee>();

  beforeAll(async () => {
    const authToken = 'outbound-test-token';
    const onDial: OnDial = ({ to }) => callees.get(to) ?? { outcome: { kind: 'failed', sip: 404 } };
    api = await new SimulatedTwilioApi(ACCOUNT, authToken, { clock: time.clock, onDial }).listen();
    vonage = await new SimulatedVonageApi(APPLICATION, {
      clock: time.clock,
      onDial,
      signatureSecret: 'signature-secret',
    }).listen();
    const endpoints = join(mkdtempSync(join(tmpdir(), 'outbound-')), 'endpoints.yaml');
    const endpoint = '{ name: crm, url: "http://127.0.0.1:9/hook", secretEnv: CRM_SECRET, allowPrivate: true }';
    writeFileSync(endpoints, `endpoints:\n  - ${endpoint}\n`);
    bench = await startGatewayBench({
      clock: time.clock,
      env: {
        OFFHOOK_TWILIO_ACCOUNT_SID: ACCOUNT,
        OFFHOOK_TWILIO_AUTH_TOKEN: authToken,
        OFFHOOK_TWILIO_API_URL: api.url,
        OFFHOOK_VONAGE_SIGNATURE_SECRET: 'signature-secret',
        OFFHOOK_VONAGE_APPLICATION_ID: APPLICATION,
        OFFHOOK_VONAGE_PRIVATE_KEY: vonage.privateKey,
        OFFHOOK_VONAGE_API_URL: vonage.url,
        OFFHOOK_DIALLING__CARRIER: 'twilio',
        // It is always noon where these people are.
        OFFHOOK_DIALLING__ZONE_SOURCE: 'given',
        OFFHOOK_DIALLING__CALLER_IDS: `${CALLER_ID}@twilio,${VONAGE_ID}@vonage`,
        OFFHOOK_DIALLING__CALLS_PER_SECOND: '100',
        OFFHOOK_WEBHOOKS__ENDPOINTS: endpoints,
        CRM_SECRET: 'a secret of the test',
      },
    });
    const keys = new ApiKeys(join(bench.dataDir, API_KEYS_FILE));
    key = keys.create({ name: 'test', tenantId: 'default', scopes: ['calls:dial', 'calls:read'] }, 0).secret;
  });
  afterAll(async () => {
    await bench[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
    await vonage[Symbol.asyncDispose]();
    time[Symbol.dispose]();
  });

  const ask = async (path: string, body?: object): Promise<Response> =>
    fetch(`${bench.gateway.url}/api${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const attempts = () => bench.gateway.backlog.store.attempts;
  const dial = async (
    to: string,
    callee: SimulatedCallee,
    from = CALLER_ID,
  ): Promise<{ id: string; now: () => Promise<Attempt | undefined> }> => {
    callees.set(to, callee);
    const answer = await ask('/calls', { to, from, bot: 'echo', zone: zoneAtNoon(), metadata: { order: '17' } });
    const { id } = (await answer.json()) as z.output<typeof attemptView>;
    expect(answer.status).toBe(201);
    return { id, now: () => attempts().get('default', id) };
  };
  const isOver = async (now: () => Promise<Attempt | undefined>): Promise<boolean> => (await now())?.state === 'ended';

  it.concurrent('reach a person, and end with what came of it in the attempt, the call and the webhooks', async () => {
    const { id, now } = await dial('+442079460010', {
      ringMs: 200,
      outcome: {
        kind: 'answered',
        fullMedia: true,
        talk: (line) => new ScriptedCaller(line, 15_000).run([{ kind: 'press', digits: '7' }, { kind: 'wait-for-end' }]),
        hangUpAfterMs: 12_000,
      },
    });
    await eventually('the end', () => isOver(now));
    const { store } = bench.gateway.backlog;
    const record = await store.calls.get('default', id);
    expect(record).toMatchObject({ direction: 'outbound', from: CALLER_ID, to: '+442079460010', metadata: { order: '17' } });
    expect(record?.turns[1]).toMatchObject({ callerText: '7', botText: 'You pressed 7.' });
    expect(await now()).toMatchObject({
      state: 'ended',
      disposition: 'completed',
      carrierCallId: record?.carrierCallId,
      ringingAtMs: expect.any(Number),
      answeredAtMs: expect.any(Number),
    });
    expect(await (await ask(`/calls/${id}`)).json()).toMatchObject({
      direction: 'outbound',
      attempt: { disposition: 'completed' },
    });
    const types = async () =>
      (await store.webhooks.page('default', { limit: 50, callId: id })).deliveries.map(({ type }) => type);
    await eventually('its webhooks', async () => (await types()).includes('attempt.ended'));
    expect(await types()).toEqual(
      expect.arrayContaining(['attempt.placed', 'attempt.ringing', 'attempt.answered', 'attempt.ended', 'call.ended']),
    );
    await eventually(
      'its place',
      () => bench.gateway.calls.active === 0 || bench.gateway.calls.calls.every((call) => call.id !== id),
    );
  });

  it.concurrent.each([
    { to: '+442079460020', kind: 'busy' as const },
    { to: '+442079460021', kind: 'rejected' as const },
  ])('end as $kind, in whatever order the carrier reports', async ({ to, kind }) => {
    const reports = kind === 'busy' ? ('swapped' as const) : ('twice' as const);
    const { id, now } = await dial(to, { ringMs: 100, outcome: { kind }, reports });
    await eventually('the end', () => isOver(now));
    expect(await now()).toMatchObject({ disposition: kind });
    expect(await bench.gateway.backlog.store.calls.get('default', id)).toBeUndefined();
    expect(await (await ask(`/calls/${id}`)).json()).toMatchObject({ endReason: kind, attempt: { state: 'ended' } });
  });

  it.concurrent('are placed once when the carrier takes the order and its answer is lost', async () => {
    const to = '+442079460030';
    const { now } = await dial(to, {
      order: { kind: 'lost', placed: true },
      dialMs: 2_500,
      ringMs: 300,
      outcome: { kind: 'answered', fullMedia: true, hangUpAfterMs: 6_000 },
    });
    expect(await now()).toMatchObject({ state: 'placing' });
    await eventually('the end', () => isOver(now));
    expect(await now()).toMatchObject({ disposition: 'silence', carrierCallId: expect.stringMatching(/^CA/u) });
    expect(api.dialled.orders.filter((order) => order.to === to)).toHaveLength(1);
  });

  it.concurrent('go on under the same call when keys bring them back on another stream, and are not begun anew after their end', async () => {
    const to = '+442079460060';
    const { id, now } = await dial(to, { outcome: { kind: 'answered', fullMedia: true } });
    const session = () => bench.gateway.calls.calls.find((call) => call.id === id);
    await eventually('the session', () => session()?.attached === true);
    const call = api.dialled.calls.find(({ phone }) => phone.order.to === to)?.side.call;
    if (call === undefined) throw new Error('nobody was called');
    await new ScriptedCaller(call.stream, 15_000).run([{ kind: 'press', digits: '5' }]);
    await eventually('the second stream', () => call.streams.length === 2 && session()?.attached === true);
    expect(call.playedDigits).toEqual(['1w2']);
    call.stream.press('7');
    await eventually('the answer on the second stream', () =>
      bench.news.some((item) => item.type === 'reply' && item.callId === id && item.turn === 2),
    );
    await session()?.order({ type: 'hang-up' }, 'test');
    await eventually('the end', () => isOver(now));
    const record = await bench.gateway.backlog.store.calls.get('default', id);
    expect(record?.attachments).toHaveLength(2);
    expect(record?.turns.at(-1)?.botText).toBe('You pressed 7.');
    expect(await now()).toMatchObject({ disposition: 'completed', carrierCallId: call.callSid });
    await expect(call.connect()).rejects.toThrow(CallRefused);
    expect(api.dialled.orders.filter((order) => order.to === to)).toHaveLength(1);
  });

  it.concurrent('reach a person over a carrier whose media names no call', async () => {
    const to = '+442079460070';
    const outcome: SimulatedCallee['outcome'] = {
      kind: 'answered',
      fullMedia: true,
      talk: (line) => new ScriptedCaller(line, 15_000).run([{ kind: 'press', digits: '7' }, { kind: 'hang-up' }]),
    };
    const { id, now } = await dial(to, { outcome }, VONAGE_ID);
    await eventually('the end', () => isOver(now));
    const uuid = vonage.dialled.calls.find(({ phone }) => phone.order.to === to)?.phone.order.carrierCallId;
    const record = await bench.gateway.backlog.store.calls.get('default', id);
    expect(record).toMatchObject({ carrier: 'vonage', carrierCallId: uuid, endReason: 'caller-hangup' });
    expect(record?.turns.map(({ botText }) => botText)).toContain('You pressed 7.');
    expect(await now()).toMatchObject({ disposition: 'completed', carrierCallId: uuid });
  });

  it.concurrent('are given up while they ring', async () => {
    const to = '+442079460040';
    const { id, now } = await dial(to, { ringMs: 20_000, outcome: { kind: 'answered' } });
    await eventually('ringing', async () => (await now())?.state === 'ringing');
    expect((await ask(`/attempts/${id}/cancel`, {})).status).toBe(200);
    const phone = api.dialled.calls.find(({ phone: { order } }) => order.to === to)?.phone;
    await phone?.over;
    expect([phone?.state, (await now())?.disposition]).toEqual(['cancelled', 'cancelled']);
  });

  it('are placed from the command line, which shows how they go and what is wrong', async () => {
    const to = '+442079460060';
    callees.set(to, { ringMs: 2_000, outcome: { kind: 'busy' } });
    const env = { OFFHOOK_DATA_DIR: bench.dataDir };
    const note = await GatewayNote.open(bench.dataDir, bench.gateway.url);
    await note.write();
    const command = (...more: string[]) => runCommand(['dial', to, '--bot', 'echo', '--zone', zoneAtNoon(), ...more], env);
    const busy = await command('--ring', '10', '--var', 'name=Asha');
    expect([busy.code, busy.stdout]).toEqual([1, expect.stringMatching(/placing .*\nringing\noutcome {3}busy/u)]);
    const json = await command('--from', '+442079460099', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, refusal: 'caller-id-not-allowed' });
    expect(json.stderr).toContain('dialling.callerIds lists them');
    const noBot = await runCommand(['dial', to, '--bot', 'ecko'], env);
    expect([noBot.code, noBot.stderr]).toEqual([1, expect.stringContaining('Did you mean echo?')]);
    expect((await runCommand(['dial', to], env)).code).toBe(2);
    await note.remove();
    expect((await command()).stderr).toContain('npx offhook start, or add --simulate');
    // Its key is gone with it.
    const keys = new ApiKeys(join(bench.dataDir, API_KEYS_FILE));
    expect(keys.list().map(({ name }) => name)).toEqual(['test']);
  });

  it('are counted, by outcome and by refusal', async () => {
    const refused = await ask('/calls', { to: '+442079460050', from: '+442079460099', bot: 'echo', zone: zoneAtNoon() });
    expect(await refused.json()).toMatchObject({ refusal: 'caller-id-not-allowed' });
    const metrics = await (await fetch(`${bench.gateway.url}/metrics`)).text();
    expect(metrics).toContain('offhook_dials_ended_total{carrier="twilio",outcome="busy"} 2');
    expect(metrics).toContain('offhook_dials_refused_total{refusal="caller-id-not-allowed"} 2');
    expect(metrics).toMatch(/offhook_dial_answer_seconds_count\{carrier="twilio"\} [1-9]/u);
  });
});

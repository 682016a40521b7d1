import { describe, expect, it } from 'vitest';
import { telnyx } from '../../../src/carriers/telnyx/carrier.ts';
import { TelnyxAccount } from '../../../src/carriers/telnyx/account.ts';
import { TelnyxControl } from '../../../src/carriers/telnyx/control.ts';
import { streamAuthToken } from '../../../src/carriers/telnyx/dialect.ts';
import { CarrierControlError } from '../../../src/carriers/errors.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { SimulatedTelnyxApi } from '../../../src/sim/telnyx/api.ts';
import { SimulatedTelnyxCall } from '../../../src/sim/telnyx/call.ts';
import type { OnDial } from '../../../src/sim/caller/callee.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { json, startRestApi } from '../carriers/rest-api.ts';
import { startGateway } from './gateway.ts';
import { allowedTarget } from '../../support/open-dialling.ts';

const { signal } = new AbortController();

/** A gateway with Telnyx alone, on an account at the simulated carrier. */
async function bench(env: Record<string, string> = {}) {
  const clock = new ManualClock();
  const api = await new SimulatedTelnyxApi({ clock }).listen();
  const gateway = await startGateway({
    others: [telnyx],
    env: {
      OFFHOOK_TELNYX_PUBLIC_KEY: SimulatedTelnyxApi.publicKey,
      OFFHOOK_TELNYX_API_KEY: api.apiKey,
      OFFHOOK_TELNYX_API_URL: api.url,
      ...env,
    },
  });
  const call = (direction: 'incoming' | 'outgoing' = 'incoming') => {
    const made = new SimulatedTelnyxCall({
      clock,
      sign: api.sign,
      webhookUrl: `${gateway.url}/carriers/telnyx/voice/clinic`,
      direction,
      from: '+447700900000',
      to: '+442079460000',
    });
    api.register(made);
    return made;
  };
  const initiated = { direction: 'incoming', state: 'parked' };
  const account = new TelnyxAccount({ apiUrl: api.url, apiKey: new Secret(api.apiKey) }, clock);
  const control = new TelnyxControl(account, {
    dialling: undefined,
    webhookUrl: () => `${gateway.url}/carriers/telnyx/voice`,
    forkFields: () => ({}),
  });
  return {
    clock,
    api,
    gateway,
    intake: gateway.intake,
    control,
    call,
    initiated,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}

describe('a call over Telnyx', () => {
  it('is answered by a request of ours, and its socket proves itself twice', async () => {
    await using at = await bench({ OFFHOOK_TELNYX__REQUIRE_STREAM_AUTH_TOKEN: 'true' });
    const call = at.call();
    await call.tell('call.initiated', at.initiated);
    await call.until(() => call.streams.length > 0 || call.streamProblem !== undefined);
    expect(call.streamProblem).toBeUndefined();
    expect(at.intake.answered).toMatchObject([
      { carrier: 'telnyx', carrierCallId: call.carrierCallId, from: '+447700900000', to: '+442079460000', botName: 'clinic' },
    ]);
    await expect.poll(() => at.intake.attachments.length).toBe(1);
    expect(at.intake.attachments[0]?.attachment).toMatchObject({
      speechFormat: { encoding: 'mulaw', rateHz: 8000 },
      started: { carrierCallId: call.carrierCallId, inbound: { encoding: 'alaw', rateHz: 8000 } },
    });
    // All events come to one address.
    await call.hangUp();
    expect(at.intake.statuses).toContain(`${call.carrierCallId} call.hangup true`);
  });

  it('is refused by a sentence and a hang-up, each once the step before it is done', async () => {
    await using at = await bench();
    at.intake.refusal = { kind: 'refuse', say: 'All lines are busy.', language: 'en', cause: 'calls', reason: 'full' };
    const call = at.call();
    await call.tell('call.initiated', at.initiated);
    await call.ended;
    expect(call.said).toEqual(['All lines are busy.']);
    expect(call.streams).toEqual([]);
    expect(call.events.map(({ name }) => name)).toEqual([
      'call.initiated',
      'call.answered',
      'call.speak.started',
      'call.speak.ended',
      'call.hangup',
    ]);
  });

  it('is not taken twice for a webhook that is replayed, and not at all for one that is unsigned, old, or changed', async () => {
    await using at = await bench();
    const call = at.call();
    const url = `${at.gateway.url}/carriers/telnyx/voice`;
    const payload = { call_control_id: call.carrierCallId, direction: 'incoming', from: '+447700900000', to: '+442079460000' };
    const body = JSON.stringify({ data: { event_type: 'call.initiated', payload } });
    const post = async (headers: Readonly<Record<string, string>>, text = body): Promise<number> =>
      (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: text })).status;
    const signed = at.api.sign(body);
    expect(await post({})).toBe(400);
    expect(await post(signed, body.replace('incoming', 'INCOMING'))).toBe(403);
    expect(at.intake.answered).toEqual([]);
    expect(await post(signed)).toBe(200);
    expect(await post(signed)).toBe(403);
    expect(at.intake.answered).toHaveLength(1);
    const old = at.api.sign(`${body} `);
    at.gateway.clock.advance(301_000);
    expect(await post(old, `${body} `)).toBe(403);
    expect(at.intake.answered).toHaveLength(1);
  });

  it('is given up where Telnyx does not take the answer', async () => {
    await using at = await bench({ OFFHOOK_TELNYX_API_KEY: 'another-key' });
    const call = at.call();
    await call.tell('call.initiated', at.initiated);
    await expect.poll(() => at.intake.abandoned).toMatchObject([{ reason: 'carrier refused the answer to a call' }]);
  });
});

describe('acting on a call over Telnyx', () => {
  it('ends a call, and takes one that is over for ended', async () => {
    await using at = await bench();
    const call = at.call();
    call.answer(undefined, false);
    await at.control.hangUp(call.carrierCallId, signal);
    await call.ended;
    await at.control.hangUp(call.carrierCallId, signal);
    await at.control.hangUp('v3:never-was', signal);
    await expect(at.control.sendDigits(call.carrierCallId, '1', signal)).rejects.toThrow(/HTTP 422: Call has already ended/u);
  });

  it('presses keys, with waits as Telnyx writes them', async () => {
    await using at = await bench();
    const call = at.call();
    call.answer(undefined, false);
    await at.control.sendDigits(call.carrierCallId, '1w2#', signal);
    expect(call.digits).toEqual(['1w2#']);
  });

  it('passes a caller on, stops the stream, and ends the call where the other leg ends', async () => {
    await using at = await bench();
    const call = at.call();
    await call.tell('call.initiated', at.initiated);
    await call.until(() => call.streams.length > 0);
    await at.control.transfer(call.carrierCallId, '+15550199', signal);
    expect(call.dialled).toBe('+15550199');
    expect(await call.streams.at(-1)?.ended).toMatchObject({ byGateway: false });
    // Nobody answers: a caller would stay in silence.
    const leg = at.call('outgoing');
    await leg.tell('call.hangup', { client_state: call.targetLegState, hangup_cause: 'timeout' });
    await expect.poll(() => call.isOver).toBe(true);
  });

  it('joins two calls, and leaves them', async () => {
    await using at = await bench();
    const [caller, agent] = [at.call(), at.call()];
    for (const call of [caller, agent]) {
      await call.tell('call.initiated', at.initiated);
      await call.until(() => call.streams.length > 0);
    }
    await at.control.join(caller.carrierCallId, agent.carrierCallId, signal);
    expect(caller.dialled).toBe(agent.carrierCallId);
    await Promise.all([caller.streams.at(-1)?.ended, agent.streams.at(-1)?.ended]);
    expect([caller.isOver, agent.isOver]).toEqual([false, false]);
  });

  it('has a live call between people copied to us, both sides of it, with the proof of our socket', async () => {
    await using api = await startRestApi((response) => json(response, 200, { data: { result: 'ok' } }));
    const apiKey = new Secret('KEY0');
    const config = { settings: telnyx.settings.parse({ apiUrl: api.url }), secrets: { apiKey: [apiKey] } };
    const control = telnyx.control(config, { clock: systemClock, gatewayUrl: () => 'https://bots.example.org' });
    const streamUrl = 'wss://bots.example.org/carriers/telnyx/stream/token';
    await control?.fork?.('v3:abc', streamUrl, signal);
    expect(api.asked).toMatchObject([{ path: 'POST /v2/calls/v3%3Aabc/actions/streaming_start', authorization: 'Bearer KEY0' }]);
    expect(JSON.parse(api.asked[0]?.body ?? '')).toEqual({
      stream_url: streamUrl,
      stream_track: 'both_tracks',
      stream_codec: 'PCMU',
      stream_auth_token: streamAuthToken(streamUrl, apiKey),
    });
  });

  it('says what is full where the account has no channel for another call', async () => {
    const onDial: OnDial = () => ({
      order: { kind: 'refused', status: 403, code: '10010', message: 'User channel limit exceeded D1' },
      outcome: { kind: 'busy' },
    });
    await using api = await new SimulatedTelnyxApi({ onDial }).listen();
    const account = new TelnyxAccount({ apiUrl: api.url, apiKey: new Secret(api.apiKey) }, new ManualClock());
    const dialling = {
      connectionId: api.connectionId,
      machineDetection: 'detect',
      streamFields: (url: string) => ({ stream_url: url }),
    } as const;
    const control = new TelnyxControl(account, { dialling, webhookUrl: () => '', forkFields: () => ({}) });
    const order = {
      callId: 'call_1',
      from: '+15550100001',
      to: allowedTarget('+919812345678'),
      ringTimeoutMs: 30_000,
      maxDurationMs: 60_000,
      streamUrl: 'wss://bots.example.org/s',
      statusUrl: 'https://bots.example.org/r',
      detectMachine: true,
    };
    const refused = await control.dialling?.dial(order, signal).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(CarrierControlError);
    expect(refused).toMatchObject({ surelyNotDone: true, retryable: true, facts: { carrierCode: 'D1' } });
    expect(String(refused)).toContain('no free channel');
  });
});

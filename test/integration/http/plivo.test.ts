import { sine } from '../../../src/audio/tone.ts';
import { describe, expect, it } from 'vitest';
import type { CallControl } from '../../../src/carriers/port.ts';
import { plivo, vobiz } from '../../../src/carriers/plivo/carrier.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { SimulatedPlivoApi } from '../../../src/sim/plivo/account.ts';
import { SimulatedPlivoCall, signedPlivoForm } from '../../../src/sim/plivo/carrier.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { json, startRestApi } from '../carriers/rest-api.ts';
import { eventually } from '../../support/eventually.ts';
import { authToken, startGateway } from './gateway.ts';
import { allowedTarget } from '../../support/open-dialling.ts';

const AUTH_ID = 'MAXXXXXXXXXXXXXXXXXX';
const { signal } = new AbortController();

/** A gateway, an account at a carrier of the family, and calls that came in. */
async function bench(flavour: 'plivo' | 'vobiz', env: Record<string, string> = {}) {
  const gateway = await startGateway({ others: [plivo, vobiz], env });
  const api = await SimulatedPlivoApi.start(flavour, AUTH_ID, authToken);
  const config = { settings: { authId: AUTH_ID, apiUrl: api.url }, secrets: { authToken: [new Secret(authToken)] } };
  const parts = { clock: gateway.clock, gatewayUrl: () => gateway.url };
  const control: CallControl | undefined = (flavour === 'plivo' ? plivo : vobiz).control(config, parts);
  if (control === undefined) throw new TypeError('no account');
  const post = async (path: string, fields: Record<string, string>, token = authToken, nonce?: string): Promise<Response> => {
    const address = gateway.url + path;
    return fetch(address, signedPlivoForm(flavour, address, token, fields, nonce));
  };
  return {
    gateway,
    control,
    post,
    async call(): Promise<SimulatedPlivoCall> {
      const call = new SimulatedPlivoCall({ flavour, url: gateway.url, authToken, clock: gateway.clock });
      await call.connect();
      api.register(call);
      return call;
    },
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

describe.each(['plivo', 'vobiz'] as const)('the webhooks of %s', (flavour) => {
  const form = { CallUUID: 'u-1', From: '14155551234', To: '14155555678', Direction: 'inbound', CallStatus: 'ringing' };
  const voice = `/carriers/${flavour}/voice`;

  it('are answered once for each nonce, and never without a right signature', async () => {
    await using at = await bench(flavour);
    expect((await at.post(voice, form, authToken, '11111111111111111111')).status).toBe(200);
    expect((await at.post(voice, form, authToken, '11111111111111111111')).status).toBe(403);
    expect((await at.post(voice, form, 'another')).status).toBe(403);
    expect((await fetch(at.gateway.url + voice, { method: 'POST', body: new URLSearchParams(form) })).status).toBe(400);
    expect(at.gateway.intake.answered).toHaveLength(1);
    expect((await at.post(`/carriers/${flavour}/document/odd/eA`, form)).status).toBe(404);
    expect((await at.post(`/carriers/${flavour}/document/dial/eA`, { ...form, CallStatus: 'completed' })).status).toBe(204);
  });

  it('begin no call where they tell of an end at the answer URL', async () => {
    await using at = await bench(flavour);
    expect((await at.post(voice, { ...form, CallStatus: 'completed', Event: 'Hangup' })).status).toBe(204);
    expect(at.gateway.intake.answered).toEqual([]);
    expect(at.gateway.intake.statuses).toEqual(['u-1 completed true']);
  });
});

describe.each(['plivo', 'vobiz'] as const)('a call over %s', (flavour) => {
  it('is transferred by a document that the carrier fetches', async () => {
    await using at = await bench(flavour);
    const call = await at.call();
    await at.control.transfer(call.carrierCallId, allowedTarget('+15550100'), signal);
    await call.ended;
    expect(call.dialled).toBe('+15550100');
    expect(call.line.open).toBe(false);
    expect(at.gateway.lines.join('\n')).not.toMatch(/KzE1NTUwMTAw|\+15550100"/u);
  });

  it('is joined with another in a room of their own', async () => {
    await using at = await bench(flavour);
    const [caller, agent] = [await at.call(), await at.call()];
    await at.control.join?.(caller.carrierCallId, agent.carrierCallId, signal);
    await Promise.all([caller.ended, agent.ended]);
    expect(caller.room).toMatch(/^offhook-[\da-f-]{36}$/u);
    expect(agent.room).toBe(caller.room);
    expect(caller.line.complaints).toEqual([]);
  });

  it('carries linear audio at 16 kHz in the byte order of each direction', async () => {
    await using at = await bench(flavour, { [`OFFHOOK_${flavour.toUpperCase()}_AUDIO`]: 'l16-16k' });
    const call = await at.call();
    const { clock, intake } = at.gateway;
    const quiet = sine(440, 400, 8_000, 0.01);
    call.line.say(quiet);
    await eventually('the stream', () => intake.attachments.length === 1);
    const [taken] = intake.attachments;
    if (taken === undefined) throw new TypeError('no stream');
    const { attachment, events } = taken;
    attachment.sendAudio(sine(440, 400, attachment.rateHz, 0.01));
    const heard = () => events.flatMap((event) => (event.type === 'audio' ? [...event.pcm] : []));
    await eventually('both sides', () => {
      clock.advance(20);
      return heard().length > attachment.rateHz / 2 && call.line.playout.heard.length > 8_000;
    });
    expect(attachment.started).toMatchObject({ inbound: { rateHz: 16_000 }, outbound: { encoding: 'pcm16', rateHz: 16_000 } });
    // In the other order, a quiet tone is loud noise.
    for (const samples of [heard(), [...call.line.playout.heard]]) {
      const peak = Math.max(...samples.map(Math.abs));
      expect(peak).toBeGreaterThan(200);
      expect(peak).toBeLessThan(600);
    }
    expect(call.line.complaints).toEqual([]);
  });

  it('is copied to us between people, both tracks of it, one way', async () => {
    await using api = await startRestApi((response) => json(response, 202, { message: 'audio streaming started' }));
    const carrier = flavour === 'plivo' ? plivo : vobiz;
    const config = {
      settings: carrier.settings.parse({ authId: AUTH_ID, apiUrl: api.url, audio: 'l16-16k' }),
      secrets: { authToken: [new Secret(authToken)] },
    };
    const control = carrier.control(config, { clock: systemClock, gatewayUrl: () => 'https://bots.example.org' });
    const service_url = `wss://bots.example.org/carriers/${flavour}/stream/token`;
    await control?.fork?.('u-1', service_url, signal);
    const base = flavour === 'plivo' ? '/v1' : '/api/v1';
    expect(api.asked.map(({ path }) => path)).toEqual([`POST ${base}/Account/${AUTH_ID}/Call/u-1/Stream/`]);
    expect(JSON.parse(api.asked[0]?.body ?? '')).toEqual({
      service_url,
      bidirectional: false,
      audio_track: 'both',
      content_type: 'audio/x-l16;rate=16000',
    });
  });

  it('is ended over REST, presses keys there, and may be gone', async () => {
    await using at = await bench(flavour);
    const call = await at.call();
    await at.control.sendDigits(call.carrierCallId, '1w2#', signal);
    expect(call.digits).toEqual(['1w2#']);
    await at.control.hangUp(call.carrierCallId, signal);
    await call.ended;
    await expect(at.control.hangUp('nobody', signal)).resolves.toBeUndefined();
    await expect(at.control.join?.('nobody', call.carrierCallId, signal)).rejects.toThrow();
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { encodeMulaw } from '../../../src/audio/g711.ts';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { parseWav } from '../../../src/audio/wav.ts';
import { API_KEYS_FILE, ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { sleep } from '../../../src/kernel/waiting.ts';
import { sayTones } from '../platform/tone-engines.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

let bench: GatewayBench;
let secret: string;

beforeAll(async () => {
  bench = await startGatewayBench({ otherBots: { desk: 'recording: always' } });
  const keys = new ApiKeys(join(bench.dataDir, API_KEYS_FILE));
  secret = keys.create({ name: 'test', tenantId: 'default', scopes: ['calls:control', 'calls:read', 'calls:listen'] }, 0).secret;
});

afterAll(() => bench[Symbol.asyncDispose]());

async function ask(path: string, body?: object): Promise<Response> {
  return fetch(`${bench.gateway.url}/api${path}`, {
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
}

/** `<Start><Stream track="both_tracks">` of a call between two people. */
async function fork(streamUrl: string, callSid = 'CA-between-people') {
  const socket = new WebSocket(streamUrl);
  const sent: string[] = [];
  socket.on('message', (data: Buffer) => sent.push(data.toString()));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const tell = (message: object): void => socket.send(JSON.stringify(message));
  const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
  tell({ event: 'connected', protocol: 'Call', version: '1.0.0' });
  tell({ event: 'start', start: { streamSid: 'MZ1', callSid, tracks: ['inbound', 'outbound'], mediaFormat } });
  let frames = 0;
  /** Both tracks, frame by frame as they are spoken: one speaks, the other is quiet. */
  const speak = async (track: 'inbound' | 'outbound', pcm: Int16Array): Promise<void> => {
    const beganMs = bench.clock.nowMs();
    for (let at = 0; at < pcm.length; at += 160) {
      for (const each of ['inbound', 'outbound'] as const) {
        const frame = each === track ? pcm.subarray(at, at + 160) : new Int16Array(160);
        const payload = Buffer.from(encodeMulaw(frame)).toString('base64');
        tell({ event: 'media', streamSid: 'MZ1', media: { track: each, timestamp: String(frames * 20), payload } });
      }
      frames += 1;
      await sleep(bench.clock, beganMs + at / 8 - bench.clock.nowMs());
    }
  };
  return { socket, sent, speak, stop: () => tell({ event: 'stop', streamSid: 'MZ1', stop: { callSid } }) };
}

const pause = new Int16Array(1_200 * 8);

it('hears both sides of a call between people, sends nothing, and keeps what was said', async () => {
  const answer = await ask('/live-calls/listen', { carrier: 'twilio', bot: 'desk', from: '+15550101', to: '+15550102' });
  expect(answer.status).toBe(201);
  const { streamUrl } = (await answer.json()) as { streamUrl: string };
  const call = await fork(streamUrl);
  await call.speak('inbound', sayTones(['alpha'], 8_000));
  await call.speak('inbound', pause);
  await call.speak('outbound', sayTones(['bravo'], 8_000));
  await call.speak('outbound', pause);
  await eventually(
    'both to be understood',
    () => bench.news.filter(({ type }) => type === 'turn' || type === 'heard').length >= 2,
  );
  const { calls } = (await (await ask('/live-calls')).json()) as { calls: { id: string; mode: string; from: string }[] };
  expect(calls).toMatchObject([{ mode: 'listen' }]);
  const id = calls[0]?.id ?? '';
  expect((await ask(`/live-calls/${id}/say`, { text: 'Hello' })).status).toBe(409);
  call.stop();
  await eventually(
    'the record',
    async () => (await bench.gateway.backlog.store.calls.get('default', id))?.endReason !== undefined,
  );
  const record = await bench.gateway.backlog.store.calls.get('default', id);
  expect(record).toMatchObject({
    mode: 'listen',
    carrierCallId: 'CA-between-people',
    from: '+15550101',
    botName: 'desk',
    endReason: 'caller-hangup',
    turns: [
      { callerText: expect.stringMatching(/alpha/iu), botText: '' },
      { callerText: '', botHeardText: expect.stringMatching(/bravo/iu) },
    ],
  });
  expect(call.sent).toEqual([]);
  const { samples, rateHz } = parseWav(readFileSync(record?.recordingPath ?? ''));
  const [caller = new Int16Array(), other = new Int16Array()] = samples;
  const half = Math.floor(caller.length / 2);
  const level = (pcm: Int16Array, from: number, to: number): number => rmsLevelDb(pcm.subarray(from, to));
  expect(rateHz).toBe(8_000);
  expect(level(caller, 0, half) - level(other, 0, half)).toBeGreaterThan(30);
  expect(level(other, half, other.length) - level(caller, half, caller.length)).toBeGreaterThan(30);
});

it('refuses an address for a carrier that sends no copy, and an address that was used', async () => {
  expect((await ask('/live-calls/listen', { carrier: 'nobody', bot: 'desk' })).status).toBe(422);
  expect((await ask('/live-calls/listen', { carrier: 'twilio', bot: 'nobody' })).status).toBe(422);
  // No account is configured that could be asked to begin.
  expect((await ask('/live-calls/listen', { carrier: 'twilio', bot: 'desk', call: 'CA1' })).status).toBe(409);
  const answer = await ask('/live-calls/listen', { carrier: 'twilio', bot: 'desk' });
  const { streamUrl } = (await answer.json()) as { streamUrl: string };
  const call = await fork(streamUrl, 'CA-again');
  const again = new WebSocket(streamUrl);
  const refused = await new Promise<number | undefined>((resolve) => {
    again.once('unexpected-response', (_request, response) => resolve(response.statusCode));
    again.once('open', () => resolve(undefined));
  });
  expect(refused).toBe(403);
  call.socket.close();
});

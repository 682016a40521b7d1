import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { parseWav } from '../../../src/audio/wav.ts';
import { loadBots } from '../../../src/config/bot-files.ts';
import { API_KEYS_FILE, ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { ScriptedCaller } from '../../../src/sim/caller/caller.ts';
import { sayTones } from '../platform/tone-engines.ts';
import { eventually } from '../../support/eventually.ts';
import { startGatewayBench } from './gateway-bench.ts';
import { measuredTone, toneDb } from './measured-tone.ts';

const BOT = `
name: mailbox
default: true
language: en
voice: Nisha
recording: never
dialog:
  kind: flow
  flow:
    start: closed
    slots: { message: { kind: text } }
    states:
      closed:
        say: We are closed.
        voicemail: { prompt: Please leave a message., slot: message, silenceMs: 1500 }
        next: thanks
      thanks: { say: Thank you., hangup: message-left }
`;

/** The longest stretch in which this tone is heard, in steps of 20 ms. */
function stretchOf(pcm: Int16Array, hz: number): { durationMs: number; levelDb: number; restDb: number } {
  const step = 160;
  let [best, from] = [{ from: 0, to: 0 }, -1];
  for (let at = 0; at + step <= pcm.length; at += step) {
    const window = pcm.subarray(at, at + step);
    const isTone = rmsLevelDb(window) > -40 && toneDb(window, hz, 8_000) > rmsLevelDb(window) - 1;
    if (isTone && from < 0) from = at;
    if (isTone && at + step - from > best.to - best.from) best = { from, to: at + step };
    if (!isTone) from = -1;
  }
  const inner = pcm.subarray(best.from + step, best.to - step);
  return { durationMs: (best.to - best.from) / 8, ...measuredTone(inner, hz, 8_000) };
}

it('records a message after the tone, gives its sound to the API and its news to a webhook, and erases it with the call', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-mailbox-'));
  writeFileSync(join(folder, 'mailbox.yaml'), BOT);
  const told: { type: string; data: Record<string, unknown> }[] = [];
  const receiver = createServer((request, response) => {
    void text(request).then((body) => {
      told.push(JSON.parse(body) as (typeof told)[number]);
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  const endpoints = join(folder, 'endpoints.yaml.txt');
  const url = `http://127.0.0.1:${port}/`;
  writeFileSync(
    endpoints,
    `endpoints: [{ name: desk, url: '${url}', secretEnv: HOOK_SECRET, events: [call.voicemail], words: true, allowPrivate: true }]`,
  );
  const { bots, problems } = loadBots(folder);
  expect(problems).toEqual([]);
  await using bench = await startGatewayBench({
    bots,
    env: { OFFHOOK_WEBHOOKS__ENDPOINTS: endpoints, HOOK_SECRET: 'a secret of the desk' },
  });
  const call = await bench.dial();
  const session = bench.sessionOf(call);
  const message = sayTones(['alpha', 'alpha', 'bravo'], 8_000).subarray(1_600);
  await new ScriptedCaller(call.stream, 25_000).run([
    { kind: 'say', text: 'alpha alpha bravo', pcm: message },
    { kind: 'wait-for-end' },
  ]);
  const record = await session.ended;
  expect([record.endReason, record.variables]).toEqual(['message-left', { message: 'alpha alpha bravo' }]);

  const tone = stretchOf(call.stream.buffer.heard, 1_000);
  expect(tone.durationMs).toBeGreaterThanOrEqual(460);
  expect(tone.durationMs).toBeLessThanOrEqual(520);
  expect(Math.abs(tone.levelDb + 19.5)).toBeLessThan(1);
  expect(tone.restDb).toBeLessThan(-25);

  const { secret } = new ApiKeys(join(bench.dataDir, API_KEYS_FILE)).create(
    { name: 'desk', tenantId: 'default', scopes: ['calls:read', 'recordings:read', 'privacy:write'] },
    0,
  );
  const headers = { authorization: `Bearer ${secret}` };
  const api = `${bench.gateway.url}/api`;
  await eventually('the webhook', () => told.length > 0);
  expect(told[0]).toMatchObject({
    type: 'call.voicemail',
    data: { callId: session.id, botName: 'mailbox', turn: 1, callerText: 'alpha alpha bravo' },
  });
  const shown = (await (await fetch(`${api}/calls/${session.id}`, { headers })).json()) as { voicemails: object[] };
  expect(shown.voicemails).toMatchObject([{ turn: 1, audio: true }]);
  const path = String(told[0]?.data['audio']);
  const answer = await fetch(`${bench.gateway.url}${path}`, { headers });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/wav']);
  const { samples, rateHz } = parseWav(new Uint8Array(await answer.arrayBuffer()));
  const sound = samples[0] ?? new Int16Array();
  expect([samples.length, rateHz]).toEqual([1, 8_000]);
  const spokenMs = message.length / 8;
  expect(sound.length / 8).toBeGreaterThan(spokenMs + 1_400);
  expect(sound.length / 8).toBeLessThan(spokenMs + 6_000);
  for (const hz of [400, 800]) {
    const word = stretchOf(sound, hz);
    expect(word.durationMs).toBeGreaterThanOrEqual(260);
    expect(Math.abs(word.levelDb + 13.5)).toBeLessThan(1);
  }
  expect(rmsLevelDb(sound.subarray(-4_000))).toBeLessThan(-50);

  const denied = await fetch(`${api}/calls/${session.id}/voicemails/7/audio`, { headers });
  expect(denied.status).toBe(404);
  const erased = await fetch(`${api}/erasures`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ call: session.id }),
  });
  expect(erased.status).toBeLessThan(300);
  expect((await fetch(`${bench.gateway.url}${path}`, { headers })).status).toBe(404);
  const left = readdirSync(join(bench.dataDir, 'recordings'), { recursive: true }).map(String);
  expect(left.filter((name) => name.includes(session.id))).toEqual([]);
  receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { once } from 'node:events';
import { readFaults } from '../../../src/platform/server/faults/faults.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { startTestPlatform, type TestPlatform, TestSocket } from './setup.ts';
import { sayTones } from './tone-engines.ts';

const faulty = (faults: string): Promise<TestPlatform> => startTestPlatform({ faults: readFaults(`seed=1,${faults}`) });

/** The finals of two turns, `alpha` and `bravo`, and how the socket ended. */
async function turns(faults: string, init: object = {}) {
  await using test = await faulty(faults);
  await using socket = await TestSocket.ready(test, { ...init });
  for (const word of ['alpha', 'bravo'] as const) {
    socket.pcm(sayTones([word], 8000));
    socket.text('commit');
  }
  socket.text('end');
  const { code } = await socket.untilClosed();
  return { finals: socket.of('final').map(({ text }) => text), errors: socket.of('error').length, code };
}

const speech = { model: 'zero-indic', input: 'Hello', voice: 'Rajesh' };

describe('injected faults', () => {
  it('answer a share of requests with the given status, and never GET', async () => {
    await using test = await faulty('errors=0.5:503');
    const { asrUrl, asrAltUrl, medUrl, ttsUrl, authUrl } = test.platform;
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async () => (await fetch(`${asrUrl}/v1/audio/transcriptions`, { method: 'POST' })).status),
    );
    expect(new Set(statuses)).toEqual(new Set([503, 401]));
    expect(await Promise.all([1, 2, 3].map(async () => (await fetch(`${ttsUrl}/health`)).status))).toEqual([200, 200, 200]);
    for (const url of [
      `${asrAltUrl}/v1/speakers/identify`,
      `${medUrl}/transcribe`,
      `${ttsUrl}/tts`,
      `${authUrl}/api/auth/token`,
    ]) {
      await expect.poll(async () => (await fetch(url, { method: 'POST' })).status).toBe(503);
    }
  });

  it('say when to come back from 429', async () => {
    await using test = await faulty('errors=1:429');
    const response = await fetch(`${test.platform.ttsUrl}/`, { method: 'POST' });
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1']);
  });

  it('refuse the opening of sockets on every service', async () => {
    await using test = await faulty('errors=1:502');
    const { asrUrl, asrAltUrl, ttsUrl } = test.platform;
    for (const url of [`${asrUrl}/v1/realtime`, `${asrAltUrl}/ws`, `${ttsUrl}/v1/realtime`]) {
      const socket = new WebSocket(url.replace('http', 'ws'));
      const [error] = (await once(socket, 'error')) as [Error];
      expect(error.message).toContain('502');
    }
  });

  it('keep requests and openings waiting', async () => {
    const clock = new ManualClock();
    await using test = await startTestPlatform({ clock, faults: readFaults('latency=5000') });
    const { asrUrl } = test.platform;
    const answer = fetch(`${asrUrl}/v1/speakers/register`, { method: 'POST' });
    const socket = new WebSocket(`${asrUrl.replace('http', 'ws')}/v1/realtime`);
    const opened = once(socket, 'open');
    expect((await fetch(`${asrUrl}/health`)).status).toBe(200);
    await expect.poll(() => clock.pendingTimers).toBeGreaterThanOrEqual(2);
    expect(socket.readyState).toBe(WebSocket.CONNECTING);
    clock.advance(5000);
    expect((await answer).status).toBe(401);
    await opened;
    socket.terminate();
    await once(socket, 'close');
  });

  it('lose finals, send them twice, and send them late but in order', async () => {
    expect(await turns('lost-finals=1')).toEqual({ finals: [], errors: 0, code: 1000 });
    expect(await turns('repeated-finals=1')).toEqual({ finals: ['alpha', 'alpha', 'bravo', 'bravo'], errors: 0, code: 1000 });
    const from = performance.now();
    expect(await turns('late-finals=1:120')).toEqual({ finals: ['alpha', 'bravo'], errors: 0, code: 1000 });
    expect(performance.now() - from).toBeGreaterThanOrEqual(119);
  });

  it('fail a commit with an error event and 1008', async () => {
    expect(await turns('failed-turns=1')).toEqual({ finals: [], errors: 1, code: 1008 });
  });

  it('fail a synthesis on a socket with an error message, and close it', async () => {
    await using test = await faulty('failed-turns=1');
    const headers = { authorization: `Bearer ${await test.token()}` };
    await using socket = await TestSocket.open(`${test.platform.ttsUrl}/v1/realtime`, headers);
    socket.json(speech);
    expect((await socket.untilClosed()).code).toBe(1011);
    expect(socket.events).toMatchObject([{ type: 'error', error: expect.stringContaining('Injected fault') }]);
  });

  it('fail, lose and repeat the segments of Variant B', async () => {
    const segments = async (faults: string) => {
      await using test = await faulty(faults);
      const headers = { authorization: `Bearer ${test.platform.apiKey}` };
      await using socket = await TestSocket.open(`${test.platform.asrAltUrl}/ws`, headers);
      socket.json({ type: 'init', language: 'en', sample_rate: 8000, dtype: 'int16' });
      await socket.until(() => socket.of('ready').length === 1);
      socket.pcm(sayTones(['alpha'], 8000));
      socket.json({ type: 'end' });
      await socket.untilClosed();
      return [socket.of('final_segment').length, socket.of('error').length];
    };
    expect(await segments('lost-finals=0')).toEqual([1, 0]);
    expect(await segments('lost-finals=1')).toEqual([0, 0]);
    expect(await segments('repeated-finals=1')).toEqual([2, 0]);
    expect(await segments('failed-turns=1')).toEqual([0, 1]);
  });

  it('cut sockets without a close frame, of recognition and of synthesis', async () => {
    await using test = await faulty('dropped-sockets=1:30');
    await using heard = await TestSocket.open(`${test.platform.asrUrl}/v1/realtime`);
    expect((await heard.untilClosed()).code).toBe(1006);
    const headers = { authorization: `Bearer ${await test.token()}` };
    await using spoken = await TestSocket.open(`${test.platform.ttsUrl}/ws`, headers);
    expect((await spoken.untilClosed()).code).toBe(1006);
  });
});

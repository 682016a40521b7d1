import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { Recogniser } from '../../../src/platform/engines/recognise/recogniser.ts';
import { startTestPlatform, type TestPlatform, TestSocket } from './setup.ts';
import { eventually } from '../../support/eventually.ts';
import { sayTones, ToneSynthesizer } from './tone-engines.ts';
import { wavFile } from '../../../src/audio/wav.ts';

/** A thread of the recogniser that hears "yes" in every turn; the first one computes without end at its first commit. */
const threadCode = `
  const { parentPort, workerData } = require('node:worker_threads');
  parentPort.on('message', ({ type, stream }) => {
    if (type === 'ping') parentPort.postMessage({ type: 'pong' });
    if (type !== 'commit') return;
    while (workerData.stuck);
    const about = { words: [], startS: 0, endS: 1, confidence: 1, language: 'en', alternatives: [] };
    parentPort.postMessage({ type: 'committed', stream, tried: false, results: [{ text: 'yes', ...about }] });
  });
  parentPort.postMessage({ type: 'ready' });
`;

async function transcribe(test: TestPlatform): Promise<Response> {
  const body = new FormData();
  body.set('file', new Blob([Uint8Array.from(wavFile(sayTones(['alpha'], 8_000), 8_000))]), 'call.wav');
  body.set('language_code', 'en');
  const headers = { authorization: `Bearer ${await test.token()}` };
  return fetch(`${test.platform.asrUrl}/v1/audio/transcriptions`, { method: 'POST', headers, body });
}

it('a recogniser that computes without end is restarted: its sessions get an error, new ones 503, and then all is well', async () => {
  let threads = 0;
  const recognition = new Recogniser({
    languages: ['en'],
    startThread: () => new Worker(threadCode, { eval: true, workerData: { stuck: threads++ === 0 } }),
    pingEveryMs: 100,
    clock: systemClock,
    logger: silentLogger,
  });
  await recognition.start();
  await using test = await startTestPlatform({ engines: { recognition, synthesis: new ToneSynthesizer() } });
  const isWell = async (): Promise<unknown> => (await fetch(`${test.platform.asrUrl}/health`)).json();
  expect(await isWell()).toEqual({ ok: true });
  await using first = await TestSocket.ready(test);
  await using second = await TestSocket.ready(test);
  first.pcm(sayTones(['alpha'], 8_000));
  first.text('commit');
  await eventually(() => recognition.retryAfterS !== undefined);
  const refused = await transcribe(test);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
  expect(await isWell()).toEqual({ ok: false });
  await expect(TestSocket.open(`${test.platform.asrUrl}/v1/realtime`)).rejects.toThrow('503');
  for (const socket of [first, second]) {
    if (socket === second) second.text('commit');
    await socket.until(() => socket.closed !== undefined);
    expect(socket.of('error')).toMatchObject([{ error: expect.stringContaining('temporarily unavailable') }]);
    expect(socket.closed?.code).toBe(1008);
  }
  await eventually(() => recognition.retryAfterS === undefined);
  expect(await (await transcribe(test)).json()).toEqual({ text: 'yes' });
  expect([threads, await isWell()]).toEqual([2, { ok: true }]);
});

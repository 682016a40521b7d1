import { expect, it } from 'vitest';
import { MULAW_8K } from '../../../src/audio/format.ts';
import type { Clock } from '../../../src/kernel/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { SynthesisProtocol } from '../../../src/speech/tts/synthesis-protocol.ts';
import { SynthesisSocket } from '../../../src/speech/tts/synthesis-socket.ts';
import { eventually } from '../../support/eventually.ts';
import { startScripted } from './scripted-platform.ts';
import { failureOf } from './support.ts';

const PING_EVERY_MS = 5_000;

it('gives a text up 35 s after the last audio of it, and not while audio comes', async () => {
  const time = new ManualClock();
  // Pings are answered in real time, which does not pass here.
  const clock: Clock = {
    nowMs: () => time.nowMs(),
    wallMs: () => time.wallMs(),
    after: (delayMs, run) => (delayMs === PING_EVERY_MS ? { cancel: () => undefined } : time.after(delayMs, run)),
  };
  await using platform = await startScripted({ onText: () => undefined });
  const { signal } = new AbortController();
  const socket = await SynthesisSocket.open(platform.url, { credential: 'token', clock, signal });
  const reader = new SynthesisProtocol(MULAW_8K);
  const heard: number[] = [];
  const spoken = failureOf(
    (async () => {
      for await (const audio of socket.speak([JSON.stringify({ input: 'hello' })], reader, signal)) heard.push(...audio);
    })(),
  );
  await eventually(() => platform.sockets[0]?.texts.length === 1);
  for (const index of [0, 1, 2]) {
    time.advance(34_000);
    platform.sockets[0]!.json({ type: 'chunk', request_id: 'r', chunk_index: index, format: 'mulaw', sample_rate: 8_000 });
    platform.sockets[0]!.socket.send(Uint8Array.of(index));
    await eventually(() => heard.length === index + 1);
  }
  time.advance(34_999);
  expect(time.pendingTimers).toBe(1);
  time.advance(1);
  expect((await spoken).message).toBe('no audio from the synthesizer for 35000 ms');
  expect(time.pendingTimers).toBe(0);
  socket.close();
});

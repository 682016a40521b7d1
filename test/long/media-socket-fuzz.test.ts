import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { systemClock } from '../../src/kernel/clock.ts';
import { seededRandom } from '../../src/audio/tone.ts';
import { parseWav } from '../../src/audio/wav.ts';
import { ScriptedCaller } from '../../src/sim/caller/caller.ts';
import { eventually } from '../support/eventually.ts';
import { startGatewayBench } from '../integration/hosts/gateway-bench.ts';
import { sayTones } from '../integration/platform/tone-engines.ts';
import { RawCarrier } from '../support/raw-carrier.ts';
import { liveBytes } from './memory-watch.ts';
import { messUp, usualMessages, type Dice } from './wire-mess.ts';

const BATCHES = 40;
const CALLS_IN_A_BATCH = 12;
const seed = Number(process.env.OFFHOOK_TEST_SEED ?? 20_260);

it('ends every call in a defined state, whatever a carrier sends on its sockets', async () => {
  console.log(`OFFHOOK_TEST_SEED=${seed}`);
  const random = seededRandom(seed);
  const dice: Dice = { below: (count) => Math.floor(random() * count), chance: (part) => random() < part };
  await using bench = await startGatewayBench({
    clock: systemClock,
    env: { OFFHOOK_CALL__REATTACH_MS: '200', OFFHOOK_TWILIO__START_TIMEOUT_MS: '500', OFFHOOK_TWILIO__STREAM_TOKEN_MS: '1000' },
  });
  const { gateway } = bench;
  const heapMb: number[] = [];
  const reasons = new Map<string, number>();
  let recordings = 0;
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const endings = await Promise.all(
      Array.from({ length: CALLS_IN_A_BATCH }, async () => {
        const carrier = new RawCarrier({ url: gateway.url, authToken: bench.authToken });
        const url = (await carrier.answer())!;
        const startedAtMs = performance.now();
        const { ended } = bench.sessionOf(carrier);
        const socket = await carrier.open(url);
        if (typeof socket === 'number') throw new Error(`the stream was refused with ${socket}`);
        await misbehave(carrier, socket, url, dice);
        return { record: await ended, tookMs: performance.now() - startedAtMs };
      }),
    );
    for (const { record, tookMs } of endings) {
      expect(record.endReason).not.toBe('');
      const kind = record.endReason.replaceAll(/[\d.]+/gu, 'N').slice(0, 60);
      reasons.set(kind, (reasons.get(kind) ?? 0) + 1);
      if (record.recordingPath === undefined) continue;
      recordings += 1;
      // Playable, and no longer than the call: a carrier's wild timestamp must not fill the disk.
      expect(parseWav(readFileSync(record.recordingPath)).rateHz).toBe(8_000);
      expect(statSync(record.recordingPath).size).toBeLessThan((tookMs + 15_000) * 32);
    }
    expect(gateway.calls.active).toBe(0);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    heapMb.push(liveBytes() / 1e6);
  }
  console.log(
    Object.fromEntries(reasons),
    `${recordings} recordings`,
    `heap in MB: ${heapMb.map((mb) => mb.toFixed(0)).join(' ')}`,
  );
  await eventually('the recogniser to let go', () => bench.speech.recognition.openStreams === 0);
  await eventually('the journals to be cleared', () => readdirSync(join(bench.dataDir, 'calls')).length === 0);
  // The first batches fill caches; from there on nothing may pile up.
  expect(Math.min(...heapMb.slice(-6))).toBeLessThan(Math.min(...heapMb.slice(6, 12)) + 15);

  const call = await bench.dial();
  const { ended } = bench.sessionOf(call);
  const pcm = sayTones(['charlie'], 8_000).subarray(1_600);
  await new ScriptedCaller(call.stream).run([{ kind: 'say', text: 'charlie', pcm }, { kind: 'wait-for-end' }]);
  expect((await ended).endReason).toBe('said-charlie');
});

/** One carrier's call, in disorder; its last act always ends the call at the carrier. */
async function misbehave(carrier: RawCarrier, socket: WebSocket, url: string, dice: Dice): Promise<void> {
  let stream = socket;
  for (const message of messUp(usualMessages(carrier, dice), dice)) {
    if (stream.readyState !== stream.OPEN) break;
    switch (message.how) {
      case 'text':
        stream.send(message.data);
        break;
      case 'binary':
        stream.send(message.data, { binary: true });
        break;
      case 'pieces':
        for (const [index, part] of message.parts.entries()) stream.send(part, { fin: index === message.parts.length - 1 });
        break;
      case 'ping':
        stream.ping(message.data);
        break;
      case 'garbage':
        // Below the protocol: bytes that are no frame.
        (stream as unknown as { _socket: { write(bytes: Uint8Array): void } })._socket.write(message.data);
        break;
      case 'pause':
        await new Promise((resolve) => setTimeout(resolve, message.ms));
        break;
      case 'replay':
        expect(await carrier.open(url)).toBe(403);
        break;
      case 'reconnect': {
        if (dice.chance(0.5)) stream.terminate();
        const again = await carrier.answer();
        const opened = again === undefined ? 0 : await carrier.open(again);
        if (typeof opened !== 'number') stream = opened;
      }
    }
  }
  switch (dice.below(4)) {
    case 0:
      if (stream.readyState === stream.OPEN) stream.send(carrier.stop());
      break;
    case 1:
      stream.terminate();
      break;
    case 2:
      stream.close(dice.chance(0.5) ? 1000 : 4_321, 'bye');
      break;
    default:
      await carrier.completed();
  }
  // Whatever else happened, the carrier says in the end that the call is over, as it does for each.
  await new Promise((resolve) => setTimeout(resolve, 300));
  await carrier.completed();
  socket.terminate();
  stream.terminate();
}

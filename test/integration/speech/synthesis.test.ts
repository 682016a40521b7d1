import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Slots } from '../../../src/speech/client/slots.ts';
import type { Synthesizer } from '../../../src/speech/port.ts';
import { eventually } from '../../support/eventually.ts';
import { type ScriptedSocket, startScripted } from './scripted-platform.ts';
import { failureOf, synthesizerOn } from './support.ts';

const request = { text: 'hello', voice: 'Rajesh', language: 'en', speed: 1.2 };
const never = new AbortController().signal;

function chunk(socket: ScriptedSocket, index: number, bytes: Uint8Array): void {
  socket.json({ type: 'chunk', request_id: 'r', chunk_index: index, is_final: false, format: 'mulaw', sample_rate: 8_000 });
  socket.socket.send(bytes);
}

function complete(socket: ScriptedSocket, total: number): void {
  socket.json({ type: 'completion', request_id: 'r', status: 'complete', total_chunks: total });
}

async function spoken(synthesizer: Synthesizer, signal = new AbortController().signal): Promise<number[]> {
  const heard: number[] = [];
  for await (const audio of synthesizer.speak(request, signal)) heard.push(...audio);
  return heard;
}

/** Time for everything on its way to arrive: pings over another socket, each after the answer to the one before. */
async function roundTrips(url: string, times: number): Promise<void> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/other`);
  await once(socket, 'open');
  for (let trip = 0; trip < times; trip += 1) {
    const answered = once(socket, 'pong');
    socket.ping();
    await answered;
  }
  socket.terminate();
}

describe('realtime synthesis', () => {
  it('sends one full message and yields the audio of each pair; the token is in the header alone [48] [185] [186]', async () => {
    await using platform = await startScripted({
      onText: (socket) => {
        chunk(socket, 0, Uint8Array.of(1, 2));
        chunk(socket, 1, Uint8Array.of(3));
        complete(socket, 2);
      },
    });
    await using synthesizer = synthesizerOn(platform);
    expect(await spoken(synthesizer)).toEqual([1, 2, 3]);
    const [socket] = platform.sockets;
    expect(socket!.url).toBe('/v1/realtime');
    expect(socket!.headers.authorization).toBe('Bearer token-1');
    expect(socket!.headers['sec-websocket-extensions']).toBeUndefined();
    expect(JSON.parse(socket!.texts[0]!)).toEqual({
      model: 'zero-indic',
      input: 'hello',
      voice: 'Rajesh',
      language: 'en',
      response_format: 'mulaw',
      speed: 1.2,
    });
  });

  it('speaks the next text over the same socket, two at once over two', async () => {
    await using platform = await startScripted({
      onText: (socket) => {
        chunk(socket, 0, Uint8Array.of(7));
        complete(socket, 1);
      },
    });
    await using synthesizer = synthesizerOn(platform);
    await spoken(synthesizer);
    await spoken(synthesizer);
    expect(platform.sockets).toHaveLength(1);
    expect(await Promise.all([spoken(synthesizer), spoken(synthesizer)])).toEqual([[7], [7]]);
    expect(platform.sockets).toHaveLength(2);
    expect(platform.mints()).toBe(1);
  });

  it.each([
    { places: 16, kept: 4 },
    { places: 7, kept: 1 },
  ])('keeps a quarter of $places sockets for the next texts, one at least, and closes the others', async ({ places, kept }) => {
    let release: () => void = () => undefined;
    const all = new Promise<void>((resolve) => (release = resolve));
    await using platform = await startScripted({
      onText: (socket) => void all.then(() => complete(socket, 0)),
    });
    await using synthesizer = synthesizerOn(platform, new Slots(places));
    const texts = Array.from({ length: 6 }, () => spoken(synthesizer));
    await eventually(() => platform.sockets.filter((socket) => socket.texts.length > 0).length === 6);
    release();
    await Promise.all(texts);
    await eventually(() => platform.sockets.filter(({ closed }) => closed !== undefined).length === 6 - kept);
    await Promise.all(Array.from({ length: kept }, () => spoken(synthesizer)));
    expect(platform.upgrades()).toBe(6);
    await spoken(synthesizer);
    expect(platform.upgrades()).toBe(6);
  });

  it('opens one socket ahead of the first text, and none without a free slot', async () => {
    await using platform = await startScripted({
      onText: (socket) => {
        chunk(socket, 0, Uint8Array.of(7));
        complete(socket, 1);
      },
    });
    const slots = new Slots(1);
    await using synthesizer = synthesizerOn(platform, slots);
    const taken = slots.tryReserve();
    await synthesizer.warm();
    expect(platform.upgrades()).toBe(0);
    taken!.release();
    await Promise.all([synthesizer.warm(), synthesizer.warm()]);
    await synthesizer.warm();
    expect(platform.upgrades()).toBe(1);
    expect(await spoken(synthesizer)).toEqual([7]);
    expect(platform.upgrades()).toBe(1);
  });

  it('speaks although the socket could not be opened ahead', async () => {
    await using platform = await startScripted({
      refuse: (index) => (index === 0 ? 503 : undefined),
      onText: (socket) => complete(socket, 0),
    });
    await using synthesizer = synthesizerOn(platform);
    await synthesizer.warm();
    expect(await spoken(synthesizer)).toEqual([]);
    expect(platform.upgrades()).toBe(2);
  });

  it('takes a new socket at once when the kept one has died', async () => {
    await using platform = await startScripted({
      onText: (socket, _text, index) => {
        if (index === 0 && socket.texts.length > 1) {
          socket.socket.terminate();
          return;
        }
        chunk(socket, 0, Uint8Array.of(index));
        complete(socket, 1);
      },
    });
    let waits = 0;
    await using synthesizer = synthesizerOn(platform, new Slots(16), () => {
      waits += 1;
      return 0;
    });
    expect(await spoken(synthesizer)).toEqual([0]);
    expect(await spoken(synthesizer)).toEqual([1]);
    expect(waits).toBe(0);
  });

  it('tries none of the other kept sockets when one has died: they may be as dead, and somebody waits', async () => {
    await using platform = await startScripted({
      onText: (socket) => {
        if (socket.texts.length > 1) socket.socket.terminate();
        else complete(socket, 0);
      },
    });
    await using synthesizer = synthesizerOn(platform);
    await Promise.all([spoken(synthesizer), spoken(synthesizer)]);
    expect(platform.upgrades()).toBe(2);
    await spoken(synthesizer);
    expect(platform.sockets.map(({ texts }) => texts.length).toSorted((a, b) => a - b)).toEqual([1, 1, 2]);
  });

  it('fails when the socket closes before the completion, and does not start again after audio [186] [189]', async () => {
    await using platform = await startScripted({
      onText: (socket) => {
        chunk(socket, 0, Uint8Array.of(1));
        setImmediate(() => socket.socket.terminate());
      },
    });
    await using synthesizer = synthesizerOn(platform);
    expect(await failureOf(spoken(synthesizer))).toMatchObject({ code: 'OFFHOOK_SPEECH_UNAVAILABLE' });
    expect(platform.sockets).toHaveLength(1);
  });

  it('tries again twice when the socket drops before any audio [189]', async () => {
    await using platform = await startScripted({
      onText: (socket, _text, index) => {
        if (index < 2) {
          socket.socket.terminate();
          return;
        }
        chunk(socket, 0, Uint8Array.of(9));
        complete(socket, 1);
      },
    });
    await using synthesizer = synthesizerOn(platform);
    expect(await spoken(synthesizer)).toEqual([9]);
    expect(platform.sockets).toHaveLength(3);
  });

  it('gives up after the third drop [189]', async () => {
    await using platform = await startScripted({ onText: (socket) => socket.socket.terminate() });
    await using synthesizer = synthesizerOn(platform);
    expect(await failureOf(spoken(synthesizer))).toMatchObject({ retryable: true });
    expect(platform.sockets).toHaveLength(3);
  });

  it('ends with the request id and the text of an error message [187]', async () => {
    await using platform = await startScripted({
      onText: (socket) => {
        socket.json({ type: 'error', request_id: 'r-9', error: 'the voice is unknown' });
        socket.socket.close(1008, 'cut');
      },
    });
    await using synthesizer = synthesizerOn(platform);
    const error = await failureOf(spoken(synthesizer));
    expect(error).toMatchObject({ requestId: 'r-9', retryable: false });
    expect(error.message).toContain('the voice is unknown');
    expect(platform.sockets).toHaveLength(1);
  });

  it('closes the socket when the loop is left [188]', async () => {
    await using platform = await startScripted({ onText: (socket) => chunk(socket, 0, Uint8Array.of(1)) });
    await using synthesizer = synthesizerOn(platform);
    for await (const audio of synthesizer.speak(request, never)) {
      expect([...audio]).toEqual([1]);
      break;
    }
    await eventually(() => platform.sockets[0]!.closed === 1000);
  });

  it('closes the socket when it is aborted, before audio and in the middle of it [188]', async () => {
    for (const audioFirst of [false, true]) {
      await using platform = await startScripted({
        onText: (socket) => (audioFirst ? chunk(socket, 0, Uint8Array.of(1)) : undefined),
      });
      await using synthesizer = synthesizerOn(platform);
      const abort = new AbortController();
      const failure = failureOf(spoken(synthesizer, abort.signal));
      await eventually(() => platform.sockets[0]?.texts.length === 1);
      abort.abort(new Error('the caller spoke'));
      expect((await failure).message).toBe('the caller spoke');
      await eventually(() => platform.sockets[0]!.closed === 1000);
    }
  });

  it('mints once and opens once more when the upgrade is refused with 401 [31] [190]', async () => {
    await using platform = await startScripted({
      refuse: (index) => (index === 0 ? 401 : undefined),
      onText: (socket) => {
        chunk(socket, 0, Uint8Array.of(5));
        complete(socket, 1);
      },
    });
    await using synthesizer = synthesizerOn(platform);
    expect(await spoken(synthesizer)).toEqual([5]);
    expect(platform.upgrades()).toBe(2);
    expect(platform.mints()).toBe(2);
    expect(platform.sockets[0]!.headers.authorization).toBe('Bearer token-2');
  });

  it('takes a second 401 as final, and a 403 at once [31] [190]', async () => {
    for (const [status, upgrades] of [
      [401, 2],
      [403, 1],
    ] as const) {
      await using platform = await startScripted({ refuse: () => status });
      await using synthesizer = synthesizerOn(platform);
      const error = await failureOf(spoken(synthesizer));
      expect(error).toMatchObject({ code: 'OFFHOOK_SPEECH_AUTH', status });
      expect(error.message).toContain(`refused with ${status}`);
      expect(platform.upgrades()).toBe(upgrades);
      expect(platform.mints()).toBe(upgrades);
    }
  });

  it('repeats an upgrade refused with 503 or 429 [189]', async () => {
    await using platform = await startScripted({
      refuse: (index) => [503, 429][index],
      onText: (socket) => {
        chunk(socket, 0, Uint8Array.of(5));
        complete(socket, 1);
      },
    });
    await using synthesizer = synthesizerOn(platform);
    expect(await spoken(synthesizer)).toEqual([5]);
  });

  it('never plays what comes for nobody on a kept socket', async () => {
    await using platform = await startScripted({
      onText: (socket, _text, index) => {
        chunk(socket, 0, Uint8Array.of(index));
        complete(socket, 1);
      },
    });
    await using synthesizer = synthesizerOn(platform);
    await spoken(synthesizer);
    chunk(platform.sockets[0]!, 0, Uint8Array.of(99));
    await eventually(() => platform.sockets[0]!.closed !== undefined);
    expect(await spoken(synthesizer)).toEqual([1]);
  });

  it('holds a fast platform back while nobody takes the audio, and loses none of it', async () => {
    const chunks = 400;
    const audio = new Uint8Array(64 * 1024);
    await using platform = await startScripted({
      onText: (socket) => {
        for (let index = 0; index < chunks; index += 1) chunk(socket, index, audio);
        complete(socket, chunks);
      },
    });
    await using synthesizer = synthesizerOn(platform);
    let bytes = 0;
    for await (const part of synthesizer.speak(request, never)) {
      if (bytes === 0) {
        const { socket } = platform.sockets[0]!;
        await roundTrips(platform.url, 300);
        expect(socket.bufferedAmount).toBeGreaterThan(10 * 1024 * 1024);
      }
      bytes += part.length;
    }
    expect(bytes).toBe(chunks * audio.length);
  });

  it('keeps to its slots, and gives them back', async () => {
    await using platform = await startScripted({
      onText: (socket) => {
        chunk(socket, 0, Uint8Array.of(1));
        complete(socket, 1);
      },
    });
    const slots = new Slots(2);
    await using synthesizer = synthesizerOn(platform, slots);
    const reading = synthesizer.speak(request, never)[Symbol.asyncIterator]();
    await reading.next();
    expect(slots.free).toBe(1);
    await reading.return?.();
    expect(slots.free).toBe(2);
    await Promise.all(Array.from({ length: 8 }, () => spoken(synthesizer)));
    expect(slots.free).toBe(2);
  });

  it('sends whatever voice it is given and ten thousand characters, astral ones counted once [171]', async () => {
    await using platform = await startScripted({ onText: (socket) => complete(socket, 0) });
    await using synthesizer = synthesizerOn(platform);
    const text = '😀'.repeat(10_000);
    const reading = synthesizer.speak({ ...request, voice: 'a voice of tomorrow', text }, never)[Symbol.asyncIterator]();
    expect(await reading.next()).toMatchObject({ done: true });
    expect(JSON.parse(platform.sockets[0]!.texts[0]!)).toMatchObject({ voice: 'a voice of tomorrow', input: text });
  });

  it('refuses a text that is too long before anything is sent [171]', async () => {
    await using platform = await startScripted({});
    await using synthesizer = synthesizerOn(platform);
    for (const text of ['', '😀'.repeat(10_001)]) {
      const reading = synthesizer.speak({ ...request, text }, never)[Symbol.asyncIterator]();
      expect(await failureOf(reading.next())).toMatchObject({ code: 'OFFHOOK_SPEECH_REQUEST' });
    }
    expect(platform.mints()).toBe(0);
  });

  it('stops what is spoken when it is closed', async () => {
    await using platform = await startScripted({ onText: (socket) => chunk(socket, 0, Uint8Array.of(1)) });
    const synthesizer = synthesizerOn(platform);
    const failure = failureOf(spoken(synthesizer));
    await eventually(() => platform.sockets[0]?.texts.length === 1);
    await synthesizer[Symbol.asyncDispose]();
    expect((await failure).message).toContain('closed');
    await eventually(() => platform.sockets[0]!.closed !== undefined);
  });
});

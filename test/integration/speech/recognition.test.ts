import { describe, expect, it } from 'vitest';
import { decodeAudio } from '../../../src/audio/codec.ts';
import { sine } from '../../../src/audio/tone.ts';
import type { RecognitionEvent } from '../../../src/speech/port.ts';
import { eventually } from '../../support/eventually.ts';
import { type ScriptedSocket, startScripted } from './scripted-platform.ts';
import { recogniserOn } from './support.ts';

const options = { language: 'en', sampleRateHz: 8_000 };

function initOf(socket: ScriptedSocket): Record<string, unknown> {
  return JSON.parse(socket.texts[0]!) as Record<string, unknown>;
}

/** Ready after the opening frame, and a final with the number of samples heard for each command. */
function answer(socket: ScriptedSocket, text: string): void {
  if (text.startsWith('{')) {
    socket.json({ type: 'ready' });
    return;
  }
  socket.json({ type: 'final', seg: socket.texts.length - 2, text: `${socket.audioBytes() / 2}`, end_of_utterance: true });
  if (text === 'end') socket.socket.close(1000);
}

describe('realtime recognition', () => {
  it('opens with the token in the frame, sends PCM and bare words, and closes when the platform has [125] [129]', async () => {
    await using platform = await startScripted({ onText: answer });
    await using recogniser = recogniserOn(platform);
    const events: RecognitionEvent[] = [];
    const session = recogniser.open({ ...options, boostPhrases: ['haldi'] }, (event) => events.push(event));
    const pcm = sine(300, 500, 8_000);
    session.send(pcm);
    session.commit();
    pcm.fill(0);
    await eventually(() => events.some(({ type }) => type === 'final'));
    session.send(pcm);
    await session.end();
    const [socket] = platform.sockets;
    expect(socket!.url).toBe('/v1/realtime');
    expect(socket!.headers.authorization).toBeUndefined();
    expect(initOf(socket!)).toEqual({ token: 'token-1', language_code: 'en', sample_rate: 8_000, boost_phrases: 'haldi' });
    expect(socket!.texts.slice(1)).toEqual(['commit', 'end']);
    expect(decodeAudio('pcm16', Buffer.concat(socket!.audio)).subarray(0, 4_000)).toEqual(sine(300, 500, 8_000));
    expect(events.map((event) => ('text' in event ? [event.type, event.seg, event.text] : [event.type]))).toEqual([
      ['ready'],
      ['final', 0, '4000'],
      ['final', 1, '8000'],
      ['closed'],
    ]);
    await session.end();
  });

  it('sends no audio before ready [124]', async () => {
    await using platform = await startScripted({});
    await using recogniser = recogniserOn(platform);
    const session = recogniser.open(options, () => undefined);
    session.send(sine(300, 400, 8_000));
    await eventually(() => platform.sockets[0]?.texts.length === 1);
    session.send(sine(300, 400, 8_000));
    session.commit();
    // The answer to a ping comes after everything that was sent before it.
    await new Promise((resolve) => {
      platform.sockets[0]!.socket.once('pong', resolve);
      platform.sockets[0]!.socket.ping();
    });
    expect(platform.sockets[0]!.audioBytes()).toBe(0);
    expect(platform.sockets[0]!.texts).toHaveLength(1);
    platform.sockets[0]!.json({ type: 'ready' });
    await eventually(() => platform.sockets[0]!.texts.length === 2);
    expect(platform.sockets[0]!.audioBytes()).toBe(2 * 6_400);
  });

  it('brings a fresh token after a refusal, once [131]', async () => {
    await using platform = await startScripted({
      onText: (socket) => {
        socket.json({ type: 'error', error: `no: ${String(initOf(socket)['token'])}` });
        socket.socket.close(1008, 'no');
      },
    });
    await using recogniser = recogniserOn(platform);
    const events: RecognitionEvent[] = [];
    recogniser.open(options, (event) => events.push(event));
    await eventually(() => events.at(-1)?.type === 'closed');
    expect(platform.sockets.map((socket) => initOf(socket)['token'])).toEqual(['token-1', 'token-2']);
    expect(platform.mints()).toBe(2);
    expect(events.filter(({ type }) => type === 'closed')).toMatchObject([{ error: { message: 'recognition: no: [token]' } }]);
  });

  it('goes on over a new socket when the first one is cut, with what is in no final [132] [133]', async () => {
    await using platform = await startScripted({
      onText: (socket, text, index) => {
        if (index === 0 && text === 'commit') socket.socket.terminate();
        else answer(socket, text);
      },
    });
    await using recogniser = recogniserOn(platform);
    const events: RecognitionEvent[] = [];
    const session = recogniser.open(options, (event) => events.push(event));
    session.send(sine(300, 300, 8_000));
    session.commit();
    await eventually(() => events.some(({ type }) => type === 'final'));
    expect(platform.sockets[1]!.texts.slice(1)).toEqual(['commit']);
    expect(decodeAudio('pcm16', Buffer.concat(platform.sockets[1]!.audio))).toEqual(sine(300, 300, 8_000));
    expect(events.map(({ type }) => type)).toEqual(['ready', 'reconnecting', 'ready', 'final']);
    expect(platform.mints()).toBe(1);
  });

  it('tells of a platform that is not there, and of a key that is refused', async () => {
    const gone = await startScripted({});
    await gone[Symbol.asyncDispose]();
    await using refusing = await startScripted({ mint: () => ({ status: 403, body: { detail: 'revoked' } }) });
    await using recogniser = recogniserOn(refusing);
    const events: RecognitionEvent[] = [];
    recogniser.open(options, (event) => events.push(event));
    await eventually(() => events.length > 0);
    expect(events).toMatchObject([{ type: 'closed', error: { code: 'OFFHOOK_SPEECH_AUTH', status: 403 } }]);
    expect(refusing.mints()).toBe(1);
    expect(refusing.upgrades()).toBe(0);
  });

  it('closes the socket on abort, also while it is being opened [138]', async () => {
    await using platform = await startScripted({ onText: answer });
    await using recogniser = recogniserOn(platform);
    const events: RecognitionEvent[] = [];
    const early = recogniser.open(options, (event) => events.push(event));
    early.abort();
    const session = recogniser.open(options, (event) => events.push(event));
    await eventually(() => events.some(({ type }) => type === 'ready'));
    session.abort();
    await eventually(() => platform.sockets.every(({ closed }) => closed !== undefined));
    expect(events.map(({ type }) => type)).toEqual(['ready']);
    await early.end();
    await session.end();
  });

  it('keeps the order of what a listener sends while a step is being done', async () => {
    await using platform = await startScripted({ onText: answer });
    await using recogniser = recogniserOn(platform);
    const pcm = sine(300, 320, 8_000);
    const session = recogniser.open(options, (event) => {
      if (event.type !== 'ready') return;
      session.send(pcm.subarray(1_280));
      session.commit();
    });
    session.send(pcm.subarray(0, 1_280));
    await eventually(() => platform.sockets[0]?.texts.includes('commit') === true);
    expect(decodeAudio('pcm16', Buffer.concat(platform.sockets[0]!.audio))).toEqual(pcm);
  });

  it('aborts what is open when the client is closed', async () => {
    await using platform = await startScripted({ onText: answer });
    const recogniser = recogniserOn(platform);
    recogniser.open(options, () => undefined);
    await eventually(() => platform.sockets[0]?.texts.length === 1);
    await recogniser[Symbol.asyncDispose]();
    await eventually(() => platform.sockets[0]?.closed !== undefined);
    expect(platform.sockets).toHaveLength(1);
  });

  it('keeps parallel sessions apart, with one mint for all', async () => {
    await using platform = await startScripted({ onText: answer });
    await using recogniser = recogniserOn(platform);
    const heard = await Promise.all(
      Array.from({ length: 12 }, async (_, number) => {
        const finals: string[] = [];
        const session = recogniser.open(options, (event) => {
          if (event.type === 'final') finals.push(event.text);
        });
        session.send(new Int16Array(100 * (number + 1)));
        await session.end();
        return finals;
      }),
    );
    expect(heard).toEqual(Array.from({ length: 12 }, (_, number) => [`${100 * (number + 1)}`]));
    expect(platform.mints()).toBe(1);
  });
});

import { describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RealtimeRecogniser } from '../../../src/speech/asr/realtime.ts';
import type { RecognitionEvent, RecognitionSession } from '../../../src/speech/port.ts';
import { eventually } from '../../support/eventually.ts';
import { type Script, type ScriptedPlatform, type ScriptedSocket, startScripted } from './scripted-platform.ts';
import { SpokenWords, wordsOf } from './spoken-words.ts';
import { tokensOf } from './support.ts';

interface Listening {
  readonly platform: ScriptedPlatform;
  readonly session: RecognitionSession;
  readonly events: RecognitionEvent[];
  readonly of: <Type extends RecognitionEvent['type']>(type: Type) => Extract<RecognitionEvent, { type: Type }>[];
}

async function listening(script: Script, clock: Clock = systemClock): Promise<Listening> {
  const platform = await startScripted(script);
  const recogniser = new RealtimeRecogniser({ asrUrl: platform.url, tokens: tokensOf(platform), clock, logger: silentLogger });
  const events: RecognitionEvent[] = [];
  const session = recogniser.open({ language: 'en', sampleRateHz: 8_000 }, (event) => events.push(event));
  onTestFinished(async () => {
    await recogniser[Symbol.asyncDispose]();
    await platform[Symbol.asyncDispose]();
  });
  return {
    platform,
    session,
    events,
    of: (type) => events.filter((event): event is Extract<RecognitionEvent, { type: typeof type }> => event.type === type),
  };
}

/** Says ready to the opening frame and nothing else. */
const greets = (socket: ScriptedSocket, text: string): void => {
  if (text.startsWith('{')) socket.json({ type: 'ready' });
};

/** Turns the clock in steps, with room for the sockets between them, until a condition holds. */
async function advanceUntil(clock: ManualClock, what: string, holds: () => boolean): Promise<void> {
  for (let steps = 0; !holds(); steps += 1) {
    if (steps > 4_000) throw new Error(`${what} did not come`);
    clock.advance(20);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('faults of realtime recognition', () => {
  it('is cut when the platform does not answer the end [129]', async () => {
    const clock = new ManualClock();
    const { platform, session, of } = await listening({ onText: greets }, clock);
    await eventually(() => of('ready').length === 1);
    const ended = session.end();
    await eventually(() => platform.sockets[0]!.texts.includes('end'));
    clock.advance(5_000);
    await ended;
    await advanceUntil(clock, 'the close', () => platform.sockets[0]!.closed !== undefined);
    expect(of('closed')).toHaveLength(1);
  });

  it.each([
    { note: 'says how far its finals go', tellsEnd: true, marks: true },
    { note: 'gives no end-of-utterance mark', tellsEnd: false, marks: false },
  ])('has every word once when the socket dies in the middle of one and the platform $note [126] [133]', async (how) => {
    const clock = new ManualClock();
    const spoken = ['one', 'two', 'three', 'four', 'five'];
    const recognisers: SpokenWords[] = [];
    const { platform, session, events, of } = await listening(
      {
        onOpen: (socket) => recognisers.push(new SpokenWords((event) => socket.json(event), how)),
        onText: (socket, text, index) => {
          greets(socket, text);
          if (text === 'commit') recognisers[index]!.commit();
        },
        onAudio: (socket, index) => {
          const words = recognisers[index]!;
          words.hear(socket.audio.at(-1)!);
          // In the middle of the third word, the first two being finals by then.
          if (index === 0 && words.started === 3) socket.socket.terminate();
        },
      },
      clock,
    );
    await eventually(() => of('ready').length === 1);
    const pcm = wordsOf(spoken);
    for (let from = 0; from < pcm.length; from += 160) {
      session.send(pcm.subarray(from, from + 160));
      clock.advance(20);
      await new Promise((resolve) => setImmediate(resolve));
    }
    session.commit();
    await advanceUntil(clock, 'the last word', () => of('final').some(({ text }) => text.includes('five')));
    const before = events.slice(
      0,
      events.findIndex(({ type }) => type === 'reconnecting'),
    );
    expect(before.filter(({ type }) => type === 'final')).toHaveLength(2);
    const finals = of('final');
    const segs = finals.map(({ seg }) => seg);
    expect(platform.sockets).toHaveLength(2);
    expect(of('reconnecting')).toHaveLength(1);
    expect(segs).toEqual([...new Set(segs)].toSorted((a, b) => a - b));
    const joined = finals.map(({ text }) => text).filter((text) => text !== '');
    expect(joined.join(' ')).toBe(spoken.join(' '));
    expect(of('audio-lost')).toEqual([]);
  });

  it('takes a second refusal before ready as final [131]', async () => {
    const { platform, of } = await listening({ onText: (socket) => socket.socket.close(1008, 'token not valid') });
    await eventually(() => of('closed').length === 1);
    expect(of('closed')[0]!.error?.message).toContain('token not valid');
    expect(platform.mints()).toBe(2);
    expect(platform.sockets).toHaveLength(2);
  });

  it('mints once more when the upgrade itself is refused [131]', async () => {
    const { platform, of } = await listening({ onText: greets, refuse: (index) => (index === 0 ? 401 : undefined) });
    await eventually(() => of('ready').length === 1);
    expect(platform.mints()).toBe(2);
  });

  it.each([
    { note: 'the error event', event: { type: 'error', error: 'inactive for too long' }, reason: 'cut' },
    { note: 'the close reason', event: undefined, reason: 'inactive for too long' },
  ])('ends once, with the text of $note [130]', async ({ event, reason }) => {
    const { platform, session, of } = await listening({ onText: greets });
    await eventually(() => of('ready').length === 1);
    const [socket] = platform.sockets;
    if (event !== undefined) socket!.json(event);
    socket!.socket.close(1008, reason);
    await session.end();
    await eventually(() => platform.sockets[0]!.closed !== undefined);
    expect(of('closed')).toHaveLength(1);
    expect(of('closed')[0]!.error?.message).toContain('inactive for too long');
    expect(platform.sockets).toHaveLength(1);
  });

  it('stops after three sessions that die at once [134]', async () => {
    const clock = new ManualClock();
    const { platform, of } = await listening(
      {
        onText: (socket, text) => {
          greets(socket, text);
          setImmediate(() => socket.socket.close(1011, 'internal error'));
        },
      },
      clock,
    );
    await advanceUntil(clock, 'the end', () => of('closed').length === 1);
    expect(of('closed')[0]!.error).toMatchObject({ code: 'OFFHOOK_SPEECH_UNAVAILABLE' });
    expect(of('ready')).toHaveLength(3);
    expect(platform.sockets).toHaveLength(3);
  });

  it.each([1001, 1011, 1012, 1013])('opens another session after a close with %i [132]', async (code) => {
    const { platform, of } = await listening({ onText: greets });
    await eventually(() => of('ready').length === 1);
    platform.sockets[0]!.socket.close(code);
    await eventually(() => of('ready').length === 2);
    expect([platform.sockets.length, of('closed')]).toEqual([2, []]);
  });

  it.each([1000, 1002, 1003, 1007, 1008, 1009])('opens no other session after a close with %i [132]', async (code) => {
    const { platform, of } = await listening({ onText: greets });
    await eventually(() => of('ready').length === 1);
    platform.sockets[0]!.socket.close(code);
    await eventually(() => of('closed').length === 1);
    expect(platform.sockets).toHaveLength(1);
  });

  it('keeps its head when the platform sends what no document names, and opens another socket after text that is no JSON [136]', async () => {
    const { platform, of } = await listening({ onText: greets });
    await eventually(() => of('ready').length === 1);
    const [socket] = platform.sockets;
    socket!.json({ type: 'weather', sky: 'blue' });
    socket!.socket.send(Buffer.from([1, 2, 3]));
    socket!.json({ type: 'final', seg: 0, text: 'hello', mood: { label: 'calm' } });
    await eventually(() => of('final').length === 1);
    socket!.socket.send('<html>');
    await eventually(() => of('ready').length === 2);
    expect(of('reconnecting')).toHaveLength(1);
    expect(platform.sockets).toHaveLength(2);
  });

  it.each([
    { note: 'ready', greeting: greets },
    { note: 'waiting for ready', greeting: (): void => undefined },
  ])('releases everything when aborted while $note [138]', async ({ note, greeting }) => {
    const clock = new ManualClock();
    const { platform, session, events } = await listening({ onText: greeting }, clock);
    await eventually(() => platform.sockets[0]?.texts.length === 1);
    if (note === 'ready') await eventually(() => events.length === 1);
    const before = events.length;
    session.abort();
    session.send(new Int16Array(1_000));
    session.commit();
    await eventually(() => platform.sockets[0]!.closed !== undefined);
    await eventually(() => clock.pendingTimers === 0);
    expect(events).toHaveLength(before);
    expect(platform.sockets).toHaveLength(1);
    await session.end();
  });
});

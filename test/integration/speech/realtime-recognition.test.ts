import { describe, expect, it, onTestFinished } from 'vitest';
import type { Clock } from '../../../src/kernel/clock.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../../src/sim/manual-clock.ts';
import { RealtimeRecogniser } from '../../../src/speech/asr/realtime.ts';
import type { RecognitionEvent, RecognitionSession } from '../../../src/speech/port.ts';
import { eventually, type PeerSocket, StandIn, type StandInOptions } from './stand-in.ts';
import { SpokenWords, wordsOf } from './spoken-words.ts';

interface Listening {
  readonly standIn: StandIn;
  readonly session: RecognitionSession;
  readonly events: RecognitionEvent[];
  of<Type extends RecognitionEvent['type']>(type: Type): Extract<RecognitionEvent, { type: Type }>[];
}

async function listening(options: StandInOptions, clock: Clock = systemClock): Promise<Listening> {
  const standIn = await StandIn.start(options);
  const tokens = standIn.tokens();
  const recogniser = new RealtimeRecogniser({ asrUrl: standIn.url, tokens, clock, logger: silentLogger });
  const events: RecognitionEvent[] = [];
  const session = recogniser.open({ language: 'en', sampleRateHz: 8_000, boostPhrases: ['Tuesday', 'half past ten'] }, (event) =>
    events.push(event),
  );
  onTestFinished(async () => {
    await recogniser[Symbol.asyncDispose]();
    await standIn[Symbol.asyncDispose]();
  });
  return {
    standIn,
    session,
    events,
    of: (type) => events.filter((event): event is Extract<RecognitionEvent, { type: typeof type }> => event.type === type),
  };
}

/** Says ready to the opening frame and nothing else. */
const greets = (peer: PeerSocket): void => {
  if (peer.log.length === 1) peer.say({ type: 'ready' });
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

describe('realtime recognition over a socket', () => {
  it('sends the opening frame, then nothing before ready, then what was held, in order [124]', async () => {
    const { standIn, session, of } = await listening({});
    const pcm = Int16Array.from({ length: 2_000 }, (_, index) => index * 16 - 16_000);
    for (let from = 0; from < pcm.length; from += 160) session.send(pcm.subarray(from, from + 160));
    session.commit();
    const peer = await standIn.peer(0);
    await eventually('the opening frame', () => peer.log.length > 0);
    expect(JSON.parse(peer.texts[0]!)).toEqual({
      token: 'token-1',
      language_code: 'en',
      sample_rate: 8_000,
      boost_phrases: 'Tuesday||half past ten',
    });
    expect(peer.url).toBe('/v1/realtime');
    expect(peer.headers.authorization).toBeUndefined();
    expect(peer.log).toHaveLength(1);
    peer.say({ type: 'ready', session_id: 'x' });
    await eventually('the commit', () => peer.texts.includes('commit'));
    expect(peer.samples).toEqual(pcm);
    expect(of('ready')).toHaveLength(1);
  });

  it('sends commit and end as bare words behind their audio, and ends when the platform closes [125] [129]', async () => {
    const { standIn, session, events, of } = await listening({
      onMessage: (peer, message) => {
        greets(peer);
        if (message === 'end') {
          peer.say({ type: 'final', seg: 1, text: 'bye', end_of_utterance: true });
          setTimeout(() => peer.close(1000), 20);
        }
      },
    });
    await eventually('ready', () => of('ready').length === 1);
    session.send(new Int16Array(500));
    session.commit();
    session.send(new Int16Array(300));
    await session.end();
    const [peer] = standIn.peers;
    expect(peer!.log.slice(1)).toEqual([1_000, 'commit', 600, 'end']);
    expect(events.map(({ type }) => type)).toEqual(['ready', 'final', 'closed']);
    expect(of('closed')[0]!.error).toBeUndefined();
    await eventually('the connection to go', () => peer!.closed !== undefined);
  });

  it('is cut when the platform does not answer the end [129]', async () => {
    const clock = new ManualClock();
    const { standIn, session, of } = await listening({ onMessage: greets }, clock);
    await eventually('ready', () => of('ready').length === 1);
    const ended = session.end();
    await eventually('the end', () => standIn.peers[0]!.texts.includes('end'));
    clock.advance(5_000);
    await ended;
    await advanceUntil(clock, 'the close', () => standIn.peers[0]!.closed !== undefined);
    expect(of('closed')).toHaveLength(1);
  });

  it.each([
    { note: 'says how far its finals go', tellsEnd: true, marks: true },
    { note: 'gives no end-of-utterance mark', tellsEnd: false, marks: false },
  ])('has every word once when the socket dies in the middle of one and the platform $note [126] [133]', async (how) => {
    const clock = new ManualClock();
    const spoken = ['one', 'two', 'three', 'four', 'five'];
    const recognisers: SpokenWords[] = [];
    const { standIn, session, of } = await listening(
      {
        onMessage: (peer, message, index) => {
          greets(peer);
          const words = (recognisers[index] ??= new SpokenWords((event) => peer.say(event), how));
          if (message === 'commit') words.commit();
          if (typeof message === 'string') return;
          words.hear(message);
          // In the middle of the third word, the first two being finals by then.
          if (index === 0 && words.started === 3) peer.drop();
        },
      },
      clock,
    );
    await eventually('ready', () => of('ready').length === 1);
    const pcm = wordsOf(spoken);
    for (let from = 0; from < pcm.length; from += 160) {
      session.send(pcm.subarray(from, from + 160));
      clock.advance(20);
      await new Promise((resolve) => setImmediate(resolve));
    }
    session.commit();
    await advanceUntil(clock, 'the last word', () => of('final').some(({ text }) => text.includes('five')));
    const finals = of('final');
    const segs = finals.map(({ seg }) => seg);
    expect(standIn.peers).toHaveLength(2);
    expect(of('reconnecting')).toHaveLength(1);
    expect(segs).toEqual([...new Set(segs)].toSorted((a, b) => a - b));
    const joined = finals.map(({ text }) => text).filter((text) => text !== '');
    expect(joined.join(' ')).toBe(spoken.join(' '));
    expect(of('audio-lost')).toEqual([]);
  });

  it('takes one fresh token and one more socket when it is refused before ready [131]', async () => {
    const { standIn, of } = await listening({
      onMessage: (peer, _message, index) => {
        if (index === 0) {
          peer.say({ type: 'error', error: 'token not valid' });
          peer.close(1008, 'token not valid');
        } else greets(peer);
      },
    });
    await eventually('ready', () => of('ready').length === 1);
    expect(standIn.mints).toBe(2);
    expect(standIn.peers.map(({ texts }) => JSON.parse(texts[0]!).token)).toEqual(['token-1', 'token-2']);
    expect(of('closed')).toHaveLength(0);
  });

  it('takes a second refusal before ready as final [131]', async () => {
    const { standIn, of } = await listening({ onMessage: (peer) => peer.close(1008, 'token not valid') });
    await eventually('the end', () => of('closed').length === 1);
    expect(of('closed')[0]!.error?.message).toContain('token not valid');
    expect(standIn.mints).toBe(2);
    expect(standIn.peers).toHaveLength(2);
  });

  it('mints once more when the upgrade itself is refused [131]', async () => {
    const { standIn, of } = await listening({ onMessage: greets, refuse: (index) => (index === 0 ? 401 : undefined) });
    await eventually('ready', () => of('ready').length === 1);
    expect(standIn.mints).toBe(2);
  });

  it.each([
    { note: 'the error event', event: { type: 'error', error: 'inactive for too long' }, reason: 'cut' },
    { note: 'the close reason', event: undefined, reason: 'inactive for too long' },
  ])('ends once, with the text of $note [130]', async ({ event, reason }) => {
    const { standIn, session, of } = await listening({ onMessage: greets });
    await eventually('ready', () => of('ready').length === 1);
    const [peer] = standIn.peers;
    if (event !== undefined) peer!.say(event);
    peer!.close(1008, reason);
    await session.end();
    await eventually('the close', () => standIn.peers[0]!.closed !== undefined);
    expect(of('closed')).toHaveLength(1);
    expect(of('closed')[0]!.error?.message).toContain('inactive for too long');
    expect(standIn.peers).toHaveLength(1);
  });

  it('stops after three sessions that die at once [134]', async () => {
    const clock = new ManualClock();
    const { standIn, of } = await listening(
      {
        onMessage: (peer) => {
          greets(peer);
          setImmediate(() => peer.close(1011, 'internal error'));
        },
      },
      clock,
    );
    await advanceUntil(clock, 'the end', () => of('closed').length === 1);
    expect(of('closed')[0]!.error).toMatchObject({ code: 'OFFHOOK_SPEECH_UNAVAILABLE' });
    expect(of('ready')).toHaveLength(3);
    expect(standIn.peers).toHaveLength(3);
  });

  it.each([1001, 1011, 1012, 1013])('opens another session after a close with %i [132]', async (code) => {
    const { standIn, of } = await listening({ onMessage: greets });
    await eventually('ready', () => of('ready').length === 1);
    standIn.peers[0]!.close(code);
    await eventually('the second session', () => of('ready').length === 2);
  });

  it.each([1000, 1002, 1003, 1007, 1008, 1009])('opens no other session after a close with %i [132]', async (code) => {
    const { standIn, of } = await listening({ onMessage: greets });
    await eventually('ready', () => of('ready').length === 1);
    standIn.peers[0]!.close(code);
    await eventually('the end', () => of('closed').length === 1);
    expect(standIn.peers).toHaveLength(1);
  });

  it('keeps its head when the platform sends what no document names, and ends at text that is no JSON [136]', async () => {
    const { standIn, of } = await listening({ onMessage: greets });
    await eventually('ready', () => of('ready').length === 1);
    const [peer] = standIn.peers;
    peer!.say({ type: 'weather', sky: 'blue' });
    peer!.sound(Buffer.from([1, 2, 3]));
    peer!.say({ type: 'final', seg: 0, text: 'hello', mood: { label: 'calm' } });
    await eventually('the final', () => of('final').length === 1);
    peer!.say('<html>');
    await eventually('the end', () => of('closed').length === 1);
    expect(of('closed')[0]!.error).toMatchObject({ code: 'OFFHOOK_SPEECH_PROTOCOL' });
  });

  it.each([
    { note: 'ready', greeting: greets },
    { note: 'waiting for ready', greeting: () => undefined },
  ])('releases everything when aborted while $note [138]', async ({ note, greeting }) => {
    const clock = new ManualClock();
    const { standIn, session, events } = await listening({ onMessage: greeting }, clock);
    await eventually('the opening frame', () => standIn.peers[0]?.log.length === 1);
    if (note === 'ready') await eventually('ready', () => events.length === 1);
    const before = events.length;
    session.abort();
    session.send(new Int16Array(1_000));
    session.commit();
    await eventually('the close', () => standIn.peers[0]!.closed !== undefined);
    await eventually('no timer', () => clock.pendingTimers === 0);
    expect(events).toHaveLength(before);
    expect(standIn.peers).toHaveLength(1);
    await session.end();
  });
});

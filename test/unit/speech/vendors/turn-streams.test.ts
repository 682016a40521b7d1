import { expect, it } from 'vitest';
import { ManualClock } from '../../../support/manual-clock.ts';
import { SpeechAuthError, SpeechUnavailableError } from '../../../../src/speech/client/errors.ts';
import type { RecognitionEvent } from '../../../../src/speech/port.ts';
import { type TurnStreamListener, TurnStreamRecogniser, TurnStreams } from '../../../../src/speech/vendors/turn-streams.ts';

/** A stream whose vendor the test is. */
interface Opened extends TurnStreamListener {
  samples: number;
  ended: boolean;
  aborted: boolean;
  readonly hints: readonly string[];
}

function bench() {
  const clock = new ManualClock();
  const opened: Opened[] = [];
  const events: RecognitionEvent[] = [];
  const session = new TurnStreams(
    {
      clock,
      random: () => 0.5,
      mostHints: 2,
      open(hints, listener) {
        const stream: Opened = { ...listener, samples: 0, ended: false, aborted: false, hints };
        opened.push(stream);
        return {
          send: (pcm) => void (stream.samples += pcm.length / 2),
          end: () => void (stream.ended = true),
          abort: () => void (stream.aborted = true),
        };
      },
    },
    { language: 'en', sampleRateHz: 8_000, boostPhrases: ['one', 'two', 'three'] },
    (event) => events.push(event),
  );
  const told = (): string[] =>
    events.map((event) => ('text' in event ? `${event.type} ${event.seg} ${event.text}`.trim() : event.type));
  const stream = (at: number): Opened => {
    const found = opened[at];
    if (found === undefined) throw new Error(`stream ${at} was not opened`);
    return found;
  };
  return { clock, session, opened, events, told, stream };
}

const voice = (ms: number): Int16Array => new Int16Array(ms * 8).fill(8_000);
const gone = (): Error => new SpeechUnavailableError('the socket went');

it('ends a stream at each commit and goes on in the next one', () => {
  const { session, opened, told, stream } = bench();
  stream(0).ready();
  session.send(voice(300));
  stream(0).partial('good');
  session.commit();
  session.send(voice(100));
  expect(opened.map(({ samples, ended }) => [samples, ended])).toEqual([
    [2_400, true],
    [800, false],
  ]);
  stream(0).final('good morning', 'en');
  stream(0).finished();
  expect(told()).toEqual(['ready', 'partial 0 good', 'final 0 good morning']);
  expect(stream(0).hints).toEqual(['one', 'two']);
});

it('answers a commit before which nothing was said with an empty final', () => {
  const { session, told, stream } = bench();
  session.commit();
  stream(0).final('', undefined);
  stream(0).finished();
  expect(told()).toEqual(['final 0']);
});

it('tells what a later turn heard only behind the turn before it', () => {
  const { session, told, stream } = bench();
  session.send(voice(300));
  session.commit();
  session.send(voice(300));
  stream(1).partial('two');
  session.commit();
  stream(1).final('two', undefined);
  stream(1).finished();
  expect(told()).toEqual([]);
  stream(0).final('one', undefined);
  stream(0).finished();
  expect(told()).toEqual(['final 0 one', 'partial 1 two', 'final 1 two']);
});

it('says every turn without an answer again when a stream dies, with its commits', () => {
  const { clock, session, opened, told, stream } = bench();
  stream(0).ready();
  session.send(voice(300));
  session.commit();
  session.send(voice(200));
  stream(0).lost(gone());
  session.send(voice(100));
  clock.advance(1_000);
  expect(opened.map(({ samples, ended, aborted }) => [samples, ended, aborted])).toEqual([
    [2_400, true, true],
    [1_600, false, true],
    [2_400, true, false],
    [2_400, false, false],
  ]);
  stream(2).ready();
  stream(2).final('again', undefined);
  stream(2).finished();
  expect(told()).toEqual(['ready', 'reconnecting', 'ready', 'final 0 again']);
});

it('does not say again what a final has covered', () => {
  const { clock, session, stream } = bench();
  stream(0).ready();
  session.send(voice(300));
  session.send(new Int16Array(8 * 600));
  stream(0).final('yes', undefined);
  session.send(voice(200));
  stream(0).lost(gone());
  clock.advance(1_000);
  // The pause behind the final may go again, its words may not.
  expect(stream(1).samples).toBeLessThanOrEqual(8 * 800);
  expect(stream(1).samples).toBeGreaterThanOrEqual(8 * 200);
});

it('takes a turn that was ended and says nothing for dead', () => {
  const { clock, session, told, stream } = bench();
  stream(0).ready();
  session.send(voice(300));
  session.commit();
  clock.advance(5_000);
  clock.advance(500);
  stream(2).final('late', undefined);
  stream(2).finished();
  expect(told()).toEqual(['ready', 'reconnecting', 'final 0 late']);
});

it('goes on in another stream when the vendor ends one that became too old', () => {
  const { clock, session, opened, told, stream } = bench();
  stream(0).ready();
  clock.advance(300_000);
  session.send(voice(200));
  stream(0).lost(undefined);
  session.send(voice(100));
  expect(opened[1]?.samples).toBe(2_400);
  session.commit();
  stream(1).final('still here', undefined);
  stream(1).finished();
  expect(told()).toEqual(['ready', 'final 0 still here']);
});

it('waits before it opens another stream where the vendor ends each at once', () => {
  const { clock, session, opened, events, stream } = bench();
  for (let at = 0; at < 10 && opened.length > at; at += 1) {
    stream(at).ready();
    session.send(voice(20));
    stream(at).lost(undefined);
    clock.advance(1);
  }
  expect(opened.length).toBeLessThan(4);
  clock.advance(60_000);
  expect(events.some(({ type }) => type === 'reconnecting')).toBe(true);
});

it('answers a commit with an empty final where its words were told before it', () => {
  const { session, told, stream } = bench();
  session.send(voice(300));
  stream(0).final('hello', undefined);
  session.send(new Int16Array(8 * 600));
  session.commit();
  stream(0).finished();
  expect(told()).toEqual(['final 0 hello', 'final 1']);
});

it('gives a turn up that has no answer twice, and goes on with the next one', () => {
  const { clock, session, told, events, stream } = bench();
  stream(0).ready();
  session.send(voice(300));
  session.commit();
  clock.advance(5_000);
  clock.advance(1_000);
  clock.advance(5_000);
  expect(told()).toEqual(['ready', 'reconnecting', 'audio-lost', 'final 0']);
  expect(events[2]).toMatchObject({ fromMs: 0, lostMs: 300 });
  session.send(voice(200));
  session.commit();
  const last = stream(3);
  expect(last).toMatchObject({ samples: 1_600, ended: true, aborted: false });
  last.final('still here', undefined);
  last.finished();
  expect(told().at(-1)).toBe('final 1 still here');
});

it('ends at once with the error that no retry mends', () => {
  const { session, events, stream } = bench();
  session.send(voice(300));
  stream(0).lost(new SpeechAuthError('the key was refused'));
  session.send(voice(300));
  expect(events.map(({ type }) => type)).toEqual(['audio-lost', 'closed']);
  expect(events.at(-1)).toMatchObject({ error: { message: 'the key was refused' } });
});

it('ends when the last turn is over, and says so', async () => {
  const { session, told, stream } = bench();
  session.send(voice(300));
  const over = session.end();
  session.send(voice(300));
  expect(stream(0)).toMatchObject({ samples: 2_400, ended: true });
  stream(0).final('bye', undefined);
  stream(0).finished();
  await over;
  expect(told()).toEqual(['final 0 bye', 'closed']);
});

it('says nothing more once it is aborted', async () => {
  const { clock, session, told, stream } = bench();
  session.send(voice(300));
  session.commit();
  session.abort();
  stream(0).final('too late', undefined);
  stream(1).lost(gone());
  clock.advance(60_000);
  await session.end();
  expect(told()).toEqual([]);
  expect([stream(0).aborted, stream(1).aborted]).toEqual([true, true]);
});

it('forgets a session that was aborted, as every call does with its own', () => {
  const idle = { send: () => undefined, end: () => undefined, abort: () => undefined };
  class IdleRecogniser extends TurnStreamRecogniser {
    readonly capabilities = {
      partials: true,
      endMarks: false,
      mostHints: 0,
      languages: 'any',
      detectsLanguage: false,
      ratesHz: [8_000],
      sessionsPerKey: 1,
    } as const;

    protected override openStream() {
      return idle;
    }
  }
  const sessions = new IdleRecogniser(new ManualClock());
  const session = sessions.open({ language: 'en', sampleRateHz: 8_000 }, () => undefined);
  expect(sessions.size).toBe(1);
  session.abort();
  expect(sessions.size).toBe(0);
});

import { describe, expect, it } from 'vitest';
import { encodeAudio } from '../../../src/audio/codec.ts';
import { sine } from '../../../src/audio/tone.ts';
import type { RecognitionEngineEvent, RecognitionResult } from '../../../src/platform/engines/recognise/port.ts';
import {
  type InitFrame,
  readInitFrame,
  type RealtimeEvent,
  realtimeRules,
} from '../../../src/platform/server/asr/realtime-protocol.ts';
import { RecognitionSession, type TurnRules } from '../../../src/platform/server/asr/recognition-session.ts';
import { type Behaviour, behaviourOf, type ProfileName } from '../../../src/platform/server/asr/behaviour.ts';
import { noFaults } from '../../../src/platform/server/faults/faults.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const result = (text: string): RecognitionResult => ({
  text,
  words: [],
  startS: 0,
  endS: 1,
  confidence: 1,
  language: 'en',
  alternatives: [],
});

function initOf(fields: object): InitFrame {
  const read = readInitFrame(JSON.stringify({ language: 'en', sample_rate: 8000, ...fields }));
  if (read.type === 'refused') throw new Error(read.reason);
  return read.init;
}

/** Lets every promise that can settle do so. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

type Rules = TurnRules<RealtimeEvent>;

function start(
  profile: ProfileName,
  knobs: Partial<Behaviour> = {},
  fields: object = {},
  changed: (rules: Rules) => Rules = (rules) => rules,
) {
  const clock = new ManualClock();
  const events: RealtimeEvent[] = [];
  const failures: string[] = [];
  const texts: string[] = [];
  let listener: (event: RecognitionEngineEvent) => void = () => undefined;
  let pushed = 0;
  let closed = false;
  const init = initOf(fields);
  const session = new RecognitionSession<RealtimeEvent>({
    recognition: { ...init, rateHz: init.sampleRateHz },
    rules: changed(realtimeRules(init, { compat: false, behaviour: behaviourOf(profile, knobs) })),
    faults: noFaults,
    clock,
    engine: {
      languages: ['en'],
      open: (_options, heard) => {
        listener = heard;
        return {
          push: (pcm) => {
            pushed += pcm.length;
          },
          // A bar parts the utterances of a turn.
          commit: async () => (texts.shift() ?? '').split('|').map(result),
          close: () => {
            closed = true;
          },
        };
      },
      [Symbol.asyncDispose]: async () => undefined,
    },
    emit: (event) => void events.push(event),
    fail: (reason) => void failures.push(reason),
  });
  const audio = (pcm: Int16Array): void => session.audio(encodeAudio('pcm16', pcm));
  return {
    session,
    clock,
    events,
    failures,
    texts,
    audio,
    engine: (event: RecognitionEngineEvent) => listener(event),
    get pushed() {
      return pushed;
    },
    get closed() {
      return closed;
    },
  };
}

describe('a realtime session', () => {
  it('sends hosted-like finals 0.3, 1.2 and 3 s late, in order, and never past its end', async () => {
    const run = start('hosted-like');
    run.texts.push('one', 'two', 'three', 'four', 'five');
    for (let index = 0; index < 4; index += 1) run.session.commit();
    await settle();
    const heardAt: Record<string, number> = {};
    for (let ms = 0; ms <= 4000; ms += 100) {
      run.clock.advance(100);
      await settle();
      for (const event of run.events) if (event.type === 'final') heardAt[event.text] ??= run.clock.nowMs();
    }
    // The fourth is due after 0.3 s again, but waits for the third.
    expect(heardAt).toEqual({ one: 300, two: 1200, three: 3000, four: 3000 });
    run.session.commit();
    await settle();
    run.session.dispose();
    run.clock.advance(10_000);
    await settle();
    expect(run.events.filter(({ type }) => type === 'final')).toHaveLength(4);
    expect([run.closed, run.failures, run.clock.pendingTimers]).toEqual([true, [], 0]);
  });

  it('fails when a final of it cannot be made or sent, instead of never sending it', async () => {
    for (const broken of ['made', 'sent']) {
      const run = start('plain', {}, {}, (rules) => ({
        ...rules,
        endTurn: (by, times) => (utterances) => {
          if (broken === 'made') throw new Error('broken');
          return rules
            .endTurn(
              by,
              times,
            )(utterances)
            .map((final) => ({
              ...final,
              events: () => {
                throw new Error('broken');
              },
            }));
        },
      }));
      run.texts.push('one');
      run.session.commit();
      await settle();
      expect([broken, run.failures]).toEqual([broken, ['Recognition failed: Internal server error']]);
      // The end waits for no final that will not come.
      await run.session.end();
    }
  });

  it("gives the engine's own segments a number of their own, without the mark", async () => {
    const run = start('plain');
    run.engine({ type: 'segment', result: result('first') });
    run.texts.push('second');
    run.session.commit();
    await settle();
    expect(run.events).toMatchObject([
      { type: 'final', seg: 0, text: 'first', end_of_utterance: false },
      { type: 'final', seg: 1, text: 'second', end_of_utterance: true },
    ]);
  });

  it('sends a first partial and then one per 200 ms of speech, for any division into messages', () => {
    for (const messageMs of [20, 60, 100]) {
      const run = start('plain');
      const said = sine(300, 2000, 8000);
      for (let at = 0; at < said.length; at += 8 * messageMs) {
        run.audio(said.slice(at, at + 8 * messageMs));
        run.engine({ type: 'partial', text: `after ${at / 8}` });
      }
      expect(run.events.length).toBeGreaterThanOrEqual(10);
      expect(run.events.every(({ type }) => type === 'partial')).toBe(true);
    }
  });

  it('sends partials each 640 ms when hosted-like, and repeats none in silence', () => {
    const run = start('hosted-like', { emptyFinalEveryMs: undefined, endpointSilenceMs: undefined });
    const said = sine(300, 2000, 8000);
    for (let at = 0; at < said.length; at += 160) {
      run.audio(said.slice(at, at + 160));
      run.engine({ type: 'partial', text: `after ${at}` });
    }
    expect(run.events).toHaveLength(4);
    run.audio(new Int16Array(8 * 1000));
    // The newest guess had not been sent; from then on there is nothing to add.
    expect(run.events).toHaveLength(5);
    for (let index = 0; index < 10; index += 1) run.audio(new Int16Array(8 * 640));
    expect(run.events).toHaveLength(5);
    run.engine({ type: 'partial', text: 'a late guess' });
    expect(run.events.at(-1)).toMatchObject({ type: 'partial', text: 'a late guess' });
  });

  it('sends a final for each utterance of a turn, without those that were not understood, and marks the last', async () => {
    const run = start('plain');
    run.texts.push('yes please||Tuesday|', '|');
    for (let turn = 0; turn < 2; turn += 1) {
      run.audio(sine(300, 400, 8000));
      run.session.commit();
    }
    await settle();
    expect(run.events).toMatchObject([
      { type: 'final', seg: 0, text: 'yes please', end_of_utterance: false },
      { type: 'final', seg: 1, text: 'Tuesday', end_of_utterance: true },
      { type: 'final', seg: 2, text: '', end_of_utterance: true },
    ]);
  });

  it('drops a guess that may belong to either side of a commit', async () => {
    const run = start('plain');
    run.audio(sine(300, 400, 8000));
    run.session.commit();
    run.engine({ type: 'partial', text: 'old or new' });
    await settle();
    expect(run.events.map(({ type }) => type)).toEqual(['final']);
  });

  it('passes every sample on, an odd byte with its other half', () => {
    const run = start('plain');
    const bytes = encodeAudio('pcm16', sine(300, 333, 8000));
    run.session.audio(bytes.subarray(0, 1001));
    run.session.commit();
    run.session.audio(bytes.subarray(1001));
    run.session.commit();
    expect(run.pushed).toBe(bytes.length / 2);
  });

  it('fails once a client has more finals waiting than it may', async () => {
    const run = start('plain', { finalDelaysMs: [1000] });
    for (let index = 0; index < 257; index += 1) run.session.commit();
    await settle();
    expect(run.failures).toEqual([expect.stringContaining('256')]);
  });
});

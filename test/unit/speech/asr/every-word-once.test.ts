import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { altDialect } from '../../../../src/speech/asr/recognition-dialect.ts';
import { type DrivenSocket, ProtocolDriver, silence } from './protocol-driver.ts';
import { type ModelProfile, WORD_MS, WordModel, wordSound } from './word-model.ts';
import { thorough } from '../../../support/thorough.ts';

interface Turn {
  readonly words: number;
  /** Silence after the turn, and when in it the turn is committed. */
  readonly pauseMs: number;
  readonly commitAfterMs: number;
}

const profiles: Readonly<Record<string, ModelProfile>> = {
  plain: { marks: true, places: true, endpointMs: undefined, lateMs: 0 },
  'plain, late': { marks: true, places: true, endpointMs: undefined, lateMs: 1_200 },
  'own endpoints': { marks: false, places: true, endpointMs: 700, lateMs: 0 },
  'own endpoints, late': { marks: false, places: true, endpointMs: 700, lateMs: 3_000 },
  'Variant B': { marks: false, places: false, endpointMs: 700, lateMs: 0, isAlt: true },
  'long endpoints, no places': { marks: false, places: false, endpointMs: 1_000, lateMs: 0 },
  'own endpoints, no places': { marks: false, places: false, endpointMs: 700, lateMs: 0 },
};

/** Plays turns into a session whose sockets are cut at these times, and gives back the words of its finals in order. */
function converse(turns: readonly Turn[], cutsMs: readonly number[], profile: ModelProfile): { heard: string[]; lostMs: number } {
  const driver = new ProtocolDriver(profile.isAlt === true ? { dialect: altDialect } : {});
  const cuts = [...cutsMs].sort((a, b) => a - b);
  let model: { readonly socket: DrivenSocket; readonly model: WordModel } | undefined;
  const live = (): void => {
    if (driver.protocol.isOver) return;
    if (driver.connects.length > driver.sockets.length) driver.ready();
    if (model?.socket !== driver.socket)
      model = { socket: driver.socket, model: new WordModel(driver.socket, profile, (event) => driver.hear(event)) };
    model.model.step(driver.clock.nowMs());
    if (cuts[0] === undefined || cuts[0] > driver.clock.nowMs()) return;
    cuts.shift();
    driver.close(1006);
    driver.advance(100);
  };
  const play = (pcm: Int16Array): void => {
    for (let from = 0; from < pcm.length; from += 160) {
      live();
      driver.say(pcm.subarray(from, from + 160));
      driver.advance(20);
    }
  };
  let word = 0;
  for (const turn of turns) {
    for (let said = 0; said < turn.words; said += 1) {
      play(wordSound(word++));
      play(silence(200));
    }
    play(silence(turn.commitAfterMs));
    driver.commit();
    play(silence(turn.pauseMs));
  }
  for (let ms = 0; ms < 20_000; ms += 20) {
    live();
    driver.advance(20);
  }
  if (driver.protocol.isOver) throw new Error('the session was given up');
  const finals = [...driver.of('final')].sort((a, b) => a.seg - b.seg);
  return {
    heard: finals.flatMap(({ text }) => (text === '' ? [] : text.split(' '))),
    lostMs: driver.of('audio-lost').reduce((ms, { lostMs }) => ms + lostMs, 0),
  };
}

const turns = fc.array(
  fc.record({
    words: fc.integer({ min: 1, max: 4 }),
    pauseMs: fc.integer({ min: 35, max: 80 }).map((frames) => 20 * frames),
    commitAfterMs: fc.integer({ min: 15, max: 35 }).map((frames) => 20 * frames),
  }),
  { minLength: 1, maxLength: 4 },
);
// Far enough apart that the session is not given up for dying young.
const cuts = fc
  .tuple(fc.integer({ min: 0, max: 5_500 }), fc.integer({ min: 5_100, max: 9_000 }))
  .map(([at, more]) => [at, at + more]);

describe('words over sockets that are cut', () => {
  test.each(Object.keys(profiles))('come once each and in order, whatever is cut (%s) [133]', (name) => {
    fc.assert(
      fc.property(turns, cuts, (said, cutsMs) => {
        const total = said.reduce((count, { words }) => count + words, 0);
        const { heard, lostMs } = converse(said, cutsMs, profiles[name]!);
        expect(heard).toEqual(Array.from({ length: total }, (_, index) => String(index)));
        expect(lostMs).toBe(0);
      }),
      { numRuns: thorough(14, 40) },
    );
  });

  it('are reported as lost when they are older than the kept audio', () => {
    const { heard, lostMs } = converse([{ words: 30, pauseMs: 800, commitAfterMs: 500 }], [14_000], profiles['plain']!);
    expect(heard.at(-1)).toBe('29');
    expect(new Set(heard).size).toBe(heard.length);
    const missing = 30 - heard.length;
    expect(missing).toBeGreaterThan(0);
    expect(lostMs).toBeGreaterThanOrEqual((missing - 1) * WORD_MS);
  });
});

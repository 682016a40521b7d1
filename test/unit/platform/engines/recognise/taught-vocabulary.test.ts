import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../../src/observability/logger.ts';
import { readGrammar, compileNetwork } from '../../../../../src/platform/engines/recognise/grammar.ts';
import type { LearntPhrase } from '../../../../../src/platform/engines/recognise/phrase-learner.ts';
import { TaughtVocabulary } from '../../../../../src/platform/engines/recognise/taught-vocabulary.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const network = compileNetwork(readGrammar('language: en\nstart: all\nrules:\n  all: "yes [please] | thank_you"\n'));

function startTeaching(busy = false) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const waiting: ((model: LearntPhrase | undefined) => void)[] = [];
  const used: string[] = [];
  const taught = new TaughtVocabulary({
    networks: new Map([['en', network]]),
    learner: {
      learn: (_language, phrase) => {
        asked.push(phrase);
        return new Promise((resolve) => void waiting.push(resolve));
      },
    },
    use: (language, models) => void used.push(`${language} ${models.length}`),
    isBusy: () => busy,
    clock,
    logger: silentLogger,
  });
  const answer = async (learnt: boolean): Promise<void> => {
    waiting.shift()?.(learnt ? { phrase: '', model: new Uint8Array(1) } : undefined);
    await new Promise(setImmediate);
  };
  return { clock, taught, asked, used, answer };
}

describe('a taught vocabulary', () => {
  it('learns what the shipped vocabulary lacks, each phrase once, and nothing that no voice can speak', async () => {
    const { taught, asked, answer, used } = startTeaching();
    const phrases = ['yes please', 'Thank you!', 'please', 'see the doctor', 'See the doctor', 'हाँ', '...', 'bye'];
    const done = taught.teach({ en: phrases, ta: ['வணக்கம்'] });
    await answer(true);
    await answer(false);
    await done;
    expect(asked).toEqual(['See the doctor', 'bye']);
    expect(used).toEqual(['en 1']);
    expect(taught.progress).toEqual({ of: 2, learnt: 1, failed: 1, leftMs: undefined });
  });

  it('tells how many are learnt and how long the rest takes', async () => {
    const { taught, clock, answer } = startTeaching();
    const told: unknown[] = [];
    void taught.teach({ en: ['one', 'two', 'three', 'four'] }, (progress) => told.push(progress));
    for (const _ of [1, 2]) {
      clock.advance(1_000);
      await answer(true);
    }
    expect(told).toEqual([
      { of: 4, learnt: 0, failed: 0, leftMs: undefined },
      { of: 4, learnt: 1, failed: 0, leftMs: 3_000 },
      { of: 4, learnt: 2, failed: 0, leftMs: 2_000 },
    ]);
  });

  it('gives up what an earlier vocabulary still had to learn, and drops what the new one lacks', async () => {
    const { taught, asked, answer, used } = startTeaching();
    void taught.teach({ en: ['one', 'two', 'three', 'four'] });
    const done = taught.teach({ en: ['five'] });
    for (const _ of [1, 2, 3]) await answer(true);
    await done;
    expect(asked).toEqual(['one', 'two', 'five']);
    expect(used).toEqual(['en 1']);
    await taught.teach({});
    expect(used.at(-1)).toBe('en 0');
    taught.useAgain();
    expect(used).toHaveLength(3);
  });

  it('learns at most three hundred phrases of a language', async () => {
    const { taught, asked, answer } = startTeaching();
    const done = taught.teach({ en: Array.from({ length: 310 }, (_, index) => `phrase ${index}`) });
    for (let count = 0; count < 300; count += 1) await answer(true);
    await done;
    expect(asked).toHaveLength(300);
    expect(taught.progress).toMatchObject({ of: 310, learnt: 300, failed: 10 });
  });

  it('rests between phrases while calls are recognised', async () => {
    const { taught, clock, asked, answer } = startTeaching(true);
    void taught.teach({ en: ['one', 'two', 'three'] });
    clock.advance(400);
    await answer(true);
    clock.advance(1_199);
    await new Promise(setImmediate);
    expect(asked).toEqual(['one', 'two']);
    clock.advance(1);
    await new Promise(setImmediate);
    expect(asked).toEqual(['one', 'two', 'three']);
  });
});

import { expect, it } from 'vitest';
import { TELEPHONE_FORMAT } from '../../../src/audio/format.ts';
import { type Bot, botSettings } from '../../../src/config/bots.ts';
import { FixedSentences } from '../../../src/hosts/fixed-sentences.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { SpeechRequestError, SpeechUnavailableError } from '../../../src/speech/client/errors.ts';
import type { SynthesisRequest } from '../../../src/speech/port.ts';

const named = (name: string): Bot =>
  botSettings.parse({ name, voice: 'Nisha', dialog: { kind: 'module', file: 'x.js' } }) as unknown as Bot;

/** Sentences of two bots, spoken by `acme` with `zeta` standing by, and what each was asked for. */
function prepareBots() {
  const clock = new ManualClock(0);
  const asked: { readonly task: string; readonly texts: readonly string[] }[] = [];
  const errors = new Map<string, Error>();
  const sentences = new FixedSentences({
    speech: {
      ready: async () => undefined,
      speakersOf: () => ['acme', 'zeta'],
      async prepare(vendor, { name }, requests: readonly SynthesisRequest[]) {
        const task = `${name} ${vendor}`;
        asked.push({ task, texts: requests.map(({ text }) => text) });
        const error = errors.get(task);
        if (error !== undefined) throw error;
      },
    },
    formats: [TELEPHONE_FORMAT],
    dialling: {},
    clock,
    logger: silentLogger,
  });
  const bots = { bots: [named('clinic'), named('hotel')], dialogs: new Map() };
  const tasks = () => asked.splice(0).map(({ task }) => task);
  const later = async (): Promise<void> => {
    clock.advance(60_000);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, sentences, bots, asked, errors, tasks, later };
}

it('has the synthesizer that stands by prepare the apology and the goodbye', async () => {
  const { sentences, bots, asked } = prepareBots();
  await sentences.prepare(bots);
  const texts = asked.find(({ task }) => task === 'clinic zeta')?.texts;
  expect(texts?.join(' ')).toBe(
    'Sorry, something went wrong on our side. Please call again later. Goodbye. Thank you for calling.',
  );
  expect(asked.find(({ task }) => task === 'clinic acme')?.texts.length).toBeGreaterThan(texts?.length ?? 0);
});

it('prepares what a vendor failed to speak again each minute until it can, and nothing else', async () => {
  const { sentences, bots, errors, tasks, later, clock } = prepareBots();
  errors.set('clinic acme', new SpeechUnavailableError('away'));
  errors.set('hotel acme', new SpeechRequestError('no such voice'));
  await sentences.prepare(bots);
  expect(tasks()).toEqual(['clinic acme', 'clinic zeta', 'hotel acme', 'hotel zeta']);
  await later();
  errors.clear();
  await later();
  expect([tasks(), clock.pendingTimers]).toEqual([['clinic acme', 'clinic acme'], 0]);
});

it('tries nothing again after it is closed, or of bots that others have taken the place of', async () => {
  const { sentences, bots, errors, tasks, later, clock } = prepareBots();
  errors.set('clinic acme', new SpeechUnavailableError('away'));
  await sentences.prepare(bots);
  await sentences.prepare({ ...bots, bots: bots.bots.slice(1) });
  tasks();
  await later();
  expect(tasks()).toEqual([]);
  await sentences.prepare(bots);
  sentences[Symbol.dispose]();
  tasks();
  await later();
  expect([tasks(), clock.pendingTimers]).toEqual([[], 0]);
});

import { expect, it } from 'vitest';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { botSettings } from '../../../src/config/bots.ts';
import { PLATFORM_RECOGNITION } from '../../../src/speech/platform-capabilities.ts';
import type { RecognitionEvent } from '../../../src/speech/port.ts';
import { CallBench } from './call-bench.ts';

async function* echo({ input }: DialogTurn): AsyncIterable<DialogAction> {
  yield { type: 'say', text: input.kind === 'spoken' ? 'Good.' : 'Hello, नमस्ते.' };
}

const spoken = (bench: CallBench) =>
  bench.asked.flatMap(({ input }) => (input.kind === 'spoken' ? [`${input.language}: ${input.text}`] : []));

it('is found in the first turn that tells it, kept, and changed where the caller asks', async () => {
  using bench = new CallBench(echo, { language: 'en', languages: ['en', 'hi'] });
  await bench.start(2_500);
  await bench.says(0, 'mujhe appointment chahiye', 1_500);
  await bench.says(0, 'tomorrow at ten', 1_500);
  await bench.says(1, 'English please', 1_500);
  expect(spoken(bench)).toEqual(['hi: mujhe appointment chahiye', 'hi: tomorrow at ten', 'en: English please']);
  expect(bench.recognitions.map(({ language }) => language)).toEqual(['auto', 'hi', 'en']);
});

it('keeps the recogniser that listens for it already, so that no word of a caller who goes on is lost', async () => {
  const languages: string[] = [];
  let recognise: (event: RecognitionEvent) => void = () => undefined;
  using bench = new CallBench(echo, { language: 'en', languages: ['en', 'hi'] }, {}, () => ({
    recogniser: {
      capabilities: { ...PLATFORM_RECOGNITION, detectsLanguage: false },
      open: ({ language }, listener) => {
        languages.push(language);
        recognise = listener;
        return { send: () => undefined, commit: () => undefined, end: () => Promise.resolve(), abort: () => undefined };
      },
    },
  }));
  await bench.start(2_500);
  await bench.voice(400);
  await bench.quiet(660);
  recognise({ type: 'final', seg: 0, text: 'tomorrow at ten', endOfUtterance: true, language: undefined });
  await bench.quiet(1_500);
  expect(spoken(bench)).toEqual(['en: tomorrow at ten']);
  expect(languages).toEqual(['en']);
});

it('is the one of the bot where it has one alone', async () => {
  using bench = new CallBench(echo);
  await bench.start(2_500);
  await bench.says(0, 'mujhe appointment chahiye', 1_500);
  expect(spoken(bench)).toEqual(['en: mujhe appointment chahiye']);
  expect(bench.recognitions.map(({ language }) => language)).toEqual(['en']);
});

it.each([
  { languages: ['hi', 'ta'], problem: "needs the bot's own language (en) and at least one more" },
  { languages: ['en'], problem: "needs the bot's own language (en) and at least one more" },
  { languages: ['en', 'hi'], askEarly: true, problem: 'cannot be found by a bot that is asked early' },
])('is refused as $languages', ({ problem, ...settings }) => {
  const bot = { name: 'desk', voice: 'Nisha', dialog: { kind: 'module', file: 'desk.js' }, ...settings };
  expect(
    botSettings
      .safeParse(bot)
      .error?.issues.map(({ message }) => message)
      .join(),
  ).toContain(problem);
});

import { expect, it } from 'vitest';
import { OpenedRecogniser } from '../../../../src/call/inbound/opened-recogniser.ts';
import { PLATFORM_RECOGNITION } from '../../../../src/speech/platform-capabilities.ts';
import type { RecognitionEvent, RecognitionOptions, RecognitionSession } from '../../../../src/speech/port.ts';

const ENGLISH: RecognitionOptions = { language: 'en', sampleRateHz: 8_000 };

function bench() {
  const opened: { options: RecognitionOptions; tell: (event: RecognitionEvent) => void; aborted: boolean }[] = [];
  const open = (options: RecognitionOptions, tell: (event: RecognitionEvent) => void): RecognitionSession => {
    const session = { options, tell, aborted: false };
    opened.push(session);
    const nothing = (): void => undefined;
    return { send: nothing, commit: nothing, end: async () => undefined, abort: () => void (session.aborted = true) };
  };
  return { recogniser: new OpenedRecogniser({ capabilities: PLATFORM_RECOGNITION, open }, ENGLISH), opened };
}

it('gives the call the session that is ready already, and tells it so', () => {
  const { recogniser, opened } = bench();
  opened[0]?.tell({ type: 'ready' });
  const heard: string[] = [];
  recogniser.open({ ...ENGLISH }, ({ type }) => void heard.push(type));
  opened[0]?.tell({ type: 'partial', seg: 0, text: 'hello' });
  expect([opened.length, heard]).toEqual([1, ['ready', 'partial']]);
  recogniser.discard();
  expect(opened[0]?.aborted).toBe(false);
});

it.each([
  { note: 'a second session', wanted: ENGLISH, before: ENGLISH },
  { note: 'another language', wanted: { ...ENGLISH, language: 'hi' }, before: undefined },
  { note: 'phrases to expect', wanted: { ...ENGLISH, boostPhrases: ['yes'] }, before: undefined },
])('opens $note as it is asked for', ({ wanted, before }) => {
  const { recogniser, opened } = bench();
  if (before !== undefined) recogniser.open(before, () => undefined);
  recogniser.open(wanted, () => undefined);
  expect(opened.map(({ options }) => options)).toEqual([ENGLISH, wanted]);
});

it('opens another where the first was closed before the call began: that is no fault of the call', () => {
  const { recogniser, opened } = bench();
  opened[0]?.tell({ type: 'closed', error: new Error('idle for too long') });
  const heard: string[] = [];
  recogniser.open(ENGLISH, ({ type }) => void heard.push(type));
  expect([opened.length, heard]).toEqual([2, []]);
});

it('closes the session that is of no use to a call of another rate', () => {
  const { recogniser, opened } = bench();
  recogniser.open({ ...ENGLISH, sampleRateHz: 16_000 }, () => undefined);
  expect(opened.map(({ options, aborted }) => [options.sampleRateHz, aborted])).toEqual([
    [8_000, true],
    [16_000, false],
  ]);
});

it('closes an unused session', () => {
  const { recogniser, opened } = bench();
  recogniser.discard();
  expect(opened[0]?.aborted).toBe(true);
});

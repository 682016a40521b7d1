import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareCalls } from '../../src/rehearsal/replay/compare.ts';
import { decodeFixture, encodeFixture } from '../../src/rehearsal/replay/fixture-file.ts';
import { replayCall } from '../../src/rehearsal/replay/replay-call.ts';
import type { DialogAction, DialogTurn } from '../../src/dialog/port.ts';
import { type CallerAct, parts, recordCall } from '../unit/rehearsal/replay/recorded-call.ts';

/** Does something else in each turn: long, silent, failing, slow, in another language, last words. */
async function* moody({ input, index }: DialogTurn): AsyncIterable<DialogAction> {
  if (input.kind === 'start') yield { type: 'say', text: 'Hello, and welcome to this line. What would you like?' };
  else if (index % 7 === 3) throw new Error('no mood');
  else if (index % 7 === 4) yield { type: 'language', language: 'hi' };
  else if (index % 7 === 6) yield { type: 'digits', digits: '1w2' };
  if (index % 5 === 1) yield { type: 'gather', hints: ['tuesday', 'wednesday'], maxDigits: 2, noInputMs: 2_000 };
  yield { type: 'say', text: `Turn ${index}, the first part of it, and`, more: true };
  yield { type: 'say', text: ' then the second one. Hello again, this is a longer one.' };
  if (index > 11) yield { type: 'hangup', reason: 'enough' };
}

const act: fc.Arbitrary<CallerAct> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ quietMs: fc.integer({ min: 1, max: 150 }).map((frames) => frames * 20) }) },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        voiceMs: fc.integer({ min: 1, max: 60 }).map((frames) => frames * 20),
        says: fc.constantFrom('tuesday', 'no wait', 'mm-hm'),
      },
      { requiredKeys: ['voiceMs'] },
    ),
  },
  { weight: 1, arbitrary: fc.record({ key: fc.constantFrom('1', '2', '#') }) },
  { weight: 1, arbitrary: fc.record({ awayMs: fc.constantFrom(200, 1_500) }) },
);

it('decides the same again, whatever the caller did and however unevenly it came', { timeout: 900_000 }, async () => {
  const decided = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { minLength: 5, maxLength: 40 }),
      fc.integer({ min: 0, max: 90 }),
      fc.integer({ min: 1, max: 1_000 }),
      fc.boolean(),
      async (caller, jitterMs, seed, askEarly) => {
        const fixture = await recordCall({ dialog: moody, caller, jitterMs, seed, bot: { askEarly } });
        const report = compareCalls(fixture, await replayCall(await decodeFixture(await encodeFixture(fixture), 0), parts));
        for (const { type } of fixture.decisions) decided.add(type);
        expect(report.divergence).toBeUndefined();
        expect(report.standIns).toEqual([]);
      },
    ),
    { numRuns: Number(process.env['OFFHOOK_TEST_RUNS'] ?? 150) },
  );
  const effects = ['commit', 'ask', 'ask-early', 'hold', 'resume', 'clear', 'restore', 'cancel-reply', 'filler'];
  expect([...decided]).toEqual(expect.arrayContaining([...effects, 'dialog', 'speak', 'reply', 'end']));
});

import { expect, it } from 'vitest';
import { heardSegments } from '../../../../src/records/after-call/analyse-call.ts';
import { callRecord } from '../../../../src/records/record.ts';
import { callRecordOf } from '../../../support/call-records.ts';

it('puts what was heard on the clock of the recording, and fills in times that are not known', () => {
  expect(heardSegments(callRecord.parse(callRecordOf()), 8)).toEqual([
    { startS: 0.5, endS: 1.5, text: 'Hello, how' },
    { startS: 4, endS: 8, text: 'Tuesday, thank you. Goodbye.' },
  ]);
});

it('leaves out what was not heard, and never leaves the recording', () => {
  const given = callRecordOf();
  const turns = given.turns.map((turn) => ({ ...turn, botHeardText: turn.index === 0 ? '' : turn.botHeardText }));
  expect(heardSegments(callRecord.parse({ ...given, turns }), 2)).toEqual([
    { startS: 2, endS: 2, text: 'Tuesday, thank you. Goodbye.' },
  ]);
});

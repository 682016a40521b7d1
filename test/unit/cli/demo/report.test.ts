import { describe, expect, it } from 'vitest';
import { MULAW_8K } from '../../../../src/audio/format.ts';
import type { CarrierCapabilities } from '../../../../src/carriers/port.ts';
import { twilio } from '../../../../src/carriers/twilio/carrier.ts';
import { type DemoCall, judge } from '../../../../src/cli/demo/report.ts';
import { scenarioFor } from '../../../../src/cli/demo/scenario.ts';
import type { TurnRecord } from '../../../../src/call/log/call-record.ts';
import type { TurnLatency } from '../../../../src/call/log/timeline.ts';
import type { StepReport } from '../../../../src/sim/caller/caller.ts';

/** A call through a carrier that takes back audio, and gathers the caller's in messages of 20 ms. */
const demo: DemoCall = {
  scenario: scenarioFor('en'),
  carrier: twilio,
  line: { from: MULAW_8K, to: MULAW_8K },
};

const latency: TurnLatency = {
  endpointing: undefined,
  asrFinal: undefined,
  dialog: undefined,
  ttsFirstByte: undefined,
  firstFrame: undefined,
  total: undefined,
};
const turn = (index: number, callerText: string, botText: string): TurnRecord => ({
  index,
  input: { kind: 'start' },
  callerText,
  botText,
  botHeardText: botText,
  interrupted: false,
  latency,
  startedAtWallMs: 0,
});
const turns = [
  turn(0, '', 'Hello, this is Lakeside Clinic.'),
  turn(1, 'When are you open?', 'From eight in the morning.'),
  turn(2, "I'd like to book an appointment", 'Which day would you like?'),
  turn(3, 'Tuesday at half past ten', 'Tuesday at half past ten, right?'),
  turn(4, 'yes please', 'Press one for a reminder.'),
  turn(5, '2', 'Goodbye.'),
];
const interruption: StepReport = { kind: 'interrupt', text: '', atMs: 900, botSilentMs: 250 };
const whole = {
  turns,
  interruptions: [{ turn: 2, by: 'voice', onsetToClearMs: 200, atMs: 900 }],
  digits: '2',
  recordingPath: '/recordings/call.wav' as string | undefined,
  recordingFailure: undefined as string | undefined,
};
const files = { record: '/record.json', analysis: '/analysis.json' };
const problemsOf = (record: Partial<typeof whole>, reports: readonly StepReport[] = [interruption]) =>
  judge(demo, reports, { ...whole, ...record }, files, []);
const heardAs = (...texts: readonly string[]): readonly TurnRecord[] =>
  turns.map((each) => ({ ...each, callerText: texts[each.index - 1] ?? each.callerText }));

describe('the report of the demo', () => {
  it('finds no problem in a call that followed the script', () => {
    const { ok, problems } = problemsOf({});
    expect([ok, problems]).toEqual([true, []]);
  });

  it.each([
    {
      what: 'two lines were heard in each other’s place',
      record: { turns: [...heardAs('Tuesday at half past ten')] },
      problem: 'turn 1: the caller\'s line is "when are you open", recognised was "Tuesday at half past ten"',
    },
    {
      what: 'a line was heard as silence',
      record: { turns: [...heardAs('')] },
      problem: 'turn 1: the caller\'s line is "when are you open", recognised was ""',
    },
    {
      what: 'the bot gave another answer',
      record: { turns: turns.map((each) => ({ ...each, botText: each.index === 4 ? 'What?' : each.botText })) },
      problem: 'turn 4: the bot answered "What?"',
    },
    { what: 'a turn is missing', record: { turns: turns.slice(0, 5) }, problem: '4 turns where the script has 5' },
    { what: 'nothing interrupted the bot', record: { interruptions: [] }, problem: '0 interruptions where the script has one' },
    { what: 'other keys were heard', record: { digits: '3' }, problem: 'keys "3" where "2" were pressed' },
    {
      what: 'there is no recording',
      record: { recordingPath: undefined, recordingFailure: 'the disk is full' },
      problem: 'no recording: the disk is full',
    },
  ])('fails where $what', ({ record, problem }) => {
    const { ok, problems } = problemsOf(record);
    expect([ok, problems]).toEqual([false, [problem]]);
  });

  it.each([
    { what: 'did not stop', botSilentMs: undefined, problem: 'the bot did not stop for the interruption' },
    { what: 'stopped late', botSilentMs: 301, problem: 'the bot spoke on for 301 ms' },
  ])('fails where the bot $what for the interruption', ({ botSilentMs, problem }) => {
    expect(problemsOf({}, [{ ...interruption, botSilentMs }]).problems).toEqual([problem]);
  });

  it.each([
    { what: 'is asked for 100 ms of the caller at a time', ptimeMs: 100, capabilities: {}, atMost: 380 },
    { what: 'takes back nothing of three messages', ptimeMs: 20, capabilities: { clear: 'none' }, atMost: 360 },
    { what: 'takes back nothing of 100 ms each', ptimeMs: 20, capabilities: { clear: 'none', messageMs: 100 }, atMost: 600 },
  ] as const)('lets the bot of a carrier that $what stop within $atMost ms', ({ ptimeMs, capabilities, atMost }) => {
    const carrier = {
      name: 'other',
      capabilities: { ...twilio.capabilities, ...(capabilities as Partial<CarrierCapabilities>) },
    };
    const stopped = (botSilentMs: number): boolean =>
      judge({ ...demo, carrier, line: { ...demo.line, ptimeMs } }, [{ ...interruption, botSilentMs }], whole, files, []).ok;
    expect([stopped(atMost), stopped(atMost + 1)]).toEqual([true, false]);
  });

  it.each([
    ['native', 'proven'],
    ['none', 'estimated'],
  ] as const)('says of a carrier with %s marks that what was heard is %s', (marks, heard) => {
    const carrier = { name: 'other', capabilities: { ...twilio.capabilities, marks } };
    expect(judge({ ...demo, carrier }, [interruption], whole, files, []).carrier).toEqual({
      name: 'other',
      clear: 'native',
      heard,
    });
  });

  it('fails without an analysis', () => {
    const { problems } = judge(demo, [interruption], whole, { ...files, analysis: undefined }, []);
    expect(problems).toEqual(['no analysis came in time']);
  });

  it('counts the words that models misheard, and holds the bot to its answers alone', () => {
    const real = { ...demo, real: true };
    const record = {
      ...whole,
      turns: heardAs('when are you often', 'I\u2019d like to book an appointment', 'Tuesday at half past 10.'),
    };
    const { ok, wordErrors } = judge(real, [interruption], record, files, []);
    expect([ok, wordErrors]).toEqual([true, { words: 17, errors: 1, percent: 100 / 17 }]);
    expect(judge(demo, [interruption], whole, files, []).wordErrors).toBeUndefined();
  });
});

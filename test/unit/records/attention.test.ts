import { describe, expect, it } from 'vitest';
import { attentionOf, judgedWrong, type Reason } from '../../../src/records/attention.ts';
import { cutOffs, figuresOf, turnsNotUnderstood } from '../../../src/records/figures.ts';
import { callRecord, type CallRecord, type NewCallRecord } from '../../../src/records/record.ts';
import { callRecordOf } from '../../support/call-records.ts';

const START = Date.UTC(2026, 0, 1, 9);

interface Said {
  readonly caller?: string;
  readonly bot: string;
  readonly waitedMs?: number;
}

/** A call in which each turn begins ten seconds after the one before. */
function callOf(said: readonly Said[], changes: Partial<NewCallRecord> = {}): CallRecord {
  return callRecord.parse(
    callRecordOf({
      startedAtMs: START,
      endedAtMs: START + said.length * 10_000,
      endReason: 'finished',
      turns: said.map(({ caller = '', bot, waitedMs = 600 }, index) => ({
        index,
        inputKind: index === 0 ? 'start' : 'spoken',
        callerText: caller,
        botText: bot,
        botHeardText: bot,
        interrupted: false,
        latencies: index === 0 ? {} : { total: waitedMs },
        startedAtMs: START + index * 10_000,
        botStartedAtMs: START + index * 10_000 + waitedMs,
      })),
      timeline: [],
      ...changes,
    }),
  );
}

const GREETING = { bot: 'Hello. Which day would suit you?' };
const reasonsOf = (record: CallRecord): Reason[] => attentionOf(record).map(({ reason }) => reason);

describe('a call that deserves a look', () => {
  it.each<{ note: string; said: readonly Said[]; changes?: Partial<NewCallRecord>; reasons: readonly Reason[] }>([
    { note: 'a call that went well', said: [GREETING, { caller: 'Tuesday', bot: 'Booked. Goodbye.' }], reasons: [] },
    {
      note: 'a caller who swears',
      said: [GREETING, { caller: 'This is ridiculous, I said Tuesday', bot: 'Booked.' }],
      reasons: ['angry'],
    },
    {
      note: 'a caller who swears in Hindi',
      said: [GREETING, { caller: 'ये क्या बकवास है', bot: 'ठीक है।' }],
      changes: { language: 'hi-IN' },
      reasons: ['angry'],
    },
    {
      note: 'a topic that is no anger',
      said: [GREETING, { caller: 'I have a complaint about my bill', bot: 'I see.' }],
      reasons: [],
    },
    {
      note: 'an answer that was not understood once',
      said: [
        GREETING,
        { caller: 'Blursday', bot: 'Sorry, I did not catch that. Which day?' },
        { caller: 'Tuesday', bot: 'Booked.' },
      ],
      reasons: [],
    },
    {
      note: 'an answer that was not understood twice',
      said: [
        GREETING,
        { caller: 'Blursday', bot: "Sorry, I didn't catch that. Which day would suit you?" },
        { caller: 'Chewsday', bot: 'Please name a day. Which day would suit you?' },
      ],
      reasons: ['not-understood'],
    },
    {
      note: 'a caller who hangs up on a question',
      said: [GREETING, { caller: 'Tuesday', bot: 'At what time?' }],
      changes: { endReason: 'caller-hangup' },
      reasons: ['hung-up'],
    },
    {
      note: 'a caller who needs nothing else',
      said: [GREETING, { caller: 'Tuesday', bot: 'Booked. Is there anything else?' }],
      changes: { endReason: 'caller-hangup' },
      reasons: [],
    },
    {
      note: 'one long silence',
      said: [
        GREETING,
        { caller: 'Tuesday', bot: 'Booked.', waitedMs: 3_400 },
        { caller: 'Ten', bot: 'Good.' },
        { caller: 'Yes', bot: 'Bye.' },
      ],
      reasons: ['dead-air'],
    },
    {
      note: 'a silence that was covered',
      said: [
        GREETING,
        { caller: 'Tuesday', bot: 'Booked.', waitedMs: 3_400 },
        { caller: 'Ten', bot: 'Good.' },
        { caller: 'Yes', bot: 'Bye.' },
      ],
      changes: { timeline: [{ type: 'filler', atMs: 10_900, turn: 1, waitingFor: 'dialog' }] },
      reasons: [],
    },
    {
      note: 'replies that are slow as a rule',
      said: [GREETING, { caller: 'Tuesday', bot: 'And?', waitedMs: 1_600 }, { caller: 'Ten', bot: 'Good.', waitedMs: 1_900 }],
      reasons: ['slow'],
    },
    { note: 'a bot that failed', said: [GREETING], changes: { endReason: 'dialog-failed' }, reasons: ['failed'] },
    {
      note: 'a bot that failed in a turn',
      said: [GREETING, { caller: 'Tuesday', bot: 'One moment.' }],
      changes: { timeline: [{ type: 'problem', atMs: 10_500, detail: 'dialog: no answer' }] },
      reasons: ['failed'],
    },
    {
      note: 'a call between people',
      said: [GREETING, { caller: 'This is useless', bot: 'Sorry.' }],
      changes: { mode: 'listen' },
      reasons: [],
    },
  ])('finds $reasons in $note', ({ said, changes, reasons }) => {
    expect(reasonsOf(callOf(said, changes))).toEqual(reasons);
  });

  it('finds the bot that spoke into the caller’s words, and where, but no interruption of a long reply', () => {
    const said = [
      GREETING,
      { caller: 'I would like', bot: 'Which day?' },
      { caller: 'Tuesday', bot: 'We are open from eight to five.' },
    ];
    const timeline = [
      { type: 'first-frame', atMs: 600, turn: 0 },
      { type: 'clear', atMs: 900, turn: 0, onsetMs: 700, by: 'voice' },
      { type: 'first-frame', atMs: 10_600, turn: 1, leadMs: 100 },
      { type: 'clear', atMs: 11_300, turn: 1, onsetMs: 11_100, by: 'voice' },
      { type: 'first-frame', atMs: 20_600, turn: 2 },
      { type: 'clear', atMs: 23_300, turn: 2, onsetMs: 23_000, by: 'voice' },
      { type: 'clear', atMs: 20_700, turn: 2, onsetMs: 20_700, by: 'key' },
    ];
    const record = callOf(said, { timeline });
    expect(cutOffs(record)).toEqual([{ atMs: 10_700, turn: 1 }]);
    expect(attentionOf(record)).toEqual([{ reason: 'cut-off', atMs: 9_700, turn: 1 }]);
  });

  it('says where to listen: before the words, and at the beginning of a wait', () => {
    const [angry] = attentionOf(callOf([GREETING, { caller: 'This is useless', bot: 'Sorry.' }]));
    expect(angry).toMatchObject({ turn: 1 });
    expect(angry?.atMs).toBeGreaterThan(6_000);
    expect(angry?.atMs).toBeLessThan(9_000);
    const silent = attentionOf(callOf([GREETING, { caller: 'Ten', bot: 'Good.', waitedMs: 5_000 }]));
    expect(silent.map(({ reason, atMs }) => [reason, atMs])).toEqual([
      ['dead-air', 9_000],
      ['slow', 9_000],
    ]);
  });

  it('takes a failed item of the checklist, with the words it rests on', () => {
    const item = { id: 'greets', question: 'Did it greet?', weight: 1, grounds: [] };
    const words = {
      kind: 'words' as const,
      channel: 1,
      segment: 0,
      from: 0,
      to: 5,
      text: 'Hello',
      role: 'bot',
      startS: 12.5,
      endS: 13,
    };
    expect(judgedWrong({}, 0)).toEqual([]);
    expect(judgedWrong({ quality: { score: 100, items: [{ ...item, result: 'pass' }] } }, 0)).toEqual([]);
    expect(judgedWrong({ quality: { score: 0, items: [{ ...item, result: 'fail', grounds: [words] }] } }, 300)).toEqual([
      { reason: 'judged-wrong', atMs: 11_800, turn: null },
    ]);
  });
});

describe('figures of a call', () => {
  it.each([
    { endReason: 'finished', result: 'contained' },
    { endReason: 'caller-said-goodbye', result: 'contained' },
    { endReason: 'caller-hangup', result: 'given-up' },
    { endReason: 'no-input', result: 'given-up' },
    { endReason: 'not-understood', result: 'given-up' },
    { endReason: 'transferred', result: 'transferred' },
    { endReason: 'opt-out', result: 'opted-out' },
    { endReason: 'dialog-failed', result: 'failed' },
    { endReason: 'shutdown', result: 'cut-short' },
  ])('counts $endReason as $result', ({ endReason, result }) => {
    expect(figuresOf(callOf([GREETING], { endReason }))).toMatchObject({ result, answered: true });
  });

  it('counts a mailbox as not answered, and no running call, no recording from elsewhere', () => {
    const outbound = { answeredBy: 'mailbox' as const, opinions: [], identified: true };
    expect(figuresOf(callOf([GREETING], { outbound }))).toMatchObject({ result: 'not-answered', answered: false });
    expect(figuresOf(callOf([GREETING], { endedAtMs: undefined }))).toBeUndefined();
    expect(figuresOf(callOf([GREETING], { carrier: 'import' }))).toBeUndefined();
  });

  it('takes the same question once more for an answer that was not understood', () => {
    const said = [
      GREETING,
      { caller: 'Um, what?', bot: 'A day, please. Which day would suit you?' },
      { caller: 'Tuesday', bot: 'At what time?' },
    ];
    expect(turnsNotUnderstood(callOf(said))).toEqual([1]);
  });
});

import { describe, expect, it } from 'vitest';
import { resumedCall, resumedTurn } from '../../../../src/call/resume/resumed-call.ts';
import { type ResumeState, resumeState } from '../../../../src/call/resume/resume-state.ts';
import { callRecord } from '../../../../src/records/record.ts';
import { callRecordOf } from '../../../support/call-records.ts';

const STARTED = 1_000_000;
const say = (text: string) => ({ type: 'say', text, interruptible: 'always', language: 'en', voice: 'Nisha' }) as const;

/** A call in its second turn, whose reply has three sentences of a second each, sent from `STARTED + 10 s` on. */
const state = (more: object = {}): ResumeState =>
  resumeState.parse({
    version: 1,
    atMs: STARTED + 10_000,
    turn: 1,
    input: { kind: 'spoken', text: 'Tuesday' },
    pending: false,
    sentences: [
      { action: say('Tuesday it is.'), startsAtMs: STARTED + 10_000, durationMs: 1_000, played: true },
      { action: say('We are open then.'), startsAtMs: STARTED + 11_000, durationMs: 1_000, played: false },
      { action: say('At what time?'), startsAtMs: STARTED + 12_000, durationMs: 1_000, played: false },
    ],
    gather: { type: 'gather', noInputMs: 4_000 },
    language: 'en',
    voice: 'Nisha',
    noInputs: 1,
    optOutHeard: false,
    dialog: { at: 'time' },
    rates: { rateHz: 8_000, sentRateHz: 8_000 },
    recording: { startedAtMs: STARTED + 100, gaps: [], kept: [{ fromMs: 0 }] },
    ...more,
  });

const turn = (index: number, callerText: string, botText: string) => ({
  index,
  inputKind: index === 0 ? 'start' : 'spoken',
  callerText,
  botText,
  botHeardText: botText,
  interrupted: false,
  latencies: {},
  startedAtMs: STARTED + index * 5_000,
});

const record = callRecord.parse({
  ...callRecordOf({ id: 'call_1' }),
  startedAtMs: STARTED,
  revision: 7,
  recordingPath: '/data/recordings/call_1.wav',
  turns: [turn(0, '', 'For which day?'), turn(1, 'Tuesday', '')],
  variables: { day: '2026-03-03' },
});

const brokeAt = (afterMs: number, more: object = {}) =>
  resumedCall(record, state(more), {
    nowWallMs: STARTED + afterMs + 900,
    // The recording is written a moment after it was heard.
    file: { bytes: 44 + 4 * 8_000 * 9, writtenAtWallMs: STARTED + afterMs - 300 },
  });

describe('a call whose process died', () => {
  it('says again what the caller has not heard to its end, and nothing else', () => {
    expect(brokeAt(11_500).next).toEqual({ do: 'say', sentences: [say('We are open then.'), say('At what time?')] });
    expect(brokeAt(12_100).next).toEqual({ do: 'say', sentences: [say('At what time?')] });
    expect(brokeAt(13_000).next).toEqual({ do: 'say', sentences: [] });
  });

  it('has as heard what the caller has heard, with a dash where a word broke off', () => {
    const [, running] = brokeAt(11_300).turns;
    expect(running).toMatchObject({ botText: 'Tuesday it is.', botHeardText: 'Tuesday it is. We are—' });
    expect(running?.callerText).toBe('Tuesday');
  });

  it('does not believe a sentence of unknown length to be longer than it can be', () => {
    const sentences = [{ action: say('Yes.'), startsAtMs: STARTED + 10_000, played: false }];
    expect(brokeAt(11_000, { sentences }).next).toEqual({ do: 'say', sentences: [] });
  });

  it('asks the dialog again where its answer was not complete, and passes over what was heard of it', () => {
    const { next } = brokeAt(11_500, { pending: true });
    expect(next).toEqual({ do: 'ask', isNew: false, input: { kind: 'spoken', text: 'Tuesday' }, heard: ['Tuesday it is.'] });
  });

  it('greets a caller who was not greeted', () => {
    expect(brokeAt(100, { turn: -1, input: undefined, sentences: [] }).next).toMatchObject({
      do: 'ask',
      isNew: true,
      input: { kind: 'start' },
    });
  });

  it('tells the dialog that the agent who was being rung is lost', () => {
    expect(brokeAt(11_500, { agent: '+4420' }).next).toMatchObject({
      do: 'ask',
      isNew: true,
      input: { kind: 'transfer', outcome: 'dropped' },
    });
  });

  it('does not repeat a reply that the caller had cut short', () => {
    const settled = { botText: 'Tuesday it is. We are open then.', botHeardText: 'Tuesday—' };
    const { next, turns } = brokeAt(11_500, { sentences: [], settled });
    expect(next).toEqual({ do: 'say', sentences: [] });
    expect(turns[1]).toMatchObject(settled);
  });

  it('knows its gap, its recording and its newest revision', () => {
    const { gapMs, recording, revision, variables } = brokeAt(11_500);
    expect(gapMs).toBe(900);
    expect(recording).toMatchObject({ dataBytes: 4 * 8_000 * 9, startedAtWallMs: STARTED + 100, kept: [{ fromMs: 0 }] });
    expect([revision, variables]).toEqual([7, { day: '2026-03-03' }]);
  });

  it('takes the request of the carrier for the moment of the break where nothing was recorded', () => {
    const { gapMs, next } = resumedCall(record, state({ recording: undefined }), { nowWallMs: STARTED + 12_100 });
    expect([gapMs, next]).toEqual([0, { do: 'say', sentences: [say('At what time?')] }]);
  });

  it('goes on counting silences, and hears no second opt-out', () => {
    const { caller, optOut, phase } = resumedTurn(brokeAt(11_500, { optOutHeard: true }), 5_000);
    expect([caller.noInputs, optOut.heard, phase.name]).toEqual([1, true, 'listening']);
    expect(resumedTurn(brokeAt(11_500, { pending: true }), 5_000).phase).toMatchObject({ name: 'thinking', sinceMs: 5_000 });
  });
});

import { describe, expect, it, test } from 'vitest';
import { type Findings, judge } from '../../../../src/records/analysis/conditions.ts';
import { measureTalk } from '../../../../src/records/analysis/measures.ts';
import { analysisProfile } from '../../../../src/records/analysis/profile.ts';
import type { Condition } from '../../../../src/records/analysis/profile-conditions.ts';
import { disposed, scored } from '../../../../src/records/analysis/findings.ts';
import { talk } from './talk.ts';

const utterances = talk(
  'agent: Good morning, this is Asha from Lakeside.',
  'customer: I want a refund, please!',
  'agent: Of course. Is there anything else?',
  'customer: No, thank you.',
);
const findings: Findings = {
  utterances,
  measures: measureTalk(
    [
      { role: 'customer', stretches: [{ startS: 2, endS: 4 }] },
      { role: 'agent', stretches: [{ startS: 0, endS: 2 }] },
    ],
    8,
    { silenceMs: 1000, overlapMs: 200, interruptionMs: 500 },
  ),
  fields: [{ name: 'order', value: '55', from: 'rules', evidence: [] }],
  fieldBy: () => undefined,
  wordsUnknown: () => undefined,
  insightsUnknown: undefined,
  unmeasured: undefined,
  variables: { booking: 'B7' },
  intent: 'refund',
  sentiment: 'negative',
};

describe('judge', () => {
  test.each<[string, Condition, boolean | undefined]>([
    ['words by anybody', { said: { phrases: ['REFUND'] } }, true],
    ['words by the right side', { said: { phrases: ['refund'], by: 'agent' } }, false],
    ['whole words only', { said: { phrases: ['fund'] } }, false],
    ['a word that bots pass over', { said: { phrases: ['Please'] } }, true],
    ['such a word of the other side', { said: { phrases: ['please'], by: 'agent' } }, false],
    ['words in the beginning', { said: { phrases: ['good morning'], withinS: 1 } }, true],
    ['words too late', { said: { phrases: ['anything else'], withinS: 1 } }, false],
    ['words in the end', { said: { phrases: ['thank you'], lastS: 3 } }, true],
    ['words too early', { said: { phrases: ['good morning'], lastS: 3 } }, false],
    ['a measure within bounds', { measure: { name: 'talkRatio', of: 'customer', least: 0.5, most: 0.5 } }, true],
    ['a measure out of bounds', { measure: { name: 'silences', most: 0 } }, false],
    ['a measure that does not exist', { measure: { name: 'replyGapP95S', of: 'nobody', least: 0 } }, undefined],
    ['the opposite of what is not known', { not: { measure: { name: 'replyGapP95S', of: 'nobody' } } }, undefined],
    ['a field', { field: { name: 'order' } }, true],
    ["a field's value", { field: { name: 'order', is: '56' } }, false],
    ['a variable of the bot', { variable: { name: 'booking' } }, true],
    ["a variable's value", { variable: { name: 'booking', is: 'B8' } }, false],
    ['a variable that nobody set', { variable: { name: 'toString' } }, false],
    ['an intent', { intent: 'refund' }, true],
    ['a sentiment', { sentiment: 'positive' }, false],
    ['all', { all: [{ intent: 'refund' }, { field: { name: 'order' } }] }, true],
    ['all but one', { all: [{ intent: 'refund' }, { field: { name: 'other' } }] }, false],
    ['any', { any: [{ intent: 'other' }, { field: { name: 'order' } }] }, true],
    ['not', { not: { intent: 'refund' } }, false],
  ])('decides %s', (_note, condition, holds) => {
    expect(judge(condition, findings).holds).toBe(holds);
  });

  test.each<[string, Condition, boolean | undefined]>([
    ['words that nobody understood', { said: { phrases: ['refund'], by: 'customer' } }, undefined],
    ['their absence', { not: { said: { phrases: ['refund'] } } }, undefined],
    ['words of the other side', { said: { phrases: ['good morning'], by: 'agent' } }, true],
    ['a field that was not found', { field: { name: 'other' } }, undefined],
    ['an intent', { intent: 'refund' }, undefined],
    ['a mood', { sentiment: 'negative' }, undefined],
    ['all, one of which is not so', { all: [{ intent: 'refund' }, { measure: { name: 'silences', most: 0 } }] }, false],
    ['all, one of which is open', { all: [{ intent: 'refund' }, { measure: { name: 'totalS' } }] }, undefined],
    ['any, one of which is so', { any: [{ intent: 'refund' }, { measure: { name: 'totalS' } }] }, true],
    ['any, one of which is open', { any: [{ intent: 'refund' }, { measure: { name: 'silences', most: 0 } }] }, undefined],
  ])('leaves open what is not known of %s', (_note, condition, holds) => {
    const reason = 'nothing was understood';
    const unclear: Findings = {
      ...findings,
      utterances: utterances.filter(({ role }) => role === 'agent'),
      wordsUnknown: (role) => (role === 'agent' ? undefined : reason),
      insightsUnknown: reason,
    };
    expect(judge(condition, unclear)).toMatchObject({ holds, ...(holds === undefined ? { reason } : {}) });
  });

  it('shows the words, with their times, that decided', () => {
    expect(judge({ said: { phrases: ['a refund'] } }, findings).grounds).toEqual([
      { kind: 'words', channel: 0, segment: 0, role: 'customer', from: 9, to: 15, text: 'refund', startS: 2.75, endS: 3.25 },
    ]);
  });
});

describe('verdicts', () => {
  const profile = analysisProfile.parse({
    name: 'support',
    checklist: [
      { id: 'greeting', question: 'Greeted?', weight: 3, pass: { said: { phrases: ['good morning'], by: 'agent' } } },
      {
        id: 'refund',
        question: 'Refund offered?',
        applies: { intent: 'refund' },
        pass: { said: { phrases: ['refund'], by: 'agent' } },
      },
      { id: 'sale', question: 'Offered?', applies: { intent: 'sale' }, pass: { intent: 'sale' } },
    ],
    disposition: {
      outcomes: [
        { value: 'sold', when: { intent: 'sale' } },
        { value: 'refund', label: 'Money back', when: { intent: 'refund' } },
      ],
      otherwise: 'other',
    },
  });

  it('score what applies by its weight', () => {
    const { score, items } = scored(profile.checklist, findings);
    expect(score).toBe(75);
    expect(items.map(({ id, result, grounds }) => [id, result, grounds.length])).toEqual([
      ['greeting', 'pass', 1],
      ['refund', 'fail', 0],
      ['sale', 'not-applicable', 0],
    ]);
    expect(scored([], findings)).toEqual({ score: null, items: [] });
  });

  it('take the first outcome that holds, else the other one', () => {
    expect(disposed(profile.disposition, findings)).toMatchObject({
      value: 'refund',
      label: 'Money back',
      grounds: [{ kind: 'insight' }],
    });
    expect(disposed(profile.disposition, { ...findings, intent: undefined })).toEqual({ value: 'other', grounds: [] });
    expect(disposed(undefined, findings)).toBeUndefined();
  });
});

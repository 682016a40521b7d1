import { describe, expect, it, test } from 'vitest';
import { extractByRules } from '../../../../src/records/analysis/fields.ts';
import { checkedValue } from '../../../../src/records/analysis/field-value.ts';
import { analysisProfile } from '../../../../src/records/analysis/profile.ts';
import { phraseSpans, spannedTokens } from '../../../../src/records/analysis/transcript.ts';
import { tokenise } from '../../../../src/language/index.ts';
import { talk } from './talk.ts';

const field = (settings: object) => analysisProfile.parse({ name: 'p', fields: [{ name: 'f', ...settings }] }).fields[0]!;
const understand = (what: string, more: object = {}) => ({ rules: [{ understand: what, ...more }] });

describe('extractByRules', () => {
  const said = talk(
    'agent: Good morning, how can I help?',
    'customer: I would like to come on Monday, no, on Tuesday at half past ten.',
    'agent: What is your booking number?',
    'customer: Sure. It is four two double seven.',
    'agent: And your date of birth, is it in March?',
    'customer: Yes. My order is ORD-5512, it costs 1,250 rupees.',
    'agent: Thanks, that is right. You can reach us at help dot desk at example dot com',
  );

  test.each([
    { note: 'a day, corrected', settings: { type: 'date', ...understand('day') }, value: '2026-01-06', words: 'Tuesday' },
    { note: 'a time', settings: { type: 'time', ...understand('time') }, value: '10:30', words: 'at half past ten' },
    {
      note: 'digits after a question',
      settings: { type: 'digits', by: 'customer', least: 4, most: 6, ...understand('digits', { after: ['booking number'] }) },
      value: '4277',
      words: 'four two double seven',
    },
    {
      note: 'the first yes of one side',
      settings: { type: 'boolean', by: 'customer', ...understand('yes-no', { after: ['in March'], take: 'first' }) },
      value: true,
      words: 'Yes',
    },
    {
      note: 'the group of a pattern',
      settings: { type: 'text', rules: [{ pattern: String.raw`\bORD-(?<value>\d+)` }] },
      value: '5512',
      words: '5512',
    },
    {
      note: 'a number with a thousands sign',
      settings: { type: 'number', rules: [{ pattern: String.raw`([\d,]+) rupees` }] },
      value: 1250,
      words: '1,250',
    },
    {
      note: 'a choice by its phrases',
      settings: {
        type: 'choice',
        choices: { appointment: ['would like to come'], complaint: ['bad service'] },
        ...understand('choice'),
      },
      value: 'appointment',
      words: 'would like to come',
    },
    {
      note: 'an address that was said',
      settings: { type: 'email', by: 'agent', ...understand('email') },
      value: 'help.desk@example.com',
      words: 'help dot desk at example dot com',
    },
    {
      note: 'the second rule where the first finds nothing',
      settings: { type: 'text', rules: [{ pattern: 'nowhere' }, { pattern: 'rupees' }] },
      value: 'rupees',
      words: 'rupees',
    },
  ])('finds $note', ({ settings, value, words }) => {
    const found = extractByRules(field(settings), said, '2026-01-01');
    expect(found?.value).toEqual(value);
    const [evidence] = found!.evidence;
    expect(evidence?.text).toBe(words);
    const source = said.find(({ channel, segment }) => channel === evidence!.channel && segment === evidence!.segment)!;
    expect(source.text.slice(evidence!.from, evidence!.to)).toBe(words);
    expect(evidence!.startS).toBeGreaterThanOrEqual(source.startS);
    expect(evidence!.endS).toBeLessThanOrEqual(source.endS);
  });

  test.each([
    { note: 'words of the other side', settings: { type: 'email', by: 'customer', ...understand('email') } },
    { note: 'too few digits', settings: { type: 'digits', least: 8, ...understand('digits') } },
    { note: 'what precedes the phrase', settings: { type: 'date', ...understand('day', { after: ['rupees'] }) } },
    { note: 'what is not of the type', settings: { type: 'integer', rules: [{ pattern: 'rupees' }] } },
  ])('does not find $note', ({ settings }) => {
    expect(extractByRules(field(settings), said, '2026-01-01')).toBeUndefined();
  });

  it('understands Hindi', () => {
    const hindi = talk('customer: मुझे मंगलवार को शाम साढ़े पाँच बजे आना है');
    expect(extractByRules(field({ type: 'date', ...understand('day') }), hindi, '2026-01-01')?.value).toBe('2026-01-06');
    expect(extractByRules(field({ type: 'time', ...understand('time') }), hindi, '2026-01-01')?.value).toBe('17:30');
  });
});

describe('spannedTokens', () => {
  it.each(["Don't call at 10.30 a.m., please", 'हाँ, साढ़े दस बजे 10am', 'the 4th of May: 25', '', '...'])(
    'cuts "%s" as bots do, and knows where each word stands',
    (text) => {
      const tokens = spannedTokens(text);
      expect(tokens.map(({ word }) => word)).toEqual(tokenise(text));
      for (const { from, to } of tokens) expect(text.slice(from, to).trim()).not.toBe('');
    },
  );

  it('finds every place of a phrase, and an empty one nowhere', () => {
    expect(phraseSpans(spannedTokens('go on, go on'), ['go', 'on'])).toEqual([
      { from: 0, to: 5 },
      { from: 7, to: 12 },
    ]);
    expect(phraseSpans(spannedTokens('go'), [])).toEqual([]);
  });
});

describe('checkedValue', () => {
  it.each([
    ['asha dot rao at the rate gmail dot com', 'asha.rao@gmail.com'],
    ['asha  underscore rao at\tgmail dot com', 'asha_rao@gmail.com'],
    [`a${' '.repeat(100_000)}b`, undefined],
  ])('writes a said address: %#', (said, written) => {
    expect(checkedValue(field({ type: 'email', ...understand('email') }), said)).toBe(written);
  });
});

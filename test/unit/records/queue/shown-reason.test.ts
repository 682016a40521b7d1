import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shownReason } from '../../../../src/records/queue/board-queue.ts';

const TEXT_IN_LOG = 'an error without a code, whose text stands in the log';

describe('the reason of a failure on a page', () => {
  it.each([
    ['keeps our own words', 'OFFHOOK_JOB_SUBJECT: there is no such call', 'OFFHOOK_JOB_SUBJECT: there is no such call'],
    [
      'keeps the status that an endpoint answered',
      'OFFHOOK_WEBHOOK_FAILED: a delivery failed: answered 500',
      'OFFHOOK_WEBHOOK_FAILED: a delivery failed: answered 500',
    ],
    [
      'leaves out what a model or the platform said',
      'OFFHOOK_ANALYSIS_MODEL: the model gave no answer: 400 my name is Ann',
      'OFFHOOK_ANALYSIS_MODEL: the model gave no answer',
    ],
    [
      'leaves out what the platform said',
      'OFFHOOK_SPEECH_FAILED: synthesis: cannot say my name is Ann',
      'OFFHOOK_SPEECH_FAILED: synthesis',
    ],
    ['leaves out what is quoted', 'OFFHOOK_STORE_RECORD: "my name" is no name', 'OFFHOOK_STORE_RECORD: … is no name'],
    ['leaves out a quote that is not closed', "OFFHOOK_X: the bot's text 'my name", "OFFHOOK_X: the bot's text …"],
    ['hides numbers', 'OFFHOOK_X: the number +91 98123 45678 is busy', 'OFFHOOK_X: the number [phone] is busy'],
    ['hides mail addresses', 'OFFHOOK_X: ann@example.com is away', 'OFFHOOK_X: [email] is away'],
    ['hides tokens', `OFFHOOK_X: refused ${'k'.repeat(24)} here`, 'OFFHOOK_X: refused … here'],
    ['tells nothing of an error without a code', 'Unexpected token, "my name is Ann"', TEXT_IN_LOG],
    ['but its system code', 'connect ECONNREFUSED 127.0.0.1:6379', `ECONNREFUSED: ${TEXT_IN_LOG}`],
    ['keeps why a job was stalled', 'job stalled more than allowable limit', 'job stalled more than allowable limit'],
  ])('%s', (_note, reason, shown) => {
    expect(shownReason(reason)).toBe(shown);
  });

  it('shows no long number and no quoted text, whatever surrounds them', () => {
    const digits = fc.stringMatching(/^[1-9]\d{8,14}$/);
    const around = fc.string({ maxLength: 20 }).map((text) => text.replaceAll(/[\d"]/gu, ''));
    fc.assert(
      fc.property(around, digits, around, (before, number, after) => {
        const shown = shownReason(`OFFHOOK_X: ${before} ${number} "said ${before}Ann" ${after}`);
        expect(shown).not.toContain(number);
        expect(shown).not.toContain('Ann');
        expect(shown.startsWith('OFFHOOK_X: ')).toBe(true);
      }),
    );
  });
});

import { describe, expect, it, test } from 'vitest';
import { dispositionOf, type EndedDial, unanswered } from '../../../src/outbound/attempt-steps.ts';

const person: EndedDial = {
  endReason: 'caller-hangup',
  answeredBy: 'person',
  optOut: undefined,
  callBack: false,
  message: undefined,
  identified: true,
};

describe('dispositionOf', () => {
  test.each([
    { note: 'a person who heard who calls', dial: {}, is: 'completed' },
    { note: 'nobody knows who, but the first sentence was heard', dial: { answeredBy: undefined }, is: 'completed' },
    { note: 'hung up before the first sentence was over', dial: { identified: false }, is: 'abandoned' },
    { note: 'the bot hung up before it', dial: { identified: false, endReason: 'hangup' }, is: 'abandoned' },
    { note: 'connected to somebody else', dial: { endReason: 'transferred' }, is: 'transferred' },
    { note: 'a transfer that failed after the first sentence', dial: { endReason: 'transfer-failed' }, is: 'completed' },
    { note: 'wants no more calls', dial: { optOut: 'opt-out', identified: false }, is: 'opt-out' },
    { note: 'wants none, and our process died', dial: { optOut: 'opt-out', endReason: 'process-died' }, is: 'opt-out' },
    { note: 'is somebody else', dial: { optOut: 'wrong-number' }, is: 'wrong-number' },
    { note: 'wants none, and to be called back', dial: { optOut: 'opt-out', callBack: true }, is: 'opt-out' },
    { note: 'wants to be called later', dial: { callBack: true }, is: 'call-back' },
    { note: 'wants to be called later, at no time in particular', dial: { endReason: 'call-back' }, is: 'call-back' },
    { note: 'a mailbox that took the message', dial: { answeredBy: 'mailbox', message: 'all' }, is: 'message-left' },
    { note: 'a mailbox that took a part', dial: { answeredBy: 'mailbox', message: 'part' }, is: 'mailbox' },
    { note: 'a mailbox without a message', dial: { answeredBy: 'mailbox' }, is: 'mailbox' },
    { note: 'a full mailbox', dial: { answeredBy: 'mailbox-full' }, is: 'mailbox-full' },
    { note: 'a screener', dial: { answeredBy: 'screening' }, is: 'screening' },
    { note: 'a menu', dial: { answeredBy: 'ivr' }, is: 'ivr' },
    { note: 'a queue', dial: { answeredBy: 'hold' }, is: 'hold' },
    { note: 'a fax', dial: { answeredBy: 'fax' }, is: 'fax' },
    { note: 'a bot', dial: { answeredBy: 'bot' }, is: 'bot' },
    { note: 'silence', dial: { answeredBy: 'silence', identified: false }, is: 'silence' },
    { note: 'our dialog failed', dial: { endReason: 'dialog-failed' }, is: 'failed' },
    { note: 'our process died', dial: { endReason: 'process-died' }, is: 'failed' },
    { note: 'the platform was away', dial: { endReason: 'speech-unavailable' }, is: 'failed' },
    { note: 'the line broke before anything was heard', dial: { endReason: 'carrier-lost', identified: false }, is: 'failed' },
    { note: 'the line broke later', dial: { endReason: 'carrier-lost' }, is: 'completed' },
    { note: 'we stopped before anything was heard', dial: { endReason: 'shutdown', identified: false }, is: 'failed' },
  ] as const)('$note: $is', ({ dial, is }) => expect(dispositionOf({ ...person, ...dial })).toBe(is));
});

it('takes the carrier at its word for unanswered calls', () => {
  const ends = ['busy', 'no-answer', 'rejected', 'failed', 'cancelled', 'completed'] as const;
  expect(ends.map(unanswered)).toEqual(['busy', 'no-answer', 'rejected', 'failed', 'cancelled', undefined]);
});

import { describe, expect, it, test } from 'vitest';
import { lockedOpening, mailboxClosing, missingForDuties, recordingRule } from '../../../../src/call/control/duties.ts';
import { OutboundLog } from '../../../../src/call/log/outbound-log.ts';
import { HeardLedger } from '../../../../src/call/outbound/heard-ledger.ts';
import type { CallIdentity } from '../../../../src/call/log/call-record.ts';
import { botSettings } from '../../../../src/config/bots.ts';
import type { DialogAction, DialogTurn } from '../../../../src/dialog/port.ts';
import { CallBench } from '../call-bench.ts';

const bot = botSettings.parse({ name: 'bench', voice: 'Nisha', dialog: { kind: 'module', file: 'bench.js' } });
const ACME = { identityName: 'Acme', callbackNumber: '+18005550100' };
const duties = (...names: string[]) => names.map((duty) => ({ duty }));

const US = duties('say-identity-first', 'say-callback-number', 'opt-out-in-call', 'opt-out-on-mailbox', 'ring-at-least');

describe('the opening of a call that we place', () => {
  test.each([
    { note: 'nothing where no duty asks for it', of: duties('ring-at-least'), says: [] },
    { note: 'that a machine calls, in the EU', of: duties('say-machine-first'), says: ['This is an automated call from Acme.'] },
    {
      note: 'who calls, how to refuse and where, in the US',
      of: US,
      says: [
        'This is an automated call from Acme.',
        'Say stop or press 9 to not be called again.',
        'You can also call us at one, eight zero zero, five five five, zero one zero zero.',
      ],
    },
    {
      note: 'the same in Hindi',
      of: duties('say-machine-first', 'opt-out-in-call'),
      language: 'hi-IN',
      says: ['यह Acme की ओर से एक स्वचालित कॉल है।', 'दोबारा कॉल न पाने के लिए बंद करो बोलिए, या 9 दबाइए।'],
    },
  ])('says $note', ({ of, language, says }) => {
    expect(lockedOpening(bot, ACME, of, language)).toEqual(says);
  });

  it("says the bot's own name, number, key and words", () => {
    const own = botSettings.parse({
      ...bot,
      identity: { name: 'Acme Dental', callbackNumber: '+18005550199' },
      optOutKey: '*',
      phrases: { en: { disclosure: 'Hello! I am the computer of {name}.' } },
    });
    expect(lockedOpening(own, ACME, duties('opt-out-in-call', 'say-identity-first'))).toEqual([
      'Hello! I am the computer of Acme Dental.',
      'Say stop or press star to not be called again.',
    ]);
    expect(mailboxClosing(own, ACME, US)).toContain('zero one nine nine');
  });

  it('cannot be worded away', () => {
    const worded = { ...bot, phrases: { en: { disclosure: 'Hi there!' } } };
    expect(botSettings.safeParse(worded).error?.issues[0]?.message).toBe('a sentence with {name} in it');
  });

  it('ends a message on a mailbox only where a duty asks for it', () => {
    expect(mailboxClosing(bot, ACME, duties('say-callback-number'))).toBeUndefined();
    expect(mailboxClosing(bot, ACME, US)).toBe(
      'To not be called again, call one, eight zero zero, five five five, zero one zero zero.',
    );
  });
});

it('names everything that a call has to say and cannot', () => {
  expect(missingForDuties(bot, {}, US)).toEqual([
    'say-identity-first: set dialling.identityName, or identity.name of the bot, to the name that the call is made for',
    'say-callback-number, opt-out-on-mailbox: set dialling.callbackNumber, or identity.callbackNumber of the bot, to a number in E.164 that takes requests not to be called',
  ]);
  expect(missingForDuties(bot, ACME, US)).toEqual([]);
  expect(missingForDuties(bot, {}, duties('ring-at-least', 'opt-out-in-call'))).toEqual([]);
  expect(missingForDuties({ ...bot, identity: { name: 'Acme' } }, {}, duties('say-machine-first'))).toEqual([]);
});

it('keeps no sound before consent where the law asks for it', () => {
  expect(recordingRule({ recording: 'always' }, duties('recording-consent'))).toBe('after-consent');
  expect(recordingRule({ recording: 'never' }, duties('recording-consent'))).toBe('never');
  expect(recordingRule({ recording: 'always' }, US)).toBe('always');
});

const GREETING = 'Your order is ready for you to fetch.';
async function* shop(turn: DialogTurn): AsyncIterable<DialogAction> {
  if (turn.input.kind === 'start') yield { type: 'say', text: GREETING };
  if (turn.input.kind === 'spoken') yield { type: 'say', text: `You said ${turn.input.text}.` };
}

function placed(named: readonly { readonly duty: string }[]): CallBench {
  const identity: Partial<CallIdentity> = {
    inbound: {
      carrier: 'bench',
      carrierCallId: 'CA1',
      from: '+15550100',
      to: '+15550199',
      direction: 'outbound',
      botName: 'bench',
    },
    outbound: { variables: {}, metadata: {}, duties: named },
  };
  return new CallBench(shop, {}, identity);
}

const said = (bench: CallBench): readonly string[] => bench.news.flatMap((news) => (news.type === 'saying' ? [news.text] : []));
const DISCLOSURE = 'This is an automated call from Acme.';
/** 60 ms a character. */
const DISCLOSURE_MS = DISCLOSURE.length * 60;

describe('a call that has to say who calls', () => {
  it("says it before anything of the bot's, and proves that it was heard", async () => {
    using bench = placed(US);
    await bench.answered();
    await bench.quiet(20_000);
    expect(said(bench).slice(0, 4)).toEqual([...lockedOpening(bot, ACME, US), GREETING]);
    expect((await bench.hangUp('done')).outbound?.identified).toBe(true);
  });

  it('is not interrupted before it has', async () => {
    using bench = placed(duties('say-machine-first'));
    await bench.answered();
    await bench.voice(800);
    bench.recognised(0, 'hello who is there');
    await bench.quiet(DISCLOSURE_MS - 1_200);
    expect(bench.attachment.clears).toBe(0);
    expect(bench.attachment.playing).toBe(true);
    await bench.quiet(4_000);
    expect((await bench.hangUp('done')).outbound?.identified).toBe(true);
  });

  it('did not where the person hung up before its end', async () => {
    using bench = placed(duties('say-machine-first'));
    await bench.answered();
    await bench.quiet(DISCLOSURE_MS - 600);
    bench.attachment.emit({ type: 'stopped', reason: 'caller-hangup' });
    await bench.wait(3_000);
    expect((await bench.session.ended).outbound?.identified).toBe(false);
  });

  it.each([
    { by: 'mailbox', identified: false },
    { by: 'screening', identified: false },
    { by: 'silence', identified: true },
    { by: 'person', identified: true },
  ] as const)('has said so $identified where it was heard by a $by', ({ by, identified }) => {
    const log = new OutboundLog({ variables: {}, metadata: {}, duties: [] });
    log.identifiesBy('This is an automated call from Dr. Lal.', 1);
    log.opinion(by, 900, 0.9);
    const ledger = new HeardLedger(8_000);
    for (const [index, text] of ['Hello.', 'This is an automated call from Dr.', 'Lal.', 'Say stop.'].entries()) {
      ledger.queued({ unitId: String(index), turnIndex: index === 0 ? 0 : 1, text });
      // Neither what was said before, nor what comes after it, has to be heard.
      if (text.includes('Lal') || text.includes('Dr.')) ledger.played(String(index), true);
    }
    expect(log.record(ledger.sentences()).identified).toBe(identified);
  });

  it('can be refused by "stop", and by the key, from the first moment', async () => {
    for (const act of [
      (bench: CallBench) => void bench.recognised(0, 'Stop. Stop!'),
      (bench: CallBench) => bench.attachment.emit({ type: 'digit', digit: '9' }),
    ]) {
      using bench = placed(US);
      await bench.answered();
      await bench.quiet(600);
      act(bench);
      await bench.quiet(6_000);
      expect(await bench.session.ended).toMatchObject({ endReason: 'opt-out', outbound: { identified: false } });
      expect(bench.refused).toMatchObject([{ number: '+15550199', kind: 'opt-out' }]);
    }
  });

  it('keeps the plain meaning of "stop" where the bot did not offer it', async () => {
    using bench = placed([]);
    await bench.answered();
    await bench.quiet(600);
    bench.recognised(0, 'stop');
    await bench.quiet(4_000);
    expect(bench.refused).toEqual([]);
  });
});

import { expect, it } from 'vitest';
import { noise, seededRandom, sine } from '../../../../src/audio/tone.ts';
import { botAnswering, type BotAnswering } from '../../../../src/config/bot-answering.ts';
import type { DialogAction, DialogTurn } from '../../../../src/dialog/port.ts';
import { CallBench, type DialogScript } from '../call-bench.ts';

const greeting: DialogScript = async function* greet(turn: DialogTurn): AsyncIterable<DialogAction> {
  yield { type: 'say', text: turn.input.kind === 'start' ? 'Hello, this is Anna of the clinic.' : 'I see.' };
};

const random = seededRandom(3);
/** Speech-like enough for a detector that is told: loud, and never the same. */
const speech = (ms: number) => noise(ms, 8_000, 0.3, random);

function placed(
  settings: Partial<Record<keyof BotAnswering, unknown>> = {},
  duties: readonly { duty: string }[] = [],
  dialog: DialogScript = greeting,
): CallBench {
  return new CallBench(
    dialog,
    { answered: botAnswering.parse(settings) },
    {
      inbound: {
        carrier: 'bench',
        carrierCallId: 'CA1',
        from: '+15550100',
        to: '+15550123',
        direction: 'outbound',
        botName: undefined,
      },
      outbound: { variables: { name: 'Asha' }, metadata: {}, duties },
    },
  );
}

const said = (call: CallBench) => call.session.standing.botText;
const opinions = (call: CallBench) => call.news.flatMap((news) => (news.type === 'answered-by' ? [news.by] : []));

/** A mailbox greets, as it is recognised. */
async function mailboxGreets(call: CallBench): Promise<CallBench> {
  await call.quiet(400);
  await call.sound(speech(1_500));
  call.partial(0, 'you have reached the voicemail of');
  await call.sound(speech(1_500));
  call.partial(0, 'you have reached the voicemail of john please leave a message after the tone');
  return call.quiet(400);
}

it('says nothing before the call is answered', async () => {
  using call = placed();
  await call.start(1_000);
  expect(call.asked).toEqual([]);
  expect(call.attachment.sentSamples).toBe(0);
});

it('greets a person within 800 ms of their hello, and tells the dialog what they said', async () => {
  using call = placed();
  await call.start(500);
  await call.sound(speech(500));
  call.partial(0, 'hello who is this');
  const endMs = call.clock.nowMs();
  for (let waited = 0; call.attachment.sentSamples === 0 && waited < 2_000; waited += 20) await call.quiet(20);
  expect(call.clock.nowMs() - endMs).toBeLessThanOrEqual(500);
  expect(call.asked[0]).toMatchObject({
    index: 0,
    input: { kind: 'start', heard: 'hello who is this' },
    call: { direction: 'outbound', answeredBy: 'person' },
  });
  expect(opinions(call)).toEqual(['person']);
});

it('does not take the late words of a hello for an answer to the greeting', async () => {
  using call = placed();
  await call.start(300);
  await call.sound(speech(500));
  await call.quiet(500);
  call.partial(0, 'hel');
  await call.quiet(100);
  call.recognised(0, 'hello');
  await call.quiet(6_000);
  expect(call.asked).toHaveLength(1);
  const { turns } = await call.hangUp('done');
  expect(turns.map(({ callerText }) => callerText)).toEqual(['hello']);
});

it('speaks first into silence, and ends as silence without a reply', async () => {
  using call = placed({ speakFirstMs: 2_000 });
  await call.start(1_700);
  expect(call.asked).toEqual([]);
  await call.quiet(400);
  expect(call.asked.map(({ input }) => input.kind)).toEqual(['start']);
  await call.quiet(80_000);
  const { endReason, outbound } = await call.session.ended;
  expect([endReason, outbound?.answeredBy]).toEqual(['silence', 'silence']);
});

it('leaves the whole message on a mailbox, after its beep', async () => {
  using call = placed({ mailbox: { message: 'Hello {{ name }}, your visit is tomorrow. Goodbye.' } });
  await mailboxGreets(await call.start());
  expect([call.asked, opinions(call)]).toEqual([[], ['mailbox']]);
  await call.quiet(600);
  expect(said(call)).toBe('');
  await call.sound(sine(1_000, 400, 8_000, 0.3));
  await call.quiet(10_000);
  const record = await call.session.ended;
  expect(record.endReason).toBe('message-left');
  expect(record.outbound).toMatchObject({ answeredBy: 'mailbox', message: 'all' });
  expect(record.turns).toMatchObject([
    {
      callerText: 'you have reached the voicemail of john please leave a message after the tone',
      botHeardText: 'Hello Asha, your visit is tomorrow. Goodbye.',
    },
  ]);
});

it('leaves the message after a silence on a mailbox without a beep', async () => {
  using call = placed({ mailbox: { message: 'Please call us.', quietMs: 3_000 } });
  await mailboxGreets(await call.start());
  await call.quiet(2_000);
  expect(said(call)).toBe('');
  await call.quiet(6_000);
  expect((await call.session.ended).outbound).toMatchObject({ message: 'all' });
});

it('says on a mailbox how further calls are refused, where that is a duty', async () => {
  using call = placed({ mailbox: { message: 'Please call us.' } }, [{ duty: 'opt-out-on-mailbox' }]);
  await mailboxGreets(await call.start());
  await call.sound(sine(1_000, 400, 8_000, 0.3));
  await call.quiet(20_000);
  const { turns, outbound, endReason } = await call.session.ended;
  expect(turns.map(({ botHeardText }) => botHeardText)).toEqual([
    'Please call us.',
    'To not be called again, call one, eight zero zero, five five five, zero one zero zero.',
  ]);
  expect([outbound?.message, endReason]).toEqual(['all', 'message-left']);
});

it('has the dialog say the message, which is told that a mailbox answered', async () => {
  using call = placed({ mailbox: {} });
  await mailboxGreets(await call.start());
  await call.sound(sine(1_000, 400, 8_000, 0.3));
  await call.quiet(10_000);
  const { endReason, outbound } = await call.session.ended;
  expect(call.asked).toMatchObject([{ input: { kind: 'start' }, call: { answeredBy: 'mailbox' } }]);
  expect([endReason, outbound?.message]).toEqual(['message-left', 'all']);
});

it('records that part of a message was left when the mailbox hangs up in it', async () => {
  using call = placed({ mailbox: { message: 'A message that takes a long time to be said to its very end.' } });
  await mailboxGreets(await call.start());
  await call.sound(sine(1_000, 400, 8_000, 0.3));
  await call.quiet(1_000);
  call.attachment.emit({ type: 'stopped', reason: 'stopped' });
  await call.wait(2_000);
  const { endReason, outbound } = await call.session.ended;
  expect([endReason, outbound?.message]).toEqual(['mailbox', 'part']);
});

it('hangs up on a mailbox where the bot leaves no message', async () => {
  using call = placed();
  await mailboxGreets(await call.start());
  await call.quiet(2_500);
  const { endReason, outbound } = await call.session.ended;
  expect([endReason, outbound?.message]).toEqual(['mailbox', undefined]);
});

it('stops a greeting that a mailbox hears, and leaves the message', async () => {
  using call = placed({ mailbox: { message: 'Please call us.' } });
  await call.start();
  await call.sound(speech(500));
  await call.quiet(600);
  expect(call.asked).toHaveLength(1);
  await call.sound(speech(1_000));
  call.partial(0, 'hi this is john i cannot come to the phone');
  await call.sound(speech(1_500));
  call.partial(0, 'hi this is john i cannot come to the phone please leave a message after the beep');
  await call.quiet(600);
  await call.sound(sine(850, 300, 8_000, 0.2));
  await call.quiet(8_000);
  const { endReason, outbound, turns } = await call.session.ended;
  expect(opinions(call)).toEqual(['person', 'mailbox']);
  expect([endReason, outbound?.message]).toEqual(['message-left', 'all']);
  expect(call.asked).toHaveLength(1);
  expect(turns.at(-1)?.botHeardText).toBe('Please call us.');
});

it('talks to a person who speaks up while a message is left', async () => {
  using call = placed({ mailbox: { message: 'This is a message that takes a while to be said to the end of it.' } });
  await mailboxGreets(await call.start());
  await call.sound(sine(1_000, 400, 8_000, 0.3));
  await call.quiet(1_000);
  await call.sound(speech(600));
  call.partial(1, 'hello hello i am here');
  await call.quiet(1_500);
  expect(opinions(call)).toEqual(['mailbox', 'person']);
  expect(call.asked).toMatchObject([{ input: { kind: 'start', heard: 'hello hello i am here' } }]);
  await call.quiet(3_000);
  expect(call.session.standing.turn.answering).toBe(false);
  expect((await call.hangUp('done')).outbound).toMatchObject({ answeredBy: 'person', message: 'part' });
});

it('tells a screening assistant who calls, and greets the person who comes on', async () => {
  using call = placed({ screening: { say: 'Anna of the clinic, about the visit of {{ name }}.', waitMs: 20_000 } });
  await call.start(300);
  await call.sound(speech(2_000));
  call.partial(0, 'hi if you record your name and reason for calling');
  await call.sound(speech(1_500));
  call.partial(0, 'hi if you record your name and reason for calling i will see if this person is available');
  await call.quiet(1_000);
  expect(opinions(call)).toEqual(['screening']);
  expect(said(call)).toBe('Anna of the clinic, about the visit of Asha.');
  await call.quiet(6_000);
  expect(call.asked).toEqual([]);
  await call.sound(speech(500));
  call.partial(1, 'hello');
  await call.quiet(1_500);
  expect(call.asked).toMatchObject([{ input: { kind: 'start', heard: 'hello' }, call: { answeredBy: 'person' } }]);
});

it('hangs up on a screening assistant when no person comes on', async () => {
  using call = placed({ screening: { say: 'Anna of the clinic.', waitMs: 5_000 } });
  await call.start();
  await call.sound(speech(3_000));
  call.partial(0, 'please state your name and why you are calling');
  await call.quiet(9_000);
  expect((await call.session.ended).endReason).toBe('screening');
});

it('presses the keys of one menu after the other', async () => {
  using call = placed({ ivr: { keys: ['1', '0'], waitMs: 8_000 } });
  const pressed: string[] = [];
  call.control = {
    hangUp: async () => undefined,
    transfer: async () => undefined,
    sendDigits: async (_id, digits) => void pressed.push(digits),
  };
  await call.start();
  await call.sound(speech(3_000));
  call.partial(0, 'welcome for appointments press one for billing press two');
  await call.quiet(1_000);
  expect(pressed).toEqual(['1']);
  await call.quiet(1_500);
  await call.sound(speech(3_000));
  call.partial(1, 'for a new appointment press one or press zero for the operator');
  await call.quiet(1_000);
  expect(pressed).toEqual(['1', '0']);
  await call.quiet(9_000);
  expect((await call.session.ended).endReason).toBe('ivr');
});

it.each([
  { what: 'a fax', pcm: () => sine(2_100, 2_500, 8_000, 0.3), words: '', reason: 'fax' },
  {
    what: 'a mailbox that is full',
    pcm: () => speech(3_000),
    words: 'the mailbox is full and cannot accept any messages',
    reason: 'mailbox-full',
  },
  { what: 'another bot', pcm: () => speech(3_000), words: 'the number you have dialled is switched off', reason: 'bot' },
])('hangs up on $what', async ({ pcm, words, reason }) => {
  using call = placed({ mailbox: { message: 'Please call us.' } });
  await call.start(500);
  await call.sound(pcm());
  if (words !== '') call.partial(0, words);
  await call.quiet(3_000);
  const { endReason, outbound } = await call.session.ended;
  expect([endReason, outbound?.answeredBy]).toEqual([reason, reason]);
});

it('hears an opt-out in the first words of the person', async () => {
  using call = placed();
  await call.start();
  await call.sound(speech(1_500));
  call.recognised(0, "don't call me again");
  await call.quiet(1_000);
  expect(call.refused).toMatchObject([{ kind: 'opt-out', number: '+15550123' }]);
  await call.quiet(6_000);
  expect((await call.session.ended).endReason).toBe('opt-out');
  expect(call.asked).toEqual([]);
});

it('hears no opt-out in what a machine asks, and one in what the person says who comes on', async () => {
  using call = placed({ screening: { say: 'Anna of the clinic.', waitMs: 20_000 } });
  await call.start();
  await call.sound(speech(3_000));
  call.recognised(0, 'please state your name and why you are calling');
  await call.quiet(6_000);
  expect([opinions(call), call.refused]).toEqual([['screening'], []]);
  await call.sound(speech(900));
  call.recognised(1, "hello don't call me again");
  await call.quiet(3_000);
  expect(call.refused).toMatchObject([{ kind: 'opt-out' }]);
});

it('hears the key that opts out before anybody was greeted', async () => {
  using call = placed({}, [{ duty: 'opt-out-in-call' }]);
  await call.start(600);
  call.attachment.emit({ type: 'digit', digit: '9' });
  await call.quiet(6_000);
  expect(call.refused).toMatchObject([{ kind: 'opt-out', how: 'keyed' }]);
  expect((await call.session.ended).endReason).toBe('opt-out');
});

it('takes the word of the carrier as one more witness', async () => {
  using call = placed({ mailbox: { message: 'Please call us.' } });
  await call.start();
  await call.sound(speech(4_000));
  expect(opinions(call)).toEqual([]);
  call.session.witness('machine-done');
  call.session.witness('unknown');
  await call.quiet(20);
  expect(opinions(call)).toEqual(['mailbox']);
});

it('keeps each opinion with its time in the record and the timeline', async () => {
  using call = placed();
  await call.start(400);
  await call.sound(speech(500));
  await call.quiet(600);
  const { outbound, timeline } = await call.hangUp('done');
  expect(outbound?.opinions).toMatchObject([{ by: 'person' }]);
  expect(outbound?.opinions[0]?.atMs).toBeGreaterThan(900);
  expect(outbound?.opinions[0]?.atMs).toBeLessThan(1_600);
  expect(timeline.filter(({ type }) => type === 'answered-by')).toHaveLength(1);
});

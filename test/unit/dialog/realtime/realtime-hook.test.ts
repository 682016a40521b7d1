import { describe, expect, it, test } from 'vitest';
import { ALAW_8K } from '../../../../src/audio/format.ts';
import type { DialogAction, DialogHook, DialogTurn } from '../../../../src/dialog/port.ts';
import type { ManualClock } from '../../../support/manual-clock.ts';
import { spoken, turnOf } from '../../../integration/dialog/bot-server.ts';
import { endOf, greeted, realtimeBench, says, settingsSent, textBench, toolOf } from './realtime-bench.ts';

const HOURS = 'We are open from eight in the morning to six in the evening, and on Saturdays until noon.';
const BOOKED = 'Fine, I have written that down for you.';

describe('a bot whose dialog is a speech-to-speech model', () => {
  it("answers the caller's audio with the model's, and keeps the words of both", async () => {
    const { bench, sim } = realtimeBench({ replies: [{ say: HOURS }] });
    using _ = await greeted(bench, 'when are you open');
    await bench.quiet(7_000);
    const record = await endOf(bench);
    expect(record.turns[1]).toMatchObject({
      callerText: 'when are you open',
      botText: HOURS,
      botHeardText: HOURS,
      interrupted: false,
    });
    // Sound before the turn, the turn, and the silence that ended it.
    const [greeting, heard] = sim.conversation;
    expect(greeting).toMatchObject({ role: 'assistant', text: 'Hello, this is the clinic.' });
    expect(heard?.role).toBe('user');
    expect(heard?.audioMs).toBeGreaterThan(800);
    expect(heard?.audioMs).toBeLessThan(2_500);
    expect(sim.complaints).toEqual([]);
  });

  it('greets by the model where no greeting is written', async () => {
    const { bench, sim } = realtimeBench({ replies: [{ say: 'Good morning!' }], settings: { greeting: undefined } });
    using _ = bench;
    await bench.start();
    await bench.quiet(3_000);
    expect((await endOf(bench)).turns[0]?.botHeardText).toBe('Good morning!');
    expect(sim.conversation[0]).toMatchObject({ role: 'system', text: '(The call was just answered. Greet the caller.)' });
  });

  test.each([
    { note: 'mu-law', leg: undefined, format: { type: 'audio/pcmu' } },
    { note: 'A-law', leg: { rateHz: 8_000, speechFormat: ALAW_8K }, format: { type: 'audio/pcma' } },
    {
      note: 'a wideband line as PCM',
      leg: { rateHz: 16_000, speechFormat: { encoding: 'pcm16', rateHz: 16_000 } as const },
      format: { type: 'audio/pcm', rate: 24_000 },
    },
  ])('sends and takes $note', async ({ leg, format }) => {
    const { bench, sim } = realtimeBench({ replies: [{ say: HOURS }], ...(leg === undefined ? {} : { leg }) });
    using _ = await greeted(bench);
    if (leg?.rateHz !== 16_000) await says(bench, 0, 'when are you open');
    const { audio } = settingsSent(sim);
    expect([audio.input.format, audio.output.format]).toEqual([format, format]);
    expect(sim.complaints).toEqual([]);
  });

  it('tells the model to within 20 ms what the caller heard of an interrupted reply', async () => {
    const { bench, sim } = realtimeBench({ replies: [{ say: HOURS }, { say: BOOKED }] });
    using _ = await greeted(bench, 'when are you open');
    await bench.quiet(2_000);
    await says(bench, 1, 'I would like an appointment');
    await bench.quiet(3_000);
    const speech = sim.conversation.find(({ text }) => text === HOURS);
    const [, heard = 0] = soundsOf(bench.attachment.heard);
    expect(bench.attachment.clears).toBe(1);
    expect(speech?.heardMs).toBeGreaterThan(1_000);
    expect(speech?.heardMs).toBeLessThan(3_500);
    const record = await endOf(bench);
    const inLedger = record.sentences.find(({ text }) => text === HOURS)?.heard.likelyMs ?? 0;
    expect(Math.abs((speech?.heardMs ?? 0) - inLedger)).toBeLessThanOrEqual(20);
    // The ledger and the line count in frames of 20 ms.
    expect(Math.abs((speech?.heardMs ?? 0) - heard)).toBeLessThanOrEqual(40);
    expect(record.turns[1]).toMatchObject({ interrupted: true });
    expect(record.turns[1]?.botHeardText.length).toBeLessThan(HOURS.length);
    expect(record.turns[2]?.botHeardText).toBe(BOOKED);
    expect(sim.complaints).toEqual([]);
  });

  it('goes on where it stopped after a cough', async () => {
    const { bench, sim } = realtimeBench({ replies: [{ say: HOURS }] });
    using _ = await greeted(bench, 'when are you open');
    await bench.quiet(1_500);
    await bench.voice(160);
    await bench.quiet(8_000);
    expect(bench.floor()).toContain('hold');
    expect((await endOf(bench)).turns).toHaveLength(2);
    expect(sim.conversation.filter(({ role }) => role === 'user')).toHaveLength(1);
    expect(sim.conversation.at(-1)?.heardMs).toBeUndefined();
  });

  it('drops an answer that the caller takes back before they heard it', async () => {
    const { bench, sim } = realtimeBench({ replies: [{ say: HOURS }, { say: BOOKED }], thinkMs: 600 });
    using _ = await greeted(bench, 'when are you open');
    await says(bench, 1, 'on a Saturday');
    await bench.quiet(4_000);
    const record = await endOf(bench);
    expect(record.turns).toHaveLength(2);
    expect(record.turns[1]).toMatchObject({ callerText: 'when are you open on a Saturday', botHeardText: BOOKED });
    expect(sim.complaints).toEqual([]);
  });

  it('reports the tokens of each answer once', async () => {
    const { bench, used } = realtimeBench({ replies: [{ say: HOURS }] });
    using _ = await greeted(bench, 'when are you open');
    await bench.quiet(6_000);
    expect(used).toHaveLength(1);
    expect(used[0]).toMatchObject({ vendor: 'openai', model: 'gpt-realtime', units: { 'output-audio-tokens': 90 } });
  });

  it('says goodbye at the limit of tokens of a call', async () => {
    const { bench } = realtimeBench({ replies: [{ say: HOURS }], settings: { maxCallTokens: 50 } });
    using _ = await greeted(bench, 'when are you open');
    await bench.quiet(6_000);
    await says(bench, 1, 'and tomorrow');
    await bench.quiet(3_000);
    const record = await endOf(bench);
    expect(record).toMatchObject({ endReason: 'token-limit', notes: ['limit of 50 tokens reached'] });
    expect(record.turns.at(-1)?.botHeardText).toBe('Goodbye.');
  });
});

describe('a conversation in text', () => {
  it('gives the model the words, and passes its own on', async () => {
    const { hook, sim, clock } = textBench([{ say: HOURS }]);
    expect(await said(hook, turnOf({ kind: 'start' }, 0), clock)).toEqual(['Hello, this is the clinic.']);
    const history = [{ role: 'bot', text: 'Hello, this is the clinic.' }] as const;
    expect(await said(hook, turnOf(spoken('when are you open'), 1, history), clock)).toEqual([HOURS]);
    expect(sim.conversation.map(({ role, text }) => `${role}: ${text}`).slice(0, 2)).toEqual([
      'assistant: Hello, this is the clinic.',
      'user: when are you open',
    ]);
    await hook.dispose?.();
  });
});

describe('the functions of the model', () => {
  it('calls a tool of the bot, and speaks about its result', async () => {
    const asked: unknown[] = [];
    const run = async (args: unknown): Promise<string> => {
      asked.push(args);
      return 'free: half past ten';
    };
    const { bench, sim } = realtimeBench({
      replies: [
        { calls: [{ name: 'free_times', args: { day: 'Tuesday' } }] },
        { say: 'Half past ten is free. Shall I book it?' },
      ],
      tools: [dayTool(run)],
    });
    using _ = await greeted(bench, 'is Tuesday free');
    await bench.quiet(4_000);
    const record = await endOf(bench);
    expect(asked).toEqual([{ day: 'Tuesday' }]);
    expect(sim.conversation.find(({ role }) => role === 'result')?.text).toBe('free: half past ten');
    expect(record.notes).toEqual(['tool free_times']);
    expect(record.turns[1]?.botHeardText).toBe('Half past ten is free. Shall I book it?');
    expect(sim.complaints).toEqual([]);
  });

  it('talks on while a slow tool runs, and tells its result in a pause', async () => {
    let finish: (result: string) => void = () => undefined;
    const slow = { say: { en: 'Let me look that up.' }, waitMs: 0 };
    const { bench, sim } = realtimeBench({
      replies: [
        { calls: [{ name: 'free_times', args: { day: 'Tuesday' } }] },
        { say: 'We are in Mill Street.' },
        { say: 'Half past ten is free.' },
      ],
      tools: [{ ...dayTool(() => new Promise<string>((resolve) => (finish = resolve))), slow }],
    });
    using _ = await greeted(bench, 'is Tuesday free');
    await bench.quiet(3_000);
    await says(bench, 1, 'where are you');
    await bench.quiet(4_000);
    finish('free: half past ten');
    await bench.quiet(5_000);
    const record = await endOf(bench);
    expect(record.turns.map(({ botHeardText }) => botHeardText)).toEqual([
      'Hello, this is the clinic.',
      'Let me look that up.',
      'We are in Mill Street.',
      'Half past ten is free.',
    ]);
    expect(
      sim.conversation.some(({ text }) => text.includes('The result of free_times({"day":"Tuesday"}): free: half past ten')),
    ).toBe(true);
    expect(sim.complaints).toEqual([]);
  });

  test.each([
    { name: 'hang_up', args: { reason: 'all said' }, endReason: 'all said' },
    { name: 'transfer_call', args: { to: 'desk' }, endReason: 'transferred' },
  ])('ends the call by $name once the words were heard', async ({ name, args, endReason }) => {
    const { bench, sim } = realtimeBench({ replies: [{ say: 'One moment.', calls: [{ name, args }] }] });
    using _ = bench;
    bench.control = { transfer: async () => undefined, hangUp: async () => undefined } as unknown as typeof bench.control;
    await bench.start();
    await bench.quiet(2_500);
    await says(bench, 0, 'that is all');
    await bench.quiet(4_000);
    const turn = (await endOf(bench)).turns[1];
    expect(turn?.botHeardText).toBe('One moment.');
    expect(bench.record?.endReason === endReason || bench.record?.transfers !== undefined).toBe(true);
    expect(sim.answers).toBe(1);
  });

  it('keeps values and notes, and refuses arguments it cannot use', async () => {
    const { bench, sim } = realtimeBench({
      replies: [
        {
          calls: [
            { name: 'remember', args: { name: 'day', value: 'Tuesday' } },
            { name: 'press_keys', args: { keys: 'abc' } },
            { name: 'open_door', args: {} },
          ],
        },
        { say: BOOKED },
      ],
    });
    using _ = await greeted(bench, 'Tuesday then');
    await bench.quiet(3_000);
    expect((await endOf(bench)).variables).toEqual({ day: 'Tuesday' });
    const results = sim.conversation.filter(({ role }) => role === 'result').map(({ text }) => text);
    expect(results).toEqual(['done', 'error: the arguments cannot be used', 'error: there is no function named open_door']);
  });

  it('tells the model which keys were pressed', async () => {
    const ask = { name: 'ask_keys', args: { kind: 'digits', digits: 4, say_again: 'Please key in your number.' } };
    const { bench, sim } = realtimeBench({ replies: [{ say: 'Please key in your number.', calls: [ask] }, { say: BOOKED }] });
    using _ = await greeted(bench, 'I have a number');
    await bench.quiet(2_500);
    for (const digit of '1234') {
      bench.attachment.emit({ type: 'digit', digit });
      await bench.quiet(200);
    }
    await bench.quiet(3_000);
    expect(sim.conversation.find(({ role }) => role === 'system')?.text).toBe('(The caller pressed these keys: 1234)');
    expect((await endOf(bench)).turns[2]?.botHeardText).toBe(BOOKED);
  });

  it('sends neither sound nor digits of a card number to the model, until the vault has it', async () => {
    const ask = { name: 'ask_keys', args: { kind: 'card', say_again: 'Please key in the card number.' } };
    const { bench, sim } = realtimeBench({
      replies: [{ say: 'Please key in your card number.', calls: [ask] }, { say: BOOKED }],
    });
    using _ = await greeted(bench, 'I would like to pay');
    await bench.quiet(3_000);
    const audioBefore = audioOf(sim);
    // The caller speaks in place of keying: the call asks again by itself.
    await bench.voice(800);
    await bench.quiet(9_000);
    for (const digit of '4111111111111111') {
      expect(sim.answers).toBe(1);
      bench.attachment.emit({ type: 'digit', digit });
      await bench.tone(digit, 60);
      await bench.quiet(60);
    }
    expect(audioOf(sim)).toBe(audioBefore);
    await bench.quiet(4_000);
    expect(sim.answers).toBe(2);
    // A new session learns nothing more of it.
    sim.dropAll();
    await bench.quiet(500);
    await says(bench, 1, 'what did I pay with');
    await bench.quiet(1_000);
    expect(JSON.stringify(sim.received)).not.toMatch(/1111/u);
    expect(sim.conversation.map(({ text }) => text)).toContain('(entered)');
    const record = await endOf(bench);
    expect(sim.conversations[0]?.filter(({ role }) => role === 'system').map(({ text }) => text)).toEqual([
      '(The caller has entered the card number. It is kept safe, and not shown to you.)',
    ]);
    expect(JSON.stringify([sim.received, record])).not.toMatch(/4111/u);
    expect(record.turns.map(({ botHeardText }) => botHeardText)).toContain('Please key in the card number.');
    expect(sim.complaints).toEqual([]);
  });
});

describe('faults of the vendor', () => {
  it('opens a session again that was lost in silence, with what the caller heard', async () => {
    const { bench, sim } = realtimeBench({ replies: [{ say: HOURS }, { say: BOOKED }] });
    using _ = await greeted(bench, 'when are you open');
    await bench.quiet(6_000);
    sim.dropAll();
    await bench.quiet(1_000);
    expect(sim.sessions).toBe(2);
    await says(bench, 1, 'then book Tuesday');
    await bench.quiet(3_000);
    const record = await endOf(bench);
    expect(record.turns[2]?.botHeardText).toBe(BOOKED);
    expect(sim.conversation.slice(0, 3).map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'assistant: Hello, this is the clinic.',
      'user: when are you open',
      `assistant: ${HOURS}`,
    ]);
    expect(sim.complaints).toEqual([]);
  });

  test.each(['drop', 'hang'] as const)('goes on with a reply in the middle of which the vendor does %s', async (kind) => {
    const { bench, sim } = realtimeBench({
      replies: [{ say: HOURS }, { say: 'And on Saturdays until noon.' }],
      fault: (index) => (index === 0 ? { kind, afterMs: kind === 'drop' ? 1_000 : 4_000 } : undefined),
    });
    using _ = await greeted(bench, 'when are you open');
    await bench.quiet(8_000);
    const record = await endOf(bench);
    expect(record.turns[1]?.botHeardText).toMatch(/^We are open .*And on Saturdays until noon\.$/u);
    // The silence before the reply is one; a vendor that only falls silent is found out later.
    expect(bench.attachment.gaps).toBeLessThanOrEqual(kind === 'drop' ? 1 : 2);
    const told = sim.conversation.map(({ role, text }) => `${role}: ${text}`);
    expect(told[1]).toBe('user: when are you open');
    expect(told[2]).toMatch(/^assistant: We are open/u);
    expect(told[3]).toMatch(/^system: \(The connection to you was lost/u);
    expect(sim.complaints).toEqual([]);
  });

  test.each(['garbage', 'error', 'late-audio', 'rate-limit'] as const)('answers in spite of %s', async (kind) => {
    const { bench, sim } = realtimeBench({
      replies: [{ say: kind === 'late-audio' ? HOURS : BOOKED }, { say: BOOKED }],
      fault: (index) => (index === 0 ? { kind } : undefined),
    });
    using _ = await greeted(bench, 'when are you open');
    if (kind === 'late-audio') await says(bench, 1, 'no, something else');
    await bench.quiet(5_000);
    const record = await endOf(bench);
    expect(record.turns.at(-1)?.botHeardText).toBe(BOOKED);
    expect(sim.complaints).toEqual([]);
  });

  it('hands the caller to another bot with the history, where the vendor is away', async () => {
    const heard: string[] = [];
    const { bench } = realtimeBench({
      replies: [{ say: HOURS }],
      refuse: () => 503,
      whenDown: { steps: [{ kind: 'bot', name: 'spare' }], phrasesIn: () => ({ downBot: 'A colleague takes over.' }) as never },
      others: () => [spareBot(heard)],
    });
    using _ = await greeted(bench, 'when are you open');
    await bench.quiet(8_000);
    const record = await endOf(bench);
    expect(record.turns.at(-1)?.botHeardText).toBe('A colleague takes over. This is the spare bot.');
    expect(heard).toEqual(['bot: Hello, this is the clinic.', 'caller: when are you open']);
  });

  it('replaces a session before the vendor ends it, between two turns', async () => {
    const { bench, sim } = realtimeBench({
      vendor: 'gemini',
      replies: [{ say: HOURS }, { say: BOOKED }],
      sessionMs: 12_000,
    });
    using _ = await greeted(bench, 'when are you open');
    await bench.quiet(6_500);
    expect(sim.sessions).toBe(2);
    await says(bench, 1, 'then book Tuesday');
    await bench.quiet(3_000);
    expect((await endOf(bench)).turns[2]?.botHeardText).toBe(BOOKED);
    expect(sim.complaints).toEqual([]);
  });

  it('gives the words of a turn whose sound went to a session that was lost', async () => {
    const { bench, sim } = realtimeBench({ replies: [{ say: BOOKED }] });
    using _ = await greeted(bench);
    await bench.voice(600);
    sim.dropAll();
    await says(bench, 0, 'I would like an appointment');
    await bench.quiet(3_000);
    expect((await endOf(bench)).turns[1]?.botHeardText).toBe(BOOKED);
    const told = sim.conversation.map(({ role, text, audioMs }) => `${role}: ${audioMs === 0 ? text : 'sound'}`);
    expect(told).toEqual(['assistant: Hello, this is the clinic.', 'user: I would like an appointment', 'assistant: sound']);
    expect(sim.complaints).toEqual([]);
  });

  it('answers within the limit, or is repeated once with an apology, where the vendor says nothing', async () => {
    const { bench, sim } = realtimeBench({
      replies: [{ say: HOURS }, { say: BOOKED }],
      fault: (index) => (index === 0 ? { kind: 'silent' } : undefined),
      settings: { timeoutMs: 2_000 },
    });
    using _ = await greeted(bench, 'when are you open');
    await bench.quiet(7_000);
    expect((await endOf(bench)).turns[1]?.botHeardText).toContain(BOOKED);
    expect(sim.answers).toBe(2);
  });

  it('hands the call to a speech-to-speech bot in mid-call, with the line and the history', async () => {
    const { bench, sim } = realtimeBench({
      replies: [{ say: 'Good morning from the model.' }],
      first: 'spare',
      settings: { greeting: undefined },
      others: () => [switchBot()],
    });
    using _ = await greeted(bench, 'the model please');
    await bench.quiet(4_000);
    expect((await endOf(bench)).turns[1]?.botHeardText).toBe('Good morning from the model.');
    expect(settingsSent(sim).audio.output.format).toEqual({ type: 'audio/pcmu' });
    expect(sim.conversation.map(({ role, text }) => `${role}: ${text}`)).toContain('user: the model please');
  });
});

describe('a model that finds the end of turns', () => {
  it('answers as soon as the model finds that the caller has finished', async () => {
    const { bench, sim } = realtimeBench({
      replies: [{ say: BOOKED }],
      settings: { turns: 'model' },
      bot: { endpointingMs: 3_000 },
    });
    using _ = await greeted(bench);
    await bench.voice(800);
    bench.partial(0, 'Tuesday please');
    await bench.quiet(300);
    sim.findTurnOver();
    await bench.quiet(60);
    bench.recognised(0, 'Tuesday please');
    await bench.quiet(3_000);
    expect(settingsSent(sim).audio.input.turn_detection).toEqual({
      type: 'semantic_vad',
      create_response: false,
      interrupt_response: false,
    });
    const record = await endOf(bench);
    expect(record.turns[1]).toMatchObject({ callerText: 'Tuesday please', botHeardText: BOOKED });
    expect(sim.complaints).toEqual([]);
  });
});

describe('Gemini Live', () => {
  it('has a conversation with a tool, an interruption and keys', async () => {
    const { bench, sim } = realtimeBench({
      vendor: 'gemini',
      replies: [
        { say: HOURS },
        { calls: [{ name: 'remember', args: { name: 'day', value: 'Tuesday' } }] },
        { say: BOOKED },
        { say: 'Goodbye then.', calls: [{ name: 'hang_up', args: { reason: 'all said' } }] },
      ],
    });
    using _ = await greeted(bench, 'when are you open');
    await bench.quiet(2_000);
    await says(bench, 1, 'book Tuesday');
    await bench.quiet(4_000);
    bench.attachment.emit({ type: 'digit', digit: '2' });
    await bench.quiet(5_000);
    const record = bench.record ?? (await endOf(bench));
    expect(record.turns.map(({ botHeardText }) => botHeardText).slice(2)).toEqual([BOOKED, 'Goodbye then.']);
    expect(record).toMatchObject({ endReason: 'all said', variables: { day: 'Tuesday' } });
    const notes = sim.conversation.filter(({ text }) => text.startsWith('(Your last words were interrupted'));
    expect(notes.map(({ text }) => text)).toEqual([expect.stringMatching(/heard only "We are open/u)]);
    expect(sim.complaints).toEqual([]);
  });
});

/** What a bot says in a turn, in time that passes by itself. */
async function said(hook: DialogHook, turn: DialogTurn, clock: ManualClock): Promise<string[]> {
  const texts: string[] = [];
  const run = (async () => {
    for await (const action of hook.respond(turn, new AbortController().signal))
      if (action.type === 'say') texts.push(action.text);
  })();
  for (let passedMs = 0; passedMs < 4_000; passedMs += 20) {
    clock.advance(20);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await run;
  return texts;
}

/** Lengths of what the caller heard, in ms, each between silences of 200 ms. */
function soundsOf(heard: Int16Array): number[] {
  const sounds: number[] = [];
  let [from, last] = [-1, -1];
  for (const [at, sample] of heard.entries()) {
    if (sample === 0) continue;
    if (last === -1 || at - last > 1_600) {
      if (from !== -1) sounds.push((last + 1 - from) / 8);
      from = at;
    }
    last = at;
  }
  return from === -1 ? sounds : [...sounds, (last + 1 - from) / 8];
}

function audioOf(sim: { readonly conversation: readonly { readonly role: string; readonly audioMs: number }[] }): number {
  return sim.conversation.filter(({ role }) => role === 'user').reduce((sum, { audioMs }) => sum + audioMs, 0);
}

function dayTool(run: (args: unknown) => Promise<string>) {
  return toolOf('free_times', 'Times that are free on a day', run);
}

function switchBot() {
  return moduleBot(async function* ({ input }) {
    if (input.kind === 'start') yield { type: 'say', text: 'Hello.' };
    else yield { type: 'bot', name: 'bench' };
  });
}

function spareBot(heard: string[]) {
  return moduleBot(async function* ({ history }) {
    heard.push(...history.map(({ role, text }) => `${role}: ${text}`));
    yield { type: 'say', text: 'This is the spare bot.' };
  });
}

function moduleBot(respond: (turn: DialogTurn) => AsyncIterable<DialogAction>) {
  const bot = { name: 'spare', language: 'en', voice: 'Nisha', dialog: { kind: 'module', file: 'spare.js' } } as const;
  return { bot, hooks: { create: () => ({ respond }) } };
}

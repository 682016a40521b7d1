import { PLATFORM_SYNTHESIS } from '../../../../src/speech/platform-capabilities.ts';
import { describe, expect, it } from 'vitest';
import { MULAW_8K } from '../../../../src/audio/format.ts';
import { PreparedGreeting } from '../../../../src/call/control/prepared-greeting.ts';
import type { CallFacts, DialogAction, DialogHookFactory, DialogTurn, GreetsAhead } from '../../../../src/dialog/port.ts';
import type { SynthesisRequest } from '../../../../src/speech/port.ts';
import { SentenceCutter } from '../../../../src/speech/tts/sentences.ts';

const CALL: CallFacts = {
  callId: 'call_1',
  carrierCallId: 'CA1',
  botName: 'reminder',
  from: '+15550100',
  to: '+919876543210',
  direction: 'outbound',
  language: 'en',
};
const VARIABLES = { name: 'Asha' };

/** A dialog that answers with what its script has for each time that it is asked. */
function bench(script: (time: number) => readonly DialogAction[] | Error, greetsAhead: GreetsAhead = 'ringing') {
  const asked: DialogTurn[] = [];
  const spoken: SynthesisRequest[] = [];
  let disposed = 0;
  const dialog: DialogHookFactory = {
    greetsAhead,
    create: () => ({
      async *respond(turn) {
        asked.push(turn);
        const answer = script(asked.length);
        if (answer instanceof Error) throw answer;
        yield* answer;
      },
      dispose: async () => void (disposed += 1),
    }),
  };
  const greeting = new PreparedGreeting({
    bot: { language: 'en', voice: 'Nisha', speed: 1 },
    dialog,
    call: CALL,
    variables: VARIABLES,
    format: MULAW_8K,
    voice: {
      createCutter: () => new SentenceCutter(),
      synthesizer: {
        capabilities: PLATFORM_SYNTHESIS,
        async *speak(request) {
          spoken.push(request);
          yield new Uint8Array(160);
        },
      },
    },
  });
  return { greeting, asked, spoken, disposed: () => disposed };
}

function turn(changes: Partial<DialogTurn> = {}): DialogTurn {
  return {
    call: CALL,
    index: 0,
    input: { kind: 'start' },
    history: [],
    variables: VARIABLES,
    idempotencyKey: 'call_1.0',
    ...changes,
  };
}

async function actionsOf(answer: AsyncIterable<DialogAction>): Promise<DialogAction[]> {
  const actions: DialogAction[] = [];
  for await (const action of answer) actions.push(action);
  return actions;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const say = (text: string, more = false): DialogAction => ({ type: 'say', text, ...(more ? { more } : {}) });
const { signal } = new AbortController();

it('asks for the greeting while the phone rings as for a turn that may never come, and has its first sentences made', async () => {
  const { greeting, asked, spoken } = bench(() => [
    say('Hello Asha. This is **Lakeside Clinic**. You have', true),
    say(' a check-up.'),
  ]);
  greeting.ask(true);
  await settle();
  expect(asked).toMatchObject([{ index: 0, early: true, idempotencyKey: 'call_1.0.early-0', variables: VARIABLES, call: CALL }]);
  expect(spoken).toMatchObject([
    { text: 'Hello Asha.', voice: 'Nisha', language: 'en', speed: 1, format: MULAW_8K },
    { text: 'This is Lakeside Clinic.' },
  ]);
});

it('uses what it has made where the dialog would be asked for the same, and asks from then on', async () => {
  const { greeting, asked } = bench((time) => [say(`Answer ${time}.`)]);
  greeting.ask(false);
  const hook = greeting.create();
  expect(await actionsOf(hook.respond(turn(), signal))).toEqual([say('Answer 1.')]);
  expect(asked).toMatchObject([{ idempotencyKey: 'call_1.0' }]);
  expect(asked[0]).not.toHaveProperty('early');
  expect(await actionsOf(hook.respond(turn(), signal))).toEqual([say('Answer 2.')]);
  expect(await actionsOf(hook.respond(turn({ index: 1, input: { kind: 'no-input', attempt: 1 } }), signal))).toEqual([
    say('Answer 3.'),
  ]);
});

describe('asks anew', () => {
  it.each([
    { note: 'where the person asked something', changes: { input: { kind: 'start', heard: 'who is this' } } },
    { note: 'where a mailbox answered', changes: { call: { ...CALL, answeredBy: 'mailbox' } } },
    { note: 'where a variable has changed', changes: { variables: { name: 'Ravi' } } },
  ] as const)('$note', async ({ changes }) => {
    const { greeting, asked } = bench((time) => [say(`Answer ${time}.`)]);
    greeting.ask(true);
    expect(await actionsOf(greeting.create().respond(turn(changes), signal))).toEqual([say('Answer 2.')]);
    expect(asked.at(-1)).toEqual(turn(changes));
  });

  it('where the dialog had failed', async () => {
    const { greeting } = bench((time) => (time === 1 ? new Error('the server is away') : [say('Here now.')]));
    greeting.ask(true);
    await settle();
    expect(await actionsOf(greeting.create().respond(turn(), signal))).toEqual([say('Here now.')]);
  });
});

it.each(['', 'Hello?', 'haan ji', 'हैलो, बोलिए', 'hello good morning'])(
  'takes %j for nothing that has to be answered',
  async (heard) => {
    const { greeting } = bench((time) => [say(`Answer ${time}.`)]);
    greeting.ask(true);
    const input = { kind: 'start', ...(heard === '' ? {} : { heard }) } as const;
    expect(await actionsOf(greeting.create().respond(turn({ input }), signal))).toEqual([say('Answer 1.')]);
  },
);

it('uses a greeting that is always the same whatever the person said', async () => {
  const { greeting } = bench((time) => [say(`Answer ${time}.`)], 'always-same');
  greeting.ask(true);
  const input = { kind: 'start', heard: 'who is this' } as const;
  expect(await actionsOf(greeting.create().respond(turn({ input }), signal))).toEqual([say('Answer 1.')]);
});

it('lets the dialog clean up where no call comes of it', async () => {
  const { greeting, disposed } = bench(() => [say('Hello.')]);
  greeting.ask(true);
  await greeting.discard();
  expect(disposed()).toBe(1);
});

import { expect, it } from 'vitest';
import type { DialogAction, DialogHookFactory, DialogTurn } from '../../../src/dialog/port.ts';
import { switchingBots } from '../../../src/dialog/switching-bots.ts';

const signal = new AbortController().signal;
const call = { callId: 'call_1', botName: 'desk', from: '+1', to: '+2', direction: 'inbound', language: 'en' } as const;

function turnOf(index: number, text: string): DialogTurn {
  const input = index === 0 ? ({ kind: 'start' } as const) : ({ kind: 'spoken', text, language: 'en' } as const);
  return { call, index, input, history: [], variables: { account: '7' }, idempotencyKey: `call_1.${index}` };
}

/** Bots that say who they are and what they were asked, and hand the caller on when they are told a bot's name. */
function bots(names: readonly string[]) {
  const asked: DialogTurn[] = [];
  const gone: string[] = [];
  const hooksOf = (name: string): DialogHookFactory => ({
    create: () => ({
      async *respond(turn): AsyncIterable<DialogAction> {
        asked.push(turn);
        const said = turn.input.kind === 'spoken' ? turn.input.text : turn.input.kind;
        yield { type: 'say', text: `${name}: ${said}` };
        const round = turn.variables['round'] === 'yes' && turn.input.kind === 'start';
        if (said.startsWith('to ') || round) yield { type: 'bot', name: round ? 'desk' : said.slice(3) };
        yield { type: 'say', text: 'anything else?' };
      },
      dispose: async () => void gone.push(name),
    }),
  });
  const entries = names.map((name) => ({
    bot: {
      name,
      language: name === 'hindi' ? 'hi' : 'en',
      voice: `${name}-voice`,
      dialog: { kind: 'module', file: 'b.js' } as const,
    },
    hooks: hooksOf(name),
  }));
  return { hook: switchingBots(entries).get('desk')!.create(call), asked, gone };
}

async function answer(hook: ReturnType<typeof bots>['hook'], turn: DialogTurn): Promise<string[]> {
  const said: string[] = [];
  for await (const action of hook.respond(turn, signal))
    said.push(
      action.type === 'say' ? action.text : action.type === 'language' ? `[${action.language} ${action.voice}]` : action.type,
    );
  return said;
}

it('lets another bot greet after the first one, and answer from then on', async () => {
  const { hook, asked, gone } = bots(['desk', 'hindi']);
  expect(await answer(hook, turnOf(0, ''))).toEqual(['desk: start', 'anything else?']);
  expect(await answer(hook, turnOf(1, 'to hindi'))).toEqual([
    'desk: to hindi',
    'note',
    '[hi hindi-voice]',
    'hindi: start',
    'anything else?',
  ]);
  expect(await answer(hook, turnOf(2, 'hello'))).toEqual(['hindi: hello', 'anything else?']);
  expect(asked[2]).toMatchObject({
    index: 1,
    call: { botName: 'hindi', language: 'hi' },
    variables: { account: '7' },
    idempotencyKey: 'call_1.1.bot-1',
  });
  expect(await answer(hook, turnOf(3, 'to desk'))).toContain('desk: start');
  await hook.dispose?.();
  expect(gone.sort()).toEqual(['desk', 'desk', 'hindi']);
});

it('asks the bot that had the turn when it is repeated', async () => {
  const { hook } = bots(['desk', 'hindi']);
  await answer(hook, turnOf(0, ''));
  await answer(hook, turnOf(1, 'to hindi'));
  expect(await answer(hook, turnOf(1, 'wait'))).toEqual(['desk: wait', 'anything else?']);
  expect(await answer(hook, turnOf(2, 'hello'))).toEqual(['desk: hello', 'anything else?']);
});

it('refuses an unknown bot, and bots that hand a caller round in a loop', async () => {
  const { hook } = bots(['desk']);
  await expect(answer(hook, turnOf(1, 'to nobody'))).rejects.toMatchObject({ code: 'OFFHOOK_DIALOG_ANSWER' });
  expect(await answer(hook, turnOf(2, 'hello'))).toEqual(['desk: hello', 'anything else?']);
  const round = { ...turnOf(0, ''), variables: { round: 'yes' } };
  await expect(answer(hook, round)).rejects.toThrow('4 times in one turn');
});

it('tells the steps of another bot from those of the bot that answered', async () => {
  const walks = (name: string, to?: string) => ({
    bot: { name, language: 'en', voice: 'v', dialog: { kind: 'module', file: 'b.js' } as const },
    hooks: {
      create: () => ({
        async *respond(): AsyncIterable<DialogAction> {
          yield { type: 'step', name: 'greet', through: ['open'] };
          if (to !== undefined) yield { type: 'bot', name: to };
        },
      }),
    },
  });
  const hook = switchingBots([walks('desk', 'sales'), walks('sales')])
    .get('desk')!
    .create(call);
  const steps: DialogAction[] = [];
  for await (const action of hook.respond(turnOf(0, ''), signal)) if (action.type === 'step') steps.push(action);
  expect(steps).toEqual([
    { type: 'step', name: 'greet', through: ['open'] },
    { type: 'step', name: 'sales/greet', through: ['sales/open'] },
  ]);
});

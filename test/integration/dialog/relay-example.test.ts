import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fromPackage } from '../../../src/cli/setup/package-root.ts';
import { relayHooks } from '../../../src/dialog/relay/relay-hook.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { actionsOf, CALL, spoken, textOf, turnOf } from './bot-server.ts';

const CALL_SID = 'CA0123456789abcdef0123456789abcdef';

let bot: ChildProcess;
let url: string;
beforeAll(async () => {
  bot = spawn(process.execPath, [fromPackage('examples/relay/pizza-bot.mjs'), '0']);
  const [line]: unknown[] = await once(createInterface({ input: bot.stdout! }), 'line');
  url = String(line);
});
afterAll(async () => {
  const over = once(bot, 'exit');
  bot.kill();
  await over;
});

const settings = (given: object = {}) => ({
  url,
  secret: undefined,
  timeoutMs: 8_000,
  greeting: 'Which pizza?',
  parameters: { shop: 'Lakeside' },
  noInput: 'Are you there?',
  ...given,
});

it('runs a bot that was written for ConversationRelay as it is, from setup to handoff', async () => {
  const hook = relayHooks(settings(), systemClock).create({ ...CALL, carrierCallId: CALL_SID });
  expect(textOf(await actionsOf(hook, turnOf({ kind: 'start' }, 0)))).toBe('Which pizza?');
  const answer = await actionsOf(hook, turnOf(spoken('margherita'), 1));
  expect(textOf(answer)).toBe('One margherita from Lakeside. Anything else?');
  const cut = [{ role: 'bot', text: 'One margherita—' }] as const;
  const last = await actionsOf(hook, turnOf(spoken('no, done'), 2, cut));
  expect(textOf(last)).toBe('Thank you. Goodbye.');
  const order = { callSid: CALL_SID, shop: 'Lakeside', pizzas: ['margherita'], keys: '', interruptedAfter: 'One margherita—' };
  expect(last.filter(({ type }) => type !== 'say')).toEqual([
    { type: 'set', variables: { handoffData: JSON.stringify(order) } },
    { type: 'hangup', reason: 'the bot ended the call' },
  ]);
  await hook.dispose?.();
});

it('gives the caller the floor where such a bot answers a key, or the start of the call, with nothing', async () => {
  const hook = relayHooks(settings({ greeting: undefined, timeoutMs: 500 }), systemClock).create({
    ...CALL,
    // Of a call of its own: the bot forgets the one before when it hears of its end.
    carrierCallId: 'CAfedcba9876543210fedcba9876543210',
  });
  expect(await actionsOf(hook, turnOf({ kind: 'start' }, 0))).toEqual([]);
  expect(await actionsOf(hook, turnOf({ kind: 'keyed', digits: '1' }, 1))).toEqual([{ type: 'listen' }]);
  const answer = await actionsOf(hook, turnOf({ kind: 'keyed', digits: '234' }, 2));
  expect(textOf(answer)).toBe('Welcome back, customer 1 2 3 4.');
  await hook.dispose?.();
});

import { expect, it } from 'vitest';
import { flowHooks } from '../../../../src/dialog/flow/hook.ts';
import type { CallFacts, DialogAction, DialogHook, TurnInput } from '../../../../src/dialog/port.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { saidIn, small } from './talk.ts';

const call: CallFacts = { callId: 'call_1', botName: 'shop', from: '+1', to: '+2', direction: 'inbound', language: 'en-IN' };

async function ask(
  hook: DialogHook,
  index: number,
  input: TurnInput,
  variables: Record<string, string> = {},
  signal = new AbortController().signal,
) {
  const actions: DialogAction[] = [];
  const turn = { call, index, input, history: [], variables, idempotencyKey: `key_${index}` };
  for await (const action of hook.respond(turn, signal)) actions.push(action);
  return actions;
}

const spoken = (text: string): TurnInput => ({ kind: 'spoken', text, language: 'en' });

it('answers turn by turn, with a state of its own for each call', async () => {
  const hooks = flowHooks(small, new ManualClock());
  const [one, other] = [hooks.create(call), hooks.create({ ...call, callId: 'call_2' })];
  await ask(one, 0, { kind: 'start' });
  await ask(other, 0, { kind: 'start' });
  expect(saidIn(await ask(one, 1, spoken('repair')))).toBe('Which day?');
  expect(saidIn(await ask(other, 1, spoken('buy')))).toBe('Tell me more.');
});

it('answers a repeated turn as if for the first time', async () => {
  const hook = flowHooks(small, new ManualClock()).create(call);
  await ask(hook, 0, { kind: 'start' });
  await ask(hook, 1, spoken('repair on'));
  const again = await ask(hook, 1, spoken('buy'));
  expect(again).toContainEqual({ type: 'set', variables: { want: 'buy' } });
  expect(saidIn(again)).toBe('Tell me more.');
});

it('resets what only the earlier attempt had set', async () => {
  const hook = flowHooks(small, new ManualClock()).create(call);
  await ask(hook, 0, { kind: 'start' });
  await ask(hook, 1, spoken('repair on Tuesday at ten'));
  const again = await ask(hook, 1, spoken('purple'));
  expect(again[0]).toEqual({ type: 'set', variables: { want: '', day: '', time: '' } });
  expect(saidIn(again)).toBe('Say repair or buy.');
});

it('takes today from the clock, in the flow’s time zone', async () => {
  const evening = new ManualClock(0, Date.UTC(2026, 0, 1, 20, 0));
  const hook = flowHooks({ ...small, timeZone: 'Asia/Kolkata' }, evening).create(call);
  await ask(hook, 0, { kind: 'start' });
  const actions = await ask(hook, 1, spoken('repair tomorrow'));
  expect(actions[0]).toEqual({ type: 'set', variables: { want: 'repair', day: '2026-01-03' } });
});

it('starts with slots that are known before the call', async () => {
  const hook = flowHooks(small, new ManualClock()).create(call);
  expect(saidIn(await ask(hook, 0, { kind: 'start' }, { want: 'repair', other: 'x' }))).toBe('Which day?');
});

it('says nothing more after an abort', async () => {
  const hook = flowHooks(small, new ManualClock()).create(call);
  expect(await ask(hook, 0, { kind: 'start' }, {}, AbortSignal.abort())).toEqual([]);
});

it('says which states it went through, and at which it stands', async () => {
  const hook = flowHooks(small, new ManualClock()).create(call);
  const stepsOf = async (index: number, input: TurnInput) =>
    (await ask(hook, index, input)).flatMap((action) =>
      action.type === 'step' ? [[...(action.through ?? []), action.name]] : [],
    );
  expect(await stepsOf(0, { kind: 'start' })).toEqual([['hello']]);
  expect(await stepsOf(1, spoken('purple'))).toEqual([]);
  expect(await stepsOf(2, spoken('repair on Tuesday'))).toEqual([['when', 'hour']]);
});

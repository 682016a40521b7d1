import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../support/manual-clock.ts';
import type { AnswerContract } from '../../../src/language/index.ts';
import { readingBack } from '../../../src/dialog/read-back-hook.ts';
import type { CallFacts, DialogAction, DialogHook, TurnInput } from '../../../src/dialog/port.ts';

const CALL: CallFacts = { callId: 'c', botName: 'b', from: '', to: '', direction: 'inbound', language: 'en' };
const PHONE: AnswerContract = { kind: 'phone', region: 'IN', readBack: 'always' };

/** A dialog that asks for a value and keeps what it is told. */
function asking(contract: AnswerContract) {
  const heard: TurnInput[] = [];
  let disposed = 0;
  const inner: DialogHook = {
    async *respond(turn) {
      heard.push(turn.input);
      yield { type: 'say', text: 'Your number?' };
      yield { type: 'gather', noInputMs: 5000, contract };
    },
    dispose: async () => {
      disposed += 1;
    },
  };
  const hook = readingBack({ create: () => inner }, new ManualClock(), 'Asia/Kolkata').create(CALL);
  const ask = async (index: number, input: TurnInput): Promise<DialogAction[]> => {
    const turn = { call: CALL, index, input, history: [], variables: {}, idempotencyKey: `c.${index}` };
    const actions: DialogAction[] = [];
    for await (const action of hook.respond(turn, new AbortController().signal)) actions.push(action);
    return actions;
  };
  return { ask, heard, hook, disposals: () => disposed };
}

const spoken = (text: string, keys?: string): TurnInput => ({
  kind: 'spoken',
  text,
  language: 'en',
  ...(keys === undefined ? {} : { keys }),
});
const said = (actions: readonly DialogAction[]): string =>
  actions.flatMap((action) => (action.type === 'say' ? [action.text] : [])).join(' ');

describe('the read-back for a dialog', () => {
  it('reaches the dialog once the caller has agreed to it', async () => {
    const { ask, heard } = asking(PHONE);
    await ask(0, { kind: 'start' });
    expect(said(await ask(1, spoken('nine eight seven six five')))).toContain('five are missing');
    const readBack = await ask(2, spoken('four three two one zero'));
    expect(said(readBack)).toBe('nine eight seven six five, four three two one zero. Is that right?');
    expect(readBack.at(-1)).toEqual({ type: 'gather', noInputMs: 5000, contract: { kind: 'yes-no', readBack: 'never' } });
    expect(heard).toHaveLength(1);
    await ask(3, spoken('yes'));
    expect(heard.at(-1)).toEqual({
      kind: 'spoken',
      text: '+919876543210',
      language: 'en',
      answer: { status: 'complete', value: '+919876543210', more: 'no' },
    });
  });

  it('asks for the missing part with a contract for it', async () => {
    const { ask } = asking(PHONE);
    await ask(0, { kind: 'start' });
    expect((await ask(1, spoken('nine eight seven six five'))).at(-1)).toMatchObject({ contract: { kind: 'digits', length: 5 } });
  });

  it('takes keys behind the words', async () => {
    const { ask } = asking(PHONE);
    await ask(0, { kind: 'start' });
    expect(said(await ask(1, spoken('nine eight seven six five', '43210')))).toContain('Is that right?');
  });

  it('answers a repeated turn as if for the first time', async () => {
    const { ask, heard } = asking(PHONE);
    await ask(0, { kind: 'start' });
    await ask(1, spoken('nine eight seven'));
    await ask(1, spoken('nine eight seven six five four three two one zero'));
    expect(said(await ask(2, spoken('no')))).toContain('digit by digit');
    expect(heard).toHaveLength(1);
  });

  it('leaves an answer without a value to the dialog', async () => {
    const { ask, heard } = asking(PHONE);
    await ask(0, { kind: 'start' });
    await ask(1, spoken('why do you need it'));
    await ask(2, { kind: 'no-input', attempt: 1 });
    expect(heard.map(({ kind }) => kind)).toEqual(['start', 'spoken', 'no-input']);
  });

  it('tells the dialog when the caller agrees to nothing', async () => {
    const { ask, heard } = asking(PHONE);
    await ask(0, { kind: 'start' });
    await ask(1, spoken('9876543210'));
    for (let index = 2; index < 6; index++) await ask(index, spoken('hm'));
    expect(heard.at(-1)).toMatchObject({ answer: { status: 'impossible', why: 'not-agreed' } });
  });

  it.each([{ kind: 'phone', region: 'IN' }, { kind: 'card' }] as const)(
    'is not read back where nobody asked for it: %j',
    async (contract) => {
      const { ask, heard, hook, disposals } = asking(contract);
      await ask(0, { kind: 'start' });
      await ask(1, spoken('9876543210'));
      expect(heard).toHaveLength(2);
      await hook.dispose?.();
      expect(disposals()).toBe(1);
    },
  );
});

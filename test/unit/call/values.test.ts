import { describe, expect, it } from 'vitest';
import type { AnswerContract } from '../../../src/language/index.ts';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { CallBench } from './call-bench.ts';
import { TurnDriver } from './turn-driver.ts';

const context = { language: 'en', today: { year: 2026, month: 1, day: 1 } } as never;

/** A caller who is asked for a value. */
function asked(contract: AnswerContract): TurnDriver {
  return new TurnDriver().greeted().feed({ type: 'expect', atMs: 0, expectation: { value: { contract, context } } });
}
const FOUR: AnswerContract = { kind: 'digits', length: 4 };

describe('a value that was asked for', () => {
  it('is waited for while some of it is missing, and taken at once when it is whole', () => {
    const turn = asked(FOUR).voice(600).partial(0, 'four two');
    expect(turn.quiet(1_700).kinds).not.toContain('commit');
    turn.voice(600).partial(0, 'four two nine seven').forget();
    expect(turn.quiet(180).kinds).toEqual([]);
    expect(turn.quiet(20).kinds).toEqual(['commit']);
    expect(turn.final(0, 'four two nine seven').asked).toEqual(['four two nine seven']);
  });

  it('is given up waiting for in the end', () => {
    expect(asked(FOUR).voice(600).partial(0, 'four two').quiet(1_820).kinds).toContain('commit');
  });

  it('does not keep a caller waiting who says something else', () => {
    expect(asked(FOUR).voice(600).partial(0, 'what do you mean').quiet(660).kinds).toContain('commit');
  });

  it('may be said and typed', () => {
    const turn = asked(FOUR).voice(600).partial(0, 'four two').quiet(300).digit('9').quiet(100).digit('7');
    expect(turn.effects.find(({ type }) => type === 'ask')).toMatchObject({
      input: { kind: 'spoken', text: 'four two', keys: '97' },
    });
  });

  it('is waited for longer between keys while it is incomplete', () => {
    const turn = asked({ kind: 'digits', least: 3, most: 6 }).digit('4').digit('2').quiet(4_000);
    expect(turn.asked).toEqual([]);
    expect(turn.digit('9').quiet(1_980).asked).toEqual([]);
    expect(turn.quiet(40).asked).toEqual(['#429']);
  });
});

it('comes to the dialog as the contract reads it, once', async () => {
  const turns: DialogTurn[] = [];
  async function* dialog(turn: DialogTurn): AsyncIterable<DialogAction> {
    turns.push(turn);
    yield { type: 'say', text: 'Well.' };
    if (turn.index < 2) yield { type: 'gather', contract: { kind: 'phone', region: 'US' } };
  }
  using bench = new CallBench(dialog);
  await bench.start(500);
  for (const digit of '4155550132') {
    bench.attachment.emit({ type: 'digit', digit });
    await bench.quiet(100);
  }
  expect(turns.at(-1)?.input).toMatchObject({ kind: 'keyed', answer: { status: 'complete', value: '+14155550132' } });
  expect(bench.recognitions.at(-1)?.boostPhrases).toContain('seven');
  await bench.quiet(800);
  await bench.says(0, 'my number is four one five', 40, 600);
  expect(turns.at(-1)?.input).toMatchObject({ kind: 'spoken', answer: { status: 'incomplete', soFar: '415' } });
  await bench.quiet(800);
  await bench.says(1, 'that is all', 40, 600);
  expect(turns.at(-1)?.input).not.toHaveProperty('answer');
});

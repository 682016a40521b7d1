import { describe, expect, it } from 'vitest';
import { checkFlow } from '../../../../src/dialog/flow/check.ts';
import { FlowInvalidError, parseFlow } from '../../../../src/dialog/flow/load.ts';
import { SMALL, small } from './talk.ts';

const { states, slots } = SMALL;

function problemsOf(written: unknown): string[] {
  try {
    parseFlow(written, { language: 'en' });
  } catch (error) {
    if (!(error instanceof FlowInvalidError)) throw error;
    return error.problems.map(({ key, message, nearest }) => `${key}: ${message}${nearest === undefined ? '' : ` → ${nearest}`}`);
  }
  return [];
}

function withState(name: string, state: unknown) {
  return { ...SMALL, states: { ...states, [name]: state } };
}

describe('a flow', () => {
  it('is sound when it is sound', () => expect(checkFlow(small)).toEqual([]));

  it.each([
    {
      note: 'a mistyped key',
      flow: withState('told', { say: 'x', hangupp: 'told' }),
      has: 'states.told.hangupp: no such key: hangupp. Did you mean hangup?',
    },
    {
      note: 'a mistyped key inside a prompt',
      flow: withState('told', { say: { txt: 'x' }, hangup: 'x' }),
      has: 'states.told.say.txt: no such key: txt. Did you mean text?',
    },
    { note: 'a mistyped key at the top', flow: { ...SMALL, stat: 'x' }, has: 'stat: no such key: stat. Did you mean start?' },
    { note: 'no start', flow: { ...SMALL, start: undefined }, has: 'start: is missing' },
    { note: 'an unknown kind of slot', flow: { ...SMALL, slots: { ...slots, day: { kind: 'date' } } }, has: 'slots.day.kind' },
    { note: 'a number where a text belongs', flow: withState('told', { say: 5, hangup: 'x' }), has: 'states.told.say: expected' },
    {
      note: 'a time that is none',
      flow: { ...SMALL, slots: { ...slots, time: { kind: 'time', from: '9 am' } } },
      has: 'slots.time.from: a time of the form 08:30',
    },
    { note: 'no object at all', flow: 'hello', has: 'flow: Invalid input' },
    { note: 'an unknown start', flow: { ...SMALL, start: 'helo' }, has: 'start: there is no state of this name → hello' },
    {
      note: 'an unknown target',
      flow: withState('discount', { say: 'x', next: 'bie' }),
      has: 'states.discount.next: there is no state of this name → bye',
    },
    {
      note: 'an unknown slot',
      flow: withState('phone', { ask: { slot: 'fone', prompt: 'x' }, next: 'bye' }),
      has: 'states.phone.ask.slot: there is no slot of this name → phone',
    },
    {
      note: 'an unknown answer',
      flow: withState('hello', { ...states.hello, next: { repare: 'when', buy: 'story' } }),
      has: 'states.hello.next.repare: there is no answer to want of this name → repair',
    },
    {
      note: 'an answer without a way',
      flow: withState('hello', { ...states.hello, next: { repair: 'when' } }),
      has: 'states.hello.next: has no way for buy',
    },
    {
      note: 'an unknown placeholder',
      flow: withState('told', { say: 'On {{ dai }}.', hangup: 'x' }),
      has: 'states.told.say: there is no slot or value of this name → day',
    },
    {
      note: 'an unknown filter',
      flow: withState('told', { say: '{{ time | ful }}', hangup: 'x' }),
      has: 'states.told.say: there is no filter of this name → full',
    },
    {
      note: 'stray braces',
      flow: withState('told', { say: 'On {{ day.', hangup: 'x' }),
      has: 'states.told.say: has {{ or }} that is no placeholder',
    },
    {
      note: 'an unreachable state',
      flow: withState('island', { say: 'x', hangup: 'x' }),
      has: 'states.island: nothing leads to this state',
    },
    {
      note: 'a state without a way out',
      flow: withState('told', { say: 'x' }),
      has: 'states.told: a call cannot leave this state',
    },
    {
      note: 'two ways out',
      flow: withState('told', { say: 'x', next: 'bye', hangup: 'x' }),
      has: 'states.told: has more than one way out',
    },
    {
      note: 'no last branch',
      flow: withState('member', { ...states.member, next: [{ when: { member: 'yes' }, go: 'discount' }] }),
      has: 'states.member.next: the last branch must have no when',
    },
    {
      note: 'a branch never tried',
      flow: withState('member', { ...states.member, next: [{ go: 'bye' }, { when: { member: 'yes' }, go: 'discount' }] }),
      has: 'states.member.next.1: is never tried',
    },
    {
      note: 'a round without a question',
      flow: withState('discount', { say: 'x', next: 'discount' }),
      has: 'states.discount: comes back to itself without asking',
    },
    {
      note: 'a command without phrases',
      flow: { ...SMALL, commands: { ...SMALL.commands, moo: { say: 'Moo.' } } },
      has: 'commands.moo: a command of your own needs phrases',
    },
    {
      note: 'an operator that is nowhere',
      flow: { ...SMALL, commands: { ...SMALL.commands, operator: { key: '0' } } },
      has: 'commands.operator: needs say, go or both',
    },
    { note: 'an unknown time zone', flow: { ...SMALL, timeZone: 'Mars/Base' }, has: 'timeZone: an IANA name is expected' },
    {
      note: 'a phrase that means two things',
      flow: {
        ...SMALL,
        slots: {
          ...slots,
          want: { kind: 'choice', options: { repair: { phrases: ['a bike'] }, buy: { phrases: ['the bike'] } } },
        },
      },
      has: 'slots.want.options.buy.phrases: means repair already',
    },
    {
      note: 'a key that means two things',
      flow: {
        ...SMALL,
        slots: {
          ...slots,
          want: { kind: 'choice', options: { repair: { key: '1', phrases: ['x'] }, buy: { key: '1', phrases: ['y'] } } },
        },
      },
      has: 'slots.want.options.buy.key: is the key of repair already',
    },
    {
      note: 'a prompt that a language lacks',
      flow: { ...SMALL, languages: ['en', 'hi'], states: { ...states, told: { say: { en: 'x' }, hangup: 'x' } } },
      has: 'states.told.say: has no text for language hi',
    },
    {
      note: 'phrases that a language lacks',
      flow: { ...SMALL, languages: ['en', 'hi'], commands: { ...SMALL.commands, prices: { phrases: { en: ['x'] }, say: 'x' } } },
      has: 'commands.prices.phrases: has no phrases for language hi',
    },
  ])('is refused for $note', ({ flow, has }) => expect(problemsOf(flow)).toContainEqual(expect.stringContaining(has)));

  it('is refused with all of its problems at once, also behind an unknown key', () => {
    const problems = problemsOf({ ...withState('discount', { sya: 'x', next: 'bie' }), timeZone: 'Mars/Base' });
    expect(problems).toHaveLength(3);
    expect(problems.join('\n')).toMatch(/sya[\s\S]*bie|bye[\s\S]*/);
  });
});

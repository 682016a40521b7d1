import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { readAct } from '../../../../src/rehearsal/chat/caller-act.ts';
import { readScript } from '../../../../src/rehearsal/chat/script.ts';

const problemsOf = (text: string): readonly string[] => {
  const script = readScript(text);
  return 'problems' in script ? script.problems.map(({ line, message }) => `${line}: ${message}`) : [];
};

it('reads the caller, the bot, slots, actions, the end, settings and comments, with their lines', () => {
  const text = [
    '# books a visit',
    '@bot desk',
    '@parameter name=Asha',
    '@parameter due=2026-12-03',
    '@outbound',
    '',
    '< front desk',
    '> a visit please',
    '[slot wish = visit]',
    '> #12',
    '[end done]',
  ].join('\r\n');
  expect(readScript(`\u{FEFF}${text}`)).toEqual({
    settings: { bot: 'desk', parameter: ['name=Asha', 'due=2026-12-03'], outbound: true },
    steps: [
      {
        line: 7,
        text: '< front desk',
        expectation: { kind: 'says', match: { how: 'contains', text: 'front desk' }, negated: false },
      },
      { line: 8, text: '> a visit please', act: { kind: 'say', text: 'a visit please' } },
      {
        line: 9,
        text: '[slot wish = visit]',
        expectation: { kind: 'slot', name: 'wish', match: { how: 'exact', text: 'visit' } },
      },
      { line: 10, text: '> #12', act: { kind: 'press', keys: '12' } },
      { line: 11, text: '[end done]', expectation: { kind: 'fact', fact: 'end', match: { how: 'exact', text: 'done' } } },
    ],
  });
});

test.each([
  [
    'hello',
    '1: a line begins with "> " for the caller, "< " for the bot, "[…]" for slots, actions and the end, "@" for settings, "#" for a comment',
  ],
  ['> hi\n@bot desk', '2: settings come before the conversation'],
  ['@bott desk\n> hi', '1: there is no setting @bott; there are @bot, @from, @to, @at, @language, @outbound, @parameter'],
  ['@bot a\n@bot b\n> hi', '2: @bot is there twice'],
  ['@parameter name\n> hi', '1: @parameter needs name=value, not "name"'],
  ['> /key 1', '1: there is no command /key; there are /keys, /silence, /interrupt, /quit, /slots and /help'],
  ['> /interrupt', '1: /interrupt needs what the caller says, or keys as #1'],
  ['> hi\n< /(/', '2: /(/ is no regular expression: Invalid regular expression: /(/u: Unterminated group'],
  [
    '> hi\n[hangup done]',
    '2: there is no [hangup]; there are slot, end, transfer, keys, play, note, step, language, bot, recording, call-back, asks, understood, fails',
  ],
  ['> hi\n[slot day 3]', '2: a slot is expected as [slot name = value]; [slot name =] for an empty one'],
  ['> hi\n[end done', '2: the closing "]" is missing'],
  ['> /slots', '1: /slots is for a conversation by hand'],
  ['# nothing', '1: the script has no conversation'],
])('says what is wrong with %j, and in which line', (text, problem) => expect(problemsOf(text)).toEqual([problem]));

it('never repeats the digits of a mistyped /keys', () => {
  expect(readAct('/keys 4111-1111-1111-1111')).toBe('/keys needs keys: 0-9, * and #');
});

test.each([
  ['', false, { kind: 'silence' }],
  ['/silence', false, { kind: 'silence' }],
  ['/keys 12 3#', false, { kind: 'press', keys: '123#' }],
  ['#', false, { kind: 'say', text: '#' }],
  ['4111 1111', false, { kind: 'say', text: '4111 1111' }],
  ['4111 1111', true, { kind: 'press', keys: '41111111' }],
  ['#4111', true, { kind: 'press', keys: '4111' }],
  ['/interrupt wait a moment', false, { kind: 'interrupt', by: { text: 'wait a moment' } }],
  ['/interrupt #0', false, { kind: 'interrupt', by: { keys: '0' } }],
  ['/quit', false, { kind: 'hang-up' }],
] as const)('reads %j (only keys: %s)', (line, onlyKeys, act) => expect(readAct(line, onlyKeys)).toEqual(act));

const words = fc
  .string({ unit: 'grapheme', minLength: 1 })
  .map((text) => text.replaceAll(/[\s/#@<>[\]!=]+/gu, ' ').trim())
  .filter((text) => text !== '');
const act = fc.oneof(
  words.map((text) => ({ kind: 'say', text }) as const),
  fc.stringMatching(/^[0-9*#]{1,12}$/u).map((keys) => ({ kind: 'press', keys }) as const),
  fc.constant({ kind: 'silence' } as const),
);
const written = { say: (text: string) => `> ${text}`, press: (keys: string) => `> /keys ${keys}`, silence: () => '>' };

it('reads back every conversation that can be written, whatever comments, empty lines and line ends stand between', () => {
  const between = fc.constantFrom('\n', '\r\n', '\n\n', '\n# a comment > with < marks [and brackets]\n', '  \n \t\n', '\r');
  fc.assert(
    fc.property(fc.array(fc.tuple(act, words, between), { minLength: 1, maxLength: 12 }), (exchanges) => {
      const text = exchanges
        .map(([each, reply, gap]) => {
          const line =
            each.kind === 'say' ? written.say(each.text) : each.kind === 'press' ? written.press(each.keys) : written.silence();
          return `${line}${gap}< ${reply}\n`;
        })
        .join('');
      const script = readScript(text);
      if ('problems' in script) throw new Error(JSON.stringify(script.problems));
      expect(script.steps.flatMap((step) => ('act' in step ? [step.act] : []))).toEqual(exchanges.map(([each]) => each));
      const expected = script.steps.flatMap((step) => ('expectation' in step ? [step.expectation] : []));
      expect(expected).toEqual(
        exchanges.map(([, reply]) => ({ kind: 'says', match: { how: 'contains', text: reply }, negated: false })),
      );
    }),
  );
});

it('names a line of the text with each problem, whatever the text, and never throws', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string(), fc.constantFrom('> hi', '< hi', '[end', '[slot =]', '@at', '@outbound x', '< /[/'))),
      (lines) => {
        const script = readScript(lines.join('\n'));
        const numbers = 'problems' in script ? script.problems.map(({ line }) => line) : script.steps.map(({ line }) => line);
        for (const line of numbers) expect(line).toBeGreaterThan(0);
        expect([...numbers].sort((a, b) => a - b)).toEqual(numbers);
      },
    ),
  );
});

import { readMatch, spaced } from '../chat/expectation.ts';
import { type CallLine, type Evidence, NOT_BEGUN } from './evidence.ts';
import { hasValues, isTo, type SeenRequest, sentValue } from './mocked-world.ts';
import { hasValue, matches, quoted } from './scripted-caller.ts';
import type { Count, ExpectationDocument, Value } from './suite-schema.ts';

/** An expectation that was not met. */
export interface Unmet {
  /** Keys of the expectation below `expect`, for its line; empty for what no expectation says. */
  readonly keys: readonly (string | number)[];
  readonly expected: string;
  readonly got: string;
  /** The line of the call that shows it. */
  readonly line?: CallLine | undefined;
}

/** An unmet expectation, with its line in the suite. */
export interface LocatedUnmet extends Unmet {
  /** `file:line`. */
  readonly where: string;
}

/** An unmet expectation in two lines. */
export function unmetText({ where, expected, got }: LocatedUnmet): string[] {
  return [`${where}: expected ${expected}`, `${' '.repeat(where.length + 2)}got      ${got}`];
}

/** Compares a call with what is expected of it. @returns what was not met; empty for a call that went as expected */
export function unmetIn(expect: ExpectationDocument, call: Evidence): Unmet[] {
  const line = lastOfBot(call);
  const problems = call.problems.map((got) => ({ keys: [], expected: 'the call to be played to its end', got, line }));
  if (call.end === NOT_BEGUN) return problems;
  return [
    ...problems,
    ...failureOf(expect, call),
    ...hearsOf(expect, call),
    ...stepsOf(expect, call),
    ...valuesOf(expect, call),
    ...requestsOf(expect, call),
    ...factsOf(expect, call),
    ...countsOf(expect, call),
    ...timesOf(expect, call),
    ...costOf(expect, call),
  ];
}

function lastOfBot({ lines }: Evidence): CallLine | undefined {
  return lines.findLast(({ who }) => who === 'bot');
}

function failureOf({ fails }: ExpectationDocument, { failures }: Evidence): Unmet[] {
  const [first] = failures;
  if (fails === undefined)
    return first === undefined ? [] : [{ keys: [], expected: 'an answer of the bot', got: `it failed: ${first}` }];
  if (failures.some((failure) => matches(fails, failure))) return [];
  return [
    {
      keys: ['fails'],
      expected: `the bot to fail with ${quoted(fails)}`,
      got: first === undefined ? 'it did not fail' : quoted(first),
    },
  ];
}

/** The texts in the order in which they were heard, and those that must not be heard. */
function hearsOf({ hears = [], neverHears = [] }: ExpectationDocument, call: Evidence): Unmet[] {
  const heard = spaced(botTexts(call).join(' '));
  const unmet: Unmet[] = [];
  let from = 0;
  for (const [index, written] of hears.entries()) {
    const end = endOf(written, heard, from);
    if (end !== undefined) {
      from = end;
      continue;
    }
    const before = endOf(written, heard, 0) === undefined ? undefined : hears[index - 1];
    const line = nearestLine(written, call);
    const got = before === undefined ? heardText(line) : `it was heard before ${quoted(before)}`;
    unmet.push({ keys: ['hears', index], expected: `the caller to hear ${quoted(written)}`, got, line });
    // The rest is looked for from here: one missing sentence is one failure.
  }
  for (const [index, written] of neverHears.entries()) {
    const line = call.lines.find(({ who, text }) => who === 'bot' && matches(written, text));
    if (line === undefined) continue;
    unmet.push({
      keys: ['neverHears', index],
      expected: `the caller never to hear ${quoted(written)}`,
      got: heardText(line),
      line,
    });
  }
  return unmet;
}

function botTexts({ lines }: Evidence): string[] {
  return lines.flatMap(({ who, text }) => (who === 'bot' ? [text] : []));
}

function heardText(line: CallLine | undefined): string {
  if (line === undefined) return 'the bot said nothing';
  const cut = line.meant === undefined ? '' : `, of ${quoted(line.meant)}`;
  return `heard in turn ${line.turn}: ${quoted(line.text)}${cut}`;
}

/** Where the text first ends behind a position. */
function endOf(written: string, heard: string, from: number): number | undefined {
  const match = readMatch(written, 'contains');
  if (typeof match === 'string') return undefined;
  if (match.how !== 'regex') {
    const at = heard.toLowerCase().indexOf(match.text.toLowerCase(), from);
    return at < 0 ? undefined : at + match.text.length;
  }
  const found = new RegExp(match.regex.source, match.regex.flags.replaceAll(/[gy]/gu, '')).exec(heard.slice(from));
  return found === null ? undefined : from + found.index + found[0].length;
}

/** The line of the bot that has most words of a text; the last one where none has any. */
export function nearestLine(written: string, call: Evidence): CallLine | undefined {
  const wanted = new Set(wordsOf(written));
  const scored = call.lines
    .filter(({ who }) => who === 'bot')
    .map((line) => ({ line, score: wordsOf(`${line.text} ${line.meant ?? ''}`).filter((word) => wanted.has(word)).length }));
  const best = scored.reduce<(typeof scored)[number] | undefined>(
    (sofar, each) => (each.score > 0 && each.score > (sofar?.score ?? 0) ? each : sofar),
    undefined,
  );
  return best?.line ?? lastOfBot(call);
}

function wordsOf(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{M}\p{N}']+/gu) ?? [])];
}

function stepsOf({ steps = [], neverSteps = [] }: ExpectationDocument, call: Evidence): Unmet[] {
  const taken = call.steps.join(' → ') || 'no step';
  let from = 0;
  const missing = steps.flatMap((step, index): Unmet[] => {
    const at = call.steps.indexOf(step, from);
    if (at >= 0) from = at + 1;
    return at >= 0
      ? []
      : [{ keys: ['steps', index], expected: `the step ${step}${index === 0 ? '' : `, after ${steps[index - 1]}`}`, got: taken }];
  });
  const forbidden = neverSteps.flatMap((step, index): Unmet[] =>
    call.steps.includes(step) ? [{ keys: ['neverSteps', index], expected: `never the step ${step}`, got: taken }] : [],
  );
  return [...missing, ...forbidden];
}

function valuesOf({ variables = {} }: ExpectationDocument, call: Evidence): Unmet[] {
  return Object.entries(variables).flatMap(([name, expected]): Unmet[] => {
    const given = call.variables[name];
    if (hasValue(expected, given)) return [];
    const known = Object.entries(call.variables).map(([each, value]) => `${each} = ${value}`);
    const got =
      given === undefined || given === ''
        ? `it is empty; there are ${known.join(', ') || 'no variables'}`
        : `it is ${quoted(given)}`;
    return [{ keys: ['variables', name], expected: `the variable ${name} ${expectedValue(expected)}`, got }];
  });
}

function expectedValue(expected: Value): string {
  return expected === null ? 'to be empty' : `to be ${quoted(String(expected))}`;
}

/** Repeats of a request have its idempotency key, and count as one. */
function requestsOf({ requests = [] }: ExpectationDocument, call: Evidence): Unmet[] {
  return requests.flatMap(({ to, with: expected, times }, index): Unmet[] => {
    const toThere = call.requests.filter((seen) => isTo(to, seen));
    const fitting = toThere.filter(({ body }) => hasValues(expected, body));
    const keys = new Set(fitting.map(({ idempotencyKey }, at) => idempotencyKey ?? at));
    if (isWithin(keys.size, times)) return [];
    const names = Object.keys(expected ?? {});
    const wanted = Object.entries(expected ?? {}).map(([name, value]) => `${name} ${value === null ? 'empty' : String(value)}`);
    const others = toThere.filter((seen) => !fitting.includes(seen)).map((seen) => sentText(seen, names));
    const elsewhere = [...new Set(call.requests.map((seen) => seen.to))].filter((each) => each !== to);
    const seenText =
      others.length > 0
        ? `; others were sent ${others.join(' and ')}`
        : toThere.length === 0 && elsewhere.length > 0
          ? `; there were requests to ${elsewhere.join(', ')}`
          : '';
    const withText = wanted.length === 0 ? '' : ` with ${wanted.join(', ')}`;
    return [
      {
        keys: ['requests', index],
        expected: `${countText(times, 'request', 'requests')} to ${to}${withText}`,
        got: `${keys.size}${seenText}`,
      },
    ];
  });
}

function sentText({ body }: SeenRequest, names: readonly string[]): string {
  const sent = names.map((name) => `${name} ${sentValue(body, name) ?? 'empty'}`);
  return sent.length === 0 ? 'without values' : `with ${sent.join(', ')}`;
}

function factsOf(expect: ExpectationDocument, call: Evidence): Unmet[] {
  const { end, transfer, notes = [], plays = [], keys, bot, language, callBack, optOut, disposition } = expect;
  const unmet: Unmet[] = [];
  const check = (isMet: boolean, name: string, expected: string, got: string, index?: number): void => {
    if (!isMet) unmet.push({ keys: index === undefined ? [name] : [name, index], expected, got });
  };
  if (end !== undefined) {
    const ends = typeof end === 'string' ? [end] : end;
    check(
      ends.some((each) => matches(each, call.end, 'exact')),
      'end',
      `the call to end with ${ends.map(quoted).join(' or ')}`,
      `it ended with ${quoted(call.end)}`,
    );
  }
  if (transfer !== undefined) {
    const last = call.transfers.at(-1);
    check(
      hasValue(transfer, last),
      'transfer',
      transfer === null ? 'no transfer' : `a transfer to ${transfer}`,
      last ?? 'there was none',
    );
  }
  for (const [index, note] of notes.entries())
    check(
      call.notes.some((each) => matches(note, each)),
      'notes',
      `the note ${quoted(note)}`,
      listText(call.notes),
      index,
    );
  let from = 0;
  for (const [index, sound] of plays.entries()) {
    const at = call.plays.findIndex((each, position) => position >= from && matches(sound, each));
    if (at >= 0) from = at + 1;
    check(at >= 0, 'plays', `the sound ${quoted(sound)}`, listText(call.plays), index);
  }
  if (keys !== undefined)
    check(matches(keys, call.keys, 'exact'), 'keys', `the bot to press ${keys}`, call.keys || 'it pressed none');
  if (bot !== undefined) check(bot === call.bot, 'bot', `the bot ${bot} at the end`, call.bot);
  if (language !== undefined) check(language === call.language, 'language', `the language ${language} at the end`, call.language);
  if (callBack !== undefined) {
    const isMet =
      call.callBack !== undefined && (callBack === '' ? call.callBack === '' : matches(callBack, call.callBack, 'exact'));
    const got = call.callBack === undefined ? 'there was none' : call.callBack || 'one without a time';
    check(isMet, 'callBack', `a call-back ${callBack === '' ? 'without a time' : `at ${callBack}`}`, got);
  }
  if (optOut !== undefined) check(optOut === (call.optOut ?? 'none'), 'optOut', `opt-out: ${optOut}`, call.optOut ?? 'none');
  if (disposition !== undefined)
    check(
      disposition === call.disposition,
      'disposition',
      `the disposition ${disposition}`,
      call.disposition ?? 'none: the call is inbound',
    );
  return unmet;
}

function listText(items: readonly string[]): string {
  return items.length === 0 ? 'there was none' : items.map(quoted).join(', ');
}

const COUNTED = {
  turns: 'turn',
  interruptions: 'interruption',
  interruptionsIgnored: 'ignored interruption',
  cutOffs: 'cut-off',
} as const;

function countsOf(expect: ExpectationDocument, call: Evidence): Unmet[] {
  return (['turns', 'interruptions', 'interruptionsIgnored', 'cutOffs'] as const).flatMap((name): Unmet[] => {
    const expected = expect[name];
    if (expected === undefined || isWithin(call[name], expected)) return [];
    return [{ keys: [name], expected: countText(expected, COUNTED[name], `${COUNTED[name]}s`), got: String(call[name]) }];
  });
}

function isWithin(given: number, expected: Count): boolean {
  if (typeof expected === 'number') return given === expected;
  return given >= (expected.least ?? 0) && given <= (expected.most ?? Infinity);
}

function countText(expected: Count, one: string, many: string): string {
  if (typeof expected === 'number') return expected === 0 ? `no ${one}` : `${expected} ${expected === 1 ? one : many}`;
  const parts = [
    ...(expected.least === undefined ? [] : [`at least ${expected.least}`]),
    ...(expected.most === undefined ? [] : [`at most ${expected.most}`]),
  ];
  return `${parts.join(' and ')} ${many}`;
}

const TIMED = {
  firstWordMs: 'from the answer to the first word',
  replyP95Ms: 'for 95 of 100 replies',
  longestWaitMs: 'for the longest wait',
  durationMs: 'for the whole call',
} as const;

function timesOf({ times = {} }: ExpectationDocument, call: Evidence): Unmet[] {
  return (['firstWordMs', 'replyP95Ms', 'longestWaitMs', 'durationMs'] as const).flatMap((name): Unmet[] => {
    const mostMs = times[name];
    const ms = call.times[name];
    if (mostMs === undefined || (ms !== undefined && ms <= mostMs)) return [];
    return [
      {
        keys: ['times', name],
        expected: `at most ${mostMs} ms ${TIMED[name]}`,
        got: ms === undefined ? 'nothing was measured' : `${ms} ms`,
      },
    ];
  });
}

function costOf({ cost: expected }: ExpectationDocument, { cost }: Evidence): Unmet[] {
  if (expected === undefined || (cost !== undefined && cost.total <= expected.most)) return [];
  const got = cost === undefined ? 'a cost that is unknown: a price is missing' : `${cost.total} ${cost.currency}`;
  return [{ keys: ['cost'], expected: `a cost of at most ${expected.most}`, got }];
}

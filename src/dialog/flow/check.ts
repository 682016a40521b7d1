import { isTimeZone } from '../../config/time-zone.ts';
import { nearest } from '../../config/nearest.ts';
import { shown, type Problem } from '../../config/problem.ts';
import { isBuiltIn } from './commands.ts';
import { edgesOfState, entriesOf, type FlowProblem, textsOf, valuesOf, phraseListsOf } from './flow-parts.ts';
import type { Flow, Slot, StateDocument } from './schema.ts';
import { FILTERS, placeholdersOf, inLanguage } from './text.ts';
import { minutesOf, type Language, tokenise } from '../../language/index.ts';
import { checkReach } from './check-reach.ts';

/**
 * Problems of a well-formed flow: unknown states, slots and placeholders, states that cannot be reached or left, missing prompts of a language,
 * ambiguous phrases and keys. Empty for a valid one.
 * @param source named in `where`, for example the file
 */
export function checkFlow(flow: Flow, source = 'flow'): Problem[] {
  const problems = [...checkReferences(flow), ...checkReach(flow), ...checkWords(flow)];
  return problems.map(({ path, message, meant, value }) => ({
    key: path,
    where: source,
    ...(value === undefined ? {} : { value }),
    message,
    ...(meant === undefined ? {} : { nearest: meant }),
  }));
}

/** Texts and phrases that a language lacks, and phrases, keys and limits that contradict each other. */
function checkWords(flow: Flow): FlowProblem[] {
  const problems: FlowProblem[] = [];
  for (const language of flow.languages) {
    for (const { path, text } of textsOf(flow)) {
      if (inLanguage<string>(text, language) === undefined)
        problems.push({ path, message: `has no text for language ${language}` });
    }
    for (const { path, phrases } of phraseListsOf(flow)) {
      const list = inLanguage<readonly string[]>(phrases, language);
      if (list === undefined) problems.push({ path, message: `has no phrases for language ${language}` });
      const empty = list?.find((phrase) => tokenise(phrase).length === 0);
      if (empty !== undefined) problems.push({ path, value: shown(empty), message: 'has no word that can be listened for' });
    }
  }
  for (const [name, slot] of Object.entries(flow.slots)) problems.push(...checkSlot(flow, `slots.${name}`, slot));
  return problems;
}

function checkSlot(flow: Flow, path: string, slot: Slot): FlowProblem[] {
  switch (slot.kind) {
    case 'choice':
      if (Object.keys(slot.options).length === 0) return [{ path: `${path}.options`, message: 'needs at least one option' }];
      return [...sameKeys(path, slot), ...flow.languages.flatMap((language) => samePhrases(path, slot, language))];
    case 'time':
      return slot.from !== undefined && slot.to !== undefined && minutesOf(slot.from) >= minutesOf(slot.to)
        ? [{ path: `${path}.to`, value: shown(slot.to), message: 'must be later than from' }]
        : [];
    case 'digits':
      return slot.length === undefined && slot.least > slot.most
        ? [{ path: `${path}.most`, value: shown(slot.most), message: 'must not be less than least' }]
        : [];
    case 'money':
      return slot.least !== undefined && slot.most !== undefined && slot.least > slot.most
        ? [{ path: `${path}.most`, value: shown(slot.most), message: 'must not be less than least' }]
        : [];
    case 'day':
    case 'yes-no':
    case 'text':
    case 'phone':
    case 'code':
    case 'email':
    case 'name':
      return [];
  }
}

function sameKeys(path: string, slot: Slot & { kind: 'choice' }): FlowProblem[] {
  const owners = new Map<string, string>();
  return Object.entries(slot.options).flatMap(([name, { key }]) => {
    if (key === undefined) return [];
    const first = owners.get(key);
    owners.set(key, first ?? name);
    const message = `is the key of ${first} already`;
    return first === undefined ? [] : [{ path: `${path}.options.${name}.key`, value: shown(key), message }];
  });
}

function samePhrases(path: string, slot: Slot & { kind: 'choice' }, language: Language): FlowProblem[] {
  const owners = new Map<string, string>();
  return Object.entries(slot.options).flatMap(([name, { phrases }]) =>
    (inLanguage<readonly string[]>(phrases, language) ?? []).flatMap((phrase) => {
      const words = tokenise(phrase).join(' ');
      const first = owners.get(words);
      owners.set(words, first ?? name);
      if (first === undefined || first === name) return [];
      const message = `means ${first} already, so neither could be chosen by it`;
      return [{ path: `${path}.options.${name}.phrases`, value: shown(phrase), message }];
    }),
  );
}

/** Names that are not defined: states, slots, options, placeholders, filters, the time zone. */
function checkReferences(flow: Flow): FlowProblem[] {
  const problems: FlowProblem[] = [];
  const known = (path: string, name: string, names: readonly string[], what: string): void => {
    if (names.includes(name)) return;
    problems.push({ path, value: shown(name), message: `there is no ${what} of this name`, meant: nearest(name, names) });
  };
  const states = Object.keys(flow.states);
  const slots = Object.keys(flow.slots);
  const edges = [...entriesOf(flow), ...Object.entries(flow.states).flatMap(([name, state]) => edgesOfState(name, state))];
  for (const { path, to } of edges) known(path, to, states, 'state');
  for (const [name, state] of Object.entries(flow.states)) {
    for (const { path, slot } of slotNames(name, state)) known(path, slot, slots, 'slot');
    for (const { path, slot, value } of slotValues(name, state)) {
      const named = Object.hasOwn(flow.slots, slot) ? flow.slots[slot] : undefined;
      const values = named === undefined ? undefined : valuesOf(named);
      if (values !== undefined) known(path, value, values, `answer to ${slot}`);
    }
  }
  for (const { path, text } of textsOf(flow)) {
    const placeholders = Object.values(text).flatMap((template: string | undefined) => placeholdersOf(template ?? ''));
    for (const { name, filter } of placeholders) {
      known(
        path,
        name,
        [...slots, ...Object.keys(flow.values), 'heard', ...(flow.hours === undefined ? [] : ['opens'])],
        'slot or value',
      );
      if (filter !== undefined) known(path, filter, FILTERS, 'filter');
    }
    const braces = Object.values(text).some((template: string | undefined) => strayBraces(template ?? ''));
    if (braces) problems.push({ path, message: 'has {{ or }} that is no placeholder; write {{ name }}' });
  }
  for (const [name, command] of Object.entries(flow.commands)) {
    if (command === false || isBuiltIn(name)) continue;
    const path = `commands.${name}`;
    if (command.phrases === undefined) problems.push({ path, message: 'a command of your own needs phrases' });
    if (command.say === undefined && command.go === undefined) problems.push({ path, message: 'needs say, go or both' });
  }
  const operator = flow.commands['operator'];
  if (operator !== undefined && operator !== false && operator.say === undefined && operator.go === undefined) {
    problems.push({ path: 'commands.operator', message: 'needs say, go or both: there is no default destination' });
  }
  const zones = [
    { path: 'timeZone', zone: flow.timeZone },
    ...(flow.hours?.timeZone === undefined ? [] : [{ path: 'hours.timeZone', zone: flow.hours.timeZone }]),
  ];
  for (const { path, zone } of zones) {
    if (!isTimeZone(zone))
      problems.push({ path, value: shown(zone), message: 'an IANA name is expected, for example Asia/Kolkata' });
  }
  return problems;
}

function slotNames(name: string, state: StateDocument): { path: string; slot: string }[] {
  const at = `states.${name}`;
  const named = (path: string, names: readonly string[] | undefined) =>
    (names ?? []).map((slot) => ({ path: `${at}.${path}`, slot }));
  const branches = Array.isArray(state.next) ? state.next : [];
  return [
    ...named('clear', state.clear),
    ...named('set', Object.keys(state.set ?? {})),
    ...named('request.send', state.request?.send),
    ...named(
      'callBack',
      [state.callBack?.day, state.callBack?.time].filter((slot) => slot !== undefined),
    ),
    ...named('request.answer', Object.keys(state.request?.answer ?? {})),
    ...named('voicemail.slot', state.voicemail?.slot === undefined ? undefined : [state.voicemail.slot]),
    ...named('ask.slot', state.ask === undefined ? undefined : [state.ask.slot]),
    ...named('ask.also', state.ask?.also),
    ...named('confirm.parts', Object.keys(state.confirm?.parts ?? {})),
    ...branches.flatMap(({ when }, index) => named(`next.${index}.when`, Object.keys(when ?? {}))),
  ];
}

/** Values in the flow for slots with known possible values. */
function slotValues(name: string, state: StateDocument): { path: string; slot: string; value: string }[] {
  const at = `states.${name}`;
  const { next, ask } = state;
  const values = Object.entries(state.set ?? {}).map(([slot, value]) => ({ path: `${at}.set.${slot}`, slot, value }));
  if (Array.isArray(next)) {
    for (const [index, { when }] of next.entries()) {
      for (const [slot, wanted] of Object.entries(when ?? {})) {
        const written = typeof wanted === 'string' || Array.isArray(wanted) ? wanted : (wanted.not ?? []);
        values.push(...[written].flat().map((value) => ({ path: `${at}.next.${index}.when.${slot}`, slot, value })));
      }
    }
  } else if (next !== undefined && typeof next !== 'string' && ask !== undefined) {
    const answers = Object.keys(next).filter((answer) => answer !== 'otherwise');
    values.push(...answers.map((value) => ({ path: `${at}.next.${value}`, slot: ask.slot, value })));
  }
  return values;
}

function strayBraces(template: string): boolean {
  const rest = template.replaceAll(/\{\{\s*[A-Za-z][\w-]*\s*(\|\s*[A-Za-z]+\s*)?\}\}/g, '');
  return rest.includes('{{') || rest.includes('}}');
}

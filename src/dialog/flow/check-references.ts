import { isTimeZone } from '../../config/time-zone.ts';
import { nearest } from '../../config/nearest.ts';
import { shown } from '../../config/problem.ts';
import { isBuiltIn } from './commands.ts';
import { edgesOfState, entriesOf } from './flow-edges.ts';
import type { FlowProblem } from './flow-problem.ts';
import { textsOf } from './flow-texts.ts';
import type { Flow, Slot, StateDocument } from './schema.ts';
import { FILTERS, placeholdersOf } from './text.ts';

/** Names that stand for nothing: states, slots, options, placeholders, filters, the time zone. */
export function checkReferences(flow: Flow): FlowProblem[] {
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
      const values = Object.hasOwn(flow.slots, slot) ? valuesOf(flow.slots[slot]!) : undefined;
      if (values !== undefined) known(path, value, values, `answer to ${slot}`);
    }
  }
  for (const { path, text } of textsOf(flow)) {
    const placeholders = Object.values(text).flatMap((template: string | undefined) => placeholdersOf(template ?? ''));
    for (const { name, filter } of placeholders) {
      known(path, name, [...slots, ...Object.keys(flow.values), 'heard'], 'slot or value');
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
    problems.push({ path: 'commands.operator', message: 'needs say, go or both: nobody can be connected by default' });
  }
  if (!isTimeZone(flow.timeZone)) {
    problems.push({
      path: 'timeZone',
      value: shown(flow.timeZone),
      message: 'an IANA name is expected, for example Asia/Kolkata',
    });
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
    ...named('request.answer', Object.keys(state.request?.answer ?? {})),
    ...named('ask.slot', state.ask === undefined ? undefined : [state.ask.slot]),
    ...named('ask.also', state.ask?.also),
    ...named('confirm.parts', Object.keys(state.confirm?.parts ?? {})),
    ...branches.flatMap(({ when }, index) => named(`next.${index}.when`, Object.keys(when ?? {}))),
  ];
}

/** Values written where a slot's possible values are known. */
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

/** The values that a slot may have, where they can be listed. */
export function valuesOf(slot: Slot): string[] | undefined {
  if (slot.kind === 'choice') return Object.keys(slot.options);
  return slot.kind === 'yes-no' ? ['yes', 'no'] : undefined;
}

function strayBraces(template: string): boolean {
  const rest = template.replaceAll(/\{\{\s*[A-Za-z][\w-]*\s*(\|\s*[A-Za-z]+\s*)?\}\}/g, '');
  return rest.includes('{{') || rest.includes('}}');
}

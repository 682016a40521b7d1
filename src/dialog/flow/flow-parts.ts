import type { ByLanguage, Condition, Flow, Prompt, Slot, StateDocument } from './schema.ts';

/** A problem at one place of a flow. `path` is dotted: `states.greet.next`. */
export interface FlowProblem {
  readonly path: string;
  readonly message: string;
  readonly value?: string | undefined;
  readonly meant?: string | undefined;
}

/** A place in a flow that names another state. */
export interface FlowEdge {
  readonly path: string;
  readonly to: string;
}

export const EDGE_KINDS = [
  'next',
  'answer',
  'when',
  'otherwise',
  'yes',
  'part',
  'failed',
  'unset',
  'gave-up',
  'closed',
  'empty',
  'key',
] as const;

/**
 * Condition of a way: `value` is the answer, the condition, the wrong part, the failure or the key. `closed`: outside business hours; `empty`: no
 * message was left.
 */
export interface EdgeReason {
  readonly kind: (typeof EDGE_KINDS)[number];
  readonly value?: string;
}

/** The states that one state may lead to, in the order of a walk, each with its condition. */
export function edgesOfState(name: string, state: StateDocument): (FlowEdge & { readonly reason: EdgeReason })[] {
  const { next, confirm, ask, request, transfer, voicemail } = state;
  const edges: (FlowEdge & { readonly reason: EdgeReason })[] = [];
  const add = (path: string, to: string | undefined, kind: EdgeReason['kind'], value?: string): void => {
    if (to === undefined) return;
    edges.push({ path: `states.${name}.${path}`, to, reason: value === undefined ? { kind } : { kind, value } });
  };
  const failures = (path: string, failed: string | Readonly<Record<string, string>> | undefined): void => {
    if (typeof failed === 'string') add(path, failed, 'failed');
    else for (const [value, to] of Object.entries(failed ?? {})) add(`${path}.${value}`, to, 'failed', value);
  };
  add('closed', state.closed, 'closed');
  if (typeof next === 'string') add('next', next, 'next');
  else if (Array.isArray(next)) {
    for (const [index, { when, go }] of next.entries()) {
      if (when === undefined) add(`next.${index}.go`, go, 'otherwise');
      else add(`next.${index}.go`, go, 'when', conditionText(when));
    }
  } else {
    for (const [value, to] of Object.entries(next ?? {})) {
      if (value === 'otherwise') add('next.otherwise', to, 'otherwise');
      else add(`next.${value}`, to, 'answer', value);
    }
  }
  add('confirm.yes', confirm?.yes, 'yes');
  for (const [part, to] of Object.entries(confirm?.parts ?? {})) add(`confirm.parts.${part}`, to, 'part', part);
  failures('request.failed', request?.failed);
  add('request.unset', request?.unset, 'unset');
  failures('transfer.failed', transfer?.failed);
  add('voicemail.empty', voicemail?.empty, 'empty');
  for (const [keys, to] of Object.entries(transfer?.warm?.queue?.leave ?? {})) {
    add(`transfer.warm.queue.leave.${keys}`, to, 'key', keys);
  }
  add(`${ask === undefined ? 'confirm' : 'ask'}.giveUp`, ask?.giveUp ?? confirm?.giveUp, 'gave-up');
  return edges;
}

/** A branch's condition as one line: `day = monday, time filled`. */
function conditionText(when: Readonly<Record<string, Condition>>): string {
  return Object.entries(when)
    .map(([slot, wanted]) => {
      if (typeof wanted === 'string' || Array.isArray(wanted)) return `${slot} = ${[wanted].flat().join(' | ')}`;
      const not = wanted.not === undefined ? [] : [`${slot} ≠ ${[wanted.not].flat().join(' | ')}`];
      return [...(wanted.filled === undefined ? [] : [`${slot} ${wanted.filled ? 'filled' : 'empty'}`]), ...not].join(', ');
    })
    .join(', ');
}

/** The states where a conversation begins, or that it can jump to from anywhere. */
export function entriesOf(flow: Flow): FlowEdge[] {
  const entries: FlowEdge[] = [{ path: 'start', to: flow.start }];
  if (flow.hours?.closed !== undefined) entries.push({ path: 'hours.closed', to: flow.hours.closed });
  if (flow.giveUp !== undefined) entries.push({ path: 'giveUp', to: flow.giveUp });
  for (const [name, command] of Object.entries(flow.commands)) {
    if (command !== false && command.go !== undefined) entries.push({ path: `commands.${name}.go`, to: command.go });
  }
  return entries;
}

/** A text of a flow and where it stands. `prompt`: said on its own; `part`: put into a prompt. */
export interface FlowText {
  readonly path: string;
  readonly text: ByLanguage<string>;
  readonly role: 'prompt' | 'part';
}

export interface FlowPhrases {
  readonly path: string;
  readonly phrases: ByLanguage<readonly string[]>;
}

/** Every text that a flow may say, in the order in which it is written. */
export function textsOf(flow: Flow): FlowText[] {
  return spokenOf(flow).flatMap((spoken): FlowText[] => {
    if ('part' in spoken) return [{ path: spoken.path, text: spoken.part, role: 'part' }];
    const { text, play } = spoken.prompt;
    // A sound may have no words.
    const wordless = play !== undefined && Object.values(text).every((each: string | undefined) => each === undefined);
    return wordless ? [] : [{ path: spoken.path, text, role: 'prompt' }];
  });
}

/** Every prompt of a flow and where it stands. */
export function promptsOf(flow: Flow): { readonly path: string; readonly prompt: Prompt }[] {
  return spokenOf(flow).filter((spoken) => 'prompt' in spoken);
}

type Spoken = { readonly path: string; readonly prompt: Prompt } | { readonly path: string; readonly part: ByLanguage<string> };

function spokenOf(flow: Flow): Spoken[] {
  const spoken: Spoken[] = [];
  const part = (path: string, text: ByLanguage<string> | undefined): void => {
    if (text !== undefined) spoken.push({ path, part: text });
  };
  const prompts = (path: string, list: readonly Prompt[] = []): void => {
    for (const [index, prompt] of list.entries()) spoken.push({ path: list.length > 1 ? `${path}.${index}` : path, prompt });
  };
  for (const [name, text] of Object.entries(flow.values)) part(`values.${name}`, text);
  for (const [name, slot] of Object.entries(flow.slots)) {
    prompts(`slots.${name}.refused`, slot.refused);
    if (slot.kind !== 'choice') continue;
    for (const [option, { say }] of Object.entries(slot.options)) part(`slots.${name}.options.${option}.say`, say);
  }
  for (const [name, command] of Object.entries(flow.commands)) {
    if (command !== false) prompts(`commands.${name}.say`, command.say);
  }
  for (const [name, state] of Object.entries(flow.states)) {
    prompts(`states.${name}.say`, state.say);
    prompts(`states.${name}.request.waiting`, state.request?.waiting);
    prompts(`states.${name}.voicemail.prompt`, state.voicemail?.prompt);
    part(`states.${name}.transfer.warm.brief`, state.transfer?.warm?.brief);
    part(`states.${name}.transfer.warm.queue.say`, state.transfer?.warm?.queue?.say);
    const kind = state.ask === undefined ? 'confirm' : 'ask';
    const asking = state.ask ?? state.confirm;
    if (asking === undefined) continue;
    prompts(`states.${name}.${kind}.prompt`, asking.prompt);
    prompts(`states.${name}.confirm.which`, state.confirm?.which);
    for (const [index, list] of (asking.notUnderstood ?? []).entries()) {
      prompts(`states.${name}.${kind}.notUnderstood.${index}`, list);
    }
    for (const [index, list] of (asking.noInput ?? []).entries()) prompts(`states.${name}.${kind}.noInput.${index}`, list);
  }
  return spoken;
}

/** Every list of phrases that a flow listens for. */
export function phraseListsOf(flow: Flow): FlowPhrases[] {
  const lists: FlowPhrases[] = [];
  for (const [name, slot] of Object.entries(flow.slots)) {
    if (slot.called !== undefined) lists.push({ path: `slots.${name}.called`, phrases: slot.called });
    if (slot.kind !== 'choice') continue;
    for (const [option, { phrases }] of Object.entries(slot.options)) {
      lists.push({ path: `slots.${name}.options.${option}.phrases`, phrases });
    }
  }
  for (const [name, command] of Object.entries(flow.commands)) {
    if (command === false || command.phrases === undefined) continue;
    lists.push({ path: `commands.${name}.phrases`, phrases: command.phrases });
  }
  return lists;
}

/** The values that a slot may have, where they can be listed. */
export function valuesOf(slot: Slot): string[] | undefined {
  if (slot.kind === 'choice') return Object.keys(slot.options);
  return slot.kind === 'yes-no' ? ['yes', 'no'] : undefined;
}

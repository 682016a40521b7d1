import type { Condition, Flow, StateDocument } from './schema.ts';
import type { AudibleAction, DialogAction } from '../port.ts';
import type { FlowContext, FlowState, FlowStep } from './flow-state.ts';
import { isOpen } from './hours.ts';
import { askForMessage, openQuestion } from './question.ts';
import { fillText, inLanguage, sayPrompts, type TextScope } from './text.ts';
import { builtInWords } from './built-in-words.ts';

/** States passed without a question in one step; more is a loop, and the call ends with a goodbye. */
const MOST_STATES = 50;

export function scopeOf(flow: Flow, state: FlowState, context: FlowContext): TextScope {
  const { today, wallMs } = context;
  return { flow, language: state.language, today, slots: state.slots, ...(wallMs === undefined ? {} : { wallMs }) };
}

/** The first state of a call: another one outside business hours. */
export function startOf(flow: Flow, { wallMs }: FlowContext): string {
  const closed = flow.hours?.closed;
  return closed === undefined || wallMs === undefined || isOpen(flow, wallMs) ? flow.start : closed;
}

/** Says goodbye in built-in words and hangs up. */
export function endPolitely(state: FlowState, reason: string): FlowStep {
  const goodbye: AudibleAction = { type: 'say', text: builtInWords(state.language).goodbye, interruptible: 'never' };
  return { state: { ...state, stage: 'ended', said: [goodbye] }, actions: [goodbye, { type: 'hangup', reason }] };
}

/**
 * Enters a state and continues until a question is open or the call ends, skipping states with a filled slot. Always ends with a spoken question or a
 * hang-up.
 */
export function walk(flow: Flow, from: FlowState, target: string, context: FlowContext): FlowStep {
  const actions: DialogAction[] = [];
  const said: AudibleAction[] = [];
  const say = (added: readonly AudibleAction[]): void => {
    said.push(...added);
    actions.push(...added);
  };
  let state: FlowState = { ...from, misses: 0, noInputs: 0, said, ending: [], partial: undefined };
  let name: string | undefined = target;
  for (let passed = 0; passed < MOST_STATES && name !== undefined; passed++) {
    const here: StateDocument | undefined = Object.hasOwn(flow.states, name) ? flow.states[name] : undefined;
    if (here === undefined) break;
    const entered = [...(state.entered ?? []), name];
    if (here.closed !== undefined && context.wallMs !== undefined && !isOpen(flow, context.wallMs)) {
      state = { ...state, at: name, entered };
      name = here.closed;
      continue;
    }
    state = { ...state, at: name, entered, stage: 'question', slots: without(state.slots, here.clear ?? []) };
    if (here.ask !== undefined && (state.slots[here.ask.slot] ?? '') !== '') {
      name = nextOf(here, state.slots);
      continue;
    }
    if (here.language !== undefined && here.language !== state.language) {
      state = { ...state, language: here.language };
      actions.push({ type: 'language', language: here.language, ...(here.voice === undefined ? {} : { voice: here.voice }) });
    }
    state = { ...state, slots: { ...state.slots, ...here.set } };
    if (here.note !== undefined) actions.push({ type: 'note', text: here.note });
    if (here.recording !== undefined) actions.push({ type: 'recording', on: here.recording });
    if (here.callBack !== undefined) actions.push(callBackOf(here.callBack, state.slots, context));
    const scope = scopeOf(flow, state, context);
    say(sayPrompts(here.say ?? [], scope));
    if (here.voicemail !== undefined) {
      const { says, gather } = askForMessage(here.voicemail, scope);
      say(says);
      actions.push(gather);
      return { state: { ...state, stage: 'message' }, actions };
    }
    if (here.press !== undefined) actions.push({ type: 'digits', digits: here.press });
    if (here.request !== undefined) {
      if (flow.hasServer) return { state: { ...state, stage: 'requesting' }, actions };
      name = here.request.unset;
      continue;
    }
    const question = openQuestion(flow, state);
    if (question !== undefined) {
      say(sayPrompts(question.prompts, scope));
      if (said.length === 0) say([{ type: 'say', text: builtInWords(state.language).notUnderstood[0] }]);
      actions.push(question.gather);
      return { state, actions };
    }
    const ending = endOf(here, scope);
    if (ending !== undefined) return { state: { ...state, stage: 'ended' }, actions: [...actions, ...ending] };
    name = nextOf(here, state.slots);
  }
  const ended = endPolitely(state, 'flow-lost');
  return { state: ended.state, actions: [...actions, ...ended.actions] };
}

/** The actions of a state that ends the conversation; undefined for another one. */
function endOf({ hangup, transfer, bot }: StateDocument, scope: TextScope): readonly DialogAction[] | undefined {
  if (hangup !== undefined) return [{ type: 'hangup', reason: hangup }];
  if (transfer !== undefined) return transferOf(transfer, scope);
  return bot === undefined ? undefined : [{ type: 'bot', name: bot }];
}

/** A queue's leave key counts as soon as it is pressed. */
function transferOf({ to, warm }: NonNullable<StateDocument['transfer']>, scope: TextScope): DialogAction[] {
  if (warm === undefined) return [{ type: 'transfer', to }];
  const { language = scope.language, voice, ringMs, queue } = warm;
  const brief = fillText(inLanguage(warm.brief, language) ?? '', { ...scope, language });
  const how = { language, ...(voice === undefined ? {} : { voice }), ...(ringMs === undefined ? {} : { ringMs }) };
  if (queue === undefined) return [{ type: 'transfer', to, warm: { brief, ...how } }];
  const say = queue.say === undefined ? '' : fillText(inLanguage(queue.say, scope.language) ?? '', scope);
  const maxDigits = Math.max(0, ...Object.keys(queue.leave).map((keys) => keys.length));
  const waits = { maxWaitMs: queue.maxWaitMs, ...(say === '' ? {} : { say }) };
  return [
    ...(maxDigits === 0 ? [] : [{ type: 'gather' as const, maxDigits }]),
    { type: 'transfer', to, warm: { brief, ...how, queue: waits } },
  ];
}

/** Requests a call-back at the day and time in its slots; a day alone is not a moment. */
function callBackOf(
  { day, time }: NonNullable<StateDocument['callBack']>,
  slots: Readonly<Record<string, string>>,
  { today }: FlowContext,
): DialogAction {
  const [onDay, atTime] = [day, time].map((slot) => (slot === undefined ? '' : (slots[slot] ?? '')));
  if (atTime === undefined || atTime === '') return { type: 'call-back' };
  return { type: 'call-back', at: `${onDay === undefined || onDay === '' ? today : onDay}T${atTime}` };
}

/** The next state for these slots; undefined when no branch applies. */
export function nextOf(state: StateDocument, slots: Readonly<Record<string, string>>): string | undefined {
  const { next } = state;
  if (next === undefined || typeof next === 'string') return next;
  if (Array.isArray(next)) {
    return next.find(({ when }) => Object.entries(when ?? {}).every(([slot, wanted]) => conditionHolds(wanted, slots[slot])))?.go;
  }
  const answer = slots[state.ask?.slot ?? ''] ?? '';
  return Object.hasOwn(next, answer) ? next[answer] : next['otherwise'];
}

function without(slots: Readonly<Record<string, string>>, names: readonly string[]): Readonly<Record<string, string>> {
  return names.length === 0 ? slots : Object.fromEntries(Object.entries(slots).filter(([name]) => !names.includes(name)));
}

/** Whether a slot's value meets a branch's condition: a value, one of several, filled, or anything but a value. */
function conditionHolds(wanted: Condition, value: string | undefined): boolean {
  if (typeof wanted === 'string') return value === wanted;
  if (Array.isArray(wanted)) return value !== undefined && wanted.includes(value);
  const filled = value !== undefined && value !== '';
  if (wanted.filled !== undefined && wanted.filled !== filled) return false;
  return wanted.not === undefined || ![wanted.not].flat().includes(value ?? '');
}

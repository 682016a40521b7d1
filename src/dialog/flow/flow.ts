import type { AudibleAction, DialogAction } from '../port.ts';
import {
  askedForCall,
  promiseCall,
  afterEnd,
  endingOf,
  afterTransfer,
  whileConsulting,
  afterMessage,
  continuedAnswer,
  partialAnswer,
} from './other-turns.ts';
import type { Command } from './commands.ts';
import type { FlowContext, FlowInput, FlowState, FlowStep, GivenAnswer } from './flow-state.ts';
import { type Heard, hearKeys, hearSpoken } from './hear.ts';
import { openQuestion, type Question } from './question.ts';
import type { RequestOutcome } from './request.ts';
import type { Flow, Prompt, StateDocument } from './schema.ts';
import { sayPrompts, sayValue } from './text.ts';
import { endPolitely, nextOf, scopeOf, startOf, walk } from './walk.ts';
import { builtInWords } from './built-in-words.ts';

/** The caller may dispute a confirmation this often, with each "which part?" counted; then `giveUp` decides. */
const MOST_CORRECTIONS = 8;

type Confirmation = NonNullable<StateDocument['confirm']>;

/**
 * One turn of a conversation: pure, never throws, and always answers with something to say or a hang-up. Slots that
 * changed come first, as one `set` action (a cleared slot as an empty text); an open question ends with a `gather`.
 */
export function stepFlow(flow: Flow, before: FlowState, input: FlowInput, context: FlowContext): FlowStep {
  return withChanges(before, ending(answer(flow, { ...before, entered: undefined }, input, context)));
}

/** Continues from a state after its request: pure, and never throws. A failed request is noted with its reason. */
export function resumeFlow(flow: Flow, waiting: FlowState, outcome: RequestOutcome, context: FlowContext): FlowStep {
  const before: FlowState = { ...waiting, entered: undefined };
  const here = flow.states[before.at];
  if (here?.request === undefined) return endPolitely(before, 'flow-lost');
  const { failed } = here.request;
  const slots = outcome.ok ? { ...before.slots, ...outcome.values } : before.slots;
  const target = outcome.ok
    ? nextOf(here, slots)
    : typeof failed === 'string'
      ? failed
      : (failed[outcome.failure] ?? failed['otherwise']);
  const step = target === undefined ? endPolitely(before, 'flow-lost') : walk(flow, { ...before, slots }, target, context);
  const notes: DialogAction[] = outcome.ok ? [] : [{ type: 'note', text: `request ${before.at} failed: ${outcome.why}` }];
  return withChanges(before, ending({ state: step.state, actions: [...notes, ...step.actions] }));
}

/** Puts the slots that changed ahead of the actions. */
function withChanges(before: FlowState, { state, actions }: FlowStep): FlowStep {
  const names = [...new Set([...Object.keys(before.slots), ...Object.keys(state.slots)])];
  const changed = names.filter((name) => before.slots[name] !== state.slots[name]);
  if (changed.length === 0) return { state, actions };
  const variables = Object.fromEntries(changed.map((name) => [name, state.slots[name] ?? '']));
  return { state, actions: [{ type: 'set', variables }, ...actions] };
}

/** Saves the actions that end the conversation, to repeat them if the caller talks over the last words. */
function ending({ state, actions }: FlowStep): FlowStep {
  return {
    state: state.stage === 'ended' && state.ending.length === 0 ? { ...state, misses: 0, ending: endingOf(actions) } : state,
    actions,
  };
}

function answer(flow: Flow, state: FlowState, input: FlowInput, context: FlowContext): FlowStep {
  if (state.stage === 'requesting') return { state, actions: [] };
  if (input.kind === 'transfer') return afterTransfer(flow, state, input.outcome, context);
  if (context.isConsulting === true) return whileConsulting(flow, state, input, context);
  if (state.stage === 'ended') {
    const asked = endingOf(state.ending).every(({ type }) => type === 'hangup') ? askedForCall(flow, state, input) : undefined;
    return asked === undefined ? afterEnd(flow, state, input, context) : promiseCall(flow, state, asked, context);
  }
  if (state.stage === 'message' && input.kind !== 'start') return afterMessage(flow, state, input, context);
  const question = openQuestion(flow, state);
  if (input.kind === 'start' || state.stage === 'new' || question === undefined)
    return walk(flow, state, startOf(flow, context), context);
  switch (input.kind) {
    case 'tool-result':
      // A flow has nothing to tell by itself.
      return { state, actions: [] };
    case 'no-input':
      return silence(flow, { ...state, partial: undefined }, question, context);
    case 'keyed':
    case 'spoken':
      return spokenOrKeyed(flow, state, question, input, context);
  }
}

function spokenOrKeyed(flow: Flow, before: FlowState, question: Question, input: GivenAnswer, context: FlowContext): FlowStep {
  const state: FlowState = { ...before, partial: undefined };
  const hear = (said: GivenAnswer): Heard =>
    said.kind === 'keyed' ? hearKeys(flow, state, said.digits) : hearSpoken(flow, state, said.text, context.today, said.keys);
  const alone = hear(input);
  const asked = askedForCall(flow, state, input, alone);
  if (asked !== undefined) return promiseCall(flow, state, asked, context);
  const isNothing = alone.command === undefined && Object.keys({ ...alone.values, ...alone.refused }).length === 0;
  if (!isNothing || flow.states[state.at]?.ask === undefined) return heardAnswer(flow, state, question, alone, context);
  const whole = (before.partial === undefined ? undefined : continuedAnswer(before.partial, input, context.heard ?? '')) ?? input;
  const step = heardAnswer(flow, state, question, whole === input ? alone : hear(whole), context);
  if (step.state.at !== state.at || step.state.stage !== 'question') return step;
  return { ...step, state: { ...step.state, partial: partialAnswer(flow, state, whole, step.actions, context) } };
}

function heardAnswer(flow: Flow, state: FlowState, question: Question, heard: Heard, context: FlowContext): FlowStep {
  const listening: FlowState = { ...state, noInputs: 0 };
  if (heard.command !== undefined) return obey(flow, listening, question, heard.command, context);
  const confirm = flow.states[state.at]?.confirm;
  return confirm === undefined
    ? answeredQuestion(flow, listening, question, heard, context)
    : answeredConfirmation(flow, listening, question, heard, confirm, context);
}

function answeredQuestion(flow: Flow, state: FlowState, question: Question, heard: Heard, context: FlowContext): FlowStep {
  const refusals = refusalsOf(flow, state, heard, context);
  const known: FlowState = { ...state, slots: { ...state.slots, ...heard.values } };
  const here = flow.states[state.at];
  const isAnswered = here?.ask !== undefined && heard.values[here.ask.slot] !== undefined;
  const target = isAnswered ? nextOf(here, known.slots) : undefined;
  if (target !== undefined) return saidFirst(refusals, walk(flow, known, target, context));
  if (refusals.length > 0 || Object.keys(heard.values).length > 0) {
    // Part of the answer was valid: the question is repeated without "sorry".
    return askAgain(flow, known, question, { ...known, misses: state.misses + 1 }, refusals, context);
  }
  return notUnderstood(flow, state, question, context);
}

function answeredConfirmation(
  flow: Flow,
  state: FlowState,
  question: Question,
  heard: Heard,
  confirm: Confirmation,
  context: FlowContext,
): FlowStep {
  const refusals = refusalsOf(flow, state, heard, context);
  const corrected = Object.entries(heard.values).filter(([name, value]) => state.slots[name] !== value);
  const known: FlowState = { ...state, slots: { ...state.slots, ...heard.values } };
  const denied = heard.yesNo !== 'yes' || state.stage === 'which';
  const disputed = disputedParts(Object.keys(confirm.parts), state, heard, denied);
  const counted: FlowState = { ...known, corrections: state.corrections + 1 };
  const nothing = refusals.length === 0 && corrected.length === 0 && disputed.length === 0;
  if (!nothing || (heard.yesNo === 'no' && state.stage !== 'which')) {
    if (counted.corrections > MOST_CORRECTIONS) return giveUp(flow, counted, question, context, 'too-many-corrections');
  }
  const wrong = disputed[0] === undefined ? undefined : confirm.parts[disputed[0]];
  if (wrong !== undefined) {
    const slots = Object.fromEntries(Object.entries(counted.slots).filter(([name]) => !disputed.includes(name)));
    return saidFirst(refusals, walk(flow, { ...counted, slots }, wrong, context));
  }
  if (corrected.length > 0) return saidFirst(refusals, walk(flow, counted, state.at, context));
  if (heard.yesNo === 'yes') {
    const target = state.stage === 'which' ? state.at : confirm.yes;
    return walk(flow, state, target, context);
  }
  if (heard.yesNo === 'no' && state.stage !== 'which') return askWhich(flow, counted, question, confirm, context);
  // Repeating the same values is a yes: "Tuesday at half past ten, that's it." After a no they are read back once more.
  if (Object.keys(heard.values).length > 0) return walk(flow, counted, state.stage === 'which' ? state.at : confirm.yes, context);
  return notUnderstood(flow, state, question, context);
}

/**
 * Disputed parts of a confirmation: impossible values, and parts named without a new value. A caller asked for the wrong part may name it by its
 * value: "Tuesday".
 */
function disputedParts(parts: readonly string[], { slots, stage }: FlowState, heard: Heard, denied: boolean): readonly string[] {
  const isNamed = (name: string): boolean => denied && heard.parts.includes(name) && heard.values[name] === undefined;
  const named = parts.filter((name) => heard.refused[name] !== undefined || isNamed(name));
  const said = parts.filter((name) => heard.values[name] !== undefined);
  const isRepeated = said.length < parts.length && said.every((name) => heard.values[name] === slots[name]);
  return named.length === 0 && stage === 'which' && isRepeated ? said : named;
}

/** Asks which part is wrong after a plain no; a confirmation of one part goes straight to it. */
function askWhich(flow: Flow, state: FlowState, asked: Question, confirm: Confirmation, context: FlowContext): FlowStep {
  const [first, ...others] = Object.entries(confirm.parts);
  if (first !== undefined && others.length === 0) {
    const [name, target] = first;
    const slots = Object.fromEntries(Object.entries(state.slots).filter(([slot]) => slot !== name));
    return walk(flow, { ...state, slots }, target, context);
  }
  const which: FlowState = { ...state, stage: 'which', misses: 0 };
  const question = openQuestion(flow, which) ?? asked;
  return askAgain(flow, which, question, which, [], context);
}

function silence(flow: Flow, state: FlowState, question: Question, context: FlowContext): FlowStep {
  const noInputs = state.noInputs + 1;
  if (noInputs > question.silences) return giveUp(flow, state, question, context, 'no-input');
  const own = question.noInput[Math.min(noInputs, question.noInput.length) - 1];
  return reprompt(
    flow,
    { ...state, noInputs },
    question,
    own,
    builtInWords(state.language).noInput[noInputs > 1 ? 1 : 0],
    context,
  );
}

function notUnderstood(flow: Flow, state: FlowState, question: Question, context: FlowContext): FlowStep {
  const misses = state.misses + 1;
  if (misses > question.misunderstandings) return giveUp(flow, state, question, context, 'not-understood');
  const own = question.notUnderstood[Math.min(misses, question.notUnderstood.length) - 1];
  const builtIn = builtInWords(state.language).notUnderstood[misses > 1 ? 1 : 0];
  return reprompt(flow, { ...state, misses }, question, own, builtIn, context);
}

/** The flow's own prompt where it has one; else the built-in one and the question again. */
function reprompt(
  flow: Flow,
  state: FlowState,
  question: Question,
  own: readonly Prompt[] | undefined,
  builtIn: string,
  context: FlowContext,
): FlowStep {
  const scope = scopeOf(flow, state, context);
  // The flow's texts are about the question, not about which part of it is wrong.
  const usable = own === undefined || state.stage === 'which' ? [] : sayPrompts(own, scope);
  const says: AudibleAction[] =
    usable.length > 0 ? usable : [{ type: 'say', text: builtIn }, ...sayPrompts(question.prompts, scope)];
  return { state, actions: [...says, question.gather] };
}

function askAgain(
  flow: Flow,
  state: FlowState,
  question: Question,
  counted: FlowState,
  first: readonly AudibleAction[],
  context: FlowContext,
): FlowStep {
  if (counted.misses > question.misunderstandings) return giveUp(flow, state, question, context, 'not-understood');
  const prompts = sayPrompts(question.prompts, scopeOf(flow, counted, context));
  const says = [...first, ...prompts];
  if (says.length === 0) says.push({ type: 'say', text: builtInWords(state.language).notUnderstood[0] });
  return { state: { ...counted, said: says }, actions: [...says, question.gather] };
}

function giveUp(flow: Flow, state: FlowState, question: Question, context: FlowContext, reason: string): FlowStep {
  const note: DialogAction = { type: 'note', text: `gave up at ${state.at}: ${reason}` };
  const target = question.giveUp;
  const step = target === undefined || target === state.at ? endPolitely(state, reason) : walk(flow, state, target, context);
  return { state: step.state, actions: [note, ...step.actions] };
}

function obey(flow: Flow, state: FlowState, question: Question, command: Command, context: FlowContext): FlowStep {
  const scope = scopeOf(flow, state, context);
  const words = builtInWords(state.language);
  if (command.name === 'repeat' && state.said.length > 0) {
    return { state, actions: [...state.said, question.gather] };
  }
  const own = sayPrompts(command.say ?? [], scope);
  if (command.go !== undefined) return saidFirst(own, walk(flow, state, command.go, context));
  if (command.name === 'goodbye') {
    if (own.length === 0) return endPolitely(state, 'caller-said-goodbye');
    return {
      state: { ...state, stage: 'ended', said: own },
      actions: [...own, { type: 'hangup', reason: 'caller-said-goodbye' }],
    };
  }
  const builtIn = command.name === 'help' ? words.help : command.name === 'stop' ? words.stop : undefined;
  const first: AudibleAction[] = own.length > 0 || builtIn === undefined ? own : [{ type: 'say', text: builtIn }];
  return askAgain(flow, state, question, state, first, context);
}

function refusalsOf(flow: Flow, state: FlowState, heard: Heard, context: FlowContext): AudibleAction[] {
  const words = builtInWords(state.language);
  return Object.entries(heard.refused).flatMap(([name, value]) => {
    const slot = flow.slots[name];
    if (slot === undefined) return [];
    const scope = scopeOf(flow, state, context);
    const heardScope = { ...scope, heard: sayValue(slot, value, scope) };
    const builtIn = slot.kind === 'day' ? words.closedDay : slot.kind === 'time' ? words.closedTime : words.refused;
    const own = sayPrompts(slot.refused ?? [], heardScope);
    const text = { any: builtIn };
    return own.length > 0 ? own : sayPrompts([{ text, play: undefined, interruptible: undefined, voice: undefined }], heardScope);
  });
}

function saidFirst(first: readonly AudibleAction[], step: FlowStep): FlowStep {
  if (first.length === 0) return step;
  return { state: { ...step.state, said: [...first, ...step.state.said] }, actions: [...first, ...step.actions] };
}

import type { AudibleAction, DialogAction, TransferOutcome, CallBackReading } from '../port.ts';
import { tokenise, readAnswer } from '../../language/index.ts';
import { type Command, commandOfKeys, findCommand, commandsOf } from './commands.ts';
import type { FlowContext, FlowInput, FlowState, FlowStep, GivenAnswer, PartialAnswer } from './flow-state.ts';
import type { Flow } from './schema.ts';
import { walk, endPolitely, nextOf, scopeOf } from './walk.ts';
import { builtInWords } from './built-in-words.ts';
import { askForMessage } from './question.ts';
import type { Heard } from './hear.ts';
import { sayPrompts } from './text.ts';
import { contractOfQuestion } from './slot-contract.ts';

/** Most repetitions of the last words for a caller who talks over them. */
const MOST_ENDINGS = 3;

/** The actions of a flow's end besides speaking: keys, and the transfer, the other bot or the hang-up. */
export function endingOf(actions: readonly DialogAction[]): readonly DialogAction[] {
  return actions.filter(({ type }) => type === 'digits' || type === 'hangup' || type === 'transfer' || type === 'bot');
}

/**
 * The answer to a caller who talks over the last words, and so cancelled the end. The flow ends the same way again: it repeats unheard sentences (all
 * of them after `repeat`, none after `goodbye`). A command with a `go` is obeyed before a hang-up. Repetitions are limited.
 */
export function afterEnd(flow: Flow, state: FlowState, input: FlowInput, context: FlowContext): FlowStep {
  const { said, ending } = state;
  const end = ending.filter(({ type }) => type !== 'digits');
  const command = commandIn(flow, state, input);
  if (command?.name === 'goodbye') return { state, actions: end };
  if (command?.name === 'repeat') return { state, actions: [...said, ...end] };
  const leaves = end.every(({ type }) => type === 'hangup');
  if (command?.go !== undefined && leaves) return walk(flow, state, command.go, context);
  const from = said.findIndex((action) => !wasHeard(action, context.heard ?? ''));
  if (from < 0 || state.misses >= MOST_ENDINGS) return { state, actions: end };
  return { state: { ...state, misses: state.misses + 1 }, actions: [...said.slice(from), ...ending] };
}

/** The command in an answer, spoken or keyed. */
export function commandIn(flow: Flow, { language }: FlowState, input: FlowInput): Command | undefined {
  if (input.kind === 'spoken') return findCommand(flow, language, tokenise(input.text))?.value;
  return input.kind === 'keyed' ? commandOfKeys(flow, language, input.digits) : undefined;
}

/** A sound without a text counts as heard. */
function wasHeard({ text = '' }: AudibleAction, heard: string): boolean {
  return ` ${plainWords(heard)} `.includes(plainWords(text) === '' ? '' : ` ${plainWords(text)} `);
}

/** Goes where the transfer's state says for this outcome; silently where it does not, and the caller hears the apology. */
export function afterTransfer(flow: Flow, state: FlowState, outcome: TransferOutcome, context: FlowContext): FlowStep {
  const failed = flow.states[state.at]?.transfer?.failed;
  const target = typeof failed === 'string' ? failed : (failed?.[outcome] ?? failed?.['otherwise']);
  if (outcome === 'answered' || target === undefined) return { state, actions: [] };
  return walk(flow, { ...state, ending: [] }, target, context);
}

/** The caller talks while an agent is rung: a key of the queue, or a command with a destination, cancels the transfer; otherwise the wait goes on. */
export function whileConsulting(flow: Flow, state: FlowState, input: FlowInput, context: FlowContext): FlowStep {
  const leave = flow.states[state.at]?.transfer?.warm?.queue?.leave ?? {};
  const away = input.kind === 'keyed' && Object.hasOwn(leave, input.digits) ? leave[input.digits] : undefined;
  const command = away === undefined ? commandIn(flow, state, input) : undefined;
  const target = away ?? command?.go;
  const cancel = { type: 'cancel-transfer' } as const;
  if (target !== undefined) {
    const { state: next, actions } = walk(flow, { ...state, ending: [] }, target, context);
    return { state: next, actions: [cancel, ...actions] };
  }
  if (command?.name === 'goodbye' || command?.name === 'stop') {
    const ended = endPolitely(state, 'caller-said-goodbye');
    return { state: ended.state, actions: [cancel, ...ended.actions] };
  }
  return { state, actions: [{ type: 'say', text: builtInWords(state.language).moment }] };
}

/**
 * Continues after a message. A recorded one counts even if its words were not understood. A key before the tone skips to it; a silent caller goes
 * where the flow says.
 */
export function afterMessage(flow: Flow, state: FlowState, input: FlowInput, context: FlowContext): FlowStep {
  const here = flow.states[state.at];
  const voicemail = here?.voicemail;
  if (here === undefined || voicemail === undefined) return endPolitely(state, 'flow-lost');
  const words = input.kind === 'spoken' ? input.text.trim() : '';
  if (context.hasMessage === true || words !== '') {
    const slots = voicemail.slot === undefined ? state.slots : { ...state.slots, [voicemail.slot]: words };
    const target = nextOf(here, slots);
    return target === undefined
      ? endPolitely({ ...state, slots }, 'message-left')
      : walk(flow, { ...state, slots }, target, context);
  }
  const command = commandIn(flow, state, input);
  if (command?.go !== undefined) return walk(flow, state, command.go, context);
  if (input.kind === 'keyed') {
    const { says, gather } = askForMessage(voicemail, scopeOf(flow, state, context));
    return { state, actions: [...says.slice(-1), gather] };
  }
  return voicemail.empty === undefined ? endPolitely(state, 'no-message') : walk(flow, state, voicemail.empty, context);
}

/** End reason of a call with an agreed call-back. */
const REASON = 'call-back';

interface Asked {
  readonly command: Command;
  readonly reading: CallBackReading;
}

/**
 * A request to be called back, and when. A question for a day or time takes the words as its answer.
 * @param heard meaning of the words for the open question, if any
 */
export function askedForCall(flow: Flow, state: FlowState, input: FlowInput, heard?: Heard): Asked | undefined {
  const reading = input.kind === 'spoken' ? input.callBack : undefined;
  if (reading === undefined) return undefined;
  const command = commandsOf(flow, state.language).find(({ name }) => name === 'callBack');
  if (command === undefined) return undefined;
  const ask = heard === undefined ? undefined : flow.states[state.at]?.ask;
  const isAnswer = ask !== undefined && isMoment(flow, ask.slot) && heard?.values[ask.slot] !== undefined;
  return isAnswer ? undefined : { command, reading };
}

/** Says when the person will be called, requests that call, and hangs up, or goes where the flow says. */
export function promiseCall(flow: Flow, state: FlowState, { command, reading }: Asked, context: FlowContext): FlowStep {
  const { atMs, said } = reading;
  const words = builtInWords(state.language);
  const scope = { ...scopeOf(flow, state, context), ...(said === undefined ? {} : { heard: said }) };
  const builtIn = said === undefined ? words.callBackLater : words.callBack;
  const text = { text: { any: builtIn }, play: undefined, interruptible: undefined, voice: undefined };
  const says = sayPrompts(command.say ?? [text], scope);
  const asks: DialogAction[] = [
    { type: 'call-back', ...(atMs === undefined ? {} : { at: new Date(atMs).toISOString() }) },
    { type: 'note', text: `call back: ${said ?? 'no time named'}` },
  ];
  if (command.go !== undefined) {
    const next = walk(flow, state, command.go, context);
    const first = command.say === undefined ? [] : says;
    return { state: next.state, actions: [...first, ...asks, ...next.actions] };
  }
  const ended: FlowState = { ...state, stage: 'ended', said: says, ending: [] };
  return { state: ended, actions: [...says, ...asks, { type: 'hangup', reason: REASON }] };
}

function isMoment(flow: Flow, slot: string): boolean {
  const kind = Object.hasOwn(flow.slots, slot) ? flow.slots[slot]?.kind : undefined;
  return kind === 'day' || kind === 'time';
}

/** An answer with a part of the expected value, and the bot's reply; undefined for any other answer. */
export function partialAnswer(
  flow: Flow,
  { at, language }: FlowState,
  input: GivenAnswer,
  actions: readonly DialogAction[],
  { today }: FlowContext,
): PartialAnswer | undefined {
  const slot = flow.slots[flow.states[at]?.ask?.slot ?? ''];
  const contract = slot === undefined ? undefined : contractOfQuestion(slot);
  if (contract === undefined) return undefined;
  const [text, keys] = input.kind === 'spoken' ? [input.text, input.keys ?? ''] : ['', input.digits];
  const reading = readAnswer(contract, { language, today }, text, keys);
  const reply = actions.flatMap((action) => (action.type === 'say' ? [action.text] : [])).join(' ');
  return reading.status === 'incomplete' && reading.begun ? { input, reply } : undefined;
}

/**
 * Joins the two parts of an answer interrupted by the bot's "sorry".
 * @param heard the bot's words so far, as heard
 * @returns undefined when the reply was heard to its end, or the value was repeated from its beginning
 */
export function continuedAnswer(
  { input: before, reply }: PartialAnswer,
  input: GivenAnswer,
  heard: string,
): GivenAnswer | undefined {
  if (plainWords(heard).endsWith(plainWords(reply))) return undefined;
  if (before.kind === 'spoken' && input.kind === 'spoken' && plainWords(input.text).startsWith(plainWords(before.text)))
    return undefined;
  if (before.kind === 'keyed') return input.kind === 'keyed' ? { ...input, digits: before.digits + input.digits } : undefined;
  const keys = before.keys ?? '';
  if (input.kind === 'keyed') return { ...before, keys: keys + input.digits };
  return keys === '' ? { ...input, text: `${before.text} ${input.text}` } : undefined;
}

/** Lower-case words without punctuation, to compare spoken with written text. */
function plainWords(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(' ');
}

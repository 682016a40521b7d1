import type { CallBackReading, DialogAction } from '../port.ts';
import { builtInWords } from './built-in-words.ts';
import { type Command, commandsOf } from './commands.ts';
import type { FlowContext, FlowInput, FlowState, FlowStep } from './flow-state.ts';
import type { Heard } from './hear.ts';
import type { Flow } from './schema.ts';
import { sayPrompts } from './text.ts';
import { scopeOf, walk } from './walk.ts';

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

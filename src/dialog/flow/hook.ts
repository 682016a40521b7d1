import type { Clock } from '../../kernel/clock.ts';
import type { CallFacts, DialogAction, DialogHook, DialogHookFactory, DialogTurn } from '../port.ts';
import { dayInZone } from '../understand/calendar-day.ts';
import { type Language, languageOf } from '../understand/language.ts';
import { stepFlow } from './flow.ts';
import { type FlowState, newFlowState } from './flow-state.ts';
import type { Flow } from './schema.ts';

/** Turns that can be asked again; older ones are settled. */
const MOST_REMEMBERED = 8;

/** A conversation that follows a flow: no server, no model. */
export class FlowHook implements DialogHook {
  readonly #flow: Flow;
  readonly #clock: Clock;
  readonly #language: Language;
  /** The state after each turn, oldest first, so that a turn asked again is answered as if for the first time. */
  #after: readonly { readonly index: number; readonly state: FlowState }[] = [];

  constructor(flow: Flow, clock: Clock, call: CallFacts) {
    const language = languageOf(call.language);
    this.#flow = flow;
    this.#clock = clock;
    this.#language = flow.languages.includes(language) ? language : (flow.languages[0] ?? language);
  }

  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    const before = this.#after.filter(({ index }) => index < turn.index);
    const state = before.at(-1)?.state ?? newFlowState(this.#language, this.#knownSlots(turn));
    const heard = turn.history.flatMap(({ role, text }) => (role === 'bot' ? [text] : [])).join(' ');
    const context = { today: dayInZone(this.#clock.wallMs(), this.#flow.timeZone), heard };
    const step = stepFlow(this.#flow, state, turn.input, context);
    const abandoned = this.#after.find(({ index }) => index >= turn.index)?.state;
    this.#after = [...before, { index: turn.index, state: step.state }].slice(-MOST_REMEMBERED);
    const undone = abandoned === undefined ? [] : undoing(abandoned, state, step.state);
    for (const action of [...undone, ...step.actions]) {
      if (signal.aborted) return;
      yield action;
    }
  }

  /** Details that were known before the call, for example from a campaign. */
  #knownSlots(turn: DialogTurn): Record<string, string> {
    const known = Object.entries(turn.variables).filter(([name, value]) => Object.hasOwn(this.#flow.slots, name) && value !== '');
    return Object.fromEntries(known);
  }
}

/** Takes back what an abandoned answer to this turn had set and the new one leaves as it was before. */
function undoing(abandoned: FlowState, before: FlowState, now: FlowState): DialogAction[] {
  const stale = Object.keys({ ...abandoned.slots, ...now.slots }).filter(
    (name) => abandoned.slots[name] !== now.slots[name] && before.slots[name] === now.slots[name],
  );
  if (stale.length === 0) return [];
  return [{ type: 'set', variables: Object.fromEntries(stale.map((name) => [name, now.slots[name] ?? ''])) }];
}

/** Creates a flow's hook for each call. The clock's wall time decides what `today` is. */
export function flowHooks(flow: Flow, clock: Clock): DialogHookFactory {
  return { create: (call) => new FlowHook(flow, clock, call) };
}

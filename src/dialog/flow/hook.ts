import { z } from 'zod';
import { actionSchema } from '../action-schema.ts';
import type { AudibleAction, DialogAction, CallFacts, DialogHook, DialogHookFactory, DialogTurn } from '../port.ts';
import { type FlowState, type PartialAnswer, type FlowContext, type FlowStep, newFlowState } from './flow-state.ts';
import { type RequestOutcome, type FlowServer, requestAt, sendRequest } from './request.ts';
import type { Flow } from './schema.ts';
import { abortable, within } from '../../kernel/waiting.ts';
import type { Clock } from '../../kernel/clock.ts';
import { dayInZone, type Language, languageOf } from '../../language/index.ts';
import { commandIn } from './other-turns.ts';
import { resumeFlow, stepFlow } from './flow.ts';
import { sayPrompts } from './text.ts';
import { endPolitely, scopeOf } from './walk.ts';
import { builtInWords } from './built-in-words.ts';

/** A saved turn of a flow's conversation. `outcome` is absent without an answer so far. */
interface SavedTurn {
  readonly index: number;
  readonly state: FlowState;
  readonly sent?: { readonly idempotencyKey: string; readonly outcome?: RequestOutcome | undefined } | undefined;
}

const texts = z.record(z.string(), z.string());
const action = z.custom<DialogAction>((value) => actionSchema.safeParse(value).success);
const audible = z.custom<AudibleAction>((value) => {
  const type = actionSchema.safeParse(value).data?.type;
  return type === 'say' || type === 'play';
});
const partial = z.custom<PartialAnswer>(
  (value) =>
    z.object({ input: z.looseObject({ kind: z.enum(['spoken', 'keyed']) }), reply: z.string() }).safeParse(value).success,
);

const flowState: z.ZodType<FlowState> = z.object({
  language: z.enum(['en', 'hi']),
  stage: z.enum(['new', 'question', 'which', 'requesting', 'message', 'ended']),
  at: z.string(),
  entered: z.array(z.string()).optional(),
  slots: texts,
  misses: z.int(),
  noInputs: z.int(),
  corrections: z.int(),
  said: z.array(audible),
  partial: partial.optional(),
  ending: z.array(action),
});

const outcome = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), values: texts }),
  z.object({ ok: z.literal(false), failure: z.string(), why: z.string() }),
]);

const savedTurn = z.object({
  index: z.int(),
  state: flowState,
  sent: z.object({ idempotencyKey: z.string(), outcome: outcome.optional() }).optional(),
});

/** Saved turns of a flow's conversation; empty for another version of the flow, as its states differ. */
function savedTurns(flow: Flow, saved: unknown): readonly SavedTurn[] {
  const turns = z.array(savedTurn).safeParse(saved).data ?? [];
  const fits = turns.every(({ state: { at, stage } }) => stage === 'new' || Object.hasOwn(flow.states, at));
  return fits ? turns : [];
}

/** Most turns kept for repetition. */
const MOST_REMEMBERED = 8;
/** Most requests in a row without a question; more is a loop. */
const MOST_REQUESTS = 8;
/** Interval of `waiting` prompts: a call gives up a dialog that is silent for ten seconds. */
const WAITING_MS = 5_000;

/** A request that was sent; its outcome never rejects. */
interface Sent {
  readonly idempotencyKey: string;
  readonly outcome: Promise<RequestOutcome>;
  /** Its outcome, once known. */
  settled?: RequestOutcome | undefined;
}

/** The state after a turn, and the last request sent in it. */
interface AfterTurn {
  readonly index: number;
  readonly state: FlowState;
  readonly sent: Sent | undefined;
}

/** One conversation of a flow: no model, and a server only for the flow's requests. */
class FlowHook implements DialogHook {
  readonly #flow: Flow;
  readonly #clock: Clock;
  readonly #calendar: Pick<Clock, 'wallMs'>;
  readonly #server: FlowServer | undefined;
  readonly #language: Language;
  /** Oldest first, so that a repeated turn starts from the state before it. */
  #after: readonly AfterTurn[] = [];
  /** Key of the request about to be sent. */
  #announced: string | undefined;

  /** @param after last turns of a resumed conversation, oldest first */
  constructor(
    flow: Flow,
    clock: Clock,
    call: CallFacts,
    server?: FlowServer,
    calendar: Pick<Clock, 'wallMs'> = clock,
    after: readonly SavedTurn[] = [],
  ) {
    this.#after = after.map(({ sent, ...turn }) => ({ ...turn, sent: sent && answeredBefore(sent) }));
    const language = languageOf(call.language);
    this.#flow = flow;
    this.#clock = clock;
    this.#calendar = calendar;
    this.#server = server;
    this.#language = flow.languages.includes(language) ? language : (flow.languages[0] ?? language);
  }

  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    const before = this.#after.filter(({ index }) => index < turn.index);
    const abandoned = this.#after.find(({ index }) => index >= turn.index);
    const last = before.at(-1);
    const state = last?.state ?? newFlowState(this.#language, this.#knownSlots(turn));
    const heard = turn.history.flatMap(({ role, text }) => (role === 'bot' ? [text] : [])).join(' ');
    const isConsulting = turn.transfer !== undefined;
    const wallMs = this.#calendar.wallMs();
    const hasMessage = turn.voicemail !== undefined;
    const context = { today: dayInZone(wallMs, this.#flow.timeZone), heard, isConsulting, wallMs, hasMessage };
    const remember = (now: FlowState, sent: Sent | undefined): void => {
      this.#after = [...before, { index: turn.index, state: now, sent }].slice(-MOST_REMEMBERED);
    };
    let step = stepFlow(this.#flow, state, turn.input, context);
    // The caller spoke while waiting for a server, whose answer comes first.
    let sent = state.stage === 'requesting' ? last?.sent : undefined;
    remember(step.state, sent ?? abandoned?.sent);
    const undone = abandoned === undefined ? [] : undoing(abandoned.state, state, step.state);
    yield* untilAborted([...undone, ...withSteps(step)], signal);
    for (let requests = 1; step.state.stage === 'requesting'; requests += 1) {
      if (sent === undefined) {
        const request = requestAt(this.#flow, step.state, turn);
        const { idempotencyKey } = request;
        if (abandoned?.sent?.idempotencyKey === idempotencyKey) sent = abandoned.sent;
        else {
          // Noted before it is sent: after a crash, the journal names the request that may have been carried out.
          this.#announced = idempotencyKey;
          yield { type: 'note', text: `request ${step.state.at}: idempotency-key ${idempotencyKey}` };
          this.#announced = undefined;
          if (signal.aborted || this.#server === undefined) return;
          sent = noting({ idempotencyKey, outcome: sendRequest(this.#flow, this.#server, request, this.#clock) });
        }
        remember(step.state, sent);
      }
      const outcome = yield* this.#answerTo(sent, step.state, context, signal);
      if (outcome === undefined) return;
      const isFirst = requests === 1 && state.stage === 'requesting';
      const next = resumeFlow(this.#flow, step.state, outcome, context);
      step =
        requests < MOST_REQUESTS ? (isFirst ? this.#obeyed(next, turn, context) : next) : endPolitely(next.state, 'flow-lost');
      remember(step.state, sent);
      sent = undefined;
      yield* untilAborted(withSteps(step), signal);
      if (signal.aborted) return;
    }
  }

  /** The last turn, and the one before it, from which the last can be repeated. */
  saved(): readonly SavedTurn[] {
    return this.#after.slice(-2).map(({ index, state, sent }, place, turns) => {
      const key = sent?.idempotencyKey ?? (place === turns.length - 1 ? this.#announced : undefined);
      return { index, state, ...(key === undefined ? {} : { sent: { idempotencyKey: key, outcome: sent?.settled } }) };
    });
  }

  /** Waits for a pending request after a hang-up; a call gives its dialog some seconds for this. */
  async dispose(): Promise<void> {
    await this.#after.at(-1)?.sent?.outcome;
  }

  /** Repeats the `waiting` prompt until the answer arrives. @returns undefined when aborted */
  async *#answerTo(
    { outcome }: Sent,
    state: FlowState,
    context: FlowContext,
    signal: AbortSignal,
  ): AsyncGenerator<DialogAction, RequestOutcome | undefined> {
    const own = sayPrompts(this.#flow.states[state.at]?.request?.waiting ?? [], scopeOf(this.#flow, state, context));
    const waiting: DialogAction[] = own.length > 0 ? own : [{ type: 'say', text: builtInWords(state.language).moment }];
    for (;;) {
      const isOver = abortable(outcome, signal).catch(() => undefined);
      const answered = await within(this.#clock, WAITING_MS, isOver, 'late' as const);
      if (signal.aborted) return undefined;
      if (answered !== 'late') return answered;
      yield* waiting;
    }
  }

  /** Obeys a command given during the wait; the request's values stay. */
  #obeyed(step: FlowStep, { input }: DialogTurn, context: FlowContext): FlowStep {
    const command = commandIn(this.#flow, step.state, input);
    if (step.state.stage !== 'question' || (command?.go === undefined && command?.name !== 'goodbye')) return step;
    const { state, actions } = stepFlow(this.#flow, step.state, input, context);
    const entered = [...(step.state.entered ?? []), ...(state.entered ?? [])];
    const kept = step.actions.filter(({ type }) => type === 'set' || type === 'note');
    return { state: { ...state, entered }, actions: [...kept, ...actions] };
  }

  /** Slots known before the call, for example from a campaign. */
  #knownSlots(turn: DialogTurn): Record<string, string> {
    const known = Object.entries(turn.variables).filter(([name, value]) => Object.hasOwn(this.#flow.slots, name) && value !== '');
    return Object.fromEntries(known);
  }
}

function noting(sent: Sent): Sent {
  void sent.outcome.then((outcome) => {
    sent.settled = outcome;
  });
  return sent;
}

/** A request of a dead process is not repeated; without an answer, its effect is unknown. */
function answeredBefore({ idempotencyKey, outcome }: NonNullable<SavedTurn['sent']>): Sent {
  const why = 'outcome unknown: the process that sent it died';
  const known: RequestOutcome = outcome ?? { ok: false, failure: 'unknown', why };
  return { idempotencyKey, outcome: Promise.resolve(known), settled: known };
}

/** Adds the conversation's step to the actions, after the slots: an action that ends the answer comes later. */
function withSteps({ state, actions }: FlowStep): readonly DialogAction[] {
  const { entered = [] } = state;
  const name = entered.at(-1);
  if (name === undefined) return actions;
  const through = entered.slice(0, -1);
  const step: DialogAction = { type: 'step', name, ...(through.length === 0 ? {} : { through }) };
  const sets = actions.filter(({ type }) => type === 'set');
  return [...sets, step, ...actions.filter(({ type }) => type !== 'set')];
}

function* untilAborted(actions: readonly DialogAction[], signal: AbortSignal): Generator<DialogAction> {
  for (const action of actions) {
    if (signal.aborted) return;
    yield action;
  }
}

/** Resets variables that an abandoned answer to this turn had set and the new one does not. */
function undoing(abandoned: FlowState, before: FlowState, now: FlowState): DialogAction[] {
  const stale = Object.keys({ ...abandoned.slots, ...now.slots }).filter(
    (name) => abandoned.slots[name] !== now.slots[name] && before.slots[name] === now.slots[name],
  );
  if (stale.length === 0) return [];
  return [{ type: 'set', variables: Object.fromEntries(stale.map((name) => [name, now.slots[name] ?? ''])) }];
}

/**
 * Creates a flow's hook for each call.
 * @param server gets the flow's requests
 * @param calendar its wall time decides which day is `today`
 */
export function flowHooks(
  flow: Flow,
  clock: Clock,
  server?: FlowServer,
  calendar: Pick<Clock, 'wallMs'> = clock,
): DialogHookFactory {
  return { create: (call, saved) => new FlowHook(flow, clock, call, server, calendar, savedTurns(flow, saved)) };
}

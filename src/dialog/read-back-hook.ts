import { z } from 'zod';
import type { Clock } from '../kernel/clock.ts';
import type { DialogAction, DialogHook, DialogHookFactory, DialogTurn, TurnInput } from './port.ts';
import {
  answerContext,
  contractStep,
  type ContractInput,
  type ContractState,
  startContract,
  readParts,
  complete,
  impossible,
} from '../language/index.ts';

/** Latest turns that can be asked again. */
const MOST_REMEMBERED = 8;

type Gather = DialogAction & { readonly type: 'gather' };

/** A value that is being collected, and the question that asked for it. */
interface Pending {
  readonly state: ContractState;
  readonly gather: Gather;
}

/** The state in `saved`. */
const savedState = z.object({
  index: z.int(),
  pending: z
    .custom<Pending>((value) => z.object({ state: z.looseObject({}), gather: z.looseObject({}) }).safeParse(value).success)
    .optional(),
  inner: z.unknown(),
});

/**
 * Collects values for a dialog whose `gather` says `readBack: 'always'`: joins the parts of an answer, reads the value back, takes corrections, and
 * asks the dialog once the caller has agreed. An answer without any part of a value goes to the dialog unchanged, so that it can help. Other
 * questions pass through.
 */
class ReadBackHook implements DialogHook {
  readonly #inner: DialogHook;
  readonly #clock: Pick<Clock, 'wallMs'>;
  readonly #timeZone: string;
  /** The pending value after each turn, oldest first, so that a repeated turn starts from the state before it. */
  #after: readonly { readonly index: number; readonly pending: Pending | undefined }[] = [];

  constructor(inner: DialogHook, clock: Pick<Clock, 'wallMs'>, timeZone: string, saved?: z.output<typeof savedState>) {
    this.#inner = inner;
    if (saved !== undefined) this.#after = [{ index: saved.index, pending: saved.pending }];
    this.#clock = clock;
    this.#timeZone = timeZone;
  }

  get takesAdvice(): boolean {
    return this.#inner.takesAdvice ?? false;
  }

  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    const pending = this.#after.findLast(({ index }) => index < turn.index)?.pending;
    const input = contractInput(turn.input);
    if (pending === undefined || input === undefined || saysNothing(pending.state, input)) {
      yield* this.#askInner(turn, signal);
      return;
    }
    const { state, say, expect, done } = contractStep(pending.state, input);
    if (done?.status === 'accepted') {
      const answer = complete(done.value);
      yield* this.#askInner(
        { ...turn, input: { kind: 'spoken', text: done.value, language: turn.call.language, answer } },
        signal,
      );
      return;
    }
    if (done !== undefined) {
      yield* this.#askInner({ ...turn, input: givenUp(turn.input) }, signal);
      return;
    }
    const { hints: _hints, maxDigits: _maxDigits, ...rest } = pending.gather;
    this.#remember(turn.index, { state, gather: pending.gather });
    yield { type: 'say', text: say };
    yield { ...rest, contract: { ...expect, ...(expect.kind === 'card' || expect.kind === 'otp' ? {} : { readBack: 'never' }) } };
  }

  async dispose(): Promise<void> {
    await this.#inner.dispose?.();
  }

  saved(): unknown {
    return { ...(this.#after.at(-1) ?? { index: -1 }), inner: this.#inner.saved?.() };
  }

  async *#askInner(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    let pending: Pending | undefined;
    this.#remember(turn.index, undefined);
    for await (const action of this.#inner.respond(turn, signal)) {
      if (action.type === 'gather') {
        pending = this.#pendingOf(action, turn.call.language);
        if (!signal.aborted) this.#remember(turn.index, pending);
      }
      yield action;
    }
  }

  #pendingOf(gather: Gather, language: string): Pending | undefined {
    const { contract } = gather;
    if (contract === undefined || contract.kind === 'card' || contract.kind === 'otp' || contract.readBack !== 'always') {
      return undefined;
    }
    const context = answerContext(language, this.#clock.wallMs(), this.#timeZone);
    return { state: startContract(contract, context), gather };
  }

  #remember(index: number, pending: Pending | undefined): void {
    const before = this.#after.filter((entry) => entry.index < index);
    this.#after = [...before, { index, pending }].slice(-MOST_REMEMBERED);
  }
}

function contractInput(input: TurnInput): ContractInput | undefined {
  switch (input.kind) {
    case 'start':
    case 'tool-result':
    case 'transfer':
      return undefined;
    case 'spoken':
      return { kind: 'spoken', text: input.text, ...(input.keys === undefined ? {} : { keys: input.keys }) };
    case 'keyed':
      return { kind: 'keyed', keys: input.digits };
    case 'no-input':
      return { kind: 'no-input' };
  }
}

/** Whether no part of the value has been said so far, in this answer or before: a question, a wish, silence. */
function saysNothing({ stage, parts, contract, context }: ContractState, input: ContractInput): boolean {
  if (stage !== 'collecting' || parts.length > 0) return false;
  if (input.kind !== 'spoken') return input.kind === 'no-input';
  const reading = readParts(contract, context, [{ by: 'voice', text: input.text }]);
  return input.keys === undefined && reading.status === 'incomplete' && reading.soFar === '';
}

function givenUp(input: TurnInput): TurnInput {
  if (input.kind !== 'spoken' && input.kind !== 'keyed') return input;
  return { ...input, answer: impossible('', 'not-agreed') };
}

/** Wraps hooks whose questions ask for a read-back. @param timeZone decides what day `tomorrow` is */
export function readingBack(hooks: DialogHookFactory, clock: Pick<Clock, 'wallMs'>, timeZone: string): DialogHookFactory {
  return {
    create: (call, saved) => {
      const state = savedState.safeParse(saved).data;
      return new ReadBackHook(hooks.create(call, state?.inner), clock, timeZone, state);
    },
  };
}

import { z } from 'zod';
import type { Bot } from '../config/bots.ts';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { OffhookError } from '../kernel/errors.ts';
import { DialogAnswerError } from './action-schema.ts';
import type { BotHealth } from './bot-health.ts';
import { FailOver, type WhenDown } from './fail-over.ts';
import type {
  CallerListener,
  CallFacts,
  DialogAction,
  DialogFailure,
  DialogHook,
  DialogHookFactory,
  DialogTurn,
} from './port.ts';

/** Latest switches that a repeated turn can undo. */
const MOST_REMEMBERED = 8;
/** Switches within one turn; more is a loop between bots. */
const MOST_SWITCHES = 3;

export interface SwitchableBot {
  readonly bot: Pick<Bot, 'name' | 'language' | 'voice' | 'dialog'>;
  readonly hooks: DialogHookFactory;
  /** Fallbacks for when its server is down; where absent, the turn is repeated, and then the caller hears the apology. */
  readonly whenDown?: WhenDown | undefined;
}

/** Which servers are down, shared by all calls; each call finds out by itself where absent. */
export interface SwitchingOptions {
  readonly health?: Pick<BotHealth, 'admits' | 'answered' | 'failed'> | undefined;
  readonly clock?: Pick<Clock, 'wallMs'>;
}

/** The bot that has the call from a turn on, with its conversation; a new one at each switch. */
interface Charge {
  readonly index: number;
  readonly entry: SwitchableBot;
  readonly hook: DialogHook;
}

/** The state in `saved`: the bot that has the call, and its conversation. */
const savedCharge = z.object({ bot: z.string(), index: z.int(), inner: z.unknown() });

/**
 * One call's dialog, which the action `bot` hands to another bot. The action ends the answer; the other bot then greets in its own language and
 * voice, and sees the call's history and variables. A repeated turn goes to the bot that had it before.
 */
class SwitchingHook implements DialogHook {
  readonly #bots: ReadonlyMap<string, SwitchableBot>;
  /** Oldest first; the first is the bot that answered the call. */
  #charges: readonly Charge[];
  /** Conversations that were left; disposed at the end of the call. */
  readonly #over: DialogHook[] = [];
  readonly #options: SwitchingOptions;
  readonly #call: CallFacts;
  /** The turn that was asked last. */
  #asked = 0;
  #line: Parameters<CallerListener['open']>[0] | undefined;
  #onTurnOver: (() => void) | undefined;
  /** Set once a bot's server is down: one fallback list for the whole call. */
  #failOver: FailOver | undefined;

  constructor(bots: ReadonlyMap<string, SwitchableBot>, call: CallFacts, options: SwitchingOptions, saved?: unknown) {
    this.#bots = bots;
    this.#options = options;
    this.#call = call;
    const state = savedCharge.safeParse(saved).data;
    const goesOn = state !== undefined && bots.has(state.bot) ? state : undefined;
    const entry = this.#entryOf(goesOn?.bot ?? call.botName);
    const { whenDown } = entry;
    // A server known to be down is not waited for.
    if (whenDown !== undefined && options.health?.admits(entry.bot.name) === false)
      this.#failOver = this.#failOverOf(entry, whenDown);
    const hook = this.#failOver ?? this.#hookOf(entry, call, goesOn?.inner);
    this.#charges = [{ index: goesOn?.index ?? -1, entry, hook }];
  }

  /** That of the bot that has the call; one that gets it later is told of the line as it begins. */
  readonly listener: CallerListener = this.#forwarding();

  #forwarding(): CallerListener {
    const current = (): CallerListener | undefined => this.#charges.at(-1)?.hook.listener;
    return {
      get listens() {
        return current() !== undefined;
      },
      open: (line) => {
        this.#line = line;
        current()?.open(line);
      },
      hear: (pcm, mayBeTurn) => current()?.hear(pcm, mayBeTurn),
      onTurnOver: (listener) => {
        this.#onTurnOver = listener;
        current()?.onTurnOver?.(listener);
      },
    };
  }

  saved(): unknown {
    const last = this.#charges.at(-1);
    return last && { bot: last.entry.bot.name, index: last.index, inner: last.hook.saved?.() };
  }

  /** Decided by the bot that has the call. */
  get takesAdvice(): boolean {
    return this.#charges.at(-1)?.hook.takesAdvice ?? false;
  }

  get due(): string | undefined {
    return this.#charges.at(-1)?.hook.due;
  }

  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    this.#asked = turn.index;
    // Switches of an earlier attempt at this turn are undone.
    this.#keep(this.#charges.filter(({ index }) => index < turn.index));
    let charge = this.#charges.at(-1) ?? this.#charge(turn.call.botName, -1, turn.call);
    let next = yield* this.#ask(charge, turn, signal);
    for (let switches = 1; next !== undefined; switches += 1) {
      if (switches > MOST_SWITCHES) throw new DialogAnswerError(`the bots handed a caller on ${switches} times in one turn`);
      charge = this.#charge(next, turn.index, turn.call);
      this.#keep([...this.#charges, charge].slice(-MOST_REMEMBERED));
      const { name, language, voice } = charge.entry.bot;
      yield { type: 'note', text: `bot: ${name}` };
      yield { type: 'language', language, voice };
      next = yield* this.#ask(charge, startOf(turn, charge.entry, switches), signal);
    }
  }

  /** Goes through the list of the failed bot, or else of the answering bot, once a call. */
  failOver({ error, isLate, isLast }: DialogFailure): 'again' | 'give-up' | undefined {
    const charge = this.#charges.at(-1);
    if (charge === undefined) return undefined;
    const isDown = isLate || (error instanceof OffhookError && error.retryable);
    if (isDown && charge.hook !== this.#failOver) this.#options.health?.failed(charge.entry.bot);
    if (!isDown && !isLast) return undefined;
    if (this.#failOver === undefined) {
      const { whenDown = this.#entryOf(this.#call.botName).whenDown } = charge.entry;
      if (whenDown === undefined) return undefined;
      this.#failOver = this.#failOverOf(charge.entry, whenDown);
    } else this.#failOver.next();
    if (this.#failOver.isOver) return 'give-up';
    // The failed turn is repeated, and then belongs to the fallback.
    this.#keep([...this.#charges, { index: this.#asked - 1, entry: charge.entry, hook: this.#failOver }].slice(-MOST_REMEMBERED));
    return 'again';
  }

  async dispose(): Promise<void> {
    const hooks = [...this.#over, ...this.#charges.map(({ hook }) => hook)];
    await Promise.all(hooks.map(async (hook) => hook.dispose?.()));
  }

  /** Yields a bot's actions. @returns the bot that gets the call next; undefined when this one keeps it */
  async *#ask(charge: Charge, turn: DialogTurn, signal: AbortSignal): AsyncGenerator<DialogAction, string | undefined> {
    const { entry, hook } = charge;
    const call = { ...turn.call, botName: entry.bot.name };
    const saysItself = hook !== this.#failOver && (turn.input.kind !== 'start' || !greetsAlone(entry.bot));
    for await (const action of hook.respond({ ...turn, call }, signal)) {
      if (saysItself) this.#options.health?.answered(entry.bot.name);
      if (action.type === 'bot') return signal.aborted ? undefined : action.name;
      yield action.type === 'step' && entry.bot.name !== turn.call.botName ? ofOtherBot(action, entry.bot.name) : action;
    }
    return undefined;
  }

  #failOverOf({ bot }: SwitchableBot, whenDown: WhenDown): FailOver {
    return new FailOver(bot.name, whenDown, this.#call, this.#options.clock ?? systemClock);
  }

  #charge(name: string, index: number, call: CallFacts): Charge {
    const entry = this.#entryOf(name);
    const hook = this.#hookOf(entry, { ...call, language: entry.bot.language });
    if (this.#line !== undefined) hook.listener?.open(this.#line);
    if (this.#onTurnOver !== undefined) hook.listener?.onTurnOver?.(this.#onTurnOver);
    return { index, entry, hook };
  }

  #hookOf({ bot, hooks }: SwitchableBot, call: CallFacts, saved?: unknown): DialogHook {
    return hooks.create({ ...call, botName: bot.name }, saved);
  }

  #entryOf(name: string): SwitchableBot {
    const entry = this.#bots.get(name);
    if (entry === undefined) throw new DialogAnswerError('there is no bot of the name that the call is to go on with');
    return entry;
  }

  #keep(charges: readonly Charge[]): void {
    this.#over.push(...this.#charges.filter((charge) => !charges.includes(charge)).map(({ hook }) => hook));
    this.#charges = charges;
  }
}

/** Such a bot's first words are in its file, so its server is not asked for them. */
function greetsAlone({ dialog }: SwitchableBot['bot']): boolean {
  return 'greeting' in dialog && dialog.greeting !== undefined;
}

/** Steps of a bot that got the call by a switch are prefixed with its name: `reception/greet`. */
function ofOtherBot({ name, through }: DialogAction & { type: 'step' }, bot: string): DialogAction {
  const steps = through === undefined ? {} : { through: through.map((each) => `${bot}/${each}`) };
  return { type: 'step', name: `${bot}/${name}`, ...steps };
}

/** The turn that the next bot gets: a call's start, with what the caller has just said as the end of its history. */
function startOf(turn: DialogTurn, { bot }: SwitchableBot, switches: number): DialogTurn {
  const { callId } = turn.call;
  const text = turn.input.kind === 'spoken' ? turn.input.text : '';
  return {
    ...turn,
    history: text === '' ? turn.history : [...turn.history, { role: 'caller', text }],
    call: { ...turn.call, language: bot.language },
    input: { kind: 'start' },
    idempotencyKey: `${callId}.${turn.index}.bot-${switches}`,
  };
}

/** Dialogs by bot name, each of which can hand the call to any other bot. */
export function switchingBots(
  bots: readonly SwitchableBot[],
  options: SwitchingOptions = {},
): ReadonlyMap<string, DialogHookFactory> {
  const byName = new Map(bots.map((entry) => [entry.bot.name, entry]));
  const create = (call: CallFacts, saved?: unknown): DialogHook => new SwitchingHook(byName, call, options, saved);
  // Any of them may get the call.
  const takesMessages = bots.some(({ hooks }) => hooks.takesMessages === true);
  return new Map(bots.map(({ bot, hooks: { greetsAhead } }) => [bot.name, { create, greetsAhead, takesMessages }]));
}

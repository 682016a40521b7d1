import type { Bot } from '../config/bots.ts';
import { DialogAnswerError } from './action-schema.ts';
import type { CallFacts, DialogAction, DialogHook, DialogHookFactory, DialogTurn } from './port.ts';

/** Latest switches that a repeated turn can undo. */
const MOST_REMEMBERED = 8;
/** Switches within one turn; more is a loop between bots. */
const MOST_SWITCHES = 3;

/** A bot whose dialog is loaded. */
export interface SwitchableBot {
  readonly bot: Pick<Bot, 'name' | 'language' | 'voice'>;
  readonly hooks: DialogHookFactory;
}

/** The bot that has the call from a turn on, and its conversation, which starts anew at each switch. */
interface Charge {
  readonly index: number;
  readonly entry: SwitchableBot;
  readonly hook: DialogHook;
}

/**
 * One call's dialog, which the action `bot` hands to another bot. The action ends the answer; the other bot then greets in its
 * own language and voice, and sees the call's history and variables. A repeated turn goes to the bot that had it before.
 */
class SwitchingHook implements DialogHook {
  readonly #bots: ReadonlyMap<string, SwitchableBot>;
  /** Oldest first; the first is the bot that answered the call. */
  #charges: readonly Charge[];
  /** Conversations that were left; disposed at the end of the call. */
  readonly #over: DialogHook[] = [];

  constructor(bots: ReadonlyMap<string, SwitchableBot>, call: CallFacts) {
    this.#bots = bots;
    this.#charges = [this.#charge(call.botName, -1, call)];
  }

  /** As the bot that has the call. */
  get takesAdvice(): boolean {
    return this.#charges.at(-1)?.hook.takesAdvice ?? false;
  }

  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    // Switches of an earlier attempt at this turn are undone.
    this.#keep(this.#charges.filter(({ index }) => index < turn.index));
    let charge = this.#charges.at(-1) ?? this.#charge(turn.call.botName, -1, turn.call);
    let next = yield* ask(charge, turn, signal);
    for (let switches = 1; next !== undefined; switches += 1) {
      if (switches > MOST_SWITCHES) throw new DialogAnswerError(`the bots handed a caller on ${switches} times in one turn`);
      charge = this.#charge(next, turn.index, turn.call);
      this.#keep([...this.#charges, charge].slice(-MOST_REMEMBERED));
      const { name, language, voice } = charge.entry.bot;
      yield { type: 'note', text: `bot: ${name}` };
      yield { type: 'language', language, voice };
      next = yield* ask(charge, startOf(turn, charge.entry, switches), signal);
    }
  }

  async dispose(): Promise<void> {
    const hooks = [...this.#over, ...this.#charges.map(({ hook }) => hook)];
    await Promise.all(hooks.map(async (hook) => hook.dispose?.()));
  }

  #charge(name: string, index: number, call: CallFacts): Charge {
    const entry = this.#bots.get(name);
    if (entry === undefined) throw new DialogAnswerError('there is no bot of the name that the call is to go on with');
    const { language } = index < 0 ? call : entry.bot;
    return { index, entry, hook: entry.hooks.create({ ...call, botName: name, language }) };
  }

  #keep(charges: readonly Charge[]): void {
    this.#over.push(...this.#charges.filter((charge) => !charges.includes(charge)).map(({ hook }) => hook));
    this.#charges = charges;
  }
}

/** Yields a bot's actions. @returns the bot that gets the call next; undefined when this one keeps it */
async function* ask(
  { entry, hook }: Charge,
  turn: DialogTurn,
  signal: AbortSignal,
): AsyncGenerator<DialogAction, string | undefined> {
  const call = { ...turn.call, botName: entry.bot.name };
  for await (const action of hook.respond({ ...turn, call }, signal)) {
    if (action.type === 'bot') return signal.aborted ? undefined : action.name;
    yield action.type === 'step' && entry.bot.name !== turn.call.botName ? ofOtherBot(action, entry.bot.name) : action;
  }
  return undefined;
}

/** Steps of a bot that the call was handed to, told apart from those of the bot that answered: `reception/greet`. */
function ofOtherBot({ name, through }: DialogAction & { type: 'step' }, bot: string): DialogAction {
  const steps = through === undefined ? {} : { through: through.map((each) => `${bot}/${each}`) };
  return { type: 'step', name: `${bot}/${name}`, ...steps };
}

/** The turn that the next bot gets: a call's start. */
function startOf(turn: DialogTurn, { bot }: SwitchableBot, switches: number): DialogTurn {
  const { callId } = turn.call;
  return {
    ...turn,
    call: { ...turn.call, language: bot.language },
    input: { kind: 'start' },
    idempotencyKey: `${callId}.${turn.index}.bot-${switches}`,
  };
}

/** Dialogs by bot name, each of which can hand the call to any other bot. */
export function switchingBots(bots: readonly SwitchableBot[]): ReadonlyMap<string, DialogHookFactory> {
  const byName = new Map(bots.map((entry) => [entry.bot.name, entry]));
  const create = (call: CallFacts): DialogHook => new SwitchingHook(byName, call);
  return new Map(bots.map(({ bot, hooks: { greetsAhead } }) => [bot.name, { create, greetsAhead }]));
}

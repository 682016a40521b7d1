import type { Bot } from '../config/bots.ts';
import { DialogAnswerError } from './action-schema.ts';
import type { CallFacts, DialogAction, DialogHook, DialogHookFactory, DialogTurn } from './port.ts';

/** Turns that can be asked again; older ones are settled. */
const MOST_REMEMBERED = 8;
/** Bots that hand a caller on within one turn; more go round in circles. */
const MOST_SWITCHES = 3;

/** A bot whose dialog is loaded. */
export interface SwitchableBot {
  readonly bot: Pick<Bot, 'name' | 'language' | 'voice'>;
  readonly hooks: DialogHookFactory;
}

/** Whose the call is from a turn on, and their conversation, which begins anew each time they get it. */
interface Charge {
  readonly index: number;
  readonly entry: SwitchableBot;
  readonly hook: DialogHook;
}

/**
 * One call's dialog, which may go on as another bot's: its action `bot` ends its answer, and the other greets behind it, in its
 * own language and voice, knowing the call's history and variables. A turn that is asked again is asked of whoever had it.
 */
class SwitchingHook implements DialogHook {
  readonly #bots: ReadonlyMap<string, SwitchableBot>;
  /** Oldest first; the first is for the whole call. */
  #charges: readonly Charge[];
  /** Conversations that are over. */
  readonly #over: DialogHook[] = [];

  constructor(bots: ReadonlyMap<string, SwitchableBot>, call: CallFacts) {
    this.#bots = bots;
    this.#charges = [this.#charge(call.botName, -1, call)];
  }

  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    // What an earlier attempt at this turn led to has not been.
    this.#keep(this.#charges.filter(({ index }) => index < turn.index));
    let charge = this.#charges.at(-1)!;
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

/** @returns the name of the bot that is to go on */
async function* ask(
  { entry, hook }: Charge,
  turn: DialogTurn,
  signal: AbortSignal,
): AsyncGenerator<DialogAction, string | undefined> {
  const call = { ...turn.call, botName: entry.bot.name };
  for await (const action of hook.respond({ ...turn, call }, signal)) {
    if (action.type === 'bot') return signal.aborted ? undefined : action.name;
    yield action;
  }
  return undefined;
}

/** What the other bot is asked with: the call begins for it. */
function startOf(turn: DialogTurn, { bot }: SwitchableBot, switches: number): DialogTurn {
  const { callId } = turn.call;
  return {
    ...turn,
    call: { ...turn.call, language: bot.language },
    input: { kind: 'start' },
    idempotencyKey: `${callId}.${turn.index}.bot-${switches}`,
  };
}

/** The bots' dialogs, each of which may hand a call on to any other. @returns them by the bots' names */
export function switchingBots(bots: readonly SwitchableBot[]): ReadonlyMap<string, DialogHookFactory> {
  const byName = new Map(bots.map((entry) => [entry.bot.name, entry]));
  const factory: DialogHookFactory = { create: (call) => new SwitchingHook(byName, call) };
  return new Map(bots.map(({ bot }) => [bot.name, factory]));
}

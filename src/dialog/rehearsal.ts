import { loadBots } from '../config/bot-files.ts';
import { readEnvironment } from '../config/env.ts';
import { problemText } from '../config/problem.ts';
import { systemClock } from '../kernel/clock.ts';
import { loadBotDialog } from './bot-dialog.ts';
import { answerContext, isSecure, readAnswer } from '../language/index.ts';
import type { CallFacts, DialogAction, DialogHook, HistoryEntry, TransferOutcome, TurnInput } from './port.ts';
import { switchingBots } from './switching-bots.ts';

/** A bot's answer to one turn. */
export interface Reply {
  /** All that it said, in one line. */
  readonly text: string;
  /** All actions in order; `say` parts as the bot yielded them. */
  readonly actions: readonly DialogAction[];
}

/** A conversation in text. One turn at a time: await each before the next. */
export interface Rehearsal {
  /** The caller says something. */
  say(text: string): Promise<Reply>;
  /** The caller presses keys: 0-9, * and #. */
  press(digits: string): Promise<Reply>;
  /** The caller says nothing. */
  silence(): Promise<Reply>;
  /** The call's variables, as the bot has set them. */
  readonly variables: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
  /** Why the bot hung up, or where it transferred the caller; undefined during the call. */
  readonly ended: string | undefined;
  /** The answer that opened the call. */
  readonly greeting: Reply;
  /** Ends the call. */
  close(): Promise<void>;
}

export interface RehearsalOptions {
  /** The folder of bot files; relative to the working folder. */
  readonly folder?: string;
  readonly from?: string;
  readonly to?: string;
}

/**
 * Talks to a bot in text, for a bot's tests: runs its dialog as a call does, without audio, gateway or speech platform.
 *
 *     const call = await rehearse('desk');
 *     assert.match((await call.say('opening hours')).text, /nine to five/);
 *     await call.close();
 *
 * The bot gets the words as written, without a recogniser; `offhook call` tests recognition too.
 * @param name the bot's name
 * @throws Error when there is no valid bot of that name; errors of its dialog
 */
export async function rehearse(name: string, options: RehearsalOptions = {}): Promise<Rehearsal> {
  const { folder = 'config/bots', from = '+15550100001', to = '+15550100002' } = options;
  const { bots, problems } = loadBots(folder, readEnvironment());
  const bot = bots.find((each) => each.name === name);
  if (bot === undefined) {
    const told = problems.map(problemText);
    const known = `the bots in ${folder} are: ${bots.map((each) => each.name).join(', ') || 'none'}`;
    throw new Error([`there is no sound bot named "${name}"; ${known}`, ...told].join('\n'));
  }
  const dialogs = await Promise.all(bots.map(async (each) => ({ bot: each, ...(await loadBotDialog(each, systemClock)) })));
  const facts: CallFacts = { callId: 'rehearsal', botName: name, from, to, direction: 'inbound', language: bot.language };
  const hooks = switchingBots(dialogs).get(name);
  if (hooks === undefined) throw new Error(`the dialog of "${name}" was not loaded`);
  const call = new RehearsedCall(hooks.create(facts), facts, bot.timeZone);
  await call.open();
  return call;
}

class RehearsedCall implements Rehearsal {
  readonly notes: string[] = [];
  readonly #hook: DialogHook;
  readonly #facts: CallFacts;
  readonly #timeZone: string;
  readonly #history: HistoryEntry[] = [];
  variables: Readonly<Record<string, string>> = {};
  ended: string | undefined;
  greeting: Reply = { text: '', actions: [] };
  #index = 0;
  #silences = 0;
  #transferTo: string | undefined;
  #language: string;
  #gather: (DialogAction & { readonly type: 'gather' }) | undefined;

  constructor(hook: DialogHook, facts: CallFacts, timeZone: string) {
    this.#hook = hook;
    this.#facts = facts;
    this.#timeZone = timeZone;
    this.#language = facts.language;
  }

  async open(): Promise<void> {
    this.greeting = await this.#turn({ kind: 'start' });
  }

  async say(text: string): Promise<Reply> {
    return this.#turn({ kind: 'spoken', text, language: this.#language, ...this.#answer(text, '') });
  }

  async press(digits: string): Promise<Reply> {
    return this.#turn({ kind: 'keyed', digits, ...this.#answer('', digits) });
  }

  async silence(): Promise<Reply> {
    this.#silences += 1;
    return this.#turn({ kind: 'no-input', attempt: this.#silences });
  }

  /** Result of the dialog's last transfer. @throws Error where it asked for none */
  async transferEnds(outcome: TransferOutcome): Promise<Reply> {
    const to = this.#transferTo;
    if (to === undefined) throw new Error('the dialog asked for no transfer, or has cancelled it');
    this.#transferTo = undefined;
    this.ended = undefined;
    const reply = await this.#turn({ kind: 'transfer', outcome, to });
    if (outcome === 'answered') this.ended = `transferred to ${to}`;
    return reply;
  }

  async close(): Promise<void> {
    await this.#hook.dispose?.();
  }

  /** The value in an answer, where the question had a contract. */
  #answer(heard: string, keys: string) {
    const contract = this.#gather?.contract;
    if (contract === undefined || isSecure(contract)) return {};
    const context = answerContext(this.#language, systemClock.wallMs(), this.#timeZone);
    return { answer: readAnswer(contract, context, heard, keys) };
  }

  async #turn(input: TurnInput): Promise<Reply> {
    if (this.ended !== undefined) throw new Error(`the call is over: ${this.ended}`);
    if (input.kind !== 'no-input') this.#silences = 0;
    const index = this.#index;
    this.#index += 1;
    const turn = {
      call: { ...this.#facts, language: this.#language },
      index,
      input,
      history: [...this.#history],
      variables: this.variables,
      idempotencyKey: `rehearsal.${index}`,
    };
    const actions: DialogAction[] = [];
    const said: string[] = [];
    this.#gather = undefined;
    for await (const action of this.#hook.respond(turn, new AbortController().signal)) {
      actions.push(action);
      this.#carryOut(action, said);
    }
    const text = said.join('').replaceAll(/\s+/gu, ' ').trim();
    if (input.kind === 'spoken') this.#history.push({ role: 'caller', text: input.text });
    if (input.kind === 'keyed') this.#history.push({ role: 'caller', text: input.digits });
    if (text !== '') this.#history.push({ role: 'bot', text });
    return { text, actions };
  }

  #carryOut(action: DialogAction, said: string[]): void {
    switch (action.type) {
      case 'say':
        said.push(action.more === true ? action.text : `${action.text} `);
        return;
      case 'play':
        said.push(`${action.text ?? `[audio ${action.source}]`} `);
        return;
      case 'gather':
        this.#gather = action;
        return;
      case 'set':
        this.variables = { ...this.variables, ...action.variables };
        return;
      case 'language':
        this.#language = action.language;
        return;
      case 'note':
        this.notes.push(action.text);
        return;
      case 'hangup':
        this.ended = action.reason;
        return;
      case 'transfer':
        this.#transferTo = action.to;
        // The caller of a warm transfer stays with the bot.
        if (action.warm === undefined) this.ended = `transferred to ${action.to}`;
        return;
      case 'cancel-transfer':
        this.#transferTo = undefined;
        return;
      case 'bot':
      case 'step':
      case 'call-back':
      case 'fail-over':
      case 'recording':
      case 'digits':
      case 'listen':
      case 'usage':
        return;
    }
  }
}

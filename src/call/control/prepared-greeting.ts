import { isDeepStrictEqual } from 'node:util';
import type { AudioFormat } from '../../audio/format.ts';
import type { Bot } from '../../config/bots.ts';
import type { CallFacts, DialogAction, DialogHook, DialogHookFactory, DialogTurn } from '../../dialog/port.ts';
import { tokenise } from '../../language/index.ts';
import { type SentenceCutter, speakable, type VoiceServices } from '../outbound/bot-voice.ts';
import type { Logger } from '../../observability/logger.ts';
import { EarlyAnswer } from './early-answer.ts';

export interface PreparedGreetingOptions {
  readonly bot: Pick<Bot, 'language' | 'voice' | 'speed'>;
  readonly dialog: DialogHookFactory;
  readonly call: CallFacts;
  readonly variables: Readonly<Record<string, string>>;
  readonly voice: Pick<VoiceServices, 'synthesizer' | 'createCutter'>;
  /** What the leg plays, or is taken to. */
  readonly format: AudioFormat;
}

/** Sentences that are made ahead: the next ones are made while these are heard. */
const MOST_SENTENCES = 2;
/** Longer openings say something. */
const MOST_HELLO_WORDS = 4;
/** What people say as they pick up, and nobody has to answer. */
const HELLO = new Set(
  tokenise(
    'hello hallo hullo hi hey yes yeah yep ya ok okay speaking there good morning afternoon evening namaste namaskar haan han ji ' +
      'हैलो हेलो हलो हाँ हां जी नमस्ते नमस्कार बोलिए बोलो कहिए',
  ),
);

/**
 * The greeting of a call that is dialled, asked for and spoken before it is due: while the phone rings, or when it is answered. It is
 * used where the dialog would be asked for the same; else it is dropped, and the dialog asked anew.
 */
export class PreparedGreeting implements DialogHookFactory {
  readonly #options: PreparedGreetingOptions;
  readonly #hook: DialogHook;
  readonly #ending = new AbortController();
  #answer: EarlyAnswer | undefined;

  constructor(options: PreparedGreetingOptions) {
    this.#options = options;
    this.#hook = options.dialog.create(options.call);
  }

  /** Asks for it. @param isRinging nobody has answered yet, and perhaps nobody will */
  ask(isRinging: boolean): void {
    const { call, variables } = this.#options;
    const key = `${call.callId}.0`;
    const turn: DialogTurn = {
      call,
      index: 0,
      input: { kind: 'start' },
      history: [],
      variables,
      idempotencyKey: isRinging ? `${key}.early-0` : key,
      ...(isRinging ? { early: true } : {}),
    };
    this.#answer = new EarlyAnswer(0, '', (signal) => this.#spoken(this.#hook.respond(turn, signal)));
  }

  /** For the call, once. */
  create(): DialogHook {
    const { takesAdvice = false } = this.#hook;
    return {
      takesAdvice,
      respond: (turn, signal) => this.#prepared(turn)?.take(signal) ?? this.#hook.respond(turn, signal),
      failOver: (failure) => this.#hook.failOver?.(failure),
      dispose: () => this.discard(),
    };
  }

  /** No call comes of it, or the call is over. */
  async discard(): Promise<void> {
    this.#ending.abort(new Error('the call is over'));
    this.#answer?.discard();
    await this.#hook.dispose?.();
  }

  /** What was prepared, where it answers this turn: once, since a turn that is asked again wants another answer. */
  #prepared({ index, input, call, variables }: DialogTurn): EarlyAnswer | undefined {
    const answer = this.#answer;
    this.#answer = undefined;
    if (answer === undefined || answer.hasFailed) return undefined;
    const { dialog, variables: given } = this.#options;
    const isPerson = call.answeredBy === undefined || call.answeredBy === 'person' || call.answeredBy === 'silence';
    const isSame = index === 0 && input.kind === 'start' && isPerson && isDeepStrictEqual({ ...variables }, { ...given });
    if (isSame && (dialog.greetsAhead === 'always-same' || isHello(input.heard ?? ''))) return answer;
    answer.discard();
    return undefined;
  }

  /** Has the first sentences of an answer made, so that they are in the cache when they are said. */
  async *#spoken(actions: AsyncIterable<DialogAction>): AsyncIterable<DialogAction> {
    const { bot, voice } = this.#options;
    let { language, voice: name } = bot;
    let cutter: SentenceCutter | undefined;
    let left = MOST_SENTENCES;
    const make = (sentences: readonly string[], style: { readonly language: string; readonly voice: string }): void => {
      for (const text of sentences
        .map(speakable)
        .filter((sentence) => sentence !== '')
        .slice(0, left)) {
        left -= 1;
        void this.#make(text, style);
      }
    };
    for await (const action of actions) {
      yield action;
      if (action.type === 'language') {
        language = action.language;
        name = action.voice ?? name;
      }
      if (action.type !== 'say' || left === 0) continue;
      cutter ??= voice.createCutter();
      const style = { language: action.language ?? language, voice: action.voice ?? name };
      make(cutter.push(action.text), style);
      if (action.more === true) continue;
      make(cutter.flush(), style);
      cutter = undefined;
    }
    if (cutter !== undefined) make(cutter.flush(), { language, voice: name });
  }

  /** What cannot be made now is made when it is said. */
  async #make(text: string, style: { readonly language: string; readonly voice: string }): Promise<void> {
    const { bot, voice, format } = this.#options;
    const spoken = voice.synthesizer.speak({ text, ...style, speed: bot.speed, format }, this.#ending.signal);
    const audio = spoken[Symbol.asyncIterator]();
    try {
      while ((await audio.next()).done !== true);
    } catch {
      // Said by whoever needs it.
    }
  }
}

/** Whether what was said as the call was answered asks for nothing. */
function isHello(heard: string): boolean {
  const words = tokenise(heard);
  return words.length <= MOST_HELLO_WORDS && words.every((word) => HELLO.has(word));
}

/** A call that is dialled. */
interface GreetedCall {
  readonly call: Omit<CallFacts, 'direction' | 'language'> & { readonly variables: Readonly<Record<string, string>> };
  readonly bot: PreparedGreetingOptions['bot'];
  readonly dialog: DialogHookFactory;
  readonly speech: Pick<VoiceServices, 'synthesizer'>;
}

/** Has the greeting of a call made ahead; undefined where its dialog is not asked for it then, or cannot be. */
export function greetAhead(
  { call, bot, dialog, speech }: GreetedCall,
  at: { readonly carrierCallId: string; readonly format: AudioFormat | undefined; readonly when: 'ringing' | 'answered' },
  services: Pick<VoiceServices, 'createCutter'> & { readonly logger: Logger },
): PreparedGreeting | undefined {
  const { carrierCallId, format, when } = at;
  const { greetsAhead } = dialog;
  if (format === undefined || greetsAhead === undefined || (when === 'ringing' && greetsAhead === 'answered')) return undefined;
  const { callId, from, to, variables, botName } = call;
  const facts = { callId, carrierCallId, botName, from, to, direction: 'outbound', language: bot.language } as const;
  try {
    const { createCutter } = services;
    const voice = { createCutter, synthesizer: speech.synthesizer };
    const greeting = new PreparedGreeting({ bot, dialog, call: facts, variables, voice, format });
    greeting.ask(when === 'ringing');
    return greeting;
  } catch (error) {
    services.logger.warn({ callId, error }, 'preparing the greeting of a call failed');
    return undefined;
  }
}

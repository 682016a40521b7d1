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
  /** What the leg plays, or is expected to. */
  readonly format: AudioFormat;
}

/** Sentences synthesized ahead: the next are made while these are heard. */
const MOST_SENTENCES = 2;
/** A longer opening is more than a greeting. */
const MOST_HELLO_WORDS = 4;
/** What people say when they pick up; it needs no reply. */
const HELLO = new Set(
  tokenise(
    'hello hallo hullo hi hey yes yeah yep ya ok okay speaking there good morning afternoon evening namaste namaskar haan han ji ' +
      'हैलो हेलो हलो हाँ हां जी नमस्ते नमस्कार बोलिए बोलो कहिए',
  ),
);

/**
 * The greeting of a dialled call, requested and synthesized ahead: while the phone rings, or when it is answered. Used where the dialog would be
 * asked for the same; otherwise dropped, and the dialog is asked anew.
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

  /** Requests the greeting. @param isRinging not answered yet, and it may never be */
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

  /** Creates the call's dialog hook; call once. */
  create(): DialogHook {
    const { takesAdvice = false, listener } = this.#hook;
    return {
      takesAdvice,
      listener,
      respond: (turn, signal) => this.#prepared(turn)?.take(signal) ?? this.#hook.respond(turn, signal),
      failOver: (failure) => this.#hook.failOver?.(failure),
      dispose: () => this.discard(),
    };
  }

  /** The call was not answered, or is over. */
  async discard(): Promise<void> {
    this.#ending.abort(new Error('the call is over'));
    this.#answer?.discard();
    await this.#hook.dispose?.();
  }

  /** The prepared answer, where it fits this turn; only once, since a turn asked again wants another answer. */
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

  /** Synthesizes the first sentences ahead into the cache. */
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

  /** A failure here is repeated, and reported, when the sentence is spoken. */
  async #make(text: string, style: { readonly language: string; readonly voice: string }): Promise<void> {
    const { bot, voice, format } = this.#options;
    const spoken = voice.synthesizer.speak({ text, ...style, speed: bot.speed, format }, this.#ending.signal);
    const audio = spoken[Symbol.asyncIterator]();
    try {
      while ((await audio.next()).done !== true);
    } catch {
      // The caller of the synthesis reports it.
    }
  }
}

/** Whether the first words are only a greeting. */
function isHello(heard: string): boolean {
  const words = tokenise(heard);
  return words.length <= MOST_HELLO_WORDS && words.every((word) => HELLO.has(word));
}

/** A dialled call. */
interface GreetedCall {
  readonly call: Omit<CallFacts, 'direction' | 'language'> & { readonly variables: Readonly<Record<string, string>> };
  readonly bot: PreparedGreetingOptions['bot'];
  readonly dialog: DialogHookFactory;
  readonly speech: Pick<VoiceServices, 'synthesizer'>;
}

/** Prepares the greeting of a call; undefined where its dialog is not asked for one then, or cannot be. */
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

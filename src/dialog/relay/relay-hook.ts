import twilio from 'twilio';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { CallFacts, DialogAction, DialogHook, DialogHookFactory, DialogTurn } from '../port.ts';
import { DialogServerError } from '../wire/errors.ts';
import { Patience } from '../wire/patience.ts';
import { MOST_LOOPS } from '../action-schema.ts';
import { withoutSounds } from '../port-sounds.ts';
import { endsAnswer, type ServerMessage, setupMessage } from './relay-messages.ts';
import { RelaySocket } from './relay-socket.ts';

export interface RelayHookSettings {
  readonly url: string;
  /** Signs the handshake in `X-Twilio-Signature`, which servers written for the protocol verify. */
  readonly secret: Secret | undefined;
  /** Longest silence of the server, before its answer and in it. */
  readonly timeoutMs: number;
  readonly greeting?: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  /** The protocol has no message for a silent caller: this is said then. */
  readonly noInput: string;
  /** How long an end of the call, or keys to press, are waited for behind an answer, in ms; 500 when absent. */
  readonly followMs?: number;
}

/** A socket to a bot's server, with the handshake signed. @throws DialogServerError; the signal's reason when aborted */
export function openRelay({ url, secret }: Pick<RelayHookSettings, 'url' | 'secret'>, signal: AbortSignal): Promise<RelaySocket> {
  const signature = secret && twilio.getExpectedTwilioSignature(secret.reveal(), url, {});
  return RelaySocket.open(url, signature === undefined ? {} : { 'X-Twilio-Signature': signature }, signal);
}

/** A server that sends a sound and words, or words and the end of the call, sends them together. */
const MAY_FOLLOW_MS = 500;
/** Music that gives way says that the server is busy; it may be silent for so long. */
const MOST_MUSIC_MS = 120_000;
/** Of one answer, its messages as JSON; an answer of HTTP may have as many characters of text. */
const MOST_ANSWER_CHARACTERS = 1_000_000;
/** A greeting, or an answer to keys, is waited for so long where none may come: less than a dialog may take to answer at all. */
const MOST_SILENCE_MS = 8_000;
/** A server that answered what was given up first has its next answer under way by then. */
const NEXT_ANSWER_MS = 1_500;

/** Bots written for the ConversationRelay messages: one WebSocket for each call. */
export function relayHooks(settings: RelayHookSettings, clock: Clock): DialogHookFactory {
  return { create: (call) => new RelayHook(settings, clock, call) };
}

/**
 * One conversation with such a bot. A turn is a `prompt` (or one `dtmf` for each key), and its answer the `text` tokens up
 * to the one marked `last`. What cut the answer short is told in an `interrupt`: ahead of the next turn, with what was heard, or at
 * once where a prompt was given up before anything was said. Messages the server sends unasked are spoken with its next answer. A
 * server that waits for the caller to speak first, or for more keys, sends nothing, and the caller has the floor again after 8 s. A
 * `play` with nothing behind it is an answer too; one that gives way to what follows is taken for music over a longer wait.
 *
 * No `text` tells which prompt it answers, and after an `interrupt` some servers finish their answer and some never send its
 * `last`. So answers are counted. One to a prompt that was given up is dropped where it has come by the next prompt; where it has
 * not, what comes is spoken, and what follows within a moment too: the late answer may have come first. Nobody waits longer for
 * that than a silence behind the answer, and not again for a server that was seen to stop.
 */
export class RelayHook implements DialogHook {
  readonly #settings: RelayHookSettings;
  readonly #clock: Clock;
  readonly #call: CallFacts;
  /** In the carrier's form: two letters and 32 hex digits. */
  readonly #sessionId = `VX${newId('rel').slice('rel_'.length)}`;
  #socket: RelaySocket | undefined;
  /** What the server said in its last answer. */
  #said = '';
  /** The turn that was prompted last. */
  #index = -1;
  /** Answers that have not come to their end: the one that is read, and those of prompts that were given up. */
  #due = 0;
  #ended = false;
  /** Whether the server says nothing more where it was interrupted. */
  #stops = false;

  constructor(settings: RelayHookSettings, clock: Clock, call: CallFacts) {
    this.#settings = settings;
    this.#clock = clock;
    this.#call = call;
  }

  /** @throws DialogServerError, DialogTimeoutError */
  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    const { greeting, noInput, timeoutMs } = this.#settings;
    if (turn.input.kind === 'no-input') {
      yield { type: 'say', text: noInput };
      return;
    }
    // The protocol asks for no answer to these.
    const mayBeSilent = turn.input.kind === 'start' || turn.input.kind === 'keyed';
    const patienceMs = mayBeSilent ? Math.min(timeoutMs, MOST_SILENCE_MS) : timeoutMs;
    using patience = new Patience(this.#clock, patienceMs, "the bot's server");
    const either = AbortSignal.any([signal, patience.signal]);
    try {
      const socket = await this.#connected(either);
      if (turn.input.kind === 'start' && greeting !== undefined) {
        yield { type: 'say', text: greeting };
        return;
      }
      const unasked = this.#prompt(socket, turn);
      try {
        yield* this.#actions(this.#answer(unasked, socket, either, patience));
        patience.renew(2 * MAY_FOLLOW_MS);
        yield* this.#actions(this.#trailing(socket, either));
      } catch (error) {
        if (!mayBeSilent || !patience.signal.aborted || this.#said !== '') throw error;
        this.#due = 0;
      } finally {
        if (this.#due > 0 && this.#said === '') socket.send(interrupt(''));
      }
    } catch (error) {
      if (patience.signal.aborted) throw patience.signal.reason;
      throw error;
    }
  }

  async dispose(): Promise<void> {
    this.#socket?.close();
  }

  async #connected(signal: AbortSignal): Promise<RelaySocket> {
    if (this.#socket?.isOpen === true) return this.#socket;
    const { parameters } = this.#settings;
    const socket = await openRelay(this.#settings, signal);
    socket.send(setupMessage(this.#sessionId, this.#call, parameters));
    this.#socket = socket;
    this.#due = 0;
    return socket;
  }

  /** What follows within a time, if anything does. */
  async #following(socket: RelaySocket, withinMs: number, signal: AbortSignal): Promise<ServerMessage | undefined> {
    const late = new AbortController();
    const timer = this.#clock.after(withinMs, () => late.abort());
    try {
      return await socket.next(AbortSignal.any([signal, late.signal]));
    } catch (error) {
      if ((late.signal.aborted || !socket.isOpen) && !signal.aborted) return undefined;
      throw error;
    } finally {
      timer.cancel();
    }
  }

  /** @returns how many answers are there that nobody asked for */
  #prompt(socket: RelaySocket, { index, input, history, call }: DialogTurn): number {
    // Sounds are no part of what was said, on either side. Of a turn that is asked again nothing was heard.
    const heard = index === this.#index ? '' : withoutSounds(history.findLast(({ role }) => role === 'bot')?.text ?? '');
    const cut = this.#said !== '' && (this.#due > 0 || plain(heard) !== plain(this.#said));
    const here = socket.answers;
    const stale = cut || this.#due > 0;
    if (stale) socket.discard();
    if (cut) socket.send(interrupt(heard));
    if (here > 0) this.#stops = false;
    this.#due = this.#stops ? 1 : Math.max(0, this.#due - here) + 1;
    this.#said = '';
    this.#index = index;
    if (input.kind === 'spoken')
      socket.send({ type: 'prompt', voicePrompt: input.text, lang: input.language ?? call.language, last: true });
    if (input.kind === 'keyed') for (const digit of input.digits) socket.send({ type: 'dtmf', digit });
    return stale ? 0 : here;
  }

  /** What the server has to say now: what it said unasked, its answer, and one that another came before. */
  async *#answer(unasked: number, socket: RelaySocket, signal: AbortSignal, patience: Patience): AsyncIterable<ServerMessage> {
    this.#due += unasked;
    for (let count = 0; count <= unasked; count += 1) yield* this.#messages(undefined, socket, signal, patience);
    while (this.#due > 0) {
      patience.renew(2 * NEXT_ANSWER_MS);
      const next = await this.#following(socket, NEXT_ANSWER_MS, signal);
      if (next === undefined) {
        this.#stops = true;
        this.#due = 0;
        return;
      }
      yield* this.#messages(next, socket, signal, patience);
    }
  }

  /** What a server sends right behind its last words: the end of the call above all. Words are those of another answer. */
  async *#trailing(socket: RelaySocket, signal: AbortSignal): AsyncIterable<ServerMessage> {
    const { followMs = MAY_FOLLOW_MS } = this.#settings;
    while (!this.#ended) {
      const waits = followMs > 0 || socket.isAhead;
      const next = waits ? await this.#following(socket, followMs, signal) : undefined;
      if (next === undefined) return;
      if (next.type === 'text' || next.type === 'play') return socket.putBack(next);
      yield next;
    }
  }

  /** One answer: up to what is marked as its end, or a sound with nothing behind it. */
  async *#messages(
    first: ServerMessage | undefined,
    socket: RelaySocket,
    signal: AbortSignal,
    patience: Patience,
  ): AsyncIterable<ServerMessage> {
    let message = first ?? (await socket.next(signal));
    for (;;) {
      const over = endsAnswer(message);
      if (over) this.#due -= 1;
      patience.pause();
      yield message;
      if (over) {
        patience.renew();
        return;
      }
      if (message.type === 'text' && message.token.trim() === '') patience.resume();
      else patience.renew(message.type === 'play' && message.preemptible ? MOST_MUSIC_MS : undefined);
      const mayBeOver = message.type === 'play' && !message.preemptible;
      // The protocol has no word for an answer that is a sound alone.
      const next = mayBeOver ? await this.#following(socket, MAY_FOLLOW_MS, signal) : await socket.next(signal);
      if (next === undefined) {
        this.#due -= 1;
        return;
      }
      message = next;
    }
  }

  async *#actions(messages: AsyncIterable<ServerMessage>): AsyncIterable<DialogAction> {
    let characters = 0;
    for await (const message of messages) {
      characters += JSON.stringify(message).length;
      if (characters > MOST_ANSWER_CHARACTERS)
        throw new DialogServerError(`the bot's answer is longer than ${MOST_ANSWER_CHARACTERS} characters`, { retryable: false });
      switch (message.type) {
        case 'text': {
          const { token, last, lang, interruptible } = message;
          this.#said += token;
          const policy = interruptible === false ? { interruptible: 'never' as const } : {};
          // A last token without text ends the text that is open.
          if (token !== '' || (last && this.#said !== ''))
            yield { type: 'say', text: token, more: !last, ...(lang === undefined ? {} : { language: lang }), ...policy };
          break;
        }
        case 'language': {
          const language = message.ttsLanguage ?? message.transcriptionLanguage;
          if (language !== undefined) yield { type: 'language', language: language.split('-')[0] ?? language };
          break;
        }
        case 'end':
          if (message.handoffData !== undefined) yield { type: 'set', variables: { handoffData: message.handoffData } };
          yield { type: 'hangup', reason: 'the bot ended the call' };
          this.#due = 0;
          this.#ended = true;
          return;
        case 'sendDigits':
          yield { type: 'digits', digits: message.digits };
          break;
        case 'play': {
          const { source, loop, preemptible, interruptible } = message;
          const policy = interruptible ? {} : { interruptible: 'never' as const };
          yield { type: 'play', source, loop: loop === 0 ? MOST_LOOPS : loop, preemptible, ...policy };
        }
      }
    }
  }
}

/** @param heard of the answer that was cut short */
function interrupt(heard: string): object {
  return { type: 'interrupt', utteranceUntilInterrupt: heard, durationUntilInterruptMs: 0 };
}

/** Heard text has lost its markup and its spacing, so only letters and digits are compared. */
function plain(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
}

import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import { traceHeaders } from '../../observability/trace-context.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import {
  type CallFacts,
  type DialogAction,
  type DialogHook,
  type DialogHookFactory,
  type DialogTurn,
  withoutSounds,
} from '../port.ts';
import { DialogServerError } from '../wire/errors.ts';
import { AnswerDeadline } from '../wire/answer-deadline.ts';
import { MOST_LOOPS } from '../action-schema.ts';
import { endsAnswer, type ServerMessage, setupMessage, RelaySocket } from './relay-socket.ts';

export interface RelayHookSettings {
  readonly url: string;
  /** Signs the handshake in `X-Twilio-Signature`, which servers written for the protocol verify. */
  readonly secret: Secret | undefined;
  /** How long the server may be silent, before and during its answer. */
  readonly timeoutMs: number;
  readonly greeting?: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  /** Spoken to a silent caller, for whom the protocol has no message. */
  readonly noInput: string;
  /** How long to wait after an answer for `end` or `sendDigits`, and after `end` for words, in ms; 500 when absent. */
  readonly followMs?: number;
}

/** Opens a socket to a bot's server, with a signed handshake. @throws DialogServerError; the signal's reason when aborted */
export function openRelay(
  { url, secret }: Pick<RelayHookSettings, 'url' | 'secret'>,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<RelaySocket> {
  const signature = secret && getExpectedTwilioSignature(secret.reveal(), url, {});
  return RelaySocket.open(url, { ...headers, ...(signature === undefined ? {} : { 'X-Twilio-Signature': signature }) }, signal);
}

/** Servers send a sound and its text, or a text and the `end`, in direct succession. */
const MAY_FOLLOW_MS = 500;
/** How long a server may be silent while its preemptible music plays. */
const MOST_MUSIC_MS = 120_000;
/** Limit of one answer, its messages counted as JSON. */
const MOST_ANSWER_CHARACTERS = 1_000_000;
/** How long to wait for a greeting or an answer to keys, which are optional; below the call's own limit for a dialog. */
const MOST_SILENCE_MS = 8_000;
/** How long to wait for the current answer after the late answer to an abandoned prompt. */
const NEXT_ANSWER_MS = 1_500;

/** As `saved` gives it. */
const savedSession = z.object({ sessionId: z.string() });

/** Bots written for the ConversationRelay messages: one WebSocket for each call. */
export function relayHooks(settings: RelayHookSettings, clock: Clock): DialogHookFactory {
  return { create: (call, saved) => new RelayHook(settings, clock, call, savedSession.safeParse(saved).data) };
}

/**
 * One conversation with a ConversationRelay bot. A turn is a `prompt`, or one `dtmf` for each key; its answer is the `text` tokens up to the one
 * marked `last`. An interrupted answer is reported with `interrupt`: before the next turn, with the heard words, or at once for a prompt abandoned
 * before any reply. Unasked messages are spoken with the next answer. A server may stay silent at the start and after keys; the caller has the floor
 * again after 8 s, and after keys at once (`listen`). A `play` alone is an answer; a preemptible one is music during a longer wait. Words right after
 * an `end` are spoken before the call ends.
 * A `text` does not name its prompt, and after an `interrupt` some servers finish their answer while others never send its `last`. So answers are
 * counted. The answer to an abandoned prompt is dropped when it is there at the next prompt. Otherwise the first answer that arrives is spoken, and a
 * second one that follows within `NEXT_ANSWER_MS`: the first may have been the late one. A server that was seen to stop at an `interrupt` is not
 * waited for again.
 */
export class RelayHook implements DialogHook {
  readonly takesAdvice = true;
  readonly #settings: RelayHookSettings;
  readonly #clock: Clock;
  readonly #call: CallFacts;
  /** In the carrier's form: two letters and 32 hex digits. */
  readonly #sessionId: string;
  /** The session of a crashed process. */
  readonly #goesOn: boolean;
  #socket: RelaySocket | undefined;
  /** The text of the server's last answer. */
  #said = '';
  /** Index of the last turn that was prompted. */
  #index = -1;
  /** Answers still to end: the current one, and those of abandoned prompts. */
  #due = 0;
  #ended = false;
  /** Whether the server stops its answer at an `interrupt`. */
  #stops = false;
  /** Keys without an answer so far; one may or may not come. */
  #hasOpenKeys = false;

  constructor(settings: RelayHookSettings, clock: Clock, call: CallFacts, saved?: z.output<typeof savedSession>) {
    this.#settings = settings;
    this.#clock = clock;
    this.#call = call;
    this.#goesOn = saved !== undefined;
    this.#sessionId = saved?.sessionId ?? `VX${newId('rel').slice('rel_'.length)}`;
  }

  /** @throws DialogServerError, DialogTimeoutError */
  async *respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    const { greeting, noInput, timeoutMs } = this.#settings;
    if (turn.input.kind === 'no-input') {
      yield { type: 'say', text: noInput };
      return;
    }
    // An answer to these is optional in the protocol.
    const mayBeSilent = turn.input.kind === 'start' || turn.input.kind === 'keyed' || turn.input.kind === 'transfer';
    const deadlineMs = mayBeSilent ? Math.min(timeoutMs, MOST_SILENCE_MS) : timeoutMs;
    using deadline = new AnswerDeadline(this.#clock, deadlineMs, "the bot's server");
    const either = AbortSignal.any([signal, deadline.signal]);
    try {
      const socket = await this.#connected(turn, either);
      if (turn.input.kind === 'start' && greeting !== undefined) {
        yield { type: 'say', text: greeting };
        return;
      }
      const unasked = this.#prompt(socket, turn);
      if (turn.input.kind === 'keyed') yield { type: 'listen' };
      try {
        yield* this.#actions(this.#answer(unasked, socket, either, deadline), socket, either);
        deadline.renew(2 * MAY_FOLLOW_MS);
        yield* this.#actions(this.#trailing(socket, either), socket, either);
      } catch (error) {
        if (!mayBeSilent || !deadline.signal.aborted || this.#said !== '') throw error;
        this.#due = 0;
      } finally {
        this.#hasOpenKeys = turn.input.kind === 'keyed' && this.#due > 0 && this.#said === '';
        if (this.#due > 0 && this.#said === '' && !this.#hasOpenKeys) socket.send(interrupt(''));
      }
    } catch (error) {
      if (deadline.signal.aborted) throw deadline.signal.reason;
      throw error;
    }
  }

  saved(): z.output<typeof savedSession> {
    return { sessionId: this.#sessionId };
  }

  async dispose(): Promise<void> {
    this.#socket?.close();
  }

  async #connected({ call: { direction }, variables }: DialogTurn, signal: AbortSignal): Promise<RelaySocket> {
    if (this.#socket?.isOpen === true) return this.#socket;
    // Parameters that the protocol's own service would pass on for an outbound call.
    const parameters = { ...this.#settings.parameters, ...(direction === 'outbound' ? variables : {}) };
    const socket = await openRelay(this.#settings, signal, traceHeaders(this.#call.callId));
    socket.send({ ...setupMessage(this.#sessionId, this.#call, parameters), ...(this.#goesOn ? { resumed: true } : {}) });
    this.#socket = socket;
    this.#due = 0;
    return socket;
  }

  /** The next message within a time limit; undefined on timeout. */
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

  /** Sends a turn. @returns the number of unasked answers that wait to be read */
  #prompt(socket: RelaySocket, { index, input, history, call, advice = [], resumed }: DialogTurn): number {
    // Sound labels are not words. Nothing was heard of a turn that is asked again.
    const heard = index === this.#index ? '' : withoutSounds(history.findLast(({ role }) => role === 'bot')?.text ?? '');
    const cut = this.#said !== '' && (this.#due > 0 || plain(heard) !== plain(this.#said));
    const here = socket.answers;
    const stale = cut || this.#due > 0;
    if (stale) socket.discard();
    if (cut) socket.send(interrupt(heard));
    if (here > 0) this.#stops = false;
    const earlier = Math.max(0, this.#due - here);
    this.#due = this.#stops ? 1 : (this.#hasOpenKeys ? Math.min(1, earlier) : earlier) + 1;
    this.#said = '';
    this.#index = index;
    for (const text of advice) socket.send({ type: 'advice', text });
    if (input.kind === 'spoken')
      socket.send({
        type: 'prompt',
        voicePrompt: input.text,
        lang: input.language ?? call.language,
        last: true,
        ...(input.callBack === undefined ? {} : { callBack: input.callBack }),
        ...(resumed === undefined ? {} : { resumed }),
      });
    if (input.kind === 'transfer') {
      const { outcome, to, cause } = input;
      socket.send({ type: 'transfer', outcome, to, ...(cause === undefined ? {} : { cause }) });
    }
    if (input.kind === 'keyed') for (const digit of input.digits) socket.send({ type: 'dtmf', digit });
    return stale ? 0 : here;
  }

  /** The unasked answers, the answer to the prompt, and one more where a late answer came first. */
  async *#answer(
    unasked: number,
    socket: RelaySocket,
    signal: AbortSignal,
    deadline: AnswerDeadline,
  ): AsyncIterable<ServerMessage> {
    this.#due += unasked;
    for (let count = 0; count <= unasked; count += 1) yield* this.#messages(undefined, socket, signal, deadline);
    while (this.#due > 0) {
      deadline.renew(2 * NEXT_ANSWER_MS);
      const next = await this.#following(socket, NEXT_ANSWER_MS, signal);
      if (next === undefined) {
        this.#stops ||= !this.#hasOpenKeys;
        this.#due = 0;
        return;
      }
      yield* this.#messages(next, socket, signal, deadline);
    }
  }

  /** Messages right after an answer, mostly `end`. A `text` or `play` belongs to the next answer and is put back. */
  async *#trailing(socket: RelaySocket, signal: AbortSignal): AsyncIterable<ServerMessage> {
    while (!this.#ended) {
      const next = await this.#behindAnswer(socket, signal);
      if (next === undefined) return;
      if (next.type === 'text' || next.type === 'play') return socket.putBack(next);
      yield next;
    }
  }

  /** Sounds and words of a server that sends `end` too early. */
  async *#afterEnd(socket: RelaySocket, signal: AbortSignal): AsyncIterable<ServerMessage> {
    for (;;) {
      const next = await this.#behindAnswer(socket, signal);
      if (next === undefined) return;
      if (next.type === 'text' || next.type === 'play') yield next;
    }
  }

  /** The message directly after an answer; undefined without one. */
  async #behindAnswer(socket: RelaySocket, signal: AbortSignal): Promise<ServerMessage | undefined> {
    const { followMs = MAY_FOLLOW_MS } = this.#settings;
    return followMs > 0 || socket.isAhead ? this.#following(socket, followMs, signal) : undefined;
  }

  /** One answer: up to the message that ends it, or a sound alone. */
  async *#messages(
    first: ServerMessage | undefined,
    socket: RelaySocket,
    signal: AbortSignal,
    deadline: AnswerDeadline,
  ): AsyncIterable<ServerMessage> {
    let message = first ?? (await socket.next(signal));
    for (;;) {
      const over = endsAnswer(message);
      if (over) this.#due -= 1;
      deadline.pause();
      yield message;
      if (over) {
        deadline.renew();
        return;
      }
      if (message.type === 'text' && message.token.trim() === '') deadline.resume();
      else deadline.renew(message.type === 'play' && message.preemptible ? MOST_MUSIC_MS : undefined);
      const mayBeOver = message.type === 'play' && !message.preemptible;
      // The protocol does not mark the end of an answer that is only a sound.
      const next = mayBeOver ? await this.#following(socket, MAY_FOLLOW_MS, signal) : await socket.next(signal);
      if (next === undefined) {
        this.#due -= 1;
        return;
      }
      message = next;
    }
  }

  async *#actions(messages: AsyncIterable<ServerMessage>, socket: RelaySocket, signal: AbortSignal): AsyncIterable<DialogAction> {
    for await (const message of withinLimit(messages)) {
      switch (message.type) {
        case 'text': {
          const { token, last, lang, interruptible } = message;
          this.#said += token;
          const policy = interruptible === false ? { interruptible: 'never' as const } : {};
          // An empty last token ends the open text.
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
          this.#due = 0;
          this.#ended = true;
          yield* this.#actions(this.#afterEnd(socket, signal), socket, signal);
          if (message.handoffData !== undefined) yield { type: 'set', variables: { handoffData: message.handoffData } };
          yield { type: 'hangup', reason: 'the bot ended the call' };
          return;
        case 'transfer': {
          const { to, brief } = message;
          yield { type: 'transfer', to, ...(brief === undefined ? {} : { warm: { brief } }) };
          break;
        }
        case 'cancelTransfer':
          yield { type: 'cancel-transfer' };
          break;
        case 'sendDigits':
          yield { type: 'digits', digits: message.digits };
          break;
        case 'callBack':
          yield { type: 'call-back', ...(message.at === undefined ? {} : { at: message.at }) };
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

/** @throws DialogServerError for an answer that is too long */
async function* withinLimit(messages: AsyncIterable<ServerMessage>): AsyncIterable<ServerMessage> {
  let characters = 0;
  for await (const message of messages) {
    characters += JSON.stringify(message).length;
    if (characters > MOST_ANSWER_CHARACTERS)
      throw new DialogServerError(`the bot's answer is longer than ${MOST_ANSWER_CHARACTERS} characters`, { retryable: false });
    yield message;
  }
}

/** @param heard the words that the caller heard of the interrupted answer */
function interrupt(heard: string): object {
  return { type: 'interrupt', utteranceUntilInterrupt: heard, durationUntilInterruptMs: 0 };
}

/** Heard text has lost its markup and its spacing, so only letters and digits are compared. */
function plain(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
}

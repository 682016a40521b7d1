import twilio from 'twilio';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { CallFacts, DialogAction, DialogHook, DialogHookFactory, DialogTurn } from '../port.ts';
import { Patience } from '../wire/patience.ts';
import { MOST_LOOPS } from '../action-schema.ts';
import { withoutSounds } from '../port-sounds.ts';
import { type ServerMessage, setupMessage } from './relay-messages.ts';
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
}

/** A server that sends a sound and words sends them together. */
const MAY_FOLLOW_MS = 500;
/** Music that gives way says that the server is busy; it may be silent for so long. */
const MOST_MUSIC_MS = 120_000;

/** Bots written for the ConversationRelay messages: one WebSocket for each call. */
export function relayHooks(settings: RelayHookSettings, clock: Clock): DialogHookFactory {
  return { create: (call) => new RelayHook(settings, clock, call) };
}

/**
 * One conversation with such a bot. A turn is a `prompt` (or one `dtmf` for each key), and its answer the `text` tokens up
 * to the one marked `last`. What cut the answer short is told in an `interrupt` ahead of the next turn, with what was heard.
 * Messages the server sends unasked are spoken with its next answer. A `play` with nothing behind it is an answer too; one that gives way
 * to what follows is taken for music over a longer wait.
 */
export class RelayHook implements DialogHook {
  readonly #settings: RelayHookSettings;
  readonly #clock: Clock;
  readonly #call: CallFacts;
  readonly #sessionId = newId('rel');
  #socket: RelaySocket | undefined;
  /** What the server said in its last answer. */
  #said = '';

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
    using patience = new Patience(this.#clock, timeoutMs, "the bot's server");
    const either = AbortSignal.any([signal, patience.signal]);
    try {
      const socket = await this.#connected(either);
      if (turn.input.kind === 'start' && greeting !== undefined) {
        yield { type: 'say', text: greeting };
        return;
      }
      this.#prompt(socket, turn);
      yield* this.#answer(socket, either, patience);
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
    const { url, secret, parameters } = this.#settings;
    const headers =
      secret === undefined ? {} : { 'X-Twilio-Signature': twilio.getExpectedTwilioSignature(secret.reveal(), url, {}) };
    const socket = await RelaySocket.open(url, headers, signal);
    socket.send(setupMessage(this.#sessionId, this.#call, parameters));
    this.#socket = socket;
    return socket;
  }

  /** What follows a sound, if anything does: the protocol has no word for an answer that is a sound alone. */
  async #following(socket: RelaySocket, signal: AbortSignal): Promise<ServerMessage | undefined> {
    const late = new AbortController();
    const timer = this.#clock.after(MAY_FOLLOW_MS, () => late.abort());
    try {
      return await socket.next(AbortSignal.any([signal, late.signal]));
    } catch (error) {
      if (late.signal.aborted && !signal.aborted) return undefined;
      throw error;
    } finally {
      timer.cancel();
    }
  }

  #prompt(socket: RelaySocket, { input, history, call }: DialogTurn): void {
    // Sounds are no part of what was said, on either side.
    const heard = withoutSounds(history.findLast(({ role }) => role === 'bot')?.text ?? '');
    if (this.#said !== '' && plain(heard) !== plain(this.#said)) {
      socket.discard();
      socket.send({ type: 'interrupt', utteranceUntilInterrupt: heard, durationUntilInterruptMs: 0 });
    }
    this.#said = '';
    if (input.kind === 'spoken')
      socket.send({ type: 'prompt', voicePrompt: input.text, lang: input.language ?? call.language, last: true });
    if (input.kind === 'keyed') for (const digit of input.digits) socket.send({ type: 'dtmf', digit });
  }

  async *#answer(socket: RelaySocket, signal: AbortSignal, patience: Patience): AsyncIterable<DialogAction> {
    let mayBeOver = false;
    for (;;) {
      const message = mayBeOver ? await this.#following(socket, signal) : await socket.next(signal);
      if (message === undefined) return;
      mayBeOver = false;
      patience.renew();
      switch (message.type) {
        case 'text': {
          const { token, last, lang, interruptible } = message;
          this.#said += token;
          const policy = interruptible === false ? { interruptible: 'never' as const } : {};
          if (token !== '')
            yield { type: 'say', text: token, more: !last, ...(lang === undefined ? {} : { language: lang }), ...policy };
          if (last) return;
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
          return;
        case 'sendDigits':
          yield { type: 'digits', digits: message.digits };
          break;
        case 'play': {
          const { source, loop, preemptible, interruptible } = message;
          const policy = interruptible ? {} : { interruptible: 'never' as const };
          yield { type: 'play', source, loop: loop === 0 ? MOST_LOOPS : loop, preemptible, ...policy };
          if (preemptible) patience.renew(MOST_MUSIC_MS);
          else mayBeOver = true;
        }
      }
    }
  }
}

/** Heard text has lost its markup and its spacing, so only letters and digits are compared. */
function plain(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
}

import type { Clock, Timer } from '../../kernel/clock.ts';
import { type AudioFormat, MULAW_8K } from '../../audio/format.ts';
import { sleep } from '../../kernel/waiting.ts';
import { type DialogTurn, withoutSounds } from '../port.ts';
import { CallerAudio } from './caller-audio.ts';
import { RealtimeSession, RealtimeVendorError, type SessionListener } from './realtime-session.ts';
import type { OpenWire } from './session-socket.ts';
import type { RealtimeVendor, SessionSetup, Usage } from './vendor.ts';

/** Delays before a session is opened again: at once, then later. */
const REOPEN_MS = [0, 250, 1_000] as const;
/** Longest history told to a new session, in entries. */
const MOST_HISTORY = 60;

/** What sessions of a call are opened with, but for the formats of its line. */
export interface KeeperSettings {
  readonly vendor: RealtimeVendor;
  readonly setup: Omit<SessionSetup, 'heard' | 'spoken' | 'functions'>;
  /** The functions of a session that opens now. */
  readonly functions: () => SessionSetup['functions'];
  readonly key: string | undefined;
  readonly url: string | undefined;
}

interface KeeperListener {
  used(usage: Usage): void;
  turnOver(): void;
}

/** A line until the call's own is known: conversations in text have none. */
const NO_LINE = { rateHz: 8_000, speech: MULAW_8K };

/**
 * Keeps one session open for a call: opens it as the call begins, again when it was lost, and another one before the vendor ends it. A new session is
 * told the history as the caller heard it.
 */
export class SessionKeeper {
  readonly audio: CallerAudio;
  readonly #settings: KeeperSettings;
  readonly #services: { readonly clock: Clock; readonly open: OpenWire };
  readonly #listener: KeeperListener;
  #line: { readonly rateHz: number; readonly speech: AudioFormat } = NO_LINE;
  #session: RealtimeSession | undefined;
  /** Opened in place of one that is about to end. */
  #successor: RealtimeSession | undefined;
  #lastError: RealtimeVendorError | Error | undefined;
  #failures = 0;
  #retry: Timer | undefined;
  #isClosed = false;
  /** Entries of the history that the session knows. */
  #known = 0;
  /** The index of the last turn that was told, and the words that the model itself said in it. */
  #last: { readonly index: number; readonly said: string } | undefined;

  constructor(settings: KeeperSettings, services: { readonly clock: Clock; readonly open: OpenWire }, listener: KeeperListener) {
    this.#settings = settings;
    this.#services = services;
    this.#listener = listener;
    // The sink asks for the session as it is then.
    const current = (): RealtimeSession | undefined => this.#session;
    const { audioInterrupts } = settings.vendor;
    this.audio = new CallerAudio(
      {
        get takes() {
          const session = current();
          return session?.isReady === true && !session.isOver && !(audioInterrupts && session.isAnswering);
        },
        send: (audio, isFirst) => current()?.audio(audio, isFirst),
        withdraw: () => current()?.drop(),
      },
      settings.setup.turns === 'model',
    );
  }

  /** The call's line is there. */
  useLine(line: { readonly rateHz: number; readonly speech: AudioFormat }): void {
    this.#line = line;
  }

  open(): void {
    if (!this.#isClosed) this.#session ??= this.#opened();
  }

  /**
   * The session, ready and told what it does not know yet.
   * @param turn that is about to be answered
   * @throws RealtimeVendorError where none can be opened; the signal's reason when aborted
   */
  async ready(turn: DialogTurn, signal: AbortSignal): Promise<RealtimeSession> {
    const session = await this.#open(signal);
    this.#failures = 0;
    settleHeard(session);
    this.#tell(session, turn);
    return session;
  }

  /** The model has answered a turn by these words; empty where others spoke for it. */
  answered(index: number, said: string): void {
    this.#last = { index, said };
  }

  close(): void {
    this.#isClosed = true;
    this.#retry?.cancel();
    this.#session?.close();
    this.#successor?.close();
  }

  async #open(signal: AbortSignal): Promise<RealtimeSession> {
    this.#retry?.cancel();
    for (const delayMs of REOPEN_MS) {
      this.#succeed();
      if (this.#session === undefined) {
        await sleep(this.#services.clock, delayMs, signal);
        this.#session ??= this.#opened();
      }
      const session = this.#session;
      try {
        await session.whenReady(signal);
        return session;
      } catch (error) {
        signal.throwIfAborted();
        if (session === this.#session) this.#session = undefined;
        this.#lastError = error as Error;
        // A wrong key does not become right.
        if (error instanceof RealtimeVendorError && !error.retryable) throw error;
      }
    }
    throw this.#lastError ?? new RealtimeVendorError(this.#settings.vendor.title, 'unavailable', 'no session could be opened');
  }

  #opened(): RealtimeSession {
    const { vendor, setup, functions, key, url } = this.#settings;
    const formats = vendor.formats(this.#line);
    this.audio.open(this.#line.rateHz, formats.heard);
    this.#known = 0;
    this.#last = undefined;
    const listener: SessionListener = {
      used: (usage) => this.#listener.used(usage),
      turnOver: () => {
        if (session === this.#session) this.#listener.turnOver();
      },
      leaving: () => {
        if (session === this.#session && !this.#isClosed) this.#successor ??= this.#another();
      },
      lost: () => this.#lost(session),
    };
    const session: RealtimeSession = new RealtimeSession(
      { vendor, setup: { ...setup, ...formats, functions: functions() }, key, url },
      this.#services,
      listener,
    );
    return session;
  }

  /** A session beside the running one, which keeps what it knows. */
  #another(): RealtimeSession {
    const [known, last] = [this.#known, this.#last];
    const session = this.#opened();
    this.#known = known;
    this.#last = last;
    return session;
  }

  /** The successor takes over where nothing is under way in the running session. */
  #succeed(): void {
    const next = this.#successor;
    if (next === undefined || next.isOver) return;
    if (this.#session !== undefined && (this.#session.isAnswering || this.audio.isTurn)) return;
    this.#session?.close();
    this.#takeOver(next);
  }

  #takeOver(next: RealtimeSession): void {
    this.#successor = undefined;
    this.#session = next;
    this.#known = 0;
    this.#last = undefined;
    this.audio.lost();
  }

  #lost(session: RealtimeSession): void {
    if (session === this.#successor) this.#successor = undefined;
    if (session !== this.#session || this.#isClosed) return;
    this.#session = undefined;
    this.audio.lost();
    if (this.#successor !== undefined) return this.#takeOver(this.#successor);
    const delayMs = REOPEN_MS[this.#failures];
    this.#failures += 1;
    // Until the next turn asks for one.
    if (delayMs !== undefined)
      this.#retry = this.#services.clock.after(delayMs, () => {
        if (!this.#isClosed) this.#session ??= this.#opened();
      });
  }

  /** Tells what was said and the session did not hear: everything to a new one, else what others than the model said. */
  #tell(session: RealtimeSession, { history, index }: DialogTurn): void {
    const fresh = history.slice(this.#known);
    const last = this.#last;
    this.#known = history.length;
    if (last === undefined || last.index >= index) {
      for (const { role, text } of fresh.slice(-MOST_HISTORY)) session.text(role, withoutSecrets(text));
      return;
    }
    // First comes what the caller said in the model's own last turn, then what was heard of its reply.
    const [first, ...others] = fresh[0]?.role === 'caller' ? fresh.slice(1) : fresh;
    if (first !== undefined && first.role === 'bot') {
      const before = spokenBefore(first.text, last.said);
      session.text('bot', withoutSecrets(before));
    } else if (first !== undefined) others.unshift(first);
    for (const { role, text } of others) session.text(role, withoutSecrets(text));
  }
}

/** Tells the session how much the caller heard of the speeches that are over, so that its history is what they know. */
function settleHeard(session: RealtimeSession): void {
  for (const speech of session.speeches.values()) {
    const { state, heardMs, heardText } = speech.heard;
    if (state === 'playing' && speech.isOver && !speech.isWhole) session.heard(speech, heardMs, heardText);
    else if (state === 'waiting') session.heard(speech, 0, '');
    else if (state === 'cut') session.heard(speech, heardMs, heardText);
    else if (state === 'played' && !speech.isWhole) session.heard(speech, speech.receivedMs, speech.text);
    else if (state === 'played') session.speeches.delete(speech.item);
  }
}

/** A text of the history for the model, which learns nothing of a secret value, not even the last digits that a record shows. */
function withoutSecrets(text: string): string {
  return withoutSounds(text).replaceAll(/\*{3,}\d{0,4}/gu, '(entered)');
}

/** What the caller heard before the model's own words in a reply: a greeting, an announcement. */
function spokenBefore(heard: string, said: string): string {
  const begin = said.trim().slice(0, 20);
  if (begin === '') return heard;
  const at = heard.indexOf(begin);
  return at > 0 ? heard.slice(0, at).trim() : '';
}

import type { AudioFormat } from '../audio/format.ts';

// Recognition and synthesis as a live call uses them. Implemented for the speech platform by `speech/asr/realtime` and
// `speech/tts/realtime`, and for each vendor below `speech/vendors`. A call asks capabilities and knows no vendor.

/** What a recogniser can do. */
export interface RecogniserCapabilities {
  /** Interim texts come while the caller speaks. Without them words come only after a commit. */
  readonly partials: boolean;
  /** Finals say whether the utterance has ended (`endOfUtterance`). */
  readonly endMarks: boolean;
  /** Most phrases that a session can be biased toward; 0 without biasing. */
  readonly mostHints: number;
  /** ISO 639 codes, without a region; `any` where the recogniser does not say. */
  readonly languages: 'any' | ReadonlySet<string>;
  /** Takes the language `auto` and tells which one it heard. */
  readonly detectsLanguage: boolean;
  /** Sample rates that are recognised without being converted, in Hz. A session takes any rate. */
  readonly ratesHz: readonly number[];
  /** Sessions that one key may have open at once; Infinity where there is no limit. */
  readonly sessionsPerKey: number;
  /**
   * An open session that is given no audio costs nothing and stays open: one that stands by is opened when its call begins. Where
   * absent it is opened at the first sign of trouble.
   */
  readonly mayIdle?: boolean;
  /** Time, in ms, after which a commit without recognised words is answered; absent where that takes no longer than an answer with words. */
  readonly nothingMs?: number;
}

/** What a synthesizer can do. */
export interface SynthesizerCapabilities {
  /** Formats that are made without conversion, the best first. A request may ask for any. */
  readonly formats: readonly AudioFormat[];
  /** ISO 639 codes, without a region; `any` where the synthesizer does not say. */
  readonly languages: 'any' | ReadonlySet<string>;
  /** Names of voices; undefined where any name is passed on. */
  readonly voices: readonly string[] | undefined;
  readonly defaultVoice: string | undefined;
  /** The first audio comes before the last of it is made. */
  readonly streams: boolean;
  /** Characters of one request. */
  readonly longestText: number;
  /** Requests that one key may have open at once; Infinity where there is no limit. */
  readonly requestsPerKey: number;
}

/** Options of a recognition session (ASR doc, "WebSocket {asr_url}/v1/realtime"). */
export interface RecognitionOptions {
  /** ISO 639 code, for example `en` or `hi`. */
  readonly language: string;
  /** Sample rate of the PCM that will be sent, in Hz. */
  readonly sampleRateHz: number;
  /** Terms to bias recognition toward; at most `mostHints` of the capabilities are used. */
  readonly boostPhrases?: readonly string[] | undefined;
}

/** Events of a session (ASR doc, events). `seg` numbers the finals; it keeps rising when a lost socket is replaced. */
export type RecognitionEvent =
  /** The platform listens. */
  | { readonly type: 'ready' }
  /** An interim text of the final with the same `seg`; the next partial replaces it. */
  | { readonly type: 'partial'; readonly seg: number; readonly text: string }
  /** `endOfUtterance` is undefined when the platform does not say. Text may be empty. */
  | {
      readonly type: 'final';
      readonly seg: number;
      readonly text: string;
      readonly endOfUtterance: boolean | undefined;
      readonly language: string | undefined;
    }
  /** Replaces the text of the final with the same `seg`. */
  | { readonly type: 'final-refined'; readonly seg: number; readonly text: string }
  /** The socket died and a new one is being opened; audio since the last final is sent again. */
  | { readonly type: 'reconnecting'; readonly reason: string }
  /** This much audio will never be in a final. It begins this long after the first sample given to `send`. */
  | { readonly type: 'audio-lost'; readonly fromMs: number; readonly lostMs: number; readonly reason: string }
  /** The session is over; nothing follows. `error` is undefined after a clean `end`. */
  | { readonly type: 'closed'; readonly error: Error | undefined };

/** A session sends audio in messages of this length, or shorter at a commit: given less than that, it keeps it. */
export const RECOGNITION_BATCH_MS = 100;

/** One session. Its opener ends or aborts it. */
export interface RecognitionSession {
  /**
   * @param pcm 16-bit mono samples at the declared rate, any number of them; copied before the call returns.
   * Samples given before `ready` are held, up to ten seconds, and sent in order.
   */
  send(pcm: Int16Array): void;
  /**
   * Finalises the turn and keeps the session open. It is answered by at least one `final`, with empty text where nothing was recognised, also for a
   * vendor that does not report silence.
   */
  commit(): void;
  /** Biases the open session toward other phrases; absent where they are fixed when it opens. */
  readonly listenFor?: ((phrases: readonly string[]) => void) | undefined;
  /** Finalises and closes; resolves when the platform has closed or the time limit has passed. Never rejects. */
  end(): Promise<void>;
  /** Closes at once, without finals. */
  abort(): void;
}

/** Opens recognition sessions. */
export interface Recogniser {
  readonly capabilities: RecogniserCapabilities;
  /** Opens a session; problems arrive as `closed` events, never as a throw. Sequence numbers `seg` rise across reconnects. */
  open(options: RecognitionOptions, listener: (event: RecognitionEvent) => void): RecognitionSession;
}

/** A sentence of a call (TTS doc, "Speech request"). */
export interface SynthesisRequest {
  /** Text to speak, 1 to 10,000 characters. */
  readonly text: string;
  /** A name of the synthesizer's voices. */
  readonly voice: string;
  /** ISO 639 code. */
  readonly language: string;
  /** 0.25 to 4.0; 1.0 when absent. */
  readonly speed?: number;
  /** Priority of the request; a live call when absent. */
  readonly priority?: 'live' | 'batch';
  /**
   * `false` for a sentence that is the same for everybody. When absent it is taken to hold a value of a person (a name, a
   * date), unless it is one of the prepared ones: it is kept encrypted and for a short while, if at all.
   */
  readonly isPersonal?: boolean;
  /** What is yielded; `TELEPHONE_FORMAT` (audio/format) when absent. G.711 has one rate, linear samples have any. */
  readonly format?: AudioFormat;
}

/**
 * Why the recogniser or synthesizer was chosen or changed: the call began, or its language has another one; the first of the list failed recently
 * (`cooling-down`) or has no free slot (`full`); the session did not open (`opening-late`), lost its socket (`reconnecting`), gave no final after a
 * commit (`final-late`) or was closed (`closed`); no audio came in time (`first-audio-late`), the request failed (`failed`), or its audio stopped in
 * mid-sentence (`stalled`).
 */
export type SwitchReason =
  | 'start'
  | 'language'
  | 'cooling-down'
  | 'full'
  | 'opening-late'
  | 'reconnecting'
  | 'final-late'
  | 'closed'
  | 'first-audio-late'
  | 'failed'
  | 'stalled';

/** A new recogniser or synthesizer in a call. */
export interface SpeechSwitch {
  readonly service: 'recognition' | 'synthesis';
  /** `platform`, or a vendor's name. */
  readonly by: string;
  /** The one before; undefined at the first. */
  readonly before: string | undefined;
  readonly reason: SwitchReason;
}

/** What a call asked of one speech vendor: `platform`, or its name. Sentences from the cache are counted by themselves. */
export interface SpeechUsage {
  readonly vendor: string;
  readonly unit: 'recogniser-seconds' | 'synthesized-characters' | 'cached-characters';
  readonly amount: number;
}

/** Recognition and synthesis of one call. A slot of the current recogniser is held from the beginning until `release`. */
export interface CallSpeech {
  readonly recogniser: Recogniser;
  readonly synthesizer: Synthesizer;
  /** A slot for one more session of the current recogniser; undefined when none is free. */
  spareRecognition(): { release(): void } | undefined;
  /** Reports the current recogniser and synthesizer at once, then each switch. One listener. */
  listen(listener: (news: SpeechSwitch) => void): void;
  /** What the call has used so far, for its cost; not counted where absent. */
  used?(): readonly SpeechUsage[];
  release(): void;
}

/** Speaks sentences into a call. */
export interface Synthesizer {
  /** May change while the process runs: a health answer names the voices of the platform. */
  readonly capabilities: SynthesizerCapabilities;
  /**
   * Speaks a text in the request's format, yielded as it is made, oldest first; no chunk ends within a sample.
   * @throws OffhookError when the platform refuses or fails; aborting the signal or leaving the loop stops the synthesis
   */
  speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Whether a sentence would come from memory, so that its delay says nothing about the vendor. Absent without a cache. */
  isInMemory?(request: SynthesisRequest): boolean;
}

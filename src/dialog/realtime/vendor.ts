import type { AudioFormat } from '../../audio/format.ts';
import type { RealtimeVendorName } from '../../config/realtime-vendors.ts';

// The seam between a conversation and the wire protocols of speech-to-speech models: a vendor is an address, headers and a dialect.

/** A function that the model may call. `parameters`: JSON Schema of its arguments. */
export interface ModelFunction {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface SessionSetup {
  readonly model: string;
  /** The model's own voice; its default where undefined. */
  readonly voice: string | undefined;
  readonly instructions: string;
  readonly functions: readonly ModelFunction[];
  /** Limit of one answer, in tokens. */
  readonly maxTokens: number;
  readonly reasoningEffort: string | undefined;
  /** `model`: the vendor finds the end of the caller's turns; it never answers by itself. */
  readonly turns: 'offhook' | 'model';
  /** Formats of the caller's and the model's audio on the wire. */
  readonly heard: AudioFormat;
  readonly spoken: AudioFormat;
}

/** Tokens of an answer by unit. Those of the input are without the cached ones, so that each token counts once. */
export type Usage = Readonly<
  Record<'input-text-tokens' | 'input-audio-tokens' | 'cached-tokens' | 'output-text-tokens' | 'output-audio-tokens', number>
>;

/** Why a vendor failed. `auth` and `request` do not pass by themselves. */
export type VendorFailure = 'auth' | 'request' | 'rate-limit' | 'unavailable';

/** What a vendor reports, in our words. `response` and `item` are the vendor's ids of an answer and of a speech in it. */
export type VendorEvent =
  | { readonly type: 'ready' }
  | { readonly type: 'response'; readonly response: string }
  | { readonly type: 'audio'; readonly response: string; readonly item: string; readonly audio: Uint8Array }
  | { readonly type: 'words'; readonly response: string; readonly item: string; readonly text: string }
  /** All audio of a speech has come. */
  | { readonly type: 'speech-done'; readonly response: string; readonly item: string }
  /** `args` is JSON text. */
  | { readonly type: 'call'; readonly response: string; readonly id: string; readonly name: string; readonly args: string }
  /** `failure` is set where the answer failed; it is then incomplete. */
  | {
      readonly type: 'response-done';
      readonly response: string;
      readonly usage: Usage | undefined;
      readonly failure: { readonly kind: VendorFailure; readonly message: string } | undefined;
    }
  /** With `turns: model`: the caller's turn is over. */
  | { readonly type: 'turn-over' }
  /** The vendor ends this session soon. */
  | { readonly type: 'leaving'; readonly inMs: number }
  /** The session is of no more use. */
  | { readonly type: 'failed'; readonly kind: VendorFailure; readonly message: string }
  /** A message that changes nothing, or that is not of the protocol. */
  | { readonly type: 'ignored'; readonly why: string | undefined };

export interface FunctionResult {
  readonly id: string;
  readonly name: string;
  readonly output: string;
}

/** Who said a text, or `system` for what only the model is told. */
export type Speaker = 'caller' | 'bot' | 'system';

/** The messages of one socket, each method as frames to be sent in order. */
export interface VendorDialect {
  /** Sent as the socket opens. */
  opening(): readonly string[];
  /** @param audio bytes of the caller in the setup's format @param isFirst of a turn */
  audio(audio: Uint8Array, isFirst: boolean): readonly string[];
  /** The audio since the last turn is the caller's turn. */
  commit(): readonly string[];
  /** The audio since the last turn is none. */
  drop(): readonly string[];
  text(speaker: Speaker, text: string): readonly string[];
  results(results: readonly FunctionResult[]): readonly string[];
  /** Asks for an answer to all of the above. */
  respond(): readonly string[];
  /** Stops the running answer. */
  cancel(response: string): readonly string[];
  /**
   * The caller heard no more than this of a speech.
   * @param heard `ms` of its audio, 0 for none; `text`: the words in them, as estimated
   */
  heard(item: string, heard: { readonly ms: number; readonly text: string }): readonly string[];
  /** Reads a frame of the vendor; never throws. */
  read(frame: string): readonly VendorEvent[];
}

export interface VendorAddress {
  /** The bot's own address; the vendor's where undefined. */
  readonly url: string | undefined;
  readonly model: string;
}

/** One vendor of speech-to-speech models, whole. To be listed in `registry.ts`. */
export interface RealtimeVendor {
  readonly name: RealtimeVendorName;
  /** As people write it. */
  readonly title: string;
  readonly defaultModel: string;
  /** How long a session may last, in ms: it is replaced before. */
  readonly sessionMs: number;
  /** A caller who speaks stops the running answer by that alone, so their audio is held until it is complete. */
  readonly audioInterrupts: boolean;
  /** Address of the socket; never holds a key. */
  url(address: VendorAddress): string;
  headers(key: string): Readonly<Record<string, string>>;
  /** Formats on the wire for a line; those of the line where the vendor takes them. */
  formats(line: { readonly rateHz: number; readonly speech: AudioFormat }): {
    readonly heard: AudioFormat;
    readonly spoken: AudioFormat;
  };
  connect(setup: SessionSetup): VendorDialect;
}

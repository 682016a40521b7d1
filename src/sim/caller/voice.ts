import { type ChildProcess, fork } from 'node:child_process';
import { decodeAudio } from '../../audio/codec.ts';
import { activeLevelDb, amplify } from '../../audio/level.ts';
import { resample } from '../../audio/resample.ts';
import { parseWav } from '../../audio/wav.ts';
import { systemClock, type Clock, type Timer } from '../../kernel/clock.ts';
import { entryFile } from '../../kernel/entry-file.ts';
import { CallerVoiceError } from '../errors.ts';

/** What the caller's voice is asked over IPC. */
export interface VoiceRequest {
  readonly id: number;
  readonly text: string;
  readonly language: string;
  readonly voice: string;
  /** 1 is the voice's own speed, 2 twice as fast. */
  readonly rate: number;
}

/** What it answers: a whole WAV file or bare 16-bit samples, in base64; or what went wrong. */
export type VoiceAnswer =
  | { readonly id: number; readonly rateHz: number; readonly wav: string | undefined; readonly pcm: string | undefined }
  | { readonly id: number; readonly error: string };

export interface SpeechStyle {
  readonly language: string;
  /** 1 is the voice's own speed. */
  readonly rate?: number;
  readonly voice?: string;
}

/** Voices that the embedded recogniser was never trained on. */
const VOICES: Readonly<Record<string, string>> = { en: 'awb', hi: 'hi+Annie' };
/** A sentence takes well under a second; the first one also compiles the engine. */
const SAY_WITHIN_MS = 30_000;
const CALLER_RATE_HZ = 8_000;
const SPEECH_LEVEL_DB = -20;
/** Quieter than this at the start and end of a clip is its own padding, not speech. */
const PADDING_LEVEL = 160;

/** A simulated caller's voice. Close it, or its process lives as long as this one. */
export class CallerVoice implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiting>();
  #gone = false;
  #nextId = 0;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    const { path, execArgv } = entryFile(import.meta.url, 'voice-child');
    this.#child = fork(path, [], {
      execArgv: ['--no-warnings', ...execArgv],
      // It needs nothing of our environment, where secrets may be.
      env: {},
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child.on('message', (answer: VoiceAnswer) => this.#onAnswer(answer));
    this.#child.on('error', (error) => this.#lost('could not be started', error));
    this.#child.once('exit', (code, signal) => this.#lost(`ended with ${signal ?? `code ${code}`}`));
    this.#child.unref();
    this.#child.channel?.unref();
  }

  /**
   * Speaks a text: 8 kHz, about −20 dBFS, without silence before or after.
   * @throws CallerVoiceError when there is no such voice, its package is not installed, or the engine fails
   */
  say(text: string, { language, rate = 1, voice }: SpeechStyle): Promise<Int16Array> {
    if (this.#gone) return Promise.reject(new CallerVoiceError("the caller's voice is closed"));
    const id = this.#nextId++;
    const base = language.split('-')[0] ?? language;
    const request: VoiceRequest = { id, text, language, voice: voice ?? VOICES[base] ?? base, rate };
    return new Promise((resolve, reject) => {
      const deadline = this.#clock.after(SAY_WITHIN_MS, () => this.#child.kill('SIGKILL'));
      this.#waiting.set(id, { resolve, reject, deadline });
      this.#child.channel?.ref();
      this.#child.send(request, (error) => {
        if (error !== null) this.#settle(id)?.reject(new CallerVoiceError("the caller's voice is gone", { cause: error }));
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#gone = true;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => {
      this.#child.once('exit', resolve);
    });
    this.#child.ref();
    this.#child.kill();
    await gone;
  }

  #onAnswer(answer: VoiceAnswer): void {
    const waiting = this.#settle(answer.id);
    if (waiting === undefined) return;
    if ('error' in answer) {
      waiting.reject(new CallerVoiceError(answer.error));
      return;
    }
    const pcm = asCaller(answer);
    if (pcm.length > 0) waiting.resolve(pcm);
    else waiting.reject(new CallerVoiceError('the engine made no sound of this text'));
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.deadline.cancel();
    if (this.#waiting.size === 0) this.#child.channel?.unref();
    return waiting;
  }

  #lost(what: string, cause?: unknown): void {
    this.#gone = true;
    for (const id of this.#waiting.keys()) {
      this.#settle(id)?.reject(new CallerVoiceError(`the caller's voice ${what}`, { cause }));
    }
  }
}

interface Waiting {
  resolve(pcm: Int16Array): void;
  reject(error: Error): void;
  readonly deadline: Timer;
}

function asCaller({ rateHz, wav, pcm }: Extract<VoiceAnswer, { rateHz: number }>): Int16Array {
  const samples =
    wav === undefined
      ? decodeAudio('pcm16', Buffer.from(pcm ?? '', 'base64'))
      : (parseWav(Buffer.from(wav, 'base64')).samples[0] ?? new Int16Array());
  return asCallerSays(samples, rateHz);
}

/** Speech as a caller brings it: 8 kHz, about −20 dBFS, without silence before or after. */
export function asCallerSays(samples: Int16Array, rateHz: number): Int16Array {
  const atLine = resample(samples, rateHz, CALLER_RATE_HZ);
  return trim(amplify(atLine, SPEECH_LEVEL_DB - activeLevelDb(atLine, CALLER_RATE_HZ)));
}

/** Cuts the padding, so that the first sample is the first sound: interruptions are timed from it. */
export function trim(pcm: Int16Array): Int16Array {
  const loud = (sample: number): boolean => Math.abs(sample) > PADDING_LEVEL;
  const first = pcm.findIndex(loud);
  return first === -1 ? new Int16Array() : pcm.slice(first, pcm.findLastIndex(loud) + 1);
}

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { decodeAudio } from '../audio/codec.ts';
import { activeLevelDb, amplify } from '../audio/level.ts';
import { resample } from '../audio/resample.ts';
import { parseWav } from '../audio/wav.ts';
import type { VoiceAnswer, VoiceRequest } from './voice-protocol.ts';

export interface SpeechStyle {
  readonly language: string;
  /** 1 is the voice's own speed. */
  readonly rate?: number;
  readonly voice?: string;
}

/** Voices that the embedded recogniser was never trained on. */
const VOICES: Readonly<Record<string, string>> = { en: 'awb', hi: 'hi+Annie' };
const CALLER_RATE_HZ = 8_000;
const SPEECH_LEVEL_DB = -20;
/** Quieter than this at the start and end of a clip is its own padding, not speech. */
const PADDING_LEVEL = 160;

/** A simulated caller's voice. Close it, or its process lives as long as this one. */
export class CallerVoice implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (pcm: Int16Array) => void; reject: (error: Error) => void }>();
  #nextId = 0;

  constructor() {
    const source = import.meta.url.endsWith('.ts');
    const file = fileURLToPath(new URL(source ? './voice-child.ts' : './voice-child.js', import.meta.url));
    this.#child = fork(file, [], {
      execArgv: ['--no-warnings', ...(source ? ['--import', 'tsx'] : [])],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child.on('message', (answer: VoiceAnswer) => this.#onAnswer(answer));
    this.#child.once('exit', (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the caller's voice ended with code ${code}`));
      this.#waiting.clear();
    });
  }

  /** Speaks a text: 8 kHz, about −20 dBFS, without silence before or after. */
  say(text: string, { language, rate = 1, voice }: SpeechStyle): Promise<Int16Array> {
    const id = this.#nextId++;
    const base = language.split('-')[0] ?? language;
    const request: VoiceRequest = { id, text, language, voice: voice ?? VOICES[base] ?? base, rate };
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send(request);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((resolve) => {
      this.#child.once('exit', resolve);
    });
    this.#child.kill();
    await gone;
  }

  #onAnswer(answer: VoiceAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (waiting === undefined) return;
    if ('error' in answer) waiting.reject(new Error(answer.error));
    else waiting.resolve(asCaller(answer));
  }
}

function asCaller({ rateHz, wav, pcm }: Extract<VoiceAnswer, { rateHz: number }>): Int16Array {
  const samples =
    wav === undefined
      ? decodeAudio('pcm16', Buffer.from(pcm ?? '', 'base64'))
      : (parseWav(Buffer.from(wav, 'base64')).samples[0] ?? new Int16Array());
  const atLine = resample(samples, rateHz, CALLER_RATE_HZ);
  return trim(amplify(atLine, SPEECH_LEVEL_DB - activeLevelDb(atLine, CALLER_RATE_HZ)));
}

/** Cuts the padding, so that the first sample is the first sound: interruptions are timed from it. */
export function trim(pcm: Int16Array): Int16Array {
  const loud = (sample: number): boolean => Math.abs(sample) > PADDING_LEVEL;
  const first = pcm.findIndex(loud);
  return first === -1 ? new Int16Array() : pcm.slice(first, pcm.findLastIndex(loud) + 1);
}

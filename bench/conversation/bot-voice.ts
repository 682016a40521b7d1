import { joinSamples } from '../../src/audio/samples.ts';
import { seededRandom } from '../../src/audio/tone.ts';
import { hump, voicedSound } from './speech-sound.ts';

export interface SpokenWord {
  readonly word: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface BotSpeech {
  /** 8 kHz. */
  readonly pcm: Int16Array;
  readonly words: readonly SpokenWord[];
}

const SAMPLES_PER_MS = 8;
/** What stands between words is not digital silence, so that every stretch of a sentence is like no other. */
const BREATH_PEAK = 24;

const spoken = new Map<string, BotSpeech>();

/**
 * What the bot sounds like saying a text: a formant voice whose words last as long as their letters make likely, give or take
 * a third, with pauses of 30 to 90 ms between words and up to 200 at a comma. The same text is the same sound.
 */
export function botSpeech(text: string): BotSpeech {
  let speech = spoken.get(text);
  if (speech === undefined) {
    speech = make(text);
    spoken.set(text, speech);
  }
  return speech;
}

function make(text: string): BotSpeech {
  const seed = Array.from(text).reduce((hash, letter) => (Math.imul(hash, 31) + letter.codePointAt(0)!) | 0, 7) >>> 0;
  const random = seededRandom(seed);
  const pitchHz = 165 + 40 * random();
  const parts: Int16Array[] = [];
  const words: SpokenWord[] = [];
  let atMs = 0;
  for (const [index, word] of text.split(/\s+/u).filter(Boolean).entries()) {
    const letters = word.replaceAll(/[^\p{L}\p{N}]/gu, '').length;
    const durationMs = Math.round((70 + 52 * letters) * (0.7 + 0.6 * random()));
    const shape = { durationMs, pitchHz, levelDb: -19, breath: 0.15, seed: seed + index };
    const syllables = Math.max(1, Math.round(letters / 3));
    const edge = hump(20 / durationMs, 40 / durationMs);
    parts.push(voicedSound(shape, (share) => edge(share) * (0.55 + 0.45 * Math.abs(Math.sin(Math.PI * syllables * share)))));
    words.push({ word, fromMs: atMs, toMs: atMs + durationMs });
    const gapMs = Math.round(/[,;:]$/u.test(word) ? 120 + 80 * random() : 30 + 60 * random());
    parts.push(pause(gapMs, random));
    atMs += durationMs + gapMs;
  }
  return { pcm: joinSamples(parts), words };
}

function pause(durationMs: number, random: () => number): Int16Array {
  return Int16Array.from({ length: durationMs * SAMPLES_PER_MS }, () => Math.round((random() * 2 - 1) * BREATH_PEAK));
}

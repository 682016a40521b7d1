import { activeLevelDb, amplify, peakLevel } from '../../../audio/level.ts';

/** Speech of every engine and voice comes out this loud: the usual level of telephone speech. */
export const SPEECH_LEVEL_DB = -20;
/** Below full scale with room for the resampling that follows. */
const MAX_PEAK = 29_000;
const FADE_MS = 5;

/** What brings speech to `SPEECH_LEVEL_DB`, or as near as its peaks allow. */
export function speechGainDb(pcm: Int16Array, rateHz: number): number {
  const peak = peakLevel(pcm);
  if (peak === 0) return 0;
  return Math.min(SPEECH_LEVEL_DB - activeLevelDb(pcm, rateHz), 20 * Math.log10(MAX_PEAK / peak));
}

/** Makes one sentence louder by `gainDb` and fades both ends, so that neither the start nor a join clicks. */
export function shapeSentence(pcm: Int16Array, rateHz: number, gainDb = speechGainDb(pcm, rateHz)): Int16Array {
  const shaped = amplify(pcm, gainDb);
  const fade = Math.min(shaped.length >> 1, Math.round((rateHz * FADE_MS) / 1000));
  for (let index = 0; index < fade; index += 1) {
    const gain = index / fade;
    const last = shaped.length - 1 - index;
    shaped[index] = Math.round(shaped[index]! * gain);
    shaped[last] = Math.round(shaped[last]! * gain);
  }
  return shaped;
}

import type { VoiceWindow } from './port.ts';
import { VOICE_FRAME_S, type VoiceFrame, voiceFrames, voiceStatistics } from './voice-features.ts';

const RATE_HZ = 16_000;

/** Long enough to tell voices apart, short enough to lie inside one turn mostly. */
const WINDOW_S = 1.5;
const windowFrames = Math.round(WINDOW_S / VOICE_FRAME_S);
/** From one window to the next: half a second. */
const hopFrames = Math.round(0.5 / VOICE_FRAME_S);

/** Collects voice features of a recording, one stretch of speech after another: a window for each half second. */
export class VoiceTrack {
  readonly windows: (VoiceWindow & { endS: number })[] = [];
  #stretches = 0;

  /** @param pcm mono at 16 kHz. @param startS its time in the recording */
  add(pcm: Int16Array, startS: number): void {
    const frames = voiceFrames(pcm);
    const endS = startS + pcm.length / RATE_HZ;
    const count = Math.max(1, 1 + Math.floor((frames.length - windowFrames) / hopFrames));
    for (let index = 0; index < count; index += 1) {
      const window = frames.slice(index * hopFrames, index * hopFrames + windowFrames);
      // Windows meet halfway between their middles.
      const changeS = startS + ((index - 0.5) * hopFrames + windowFrames / 2) * VOICE_FRAME_S;
      const before = this.windows.at(-1);
      if (index > 0 && before !== undefined) before.endS = changeS;
      this.windows.push({
        startS: index === 0 ? startS : changeS,
        endS,
        stretch: this.#stretches,
        statistics: voiceStatistics(window),
        level: loudness(window),
      });
    }
    this.#stretches += 1;
  }
}

/** The mean of the louder half. */
function loudness(frames: readonly VoiceFrame[]): number {
  const levels = frames.map(({ level }) => level).sort((a, b) => b - a);
  const louder = levels.slice(0, Math.ceil(levels.length / 2));
  return louder.reduce((sum, level) => sum + level, 0) / Math.max(1, louder.length);
}

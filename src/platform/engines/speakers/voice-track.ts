import { VOICE_FRAME_S, type VoiceFrame, voiceFrames, voiceStatistics } from './voice-features.ts';

const RATE_HZ = 16_000;
/** Long enough to know a voice by, short enough to lie inside one turn mostly. */
const WINDOW_S = 1.5;
const windowFrames = Math.round(WINDOW_S / VOICE_FRAME_S);
/** From one window to the next: half a second. */
const hopFrames = Math.round(0.5 / VOICE_FRAME_S);

/** How a second and a half of speech sounds. Windows of one stretch overlap; each stands for the time round its middle. */
export interface VoiceWindow {
  /** The time that the window stands for, seconds of the recording. */
  readonly startS: number;
  readonly endS: number;
  /** Numbers the stretch of speech; no silence lies between windows of one. */
  readonly stretch: number;
  /** As `voiceStatistics` has them; undefined where too little is voiced. */
  readonly statistics: Float64Array | undefined;
  /** dB of the loud part, on no absolute scale. */
  readonly level: number;
}

/** Listens to a recording, one stretch of speech after another, and keeps a little about each half second of it. */
export class VoiceTrack {
  readonly windows: (VoiceWindow & { endS: number })[] = [];
  #stretches = 0;

  /** @param pcm mono at 16 kHz; @param startS where it stands in the recording */
  add(pcm: Int16Array, startS: number): void {
    const frames = voiceFrames(pcm);
    const endS = startS + pcm.length / RATE_HZ;
    const count = Math.max(1, 1 + Math.floor((frames.length - windowFrames) / hopFrames));
    for (let index = 0; index < count; index += 1) {
      const window = frames.slice(index * hopFrames, index * hopFrames + windowFrames);
      // Halfway between the middles of two windows the one hands over to the other.
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

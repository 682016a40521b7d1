import { resample } from '../../src/audio/resample.ts';
import { wavFile } from '../../src/audio/wav.ts';
import { buzz } from '../../test/support/buzz.ts';

const RATE_HZ = 8000;

/** Two voices in turn, with line noise below them: minutes of stereo at 8 kHz, as live calls are recorded. */
export function conversation(minutes: number): Uint8Array {
  const low = resample(buzz({ hz: 110, formants: [600, 1100, 2400], seconds: 4, wobble: 1 }), 16_000, RATE_HZ);
  const high = resample(buzz({ hz: 210, formants: [500, 1700, 2600], seconds: 3, wobble: 2 }), 16_000, RATE_HZ);
  const frames = minutes * 60 * RATE_HZ;
  const pcm = new Int16Array(frames * 2);
  for (let index = 0; index < pcm.length; index += 1) pcm[index] = Math.round((Math.random() - 0.5) * 60);
  const put = (voice: Int16Array, channel: 0 | 1, fromS: number): void => {
    const from = Math.round(fromS * RATE_HZ);
    for (let at = 0; at < voice.length && from + at < frames; at += 1) pcm[(from + at) * 2 + channel]! += voice[at]!;
  };
  for (let second = 1; second < minutes * 60 - 8; second += 8) {
    put(low, 0, second);
    put(high, 1, second + 4.4);
  }
  return wavFile(pcm, RATE_HZ, 2);
}

import type { Bot } from '../../../config/bots.ts';
import type { VoiceDetector } from '../inbound-audio.ts';
import { FusedDetector } from './fused-detector.ts';
import type { FrameWriter } from './shared-frames.ts';

export interface DetectorParts {
  readonly createDetector: () => VoiceDetector;
  /** Tells speech from other sound, for bots that ask for it; a line is undefined where none is to be had. */
  readonly speechJudge?: { open(): FrameWriter | undefined } | undefined;
}

/** The voice detector of one call. */
export function detectorOf({ detector }: Pick<Bot, 'detector'>, { createDetector, speechJudge }: DetectorParts): VoiceDetector {
  const builtIn = createDetector();
  const line = detector === 'neural' ? speechJudge?.open() : undefined;
  return line === undefined ? builtIn : new FusedDetector(builtIn, line);
}

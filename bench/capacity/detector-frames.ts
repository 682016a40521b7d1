import type { VoiceActivity } from '../../src/audio/voice-activity/voice-activity.ts';
import { addEvidence, NO_EVIDENCE, openContest, stepContest, type VoiceFrame } from '../../src/call/turn/evidence.ts';
import { DEFAULT_INTERRUPTION } from '../../src/call/turn/turn-settings.ts';
import { FRAME_MS } from '../../src/sim/load/load-sounds.ts';

/** Speech may go on in the detector's ear for so many frames after its end, or end so many before it. */
const NEAR_FRAMES = 10;
/** An interruption is decided within 500 ms of sound. */
const MOST_FRAMES = 50;

/**
 * What the gateway's detector makes of a line, off line: how many frames it needs is its own, and no latency.
 * @param pcmOf 320 bytes of the line's frame, from 0
 */
export function hearLine(detector: VoiceActivity, pcmOf: (frame: number) => Buffer, frames: number): VoiceFrame[] {
  const samples = new Int16Array(FRAME_MS * 8);
  return Array.from({ length: frames }, (_, frame) => {
    const pcm = pcmOf(frame);
    for (let at = 0; at < samples.length; at += 1) samples[at] = pcm.readInt16LE(2 * at);
    const { voiced, speechLike } = detector.process(samples);
    return { atMs: frame * FRAME_MS, voiced, speechLike };
  });
}

/**
 * Frames that must have come before an interruption is decided for the caller, the first of them aside: a decision in the first
 * frame is 0 late. Undefined where none is.
 * @param from the first frame of speech over the bot
 */
export function framesToClear(line: readonly VoiceFrame[], from: number): number | undefined {
  let evidence = NO_EVIDENCE;
  let sinceMs: number | undefined;
  let contest: ReturnType<typeof openContest> | undefined;
  for (const frame of line.slice(from, from + MOST_FRAMES)) {
    evidence = addEvidence(DEFAULT_INTERRUPTION, evidence, frame);
    if (frame.voiced) sinceMs ??= frame.atMs;
    const voicedMs = sinceMs === undefined ? 0 : frame.atMs - sinceMs + FRAME_MS;
    if (contest === undefined) {
      if (frame.voiced && voicedMs >= DEFAULT_INTERRUPTION.holdAfterMs) contest = openContest(frame, evidence);
      continue;
    }
    const step = stepContest(DEFAULT_INTERRUPTION, contest, frame);
    if (step.verdict === 'clear') return frame.atMs / FRAME_MS - from;
    if (step.verdict === 'resume') return undefined;
    contest = step.contest;
  }
  return undefined;
}

/**
 * Where speech ends in the detector's ear, in frames after its end on the line; less than 0 where it ends before. Undefined where the
 * detector hears no speech near it.
 * @param end the last frame of speech
 */
export function framesAfterEnd(line: readonly VoiceFrame[], end: number): number | undefined {
  for (let frame = end + NEAR_FRAMES; frame >= end - NEAR_FRAMES; frame -= 1)
    if (line[frame]?.voiced === true) return frame - end;
  return undefined;
}

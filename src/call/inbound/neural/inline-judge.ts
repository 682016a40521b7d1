import type { FrameWriter } from './shared-frames.ts';
import type { SpeechModel } from './rnnoise-model.ts';

/** A thread that keeps up has its answer ready when the next frame comes. */
const LATE_FRAMES = 1;

/**
 * A judge in the calls' own thread that answers as late as one in a thread of its own does where that keeps up, always: for a
 * call that is run again, which must come out the same each time.
 */
export function inlineJudge(model: SpeechModel, lateFrames = LATE_FRAMES): { open(): FrameWriter } {
  return {
    open() {
      const line = model.open();
      const answers: { readonly round: number; readonly likelihood: number }[] = [];
      // A detector reads until there is nothing more, once a frame.
      let round = 0;
      return {
        write(frame) {
          answers.push({ round: round + lateFrames, likelihood: line.judge(frame) });
          return true;
        },
        read() {
          const [next] = answers;
          if (next !== undefined && next.round <= round) return answers.shift()?.likelihood;
          round += 1;
          return undefined;
        },
        close: () => line.close(),
      };
    },
  };
}

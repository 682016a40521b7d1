import type { FrameWriter } from './shared-frames.ts';
import type { SpeechModel } from './rnnoise-model.ts';

/** A thread that keeps up has its answer ready when the next frame comes. */
const LATE_FRAMES = 1;

/** A judge on the calls' own thread, with the same constant delay as one on its own thread: replay needs the same answer each time. */
export function inlineJudge(model: SpeechModel, lateFrames = LATE_FRAMES): { open(): FrameWriter } {
  return {
    open() {
      const line = model.open();
      const answers: { readonly round: number; readonly likelihood: number }[] = [];
      // The detector reads until nothing is left, once a frame.
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

import { decodeMulaw, encodeMulaw } from '../../src/audio/g711.ts';
import { noise, seededRandom } from '../../src/audio/tone.ts';
import { loadVoiceActivity } from '../../src/audio/voice-activity/voice-activity.ts';
import { FusedDetector } from '../../src/call/inbound/neural/fused-detector.ts';
import { loadRnnoise } from '../../src/call/inbound/neural/rnnoise-model.ts';
import type { FrameWriter } from '../../src/call/inbound/neural/shared-frames.ts';
import { SpeechJudge } from '../../src/call/inbound/neural/speech-judge.ts';
import { silentLogger } from '../../src/observability/logger.ts';

const FRAME = 160;
const FRAMES = 1_000;
const ROUNDS = 4;

/** Processor time of a frame, the least of some rounds: what the machine did besides only adds to it. */
function costUs(run: (frame: Int16Array) => void, line: Int16Array): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    for (let count = 0; count < FRAMES; count += 1) {
      const from = (count * FRAME) % line.length;
      run(line.subarray(from, from + FRAME));
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / FRAMES;
  });
  return Math.round(10 * Math.min(...rounds)) / 10;
}

/**
 * What a frame of one call costs: in the calls' thread, without and with a judge beside the detector, and in the judge's.
 * The line is loud noise throughout, so that every frame goes to the judge.
 */
export async function measureNeuralCost() {
  const line = decodeMulaw(encodeMulaw(noise(5_000, 8_000, 0.1, seededRandom(1))));
  const builtIn = (await loadVoiceActivity())();
  const model = (await loadRnnoise()).open();
  const builtInUs = costUs((frame) => builtIn.process(frame), line);
  const networkUs = costUs((frame) => model.judge(frame), line);
  // A judge that answers at once and does nothing: what is left is the copying and the fusion.
  const answers: number[] = [];
  const nothing: FrameWriter = { write: () => answers.push(0) > 0, read: () => answers.pop(), close: () => undefined };
  const fused = new FusedDetector((await loadVoiceActivity())(), nothing);
  const fusionUs = Math.max(0, Math.round(10 * (costUs((frame) => fused.process(frame), line) - builtInUs)) / 10);
  await using judge = new SpeechJudge({
    logger: silentLogger,
    events: { neuralDetectorRequested: () => undefined, neuralFramesJudged: () => undefined },
  });
  await judge.settled;
  const handOverUs = await handOver(judge.open(), line);
  return { builtInUs, fusionUs, handOverUs, networkUs, callsPerCoreOfTheThread: Math.floor(20_000 / networkUs) };
}

/** Wall time of handing a frame over and taking an answer, in the calls' thread. */
async function handOver(writer: FrameWriter | undefined, line: Int16Array): Promise<number> {
  if (writer === undefined) throw new Error('there is no judge');
  const spentMs: number[] = [];
  const count = 500;
  for (let frame = 0; frame < count; frame += 1) {
    const from = (frame * FRAME) % line.length;
    const samples = line.subarray(from, from + FRAME);
    const before = performance.now();
    writer.write(samples);
    while (writer.read() !== undefined);
    spentMs.push(performance.now() - before);
    // As frames come on a line, only faster: the thread has gone to sleep again by then.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  writer.close();
  // The middle one: the machine has other things to do as well.
  return Math.round(10_000 * spentMs.sort((a, b) => a - b)[count >> 1]!) / 10;
}

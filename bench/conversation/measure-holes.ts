import type { Batches } from './batches.ts';
import type { Stretch } from './loop-watch.ts';
import { requestsOf, type Stimulus } from './stimuli.ts';

/** How often the gateway's event loop is blocked, and for how long. */
const STALL_EVERY_MS = 2_500;
const STALL_MS = 200;

interface HoleyCall extends Stretch {
  readonly replies: number;
  /** Gaps in the middle of speech that the ear heard. */
  readonly holesMs: readonly number[];
  readonly starvedByGateway: number;
  readonly starvedBySource: number;
}

/** Answers of a minute while the gateway's event loop stalls again and again: whether the carrier ever runs dry. */
export async function measureHoleSet(batches: Batches, stimuli: readonly Stimulus[], replies: number) {
  const [request] = requestsOf(stimuli, 1);
  let stalls = 0;
  const timer = setInterval(() => {
    stalls += 1;
    batches.harness.stall(STALL_MS);
  }, STALL_EVERY_MS);
  const calls: HoleyCall[] = [];
  try {
    const each = Math.ceil(replies / batches.calls);
    calls.push(
      ...(await batches.run('holes', async () => {
        const call = await batches.harness.dial();
        await call.replyAfter(0);
        await call.pass(3_000);
        const before = call.replies;
        call.say(request!);
        let heardOut = 0;
        for (let answered = await call.replyAfter(before, 10_000); answered; answered = (await call.ask(request!)).answered) {
          await call.until(() => call.silentMs > 1_000, 100_000);
          heardOut += 1;
          if (heardOut >= each) break;
        }
        const holesMs = call.stream.playout.underruns.map(({ durationMs }) => durationMs);
        const { playout } = await call.hangUp();
        return [{ fromMs: 0, toMs: 0, replies: heardOut, holesMs, ...playout }];
      })),
    );
  } finally {
    clearInterval(timer);
  }
  const sum = (of: (call: HoleyCall) => number): number => calls.reduce((total, call) => total + of(call), 0);
  return {
    holes: {
      n: sum((call) => call.replies),
      stalls: stalls * batches.calls,
      byGateway: sum(({ starvedByGateway }) => starvedByGateway),
      bySource: sum(({ starvedBySource }) => starvedBySource),
      heard: sum(({ holesMs }) => holesMs.length),
      longestMs: Math.max(0, ...calls.flatMap(({ holesMs }) => holesMs)),
    },
  };
}

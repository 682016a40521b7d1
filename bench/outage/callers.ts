import { systemClock } from '../../src/kernel/clock.ts';
import { errorText } from '../../src/kernel/errors.ts';
import { CallerEar } from '../../src/sim/caller/ear.ts';
import { SimulatedCall } from '../../src/sim/twilio/carrier.ts';
import type { SimulatedStream } from '../../src/sim/twilio/stream.ts';
import { sayTones } from '../../test/integration/platform/tone-engines.ts';
import { AUTH_TOKEN } from './world.ts';

/** A caller who hears nothing for so long hangs up. */
const PATIENCE_MS = 30_000;
const LOOK_EVERY_MS = 50;

export interface CallerReport {
  readonly callSid: string;
  /** Why the call never got a media stream. */
  readonly refused: string | undefined;
  /** Why it ended otherwise than by the bot, as the caller saw it. */
  readonly problem: string | undefined;
  /** Of each re-entry: from the end of a stream to the bot's first sound on the next one. */
  readonly resumeMs: readonly number[];
}

/** A call that answers each question by a word until the bot hangs up. Never rejects. */
export async function callOnce(url: string): Promise<CallerReport> {
  const call = new SimulatedCall({ url, authToken: AUTH_TOKEN, clock: systemClock });
  const resumeMs: number[] = [];
  const report = (more: Partial<CallerReport>): CallerReport => ({
    callSid: call.callSid,
    refused: undefined,
    problem: undefined,
    resumeMs,
    ...more,
  });
  try {
    await call.connect();
  } catch (error) {
    return report({ refused: errorText(error) });
  }
  const state = { isOver: false };
  const ended = call.ended.then((end) => {
    state.isOver = true;
    return end;
  });
  let stream: SimulatedStream | undefined;
  let ear = new CallerEar();
  let answeredMs = -1;
  let lostAtMs: number | undefined;
  let heardAtMs = performance.now();
  while (!state.isOver) {
    if (stream !== call.stream) {
      stream = call.stream;
      ear = new CallerEar();
      answeredMs = -1;
      void stream.ended.then(() => (lostAtMs = performance.now()));
    }
    ear.listen(stream.buffer.heard);
    if (!ear.finished) heardAtMs = performance.now();
    const last = ear.phrases.at(-1);
    if (last !== undefined && stream.open && lostAtMs !== undefined) {
      resumeMs.push(Math.round(performance.now() - lostAtMs));
      lostAtMs = undefined;
    }
    if (ear.finished && last !== undefined && last.fromMs > answeredMs && stream.open && stream.silent) {
      answeredMs = stream.nowMs;
      stream.say(sayTones(['alpha'], 8_000));
    }
    if (performance.now() - heardAtMs > PATIENCE_MS) {
      await call.hangUp();
      return report({ problem: `heard nothing for ${PATIENCE_MS} ms` });
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  const { problem } = await ended;
  return report({ problem: problem && errorText(problem) });
}

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { dialTwilio } from '../../src/sim/twilio/carrier.ts';
import { compile } from '../capacity/compiled.ts';
import type { LiveOrder, LiveReport } from './live-gateway-child.ts';
import { startStandIn } from './stand-in.ts';

const HERE = 'bench/jobs';
/** The bot is heard this soon, or something is broken. */
const SPEAKS_WITHIN_MS = 30_000;

/** A call that hears the bot talk without end while so many calls of a minute are brought to the store and analysed by the same process. */
export async function liveCall(jobs: number) {
  await using standIn = await startStandIn();
  const folder = join(compile([`${HERE}/live-gateway-child`], [`${HERE}/bots`]), HERE);
  const gateway = fork(join(folder, 'live-gateway-child.js'), [], { serialization: 'advanced' });
  const order = (message: LiveOrder): void => void gateway.send(message);
  const next = async <Type extends LiveReport['type']>(type: Type): Promise<Extract<LiveReport, { readonly type: Type }>> => {
    const [report] = (await once(gateway, 'message')) as [LiveReport];
    if (report.type !== type) throw new Error(`the gateway told of ${report.type} where ${type} was due`);
    return report as Extract<LiveReport, { readonly type: Type }>;
  };
  try {
    const ready = next('ready');
    order({ type: 'start', speech: standIn.speech, jobs });
    const { url, authToken } = await ready;
    const call = await dialTwilio({ url, authToken, clock: systemClock });
    const { stream } = call;
    await new Promise<void>((resolve, reject) => {
      const stop = stream.watch(() => {
        if (stream.playout.queuedMs === 0 && stream.nowMs < SPEAKS_WITHIN_MS) return;
        stop();
        if (stream.playout.queuedMs > 0) resolve();
        else reject(new Error('the bot says nothing'));
      });
    });
    const beganMs = performance.now();
    const before = stream.playout.underruns.length;
    const done = next('done');
    order({ type: 'go' });
    const { done: analysed, failed, loopP99Ms, loopMaxMs, starvedByGateway } = await done;
    const holesMs = stream.playout.underruns.slice(before).map(({ durationMs }) => tenth(durationMs));
    const seconds = tenth((performance.now() - beganMs) / 1000);
    await call.hangUp();
    const loop = { p99Ms: tenth(loopP99Ms), maxMs: tenth(loopMaxMs) };
    const met = holesMs.length === 0 && loopP99Ms < 20 && analysed === jobs;
    return { jobs, analysed, failed, seconds, holesMs, starvedByGateway, loop, met };
  } finally {
    if (gateway.connected) gateway.disconnect();
    if (gateway.exitCode === null) await once(gateway, 'exit');
  }
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}

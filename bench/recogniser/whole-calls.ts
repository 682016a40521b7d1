// Clips as callers of a gateway say them, over a simulated mu-law carrier.
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import type { CallRecord } from '../../src/call/log/call-record.ts';
import { loadBots } from '../../src/config/bot-files.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/hosts/app.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { temporaryFolder } from '../../src/kernel/temporary.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { ScriptedCaller } from '../../src/sim/caller/caller.ts';
import { WordErrorCount } from '../../src/sim/caller/word-errors.ts';
import { simulatedTwilio } from '../../src/sim/twilio/api.ts';
import { quantiles, type Quantiles, round } from '../document.ts';
import type { Clip } from '../recordings.ts';
import { type Measured, type Missed, type ModelPlatform, tally } from './through-platform.ts';

const CLIPS_A_CALL = 10;
const PATIENCE_MS = 20_000;

export interface CallsMeasured extends Measured {
  readonly calls: number;
  readonly atOnce: number;
  /** Why calls ended before their script did: `no answer` where the caller waited in vain, else the record's reason. */
  readonly brokenOff: readonly string[];
  /** From the end of the caller's turn to its words, and to the first sound of the answer. */
  readonly finalMs: Quantiles;
  readonly firstSoundMs: Quantiles;
}

/**
 * Calls that say ten clips each, waiting for the bot's answer after each one. `bot` is a file of `bots/`. A clip with a long pause may become two turns, so what was said and
 * heard is compared by call.
 */
export async function inCalls(
  { process }: ModelPlatform,
  clips: readonly Clip[],
  atOnce: number,
  bot: string,
): Promise<CallsMeasured> {
  await using folder = await temporaryFolder(tmpdir(), 'offhook-bench-calls');
  await using account = await simulatedTwilio.open({ clock: systemClock });
  const env = { OFFHOOK_DATA_DIR: folder.path, OFFHOOK_PORT: '0', OFFHOOK_CALL__REFUSE_LAG_MS: '60000', ...account.env };
  const config = loadConfig({ env, files: [] });
  const { bots, problems } = loadBots(dirname(new URL('bots/listen.ts', import.meta.url).pathname));
  if (problems.length > 0 || config.problems.length > 0) throw new Error(JSON.stringify([...problems, ...config.problems]));
  const records = new Map<string, Promise<CallRecord>>();
  await using gateway = await startGateway({
    config,
    bots,
    speech: { ...process.urls, apiKey: process.apiKey },
    clock: systemClock,
    logger: silentLogger,
    worker: false,
    news({ type, callId }) {
      if (type !== 'started') return;
      const session = gateway.calls.calls.find(({ id }) => id === callId);
      if (session !== undefined) records.set(session.identity.inbound.carrierCallId, session.ended);
    },
  });
  await gateway.prepared;
  const count = new WordErrorCount();
  const missed: Missed[] = [];
  const finalMs: number[] = [];
  const firstSoundMs: number[] = [];
  const waiting = Array.from({ length: Math.ceil(clips.length / CLIPS_A_CALL) }, (_, index) =>
    clips.slice(index * CLIPS_A_CALL, (index + 1) * CLIPS_A_CALL),
  );
  let calls = 0;
  const brokenOff: string[] = [];
  const caller = async (): Promise<void> => {
    for (let said = waiting.shift(); said !== undefined; said = waiting.shift()) {
      calls += 1;
      const call = await account.place({ url: gateway.url, clock: systemClock, bot });
      const steps = said.map(({ text, pcm }) => ({ kind: 'say', text, pcm }) as const);
      const scripted = new ScriptedCaller(call.line, PATIENCE_MS);
      const givesUp = await scripted.run([...steps, { kind: 'hang-up' }]).then(
        () => false,
        () => call.line.open,
      );
      const isWhole = scripted.reports.at(-1)?.kind === 'hang-up';
      const spoken = scripted.reports.filter(({ kind }) => kind === 'say').map(({ text }) => text);
      await call.hangUp();
      const record = await records.get(call.carrierCallId);
      if (record === undefined) throw new Error(`no record of call ${call.carrierCallId}`);
      if (!isWhole) brokenOff.push(givesUp ? 'no answer' : record.endReason);
      const turns = record.turns.filter(({ index }) => index > 0);
      for (const { latency } of turns) {
        if (latency.asrFinal === undefined) continue;
        finalMs.push(latency.asrFinal);
        if (latency.total !== undefined) firstSoundMs.push(latency.total - (latency.endpointing ?? 0));
      }
      tally(count, missed, spoken.join(' '), turns.map(({ callerText }) => callerText).join(' '));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  return {
    calls,
    atOnce,
    brokenOff,
    wordErrorPercent: round(count.percent),
    finalMs: quantiles(finalMs),
    firstSoundMs: quantiles(firstSoundMs),
    missed,
  };
}

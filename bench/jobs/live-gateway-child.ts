// The gateway with its worker beside it, as `npm start` runs them, on a store of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { link, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startGateway } from '../../src/hosts/app.ts';
import { loadBots } from '../../src/config/bot-files.ts';
import { readDevSecret } from '../../src/config/dev-secrets.ts';
import { loadConfig } from '../../src/config/load.ts';
import { keepEndedCall } from '../../src/records/after-call/call-ended.ts';
import { POST_CALL } from '../../src/records/queue/catalog.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createLogger } from '../../src/observability/logger.ts';
import type { SpeechPlatformSettings } from '../../src/speech/platform.ts';
import { callRecordOf } from '../../test/support/call-records.ts';
import { conversation } from './conversation.ts';

export type LiveOrder =
  | { readonly type: 'start'; readonly speech: SpeechPlatformSettings; readonly jobs: number }
  /** All calls of the jobs end now. */
  | { readonly type: 'go' };

export type LiveReport =
  | { readonly type: 'ready'; readonly url: string; readonly authToken: string }
  | {
      readonly type: 'done';
      readonly done: number;
      readonly failed: number;
      readonly loopP99Ms: number;
      readonly loopMaxMs: number;
      readonly starvedByGateway: number;
    };

const report = (message: LiveReport): void => void process.send?.(message);

process.once('message', (order: LiveOrder) => {
  if (order.type === 'start') void start(order.speech, order.jobs);
});

async function start(speech: SpeechPlatformSettings, jobs: number): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-bench-'));
  const env = { OFFHOOK_DATA_DIR: dataDir, OFFHOOK_PORT: '0', OFFHOOK_CALL__REFUSE_LAG_MS: '60000' };
  const config = loadConfig({ env, files: [] });
  const { bots, problems } = loadBots(new URL('bots', import.meta.url).pathname);
  if (problems.length > 0 || config.problems.length > 0) throw new Error(JSON.stringify([...problems, ...config.problems]));
  const logger = createLogger({ level: 'error', stream: process.stderr });
  const gateway = await startGateway({ config, bots, speech, clock: systemClock, logger, worker: true });
  await gateway.prepared;
  // One recording under many names: an analysis is written beside its own.
  const recording = join(dataDir, 'job.wav');
  await writeFile(recording, conversation(1));
  const pathOf = (index: number): string => join(dataDir, `job-${index}.wav`);
  for (let index = 0; index < jobs; index += 1) await link(recording, pathOf(index));
  const { outbox, pump, queue } = gateway.backlog;
  const delay = monitorEventLoopDelay({ resolution: 2 });
  const go = async (): Promise<void> => {
    delay.enable();
    for (let index = 0; index < jobs; index += 1)
      await keepEndedCall(outbox, pump, callRecordOf({ id: `job_${index}`, recordingPath: pathOf(index) }));
    let counts = await queue.counts(POST_CALL);
    while (counts.completed + counts.failed < jobs) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      counts = await queue.counts(POST_CALL);
    }
    delay.disable();
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    const starvedByGateway = Number(/offhook_underruns_total\{cause="gateway"\} (\d+)/u.exec(metrics)?.[1] ?? 0);
    const [loopP99Ms, loopMaxMs] = [delay.percentile(99) / 1e6, delay.max / 1e6];
    report({ type: 'done', done: counts.completed, failed: counts.failed, loopP99Ms, loopMaxMs, starvedByGateway });
  };
  process.once('message', () => void go());
  process.once('disconnect', () => {
    void gateway.close().finally(() => {
      rmSync(dataDir, { recursive: true, force: true });
      process.exit(0);
    });
  });
  report({ type: 'ready', url: gateway.url, authToken: readDevSecret(dataDir, 'twilio', 'authToken').reveal() });
}

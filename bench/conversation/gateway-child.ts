// The gateway that is measured, in a process of its own: the product as it is, with its defaults and one bot. Its argument is where
// the speech platform is; it tells what happens in calls over IPC.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startGateway } from '../../src/hosts/app.ts';
import type { CallRecord } from '../../src/call/log/call-record.ts';
import type { CallNews } from '../../src/call/log/call-news.ts';
import { loadBots } from '../../src/config/bot-files.ts';
import { readDevSecret } from '../../src/config/own-secrets.ts';
import { loadConfig } from '../../src/config/load.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import type { SpeechPlatformSettings } from '../../src/speech/platform.ts';
import { measureLoopLag } from '../../src/observability/loop-lag.ts';
import { monotonicOffsetMs } from '../capacity/processor.ts';

export type GatewayReport =
  | { readonly type: 'ready'; readonly url: string; readonly authToken: string }
  | { readonly type: 'news'; readonly callSid: string; readonly atMs: number; readonly news: CallNews }
  | { readonly type: 'record'; readonly callSid: string; readonly record: CallRecord }
  | { readonly type: 'lag'; readonly p99Ms: number };

const offsetMs = monotonicOffsetMs();
const loop = measureLoopLag();

/** Any message asks for the lag. */
process.on('message', () => report({ type: 'lag', p99Ms: loop.takeP99Ms() }));

function report(message: GatewayReport): void {
  process.send?.(message);
}

async function start(speech: SpeechPlatformSettings): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-conversation-'));
  // A busy machine must not keep calls out.
  const env = { OFFHOOK_DATA_DIR: dataDir, OFFHOOK_PORT: '0', OFFHOOK_CALL__REFUSE_LAG_MS: '60000' };
  const config = loadConfig({ env, files: [] });
  const { bots, problems } = loadBots(dirname(new URL('bots/talk.ts', import.meta.url).pathname));
  if (problems.length > 0 || config.problems.length > 0) throw new Error(JSON.stringify([...problems, ...config.problems]));
  const sids = new Map<string, string>();
  const gateway = await startGateway({
    config,
    bots,
    speech,
    clock: systemClock,
    logger: silentLogger,
    worker: false,
    news(news) {
      const atMs = performance.now() + offsetMs;
      if (news.type === 'started') {
        const session = gateway.calls.calls.find(({ id }) => id === news.callId);
        if (session === undefined) return;
        const { carrierCallId } = session.identity.inbound;
        sids.set(news.callId, carrierCallId);
        void session.ended.then((record) => report({ type: 'record', callSid: carrierCallId, record }));
      }
      const callSid = sids.get(news.callId);
      if (callSid !== undefined) report({ type: 'news', callSid, atMs, news });
    },
  });
  await gateway.prepared;
  process.once('disconnect', () => {
    void gateway.close().finally(() => {
      rmSync(dataDir, { recursive: true, force: true });
      process.exit(0);
    });
  });
  report({ type: 'ready', url: gateway.url, authToken: readDevSecret(dataDir, 'twilio', 'authToken').reveal() });
}

void start(JSON.parse(process.argv[2] ?? ''));

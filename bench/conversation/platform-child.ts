// The speech platform that the measured gateway talks to, in a process of its own: the real server over engines that know
// what is said. Told the truth over IPC, it answers with its addresses.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { startPlatform } from '../../src/platform/server/start.ts';
import { botSpeech } from './bot-voice.ts';
import { LoopWatch } from './loop-watch.ts';
import { FormantSynthesizer, TimedRecogniser, type Truth } from './timed-engines.ts';

export interface PlatformOrder {
  readonly truth: Truth;
  /** Sentences that will be spoken, made before the first call. */
  readonly sentences: readonly string[];
}

process.once('message', (order: PlatformOrder) => void start(order));

async function start({ truth, sentences }: PlatformOrder): Promise<void> {
  for (const sentence of sentences) botSpeech(sentence);
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-conversation-platform-'));
  const engines = { recognition: new TimedRecogniser(truth), synthesis: new FormantSynthesizer() };
  const platform = await startPlatform({ basePort: 0, engines, clock: systemClock, dataDir });
  const loop = new LoopWatch();
  process.on('message', () => process.send?.({ type: 'lag', lag: loop.take() }));
  process.once('disconnect', () => {
    void platform.close().finally(() => {
      rmSync(dataDir, { recursive: true, force: true });
      process.exit(0);
    });
  });
  const { authUrl, asrUrl, ttsUrl, apiKey } = platform;
  process.send?.({ type: 'ready', speech: { authUrl, asrUrl, ttsUrl, apiKey } });
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { measureLoopLag } from '../../src/observability/loop-lag.ts';
import { startPlatform } from '../../src/platform/server/start.ts';
import { dialTwilio } from '../../src/sim/twilio/carrier.ts';
import type { StreamOptions } from '../../src/sim/twilio/stream.ts';
import { round } from '../document.ts';
import { BenchCall, type CallWitness } from './bench-call.ts';
import { botSpeech } from './bot-voice.ts';
import type { GatewayReport } from './gateway-child.ts';
import { FormantSynthesizer, TimedRecogniser, type Truth } from './timed-engines.ts';

/** How late the event loops of both processes ran over a stretch of time. */
export interface Health {
  readonly generatorP99Ms: number;
  readonly gatewayP99Ms: number;
  readonly load: number;
}

/** The gateway is a process of its own. Carrier, caller and the speech platform are this one. */
export class Harness implements AsyncDisposable {
  readonly #gateway: ChildProcess;
  readonly #closePlatform: () => Promise<void>;
  readonly #loop = measureLoopLag();
  readonly #witnesses = new Map<string, CallWitness>();
  readonly #ready: { readonly url: string; readonly authToken: string };

  private constructor(gateway: ChildProcess, ready: { url: string; authToken: string }, closePlatform: () => Promise<void>) {
    this.#gateway = gateway;
    this.#closePlatform = closePlatform;
    this.#ready = ready;
    gateway.on('message', (report: GatewayReport) => {
      if (report.type === 'news') this.#witness(report.callSid).news.push({ ...report.news, atMs: report.atMs });
      if (report.type === 'record') this.#witness(report.callSid).recorded(report.record);
    });
  }

  /** @param sentences that will be spoken, made before the first call */
  static async start(truth: Truth, sentences: readonly string[]): Promise<Harness> {
    for (const sentence of sentences) botSpeech(sentence);
    const dataDir = mkdtempSync(join(tmpdir(), 'offhook-conversation-platform-'));
    const engines = { recognition: new TimedRecogniser(truth), synthesis: new FormantSynthesizer() };
    const platform = await startPlatform({ basePort: 0, engines, clock: systemClock, dataDir });
    const { authUrl, asrUrl, ttsUrl, apiKey } = platform;
    const speech = JSON.stringify({ authUrl, asrUrl, ttsUrl, apiKey });
    const gateway = fork(new URL('gateway-child.ts', import.meta.url).pathname, [speech], {
      execArgv: ['--no-warnings', '--import', import.meta.resolve('tsx')],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    gateway.once('exit', (code) => {
      if (code !== 0 && code !== null) throw new Error(`the gateway ended with ${code}`);
    });
    return new Harness(gateway, await nextReport(gateway, 'ready'), async () => {
      await platform.close();
      rmSync(dataDir, { recursive: true, force: true });
    });
  }

  async dial(stream: StreamOptions = {}): Promise<BenchCall> {
    const call = new BenchCall();
    const { url, authToken } = this.#ready;
    const dialled = await dialTwilio({ url, authToken, clock: systemClock, stream: { ...stream, ...call.options } });
    call.begin(dialled, this.#witness(dialled.callSid));
    return call;
  }

  /** Since it was last asked for. */
  async health(): Promise<Health> {
    const gateway = nextReport(this.#gateway, 'lag');
    this.#gateway.send('lag');
    const generatorP99Ms = round(this.#loop.takeP99Ms());
    return { generatorP99Ms, gatewayP99Ms: round((await gateway).p99Ms), load: round(loadavg()[0] ?? 0) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#gateway, 'exit');
    this.#gateway.disconnect();
    await gone;
    await this.#closePlatform();
  }

  /** News may come before the call is known here. */
  #witness(callSid: string): CallWitness {
    let witness = this.#witnesses.get(callSid);
    if (witness === undefined) {
      let recorded: CallWitness['recorded'] = () => undefined;
      const record = new Promise<Parameters<CallWitness['recorded']>[0]>((resolve) => {
        recorded = resolve;
      });
      witness = { news: [], record, recorded };
      this.#witnesses.set(callSid, witness);
    }
    return witness;
  }
}

function nextReport<Type extends GatewayReport['type']>(
  from: ChildProcess,
  type: Type,
): Promise<Extract<GatewayReport, { readonly type: Type }>> {
  return new Promise((resolve) => {
    const listen = (report: GatewayReport): void => {
      if (report.type !== type) return;
      from.off('message', listen);
      resolve(report as Extract<GatewayReport, { readonly type: Type }>);
    };
    from.on('message', listen);
  });
}

import { type ChildProcess, fork } from 'node:child_process';
import { loadavg } from 'node:os';
import type { SpeechPlatformSettings } from '../../src/speech/platform.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { dialTwilio } from '../../src/sim/twilio/carrier.ts';
import type { StreamOptions } from '../../src/sim/twilio/stream.ts';
import { BenchCall, type CallWitness } from './bench-call.ts';
import type { GatewayOrder, GatewayReport } from './gateway-child.ts';
import { type LoopLag, LoopWatch } from './loop-watch.ts';
import type { PlatformOrder } from './platform-child.ts';

/** Loop lag of the three processes over a stretch of time. */
export interface Health {
  readonly generator: LoopLag;
  readonly gateway: LoopLag;
  readonly platform: LoopLag;
  readonly load: number;
}

type PlatformReport =
  | { readonly type: 'ready'; readonly speech: SpeechPlatformSettings }
  | { readonly type: 'lag'; readonly lag: LoopLag };

/** Two processes beside this one: the gateway, and the speech platform it talks to. This one is carrier and caller. */
export class Harness implements AsyncDisposable {
  readonly #platform: ChildProcess;
  readonly #gateway: ChildProcess;
  readonly #loop = new LoopWatch();
  readonly #witnesses = new Map<string, CallWitness>();
  readonly #ready: { readonly url: string; readonly authToken: string };

  private constructor(platform: ChildProcess, gateway: ChildProcess, ready: { url: string; authToken: string }) {
    this.#platform = platform;
    this.#gateway = gateway;
    this.#ready = ready;
    gateway.on('message', (report: GatewayReport) => {
      if (report.type === 'news') this.#witness(report.callSid).news.push({ ...report.news, atMs: report.atMs });
      if (report.type === 'record') this.#witness(report.callSid).recorded(report.record);
    });
  }

  static async start(order: PlatformOrder): Promise<Harness> {
    const platform = child('platform-child.ts');
    const platformReady = nextReport<PlatformReport, 'ready'>(platform, 'ready');
    platform.send(order);
    const { speech } = await platformReady;
    const gateway = child('gateway-child.ts');
    const gatewayReady = nextReport<GatewayReport, 'ready'>(gateway, 'ready');
    gateway.send({ type: 'start', speech } satisfies GatewayOrder);
    return new Harness(platform, gateway, await gatewayReady);
  }

  async dial(stream: StreamOptions = {}): Promise<BenchCall> {
    const call = new BenchCall();
    const { url, authToken } = this.#ready;
    const dialled = await dialTwilio({ url, authToken, clock: systemClock, stream: { ...stream, ...call.options } });
    call.begin(dialled, this.#witness(dialled.callSid));
    return call;
  }

  stall(durationMs: number): void {
    this.#gateway.send({ type: 'stall', durationMs } satisfies GatewayOrder);
  }

  /** Lag since it was last asked for. */
  async health(): Promise<Health> {
    const gateway = nextReport<GatewayReport, 'lag'>(this.#gateway, 'lag');
    const platform = nextReport<PlatformReport, 'lag'>(this.#platform, 'lag');
    this.#gateway.send({ type: 'lag' } satisfies GatewayOrder);
    this.#platform.send({ type: 'lag' });
    const generator = this.#loop.take();
    const load = Math.round(10 * (loadavg()[0] ?? 0)) / 10;
    return { generator, gateway: (await gateway).lag, platform: (await platform).lag, load };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of [this.#gateway, this.#platform]) {
      const gone = new Promise((resolve) => {
        process.once('exit', resolve);
      });
      process.disconnect();
      await gone;
    }
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

function child(file: string): ChildProcess {
  const started = fork(new URL(file, import.meta.url).pathname, [], {
    execArgv: ['--no-warnings', '--import', import.meta.resolve('tsx')],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  started.once('exit', (code) => {
    if (code !== 0 && code !== null) throw new Error(`${file} ended with ${code}`);
  });
  return started;
}

function nextReport<Report extends { readonly type: string }, Type extends Report['type']>(
  from: ChildProcess,
  type: Type,
): Promise<Extract<Report, { readonly type: Type }>> {
  return new Promise((resolve) => {
    const listen = (report: Report): void => {
      if (report.type !== type) return;
      from.off('message', listen);
      resolve(report as Extract<Report, { readonly type: Type }>);
    };
    from.on('message', listen);
  });
}

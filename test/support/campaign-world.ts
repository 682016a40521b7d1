import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { DialProgress } from '../../src/carriers/port.ts';
import type { CampaignCounts, CampaignState } from '../../src/records/campaigns.ts';
import type { CampaignChildOptions, CampaignOrder } from './campaign-child.ts';
import { nodeArguments } from './program.ts';
import { eventually } from './eventually.ts';

const CHILD = fileURLToPath(new URL('campaign-child.ts', import.meta.url));
/** How long a phone rings before it is busy. */
const RING_MS = 300;

/** One order that the carrier got. */
export interface CarrierOrder {
  readonly callId: string;
  readonly to: string;
  readonly atMs: number;
  progress: DialProgress;
}

/** A carrier over HTTP at which every number is busy. It reports to any process that is alive, as one behind a public address. */
class StandInCarrier {
  readonly orders = new Map<string, CarrierOrder>();
  /** Orders with the id of a call that was ordered before. */
  repeats = 0;
  readonly #server: Server;
  readonly #reportTo: () => string | undefined;

  constructor(reportTo: () => string | undefined) {
    this.#reportTo = reportTo;
    this.#server = createServer((request, response) => {
      void this.#answer(request)
        .then((answer) => response.end(JSON.stringify(answer)))
        .catch(() => response.writeHead(500).end());
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new TypeError('a TCP server has a port');
    return `http://127.0.0.1:${address.port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage): Promise<object> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { callId, to = '', carrierCallId = '' } = JSON.parse(text) as Record<string, string | undefined>;
    const order = this.orders.get(callId ?? carrierCallId.slice(3));
    switch (request.url ?? '') {
      case '/dial':
        if (callId === undefined) throw new TypeError('no call');
        if (order !== undefined) this.repeats += 1;
        else this.#ring({ callId, to, atMs: Date.now(), progress: { state: 'ringing' } });
        return { carrierCallId: `CA-${callId}` };
      case '/find':
        return order === undefined
          ? { found: 'not-placed' }
          : { found: 'placed', carrierCallId: `CA-${order.callId}`, progress: order.progress };
      case '/hang-up':
        if (order !== undefined && order.progress.state !== 'ended') order.progress = { state: 'ended', outcome: 'cancelled' };
        return {};
      default:
        return { progress: order?.progress };
    }
  }

  #ring(order: CarrierOrder): void {
    this.orders.set(order.callId, order);
    setTimeout(() => {
      if (order.progress.state !== 'ended') order.progress = { state: 'ended', outcome: 'busy' };
      const url = this.#reportTo();
      const report = { callId: order.callId, carrierCallId: `CA-${order.callId}`, progress: order.progress };
      // A report that reaches nobody is lost, as a carrier's is.
      if (url !== undefined) void fetch(url, { method: 'POST', body: JSON.stringify(report) }).catch(() => undefined);
    }, RING_MS);
  }
}

interface Member {
  readonly child: ChildProcess;
  statusUrl: string | undefined;
  readonly rss: number[];
  /** Processor time so far. */
  cpuMs: number;
  readonly answers: Map<number, (message: { answer?: unknown; error?: string }) => void>;
}

/** Real processes that run campaigns on one store, and a carrier that counts. */
export class CampaignWorld implements AsyncDisposable {
  readonly #carrier: StandInCarrier;
  readonly #options: Omit<CampaignChildOptions, 'carrierUrl'>;
  #carrierUrl = '';
  #asked = 0;
  members: Member[] = [];

  private constructor(options: Omit<CampaignChildOptions, 'carrierUrl'>) {
    this.#options = options;
    this.#carrier = new StandInCarrier(() => this.#live[this.#asked++ % Math.max(1, this.#live.length)]?.statusUrl);
  }

  /** @param processes started at once; of an embedded store one */
  static async open(options: Omit<CampaignChildOptions, 'carrierUrl'>, processes: number): Promise<CampaignWorld> {
    const world = new CampaignWorld(options);
    world.#carrierUrl = await world.#carrier.listen();
    for (let count = 0; count < processes; count += 1) await world.start();
    return world;
  }

  get #live(): readonly Member[] {
    return this.members.filter(({ statusUrl }) => statusUrl !== undefined);
  }

  get orders(): readonly CarrierOrder[] {
    return [...this.#carrier.orders.values()];
  }

  /** Calls that were ordered twice, and numbers that were called again although one call was all that they should get. */
  doubleDials(numbers: (to: string) => boolean = () => true): number {
    const called = this.orders.map(({ to }) => to).filter(numbers);
    return this.#carrier.repeats + called.length - new Set(called).size;
  }

  async start(): Promise<Member> {
    const options: CampaignChildOptions = { ...this.#options, carrierUrl: this.#carrierUrl };
    const args = [...(await nodeArguments(CHILD)), JSON.stringify(options)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    const member: Member = { child, statusUrl: undefined, rss: [], cpuMs: 0, answers: new Map() };
    let problems = '';
    child.stderr?.on('data', (chunk: Buffer) => (problems += chunk.toString()));
    child.on(
      'message',
      (message: { statusUrl?: string; rss?: number; cpuMs?: number; id?: number; answer?: unknown; error?: string }) => {
        if (message.statusUrl !== undefined) member.statusUrl = message.statusUrl;
        if (message.rss !== undefined) member.rss.push(message.rss);
        if (message.cpuMs !== undefined) member.cpuMs = message.cpuMs;
        if (message.id !== undefined) member.answers.get(message.id)?.(message);
      },
    );
    child.once('exit', () => {
      member.statusUrl = undefined;
      for (const answer of member.answers.values()) answer({ error: 'the process is gone' });
      this.members = this.members.filter((each) => each !== member);
    });
    this.members.push(member);
    await eventually('a process to run', () => {
      if (child.exitCode !== null) throw new Error(`the process ended: ${problems}`);
      return member.statusUrl !== undefined;
    });
    return member;
  }

  async kill(member: Member): Promise<void> {
    const gone = once(member.child, 'exit');
    member.child.kill('SIGKILL');
    await gone;
  }

  async ask<Answer>(order: CampaignOrder, [member] = this.#live): Promise<Answer> {
    if (member === undefined) throw new Error('no process runs');
    const id = (this.#asked += 1);
    const answered = new Promise<{ answer?: unknown; error?: string }>((resolve) => member.answers.set(id, resolve));
    member.child.send({ id, order });
    const { answer, error } = await answered;
    member.answers.delete(id);
    if (error !== undefined) throw new Error(error);
    return answer as Answer;
  }

  counts(campaignId: string): Promise<CampaignCounts & { readonly state: CampaignState }> {
    return this.ask({ do: 'counts', campaignId });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => this.kill(member)));
    this.#carrier.close();
  }
}

/** A zone whose clock shows this hour now. Zones of this kind have no daylight saving. */
export function zoneAt(hour: number): string {
  const ahead = ((hour - new Date().getUTCHours() + 36) % 24) - 12;
  // Their signs are the other way round: Etc/GMT-3 is three hours ahead.
  return ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

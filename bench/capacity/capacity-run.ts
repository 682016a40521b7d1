import type { Certificate } from './certificate.ts';
import { type Latencies, measureRow, type Row, type RowOrder } from './row.ts';
import type { WireName } from './media-wires.ts';
import type { SubjectName } from './subject.ts';

export interface CapacityRunOptions {
  /** Where the compiled children are. */
  readonly folder: string;
  readonly pairs: number;
  readonly measureMs: number;
  /** The file that exports the peer; undefined where it could not be installed. */
  readonly peer: string | undefined;
  readonly certificate: Certificate | undefined;
}

/** The middle of the rows that count, with the least and the most. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly n: number;
}

/** By size: `n200` and so on. */
type BySize = Readonly<Record<string, Spread | null>>;

export interface CapacityDocument {
  /** The gateway's processor time over the echo server's, pair by pair. */
  readonly cpuRatio: BySize;
  /** The same over the peer's; null where there was none. */
  readonly peerRatio: Spread | null;
  /** Calls with which the gateway's core is 60 % busy; null where a row before that was not healthy. */
  readonly calls: number | null;
  /** Microseconds of all threads for a second of a call. */
  readonly cpuPerCall: BySize;
  readonly rssPerCallKb: BySize;
  readonly latencyMs: Latencies | null;
  readonly holes: number | null;
  readonly checksumOk: boolean;
}

/** Processor time of another carrier's calls over Twilio's, and of both, in microseconds for a second of a call. */
interface CarriersCompared {
  readonly ratio: Spread | null;
  readonly cpuPerCall: Readonly<Record<string, Spread | null>>;
}
/** By size. */
export type CarrierDocument = Readonly<Record<string, CarriersCompared>>;

const WARM_UP_MS = 5_000;
/** Share of the core at which it carries as many calls as it should. */
const FULL = 0.6;
const STEP = 100;
const MOST_CALLS = 1_500;
const MOST_LOOP_MS = 20;
/** Calls whose network or whose gateway's loop stalls. */
const STALLED_CALLS = 50;

/** The rows of one run, and what they come to. */
export class CapacityRun {
  readonly rows: Row[] = [];
  readonly #options: CapacityRunOptions;
  readonly #cpuRatio: Record<string, Spread | null> = {};
  #sizes: readonly number[] = [];
  #peerRatio: Spread | null = null;
  #conversation: Row | undefined;

  constructor(options: CapacityRunOptions) {
    this.#options = options;
  }

  /** Gateway and echo server by turns, pair by pair; at the first size the peer as well. */
  async compare(sizes: readonly number[]): Promise<void> {
    this.#sizes = sizes;
    for (const [at, calls] of sizes.entries()) {
      const subjects: SubjectName[] =
        at === 0 && this.#options.peer !== undefined ? ['echo', 'gateway', 'peer'] : ['echo', 'gateway'];
      const pairs: ReadonlyMap<SubjectName, Row>[] = [];
      for (let pair = 0; pair < this.#options.pairs; pair += 1) {
        const rows = new Map<SubjectName, Row>();
        for (const subject of pair % 2 === 0 ? subjects : [...subjects].reverse())
          rows.set(subject, await this.#run({ subject, calls, workload: 'W2' }));
        pairs.push(rows);
      }
      this.#cpuRatio[`n${calls}`] = ratio(pairs, 'echo');
      if (at === 0) this.#peerRatio = ratio(pairs, 'peer');
    }
  }

  /**
   * The same gateway by turns with calls of Twilio and of another carrier, pair by pair.
   * @returns the processor time of the other's calls over Twilio's, and that of both
   */
  async compareCarriers(other: WireName, sizes: readonly number[]): Promise<CarrierDocument> {
    const names = ['twilio', other] as const;
    const document: Record<string, CarriersCompared> = {};
    for (const calls of sizes) {
      const pairs: Row[][] = [];
      for (let pair = 0; pair < this.#options.pairs; pair += 1) {
        const rows: Row[] = [];
        for (const carrier of pair % 2 === 0 ? names : names.toReversed())
          rows.push(await this.#run({ subject: 'gateway', carrier, calls, workload: 'W2' }));
        pairs.push(rows.toSorted((a, b) => Number(a.carrier !== 'twilio') - Number(b.carrier !== 'twilio')));
      }
      const counted = pairs.filter((rows) => rows.every((row) => row.void.length === 0));
      const costs = (at: number): number[] => counted.flatMap((rows) => rows[at]?.usPerCallSecond ?? []);
      const [twilio, others] = [costs(0), costs(1)];
      document[`n${calls}`] = {
        ratio: spread(others.map((cost, at) => cost / (twilio[at] ?? Number.NaN))),
        cpuPerCall: { twilio: spread(twilio), [other]: spread(others) },
      };
    }
    return document;
  }

  /** A conversation, for the latencies. */
  async converse(calls: number): Promise<void> {
    this.#conversation = await this.#run({ subject: 'gateway', calls, workload: 'W1' });
  }

  /** Answers while the loop stalls, and a bot that talks all the time while the network does. */
  async stall(): Promise<void> {
    await this.#run({ subject: 'gateway', calls: STALLED_CALLS, workload: 'exchange', stalls: 'loop' });
    await this.#run({ subject: 'gateway', calls: STALLED_CALLS, workload: 'W2', stalls: 'network' });
  }

  /** Calls at which the core is as full as it should be, between two steps; null when a row before that was not healthy. */
  async limit(): Promise<number | null> {
    let before = { calls: 0, cpu: 0 };
    for (let calls = STEP; calls <= MOST_CALLS; calls += STEP) {
      const row = await this.#run({ subject: 'gateway', calls, workload: 'W2' });
      if (row.void.length > 0 || row.loopP99Ms > MOST_LOOP_MS) return null;
      if (row.cpu >= FULL)
        return Math.round(before.calls + ((calls - before.calls) * (FULL - before.cpu)) / (row.cpu - before.cpu));
      before = { calls, cpu: row.cpu };
    }
    return null;
  }

  document(calls: number | null): CapacityDocument {
    const gateway = this.rows.filter(({ subject }) => subject === 'gateway');
    const counted = gateway.filter((row) => row.void.length === 0);
    const steady = counted.filter(({ workload, stalls }) => workload === 'W2' && stalls === undefined);
    const bySize = (of: (row: Row) => number): BySize =>
      Object.fromEntries(this.#sizes.map((size) => [`n${size}`, spread(steady.filter((row) => row.calls === size).map(of))]));
    const dry = counted.map(({ holes, starvedByGateway }) => holes + starvedByGateway);
    return {
      cpuRatio: this.#cpuRatio,
      peerRatio: this.#peerRatio,
      calls,
      cpuPerCall: bySize(({ usPerCallSecond }) => usPerCallSecond),
      rssPerCallKb: bySize(({ rssPerCallKb }) => rssPerCallKb),
      latencyMs: this.#conversation?.void.length === 0 ? this.#conversation.latencyMs : null,
      holes: dry.length === 0 ? null : dry.reduce((sum, count) => sum + count, 0),
      checksumOk: gateway.length > 0 && gateway.every(({ checksumOk }) => checksumOk),
    };
  }

  async #run(order: Pick<RowOrder, 'subject' | 'carrier' | 'calls' | 'workload' | 'stalls'>): Promise<Row> {
    const { folder, measureMs, peer, certificate } = this.#options;
    const upstream = order.subject === 'peer' && peer !== undefined ? { peer } : { certificate };
    const row = await measureRow({ folder, warmUpMs: WARM_UP_MS, measureMs, ...order, ...upstream });
    this.rows.push(row);
    console.error(described(row));
    return row;
  }
}

/** Of the gateway's processor time to another's, pair by pair; a pair with a void row, or without the other, does not count. */
function ratio(pairs: readonly ReadonlyMap<SubjectName, Row>[], to: SubjectName): Spread | null {
  const ratios = pairs.flatMap((rows) => {
    const [gateway, other] = [rows.get('gateway'), rows.get(to)];
    if (gateway?.void.length !== 0 || other?.void.length !== 0) return [];
    return [gateway.usPerCallSecond / other.usPerCallSecond];
  });
  return spread(ratios);
}

export function described(row: Row): string {
  const percent = (share: number): string => `${Math.round(100 * share)} %`;
  const stalls = row.stalls === undefined ? '' : `, ${row.stalls} stalls`;
  const parts = [
    `${row.subject} ${row.carrier} ${row.workload} ${row.calls}${stalls}: ${row.usPerCallSecond} us a call-second, ${percent(row.cpu)} of a core`,
    `loop p99 ${row.loopP99Ms} ms, longest collection ${row.longestGcMs} ms, ${row.rssPerCallKb} KB a call`,
    `generator ${percent(row.generatorCpu)}, others ${percent(row.others)}, waited ${percent(row.waited)}`,
    `holes ${row.holes}, starved ${row.starvedByGateway}, unanswered ${row.unanswered}, went on ${row.wentOn}`,
  ];
  return `${parts.join(', ')}${row.void.length === 0 ? '' : ` — void: ${row.void.join('; ')}`}`;
}

/** To a thousandth; null when nothing was measured. */
export function spread(numbers: readonly number[]): Spread | null {
  if (numbers.length === 0) return null;
  const sorted = [...numbers].sort((a, b) => a - b).map((value) => Math.round(value * 1000) / 1000);
  return { median: sorted[(sorted.length - 1) >> 1]!, least: sorted[0]!, most: sorted.at(-1)!, n: sorted.length };
}

import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { z } from 'zod';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import type { Logger } from '../../observability/logger.ts';
import { SharedStateUnavailableError } from './port.ts';
import { MOST_CALLS } from './memory.ts';
import { LOOK_MS, RedisLink, type RedisLinkOptions, StoreIdentity } from './redis-link.ts';

/** A part of a live call: its record as it stands, or what else another process needs to go on with it. */
export type CallPart = 'record' | 'state';

/** What was kept of a live call. A part that is absent was not written, or the call is over. */
export interface KeptCall {
  readonly record: unknown;
  readonly state: unknown;
  /** The data folder that has the call's files. */
  readonly folder: string;
  /** The address of the machine that kept it. */
  readonly machine: string;
  /** How often another data folder took the call. */
  readonly takes: number;
}

/**
 * Live calls as they stand, for the machines of a gateway. A call has one owner, the member that the directory of calls names (`CallDirectory.claim`);
 * writes of any other member are refused.
 */
export interface CallStates extends AsyncDisposable {
  /** The data folder of this machine. */
  readonly folder: string;
  /** Keeps a part as it stands, soon: of several documents of a moment the last one counts. Never waits and never throws. */
  keep(callId: string, part: CallPart, document: object): void;
  /** Takes nothing over. @returns `away` while Redis is */
  find(callId: string): Promise<KeptCall | 'away' | undefined>;
  /** Makes this member the owner of what was kept. @returns `elsewhere` where the directory does not name this member as the call's owner */
  take(callId: string): Promise<KeptCall | 'away' | 'elsewhere' | undefined>;
  /** The call is over, and its record safe. Nothing happens where another member took it. */
  forget(callId: string): Promise<void>;
}

/** Seals what is kept. */
export interface StateSealing {
  seal(about: string, plain: Uint8Array): Uint8Array;
  /** @throws OffhookError for bytes that another key sealed */
  open(about: string, sealed: Uint8Array): Uint8Array;
}

export interface CallStatesOptions extends RedisLinkOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly memberId: string;
  readonly folder: string;
  readonly machine: string;
  /** Parts are in Redis as they are when absent. */
  readonly sealing?: StateSealing | undefined;
  /** What this machine has of one of its calls, on disk, for a Redis that has lost it. Never rejects. */
  readonly kept: (callId: string) => Promise<Partial<Record<CallPart, object>>>;
  /** Another machine took a call of this one. */
  readonly onLost?: (callId: string) => void;
}

/** Writes of one call are so far apart at least. */
const PAUSE_MS = 200;
/** A call of which nothing is written for so long is forgotten: all are written again four times as often. */
const STAYS_MS = 3_600_000;
/** That a call went on in another data folder is known for so long: to the first one, when its machine is back. */
const MOVED_STAYS_MS = 7 * 86_400_000;
/** Largest compressed part. */
const MOST_BYTES = 1_048_576;
/** Calls that are read from disk at once, to be written again. */
const READ_AT_ONCE = 20;
const OPEN_WITHIN_MS = 5_000;

/** Live calls in Redis. @throws RedisAddressError; SharedStateUnavailableError when Redis does not answer */
export async function openRedisCallStates(options: CallStatesOptions): Promise<CallStates> {
  const states = new RedisCallStates(options);
  try {
    await states.open();
  } catch (error) {
    await states[Symbol.asyncDispose]();
    throw error;
  }
  return states;
}

interface OwnCall {
  readonly next: Map<CallPart, object>;
  takes: number;
  writing: Promise<void> | undefined;
  sending: Promise<unknown> | undefined;
}

function ownCall(takes = 0): OwnCall {
  return { next: new Map(), takes, writing: undefined, sending: undefined };
}

class RedisCallStates implements CallStates {
  readonly folder: string;
  readonly #options: CallStatesOptions;
  /** Its own connection: what is written here is large, and delays no question of the directory. */
  readonly #link: RedisLink;
  readonly #store: StoreIdentity;
  readonly #own = new Map<string, OwnCall>();
  /** Over, and Redis has not heard of it. */
  readonly #over = new Set<string>();
  #nextLook: Timer | undefined;
  #renewal: Timer | undefined;
  #closed = false;

  constructor(options: CallStatesOptions) {
    this.#options = options;
    this.folder = options.folder;
    const soon = (): void => this.#lookIn(0);
    this.#link = new RedisLink(options, { away: soon, ready: soon });
    this.#store = new StoreIdentity(this.#link);
    this.#renewLater();
  }

  async open(): Promise<void> {
    const { clock } = this.#options;
    const untilMs = clock.nowMs() + OPEN_WITHIN_MS;
    while (!(await this.#look())) {
      if (clock.nowMs() > untilMs)
        throw new SharedStateUnavailableError(`Redis, which holds the state of calls, does not answer: ${this.#link.problem}`);
      await sleep(clock, 50);
    }
  }

  keep(callId: string, part: CallPart, document: object): void {
    this.#keep(callId, [[part, document]]);
  }

  #keep(callId: string, parts: readonly (readonly [CallPart, object])[]): void {
    if (this.#closed) return;
    const call = this.#own.get(callId) ?? ownCall();
    this.#own.set(callId, call);
    for (const [part, document] of parts) call.next.set(part, document);
    call.writing ??= this.#write(callId, call).finally(() => (call.writing = undefined));
  }

  async find(callId: string): Promise<KeptCall | 'away' | undefined> {
    const reply = await this.#link.ask({ script: 'offhookFindState', keys: [keyOf(callId)], args: [], reply: kept });
    return reply === undefined ? 'away' : this.#opened(callId, reply);
  }

  async take(callId: string): Promise<KeptCall | 'away' | 'elsewhere' | undefined> {
    const { memberId, folder, machine } = this.#options;
    const keys = ['calls', keyOf(callId)];
    const args = [memberId, callId, folder, machine, STAYS_MS];
    const reply = await this.#link.ask({ script: 'offhookTakeState', keys, args, reply: z.union([z.literal(0), kept]) });
    if (reply === undefined) return 'away';
    if (reply === 0) return 'elsewhere';
    const found = await this.#opened(callId, reply);
    if (found !== undefined) this.#own.set(callId, ownCall(found.takes));
    return found;
  }

  async forget(callId: string): Promise<void> {
    const call = this.#own.get(callId);
    this.#own.delete(callId);
    call?.next.clear();
    await call?.sending;
    if ((await this.#forget(callId)) === undefined && this.#over.size < MOST_CALLS) this.#over.add(callId);
  }

  #forget(callId: string): Promise<number | undefined> {
    const args = [this.#options.memberId, MOVED_STAYS_MS];
    return this.#link.ask({ script: 'offhookForgetState', keys: [keyOf(callId)], args, reply: z.number() });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#nextLook?.cancel();
    this.#renewal?.cancel();
    await Promise.all([...this.#own.values()].map(async ({ sending }) => sending));
    this.#link[Symbol.dispose]();
  }

  /** Writes what is newest, until nothing newer is there. While Redis is away it waits, and what comes meanwhile replaces what was there. */
  async #write(callId: string, call: OwnCall): Promise<void> {
    const { clock, logger, onLost } = this.#options;
    while (call.next.size > 0 && !this.#closed && this.#own.get(callId) === call) {
      if (!this.#link.isAway) {
        const parts = [...call.next];
        call.next.clear();
        const sending = this.#send(callId, call, parts).catch((error: unknown) => {
          logger.warn({ callId, error }, 'state of a call not written for other machines');
          return 1;
        });
        call.sending = sending;
        const answer = await sending;
        if (answer === 0 && this.#own.get(callId) === call) {
          this.#own.delete(callId);
          onLost?.(callId);
          return;
        }
        // What is newer stays.
        if (answer === undefined) for (const [part, document] of parts) if (!call.next.has(part)) call.next.set(part, document);
      }
      await sleep(clock, PAUSE_MS);
    }
  }

  async #send(callId: string, call: OwnCall, parts: readonly (readonly [CallPart, object])[]): Promise<number | undefined> {
    const { memberId, folder, machine } = this.#options;
    const args: (string | number)[] = [memberId, folder, machine, call.takes, STAYS_MS];
    for (const [part, document] of parts) {
      const packed = await this.#packed(callId, part, document);
      if (packed !== undefined) args.push(part, packed);
    }
    return this.#link.ask({ script: 'offhookKeepState', keys: [keyOf(callId)], args, reply: z.number() });
  }

  async #packed(callId: string, part: CallPart, document: object): Promise<string | undefined> {
    const { sealing, logger } = this.#options;
    const compressed = await deflate(JSON.stringify(document), { level: 1 });
    if (compressed.length > MOST_BYTES) {
      logger.warn({ callId, part, bytes: compressed.length }, 'state of a call too long to be written for other machines');
      return undefined;
    }
    const bytes = sealing === undefined ? compressed : sealing.seal(aboutOf(callId, part), compressed);
    return `${sealing === undefined ? 'plain' : 'sealed'}:${Buffer.from(bytes).toString('base64')}`;
  }

  async #opened(callId: string, reply: z.output<typeof kept>): Promise<KeptCall | undefined> {
    const [folder = '', machine = '', takes = '0', record = '', state = ''] = reply;
    if (folder === '') return undefined;
    const parts = [this.#unpacked(callId, 'record', record), this.#unpacked(callId, 'state', state)] as const;
    return { folder, machine, takes: Number(takes), record: await parts[0], state: await parts[1] };
  }

  /** @returns undefined for what is not there, or cannot be read */
  async #unpacked(callId: string, part: CallPart, text: string): Promise<unknown> {
    const { sealing, logger } = this.#options;
    if (text === '') return undefined;
    try {
      const bytes = Buffer.from(text.slice(text.indexOf(':') + 1), 'base64');
      const isPlain = text.startsWith('plain:');
      if (!isPlain && sealing === undefined) throw new Error('it is sealed, and this machine was given no master key');
      const compressed = isPlain || sealing === undefined ? bytes : sealing.open(aboutOf(callId, part), bytes);
      const plain = await inflate(compressed, { maxOutputLength: 64 * MOST_BYTES });
      return JSON.parse(plain.toString('utf8'));
    } catch (error) {
      logger.error({ callId, part, error }, 'state of a call that another machine wrote cannot be read');
      return undefined;
    }
  }

  #lookIn(delayMs: number): void {
    if (this.#closed) return;
    this.#nextLook?.cancel();
    const isNeeded = (): boolean => delayMs < LOOK_MS || this.#own.size > 0 || this.#link.isAway;
    this.#nextLook = this.#options.clock.after(delayMs, () => {
      if (isNeeded()) void this.#look();
      else this.#lookIn(LOOK_MS);
    });
  }

  /** Writes all again for a Redis that was away or has lost it. @returns whether Redis answers */
  async #look(): Promise<boolean> {
    const wasAway = this.#link.isAway;
    const store = await this.#store.look();
    if (store !== undefined) this.#link.back();
    this.#lookIn(LOOK_MS);
    if (store === undefined) return false;
    if (!wasAway && store === 'same') return true;
    for (const callId of this.#over) {
      if ((await this.#forget(callId)) === undefined) break;
      this.#over.delete(callId);
    }
    await this.#writeAll();
    return true;
  }

  /** Redis may have lost all of it. */
  async #writeAll(): Promise<void> {
    const calls = [...this.#own];
    for (let at = 0; at < calls.length; at += READ_AT_ONCE)
      await Promise.all(calls.slice(at, at + READ_AT_ONCE).map(async (each) => this.#writeAgain(...each)));
  }

  async #writeAgain(callId: string, call: OwnCall): Promise<void> {
    const { record, state } = await this.#options.kept(callId);
    if (this.#own.get(callId) !== call) return;
    const parts = [['record', record] as const, ['state', state] as const].flatMap(([part, document]) =>
      document === undefined || call.next.has(part) ? [] : [[part, document] as const],
    );
    if (parts.length > 0) this.#keep(callId, parts);
  }

  #renewLater(): void {
    this.#renewal = this.#options.clock.after(STAYS_MS / 4, () => void this.#writeAll().finally(() => this.#renewLater()));
  }
}

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Folder, machine, takes, record, state. */
const kept = z.array(z.string());

function keyOf(callId: string): string {
  return `state:${callId}`;
}

function aboutOf(callId: string, part: CallPart): string {
  return `call ${part}/${callId}`;
}

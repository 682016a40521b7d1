import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { sleep } from '../../kernel/waiting.ts';
import type { Logger } from '../../observability/logger.ts';
import { MemoryRates, MemorySpentIds } from './memory.ts';
import {
  type Member,
  type Members,
  type Pace,
  type SharedRates,
  SharedSecretError,
  type SharedState,
  SharedStateUnavailableError,
  type SpentIds,
} from './port.ts';
import { pairsOf, RedisCalls } from './redis-calls.ts';
import { LOOK_MS, RedisLink, type RedisLinkOptions, StoreIdentity } from './redis-link.ts';
import { RedisSlots } from './redis-slots.ts';

/** A member that is not heard of for so long is gone. */
const GONE_AFTER_MS = 5_000;
/** How long calls of a member that is gone stay. */
const ORPHANS_STAY_MS = 3_600_000;
/** Heartbeats in the time after which a member is gone: two may be lost. */
const BEATS = 10 / 3;
const RETRY_MS = 500;
const OPEN_WITHIN_MS = 5_000;
/** Ids of one script: it holds up all others while it runs. */
const BATCH = 200;
/** Spent while Redis was away, for the others. */
const MOST_UNTOLD = 10_000;

/** Seals secrets at rest; the store's master keys do. */
export interface SecretSealing {
  wrap(about: string, key: Uint8Array): Uint8Array;
  unwrap(about: string, wrapped: Uint8Array): Uint8Array;
  /** Whether it was sealed under the newest key. */
  isOfFirst(wrapped: Uint8Array): boolean;
}

export interface RedisSharedStateOptions extends RedisLinkOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where the other members reach this one. */
  readonly address: string | undefined;
  /** Secrets are in Redis as they are when absent. */
  readonly sealing?: SecretSealing | undefined;
  /** The same for all members; five seconds when absent. */
  readonly goneAfterMs?: number;
}

/**
 * Joins those that share their state in Redis.
 * @throws RedisAddressError; SharedStateUnavailableError when Redis does not answer
 */
export async function openRedisSharedState(options: RedisSharedStateOptions): Promise<SharedState> {
  const state = new RedisSharedState(options);
  try {
    await state.join();
  } catch (error) {
    await state[Symbol.asyncDispose]();
    throw error;
  }
  return state;
}

class RedisSharedState implements SharedState {
  readonly members: Members;
  readonly calls: RedisCalls;
  readonly spent: RedisSpentIds;
  readonly slots: RedisSlots;
  readonly rates: SharedRates;
  readonly #options: RedisSharedStateOptions;
  readonly #link: RedisLink;
  readonly #store: StoreIdentity;
  readonly #asker: readonly (string | number)[];
  readonly #goneAfterMs: number;
  readonly #secrets = new Map<string, Uint8Array>();
  #own: Member;
  /** As of the last answer. */
  #others: readonly Member[] = [];
  #beating: Promise<boolean> | undefined;
  #timer: Timer | undefined;
  #nextLook: Timer | undefined;
  /** Redis has lost everything, and was not told again what this member knows. */
  #isEmptied = false;
  #closed = false;

  constructor(options: RedisSharedStateOptions) {
    const { clock, address } = options;
    this.#options = options;
    this.#own = { id: newId('mem'), address, startedAtWallMs: clock.wallMs(), leaving: false };
    this.#goneAfterMs = options.goneAfterMs ?? GONE_AFTER_MS;
    this.#asker = [this.#goneAfterMs, this.#own.id];
    const soon = (): void => this.#beatIn(0);
    this.#link = new RedisLink(options, { away: soon, ready: soon });
    this.#store = new StoreIdentity(this.#link);
    this.calls = new RedisCalls(this.#link, this.#asker, this.#own.id);
    this.spent = new RedisSpentIds(this.#link, this.#own.id, clock);
    this.slots = new RedisSlots(this.#link, this.#asker);
    this.rates = new RedisRates(this.#link, clock);
    this.members = this.#members();
  }

  get isAway(): boolean {
    return this.#link.isAway;
  }

  async join(): Promise<void> {
    const { clock } = this.#options;
    const untilMs = clock.nowMs() + OPEN_WITHIN_MS;
    while (!(await this.#beat())) {
      if (clock.nowMs() > untilMs) {
        const message = `Redis, which holds what the machines share, does not answer: ${this.#link.problem}`;
        throw new SharedStateUnavailableError(message);
      }
      await sleep(clock, 50);
    }
    await this.#store.look();
    this.#lookLater();
  }

  async secret(name: string): Promise<Uint8Array> {
    const known = this.#secrets.get(name);
    if (known !== undefined) return known;
    const { clock } = this.#options;
    const offered = randomBytes(32);
    const untilMs = clock.nowMs() + this.#goneAfterMs;
    for (;;) {
      const found = await this.#agree(name, offered);
      if (found !== undefined) {
        this.#secrets.set(name, found);
        return found;
      }
      // One late answer, as of a busy start, is no reason to go without: nothing can be done in its place.
      if (this.#closed || clock.nowMs() >= untilMs) throw new SharedStateUnavailableError(`Redis is away: ${this.#link.problem}`);
      await sleep(clock, 50);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    this.#nextLook?.cancel();
    await this.#beating;
    await this.#link.ask({ script: 'offhookGoodbye', args: [...this.#asker, 0], reply: z.number() });
    this.#link[Symbol.dispose]();
  }

  #members(): Members {
    const own = (): Member => this.#own;
    return {
      get own() {
        return own();
      },
      list: async () => {
        const reply = await this.#link.ask({ script: 'offhookMembers', args: this.#asker, reply: z.array(z.string()) });
        if (reply !== undefined)
          this.#others = pairsOf(reply).flatMap(([id, text]) => (id === this.#own.id ? [] : memberOf(id, text)));
        const all = [this.#own, ...this.#others];
        return all.sort((a, b) => a.startedAtWallMs - b.startedAtWallMs || (a.id < b.id ? -1 : 1));
      },
      leave: async () => {
        this.#own = { ...this.#own, leaving: true };
        await this.#beating;
        await this.#beat();
      },
      lose: async (memberId, unheardForMs = 0) => {
        const args = [this.#goneAfterMs, memberId, unheardForMs];
        return (await this.#link.ask({ script: 'offhookGoodbye', args, reply: z.number() })) === 1;
      },
    };
  }

  #beatIn(delayMs: number): void {
    if (this.#closed) return;
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(delayMs, () => void this.#beat());
  }

  /** Between two heartbeats, while there are calls that another member would have to find if this one died. */
  async #look(): Promise<void> {
    const isNeeded = this.calls.size > 0 && !this.#link.isAway;
    if (isNeeded && (await this.#store.look()) === 'emptied') {
      this.#isEmptied = true;
      this.#beatIn(0);
    }
    this.#lookLater();
  }

  #lookLater(): void {
    if (!this.#closed) this.#nextLook = this.#options.clock.after(LOOK_MS, () => void this.#look());
  }

  /** @returns whether Redis has heard of this member */
  #beat(): Promise<boolean> {
    this.#beating ??= this.#tellIAmThere().finally(() => {
      this.#beating = undefined;
      this.#beatIn(this.#link.isAway ? RETRY_MS : this.#goneAfterMs / BEATS);
    });
    return this.#beating;
  }

  async #tellIAmThere(): Promise<boolean> {
    const slots = this.slots.certain();
    const calls = this.calls.certain();
    const { address, startedAtWallMs, leaving } = this.#own;
    const card = JSON.stringify({ address, startedAtWallMs, leaving } satisfies z.input<typeof memberCard>);
    const reply = await this.#link.ask({
      script: 'offhookHeartbeat',
      args: [...this.#asker, card, ORPHANS_STAY_MS, ...slots.flat()],
      reply: z.array(z.number()),
      always: true,
    });
    if (reply === undefined) return false;
    const [wasGone, owned, members = 1, ...totals] = reply;
    const isEmptied = this.#isEmptied;
    this.#isEmptied = false;
    const returned = isEmptied || this.#link.isAway || wasGone === 1;
    this.#link.back();
    this.slots.learn(slots, totals, members);
    // Whom to ask while Redis is away.
    void this.members.list();
    if (returned || (calls !== undefined && calls !== owned)) await this.calls.putRight();
    if (returned)
      await Promise.all([this.spent.tellOthers(isEmptied), ...[...this.#secrets].map((each) => this.#bringBack(...each))]);
    return true;
  }

  /** For a Redis that has lost it. */
  async #bringBack(name: string, secret: Uint8Array): Promise<void> {
    const found = await this.#agree(name, secret).catch(() => undefined);
    if (found !== undefined && !Buffer.from(found).equals(secret))
      this.#options.logger.error({ name }, 'redis has another shared secret than this machine: start this machine again');
  }

  /** @returns the secret of all, which is this one where there was none; undefined while Redis is away. @throws SharedSecretError */
  async #agree(name: string, offered: Uint8Array): Promise<Uint8Array | undefined> {
    const mine = this.#sealed(name, offered);
    const theirs = await this.#link.ask({ script: 'offhookSecret', args: [name, mine], reply: z.string() });
    if (theirs === undefined) return undefined;
    const { secret, isCurrent } = this.#opened(name, theirs);
    if (!isCurrent) {
      const sealedAnew = this.#sealed(name, secret);
      await this.#link.ask({ script: 'offhookReseal', args: [name, theirs, sealedAnew], reply: z.number() });
    }
    return secret;
  }

  #sealed(name: string, secret: Uint8Array): string {
    const { sealing } = this.#options;
    const bytes = sealing === undefined ? secret : sealing.wrap(aboutSecret(name), secret);
    return `${sealing === undefined ? 'plain' : 'sealed'}:${Buffer.from(bytes).toString('base64')}`;
  }

  #opened(name: string, text: string): { readonly secret: Uint8Array; readonly isCurrent: boolean } {
    const { sealing } = this.#options;
    const bytes = Buffer.from(text.slice(text.indexOf(':') + 1), 'base64');
    if (text.startsWith('plain:')) return { secret: bytes, isCurrent: sealing === undefined };
    if (sealing === undefined)
      throw new SharedSecretError('the shared secrets are sealed, and this machine was given no master key');
    try {
      return { secret: sealing.unwrap(aboutSecret(name), bytes), isCurrent: sealing.isOfFirst(bytes) };
    } catch (error) {
      throw new SharedSecretError('the shared secrets are sealed under a master key that this machine was not given', {
        cause: error,
      });
    }
  }
}

const memberCard = z.object({ address: z.string().optional(), startedAtWallMs: z.number(), leaving: z.boolean() });

function memberOf(id: string, text: string): Member[] {
  const card = memberCard.safeParse(text === '' ? undefined : JSON.parse(text));
  return card.success ? [{ id, ...card.data, address: card.data.address }] : [];
}

function aboutSecret(name: string): string {
  return `shared secret/${name}`;
}

class RedisSpentIds implements SpentIds {
  readonly #link: RedisLink;
  readonly #memberId: string;
  /** Those of this member. */
  readonly #own: MemorySpentIds;
  /** Spent while Redis was away. */
  readonly #untold = new Map<string, number>();
  #times = 0;

  constructor(link: RedisLink, memberId: string, clock: Clock) {
    this.#link = link;
    this.#memberId = memberId;
    this.#own = new MemorySpentIds(clock);
  }

  async spend(id: string, untilWallMs: number): Promise<boolean> {
    const here = this.#own.add(id, untilWallMs);
    if (here === 'known') return false;
    const [answer] = (await this.#spend([[id, untilWallMs]])) ?? [];
    if (answer !== undefined) return answer === 1;
    if (here === 'full') return false;
    this.#untold.set(id, untilWallMs);
    const [oldest] = this.#untold.keys();
    if (this.#untold.size > MOST_UNTOLD && oldest !== undefined) this.#untold.delete(oldest);
    return true;
  }

  async isSpent(id: string): Promise<boolean> {
    if (this.#own.has(id)) return true;
    return (await this.#link.ask({ script: 'offhookIsSpent', keys: [`spent:${id}`], args: [], reply: z.number() })) === 1;
  }

  async mark(id: string, untilWallMs: number): Promise<void> {
    await this.#own.mark(id, untilWallMs);
    await this.#spend([[id, untilWallMs]]);
  }

  /** @param isEmptied Redis has lost what it was told before */
  async tellOthers(isEmptied: boolean): Promise<void> {
    const untold = [...(isEmptied ? this.#own.live() : this.#untold)];
    for (let at = 0; at < untold.length; at += BATCH) {
      const batch = untold.slice(at, at + BATCH);
      if ((await this.#spend(batch)) === undefined) return;
      for (const [id] of batch) this.#untold.delete(id);
    }
  }

  #spend(ids: readonly (readonly [id: string, untilWallMs: number])[]): Promise<number[] | undefined> {
    this.#times += 1;
    return this.#link.ask({
      script: 'offhookSpend',
      keys: ids.map(([id]) => `spent:${id}`),
      // A cluster's client may send it twice: the same spender is let in again.
      args: [`${this.#memberId} ${this.#times}`, ...ids.map(([, untilWallMs]) => untilWallMs)],
      reply: z.array(z.number()),
    });
  }
}

class RedisRates implements SharedRates {
  readonly #link: RedisLink;
  readonly #alone: MemoryRates;

  constructor(link: RedisLink, clock: Clock) {
    this.#link = link;
    this.#alone = new MemoryRates(clock);
  }

  async take(name: string, pace: Pace): Promise<number> {
    return (await this.#ask(name, pace, 1)) ?? this.#alone.take(name, pace);
  }

  async wait(name: string, pace: Pace): Promise<number> {
    return (await this.#ask(name, pace, 0)) ?? this.#alone.wait(name, pace);
  }

  #ask(name: string, { burst, perSecond }: Pace, taken: 0 | 1): Promise<number | undefined> {
    const args = [1000 / perSecond, burst, taken];
    // Names may hold addresses of visitors.
    const hash = createHash('sha256').update(name).digest('base64url').slice(0, 22);
    return this.#link.ask({ script: 'offhookRate', keys: [`rate:${hash}`], args, reply: z.number() });
  }
}

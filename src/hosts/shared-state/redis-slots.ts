import { z } from 'zod';
import type { SharedSlots } from './port.ts';
import type { RedisLink } from './redis-link.ts';

/** Names of slots are settings' and few; more than these are a mistake. */
const MOST_NAMES = 256;

interface Held {
  /** Held by this member: the truth, of which Redis has a copy. */
  count: number;
  /** Questions about it that are open. */
  open: number;
  most: number;
  /** As Redis said last: all members' slots, this one's among them, and the members. */
  known: { readonly total: number; readonly own: number; readonly members: number } | undefined;
}

const taken = z.tuple([z.number(), z.number(), z.number()]);

/** Slots of all members. This one's counts are its own: its heartbeats put right what Redis has of them. */
export class RedisSlots implements SharedSlots {
  readonly #link: RedisLink;
  readonly #asker: readonly (string | number)[];
  readonly #held = new Map<string, Held>();
  #members = 1;

  /** @param asker what every script of a member is given first */
  constructor(link: RedisLink, asker: readonly (string | number)[]) {
    this.#link = link;
    this.#asker = asker;
  }

  async take(name: string, most: number, wanted = 1): Promise<number> {
    const held = this.#of(name);
    held.most = most;
    const reply = await this.#ask(held, 'offhookTakeSlots', [name, most, wanted], taken);
    const [granted, total, members] = reply ?? [-1, 0, 0];
    if (granted >= 0) {
      held.count += granted;
      held.known = { total, own: held.count, members };
      return granted;
    }
    const alone = Math.max(0, Math.min(wanted, this.#allowedAlone(held) - held.count));
    held.count += alone;
    return alone;
  }

  async give(name: string, count = 1): Promise<void> {
    const held = this.#of(name);
    held.count = Math.max(0, held.count - count);
    await this.#ask(held, 'offhookGiveSlots', [name, count], z.number());
  }

  async held(name: string): Promise<number> {
    const held = this.#of(name);
    return (
      (await this.#ask(held, 'offhookHeldSlots', [name], z.number())) ??
      (held.known === undefined ? held.count : held.known.total - held.known.own + held.count)
    );
  }

  /** What Redis is to have of this member: of names about which nothing is asked just now, so that nothing overtakes it. */
  certain(): readonly (readonly [name: string, count: number])[] {
    return [...this.#held].filter(([, { open }]) => open === 0).map(([name, { count }]) => [name, count] as const);
  }

  /** @param totals of those that were certain when the heartbeat was sent */
  learn(sent: readonly (readonly [name: string, count: number])[], totals: readonly number[], members: number): void {
    this.#members = members;
    for (const [at, [name, own]] of sent.entries()) {
      const held = this.#held.get(name);
      const total = totals[at];
      if (held !== undefined && total !== undefined) held.known = { total, own, members };
    }
  }

  /** What it had, and an even share of what was free. */
  #allowedAlone({ most, known }: Held): number {
    if (known === undefined) return Math.floor(most / Math.max(1, this.#members));
    return known.own + Math.floor(Math.max(0, most - known.total) / Math.max(1, known.members));
  }

  #of(name: string): Held {
    const known = this.#held.get(name);
    if (known !== undefined) return known;
    if (this.#held.size >= MOST_NAMES) throw new RangeError(`more than ${MOST_NAMES} names of slots`);
    const held: Held = { count: 0, open: 0, most: 0, known: undefined };
    this.#held.set(name, held);
    return held;
  }

  #ask<Reply>(
    held: Held,
    script: 'offhookTakeSlots' | 'offhookGiveSlots' | 'offhookHeldSlots',
    args: readonly (string | number)[],
    reply: z.ZodType<Reply>,
  ): Promise<Reply | undefined> {
    return this.#link.ask({ script, args: [...this.#asker, ...args], reply, counted: held });
  }
}

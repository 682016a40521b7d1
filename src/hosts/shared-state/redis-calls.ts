import { z } from 'zod';
import { MOST_CALLS, MOST_ORPHANS } from './memory.ts';
import type { CallDirectory, CallEntry } from './port.ts';
import type { RedisLink } from './redis-link.ts';

/** Calls of one script: it holds up all others while it runs. */
const BATCH = 200;

/** Calls of all members. Those of this one are known here too: its heartbeats put right what Redis has of them. */
export class RedisCalls implements CallDirectory {
  readonly #link: RedisLink;
  readonly #asker: readonly (string | number)[];
  readonly #memberId: string;
  /** Calls of this member, with the carrier's key. */
  readonly #own = new Map<string, string | undefined>();
  /** Over, and Redis has not heard of it. */
  readonly #over = new Set<string>();
  readonly #lost: ((callId: string) => void)[] = [];
  readonly #questions = { open: 0 };

  constructor(link: RedisLink, asker: readonly (string | number)[], memberId: string) {
    this.#link = link;
    this.#asker = asker;
    this.#memberId = memberId;
  }

  async claim({ callId, carrierKey }: Pick<CallEntry, 'callId' | 'carrierKey'>): Promise<boolean> {
    const key = carrierKey ?? this.#own.get(callId);
    const [answer = -1] = (await this.#claim([[callId, key]])) ?? [];
    if (answer === 0 || (answer < 0 && this.#own.size >= MOST_CALLS)) return false;
    this.#over.delete(callId);
    this.#own.set(callId, key);
    return true;
  }

  async find(by: { readonly callId: string } | { readonly carrierKey: string }): Promise<CallEntry | undefined> {
    const [callId, carrierKey] = 'callId' in by ? [by.callId, ''] : ['', by.carrierKey];
    const reply = await this.#link.ask({ script: 'offhookFind', args: [callId, carrierKey], reply: z.array(z.string()) });
    if (reply !== undefined) return pairsOf(reply).map(entryOf)[0];
    for (const [id, key] of this.#own)
      if (callId === '' ? key === carrierKey : id === callId) return { callId: id, carrierKey: key, memberId: this.#memberId };
    return undefined;
  }

  async release(callId: string): Promise<void> {
    this.#own.delete(callId);
    const reply = await this.#ask('offhookRelease', [callId], z.number());
    if (reply === undefined && this.#over.size < MOST_CALLS) this.#over.add(callId);
  }

  async orphans(): Promise<readonly CallEntry[]> {
    const args = [...this.#asker, MOST_ORPHANS];
    const reply = await this.#link.ask({ script: 'offhookOrphans', args, reply: z.array(z.string()) });
    return pairsOf(reply ?? []).map(entryOf);
  }

  onLost(listener: (callId: string) => void): void {
    this.#lost.push(listener);
  }

  get size(): number {
    return this.#own.size;
  }

  /** How many calls Redis has to know of; undefined while something about them is asked. */
  certain(): number | undefined {
    return this.#questions.open === 0 ? this.#own.size : undefined;
  }

  /** After Redis was away, or this member was: claims again what it has, and releases what it has no more. */
  async putRight(): Promise<void> {
    for (const callId of this.#over) {
      if ((await this.#ask('offhookRelease', [callId], z.number())) === undefined) return;
      this.#over.delete(callId);
    }
    const calls = [...this.#own];
    for (let at = 0; at < calls.length; at += BATCH) {
      const batch = calls.slice(at, at + BATCH);
      const answers = await this.#claim(batch);
      if (answers === undefined) return;
      for (const [index, [callId]] of batch.entries()) {
        if (answers[index] !== 0 || !this.#own.delete(callId)) continue;
        for (const tell of this.#lost) tell(callId);
      }
    }
    await this.#releaseWhatIsOver();
  }

  /** What Redis has as this member's, and is over: its release was lost, or came before a claim that was on its way. */
  async #releaseWhatIsOver(): Promise<void> {
    // A claim whose answer is not here yet would look like one.
    if (this.#questions.open > 0) return;
    const listed = await this.#ask('offhookOwned', [], z.array(z.string()));
    for (const callId of listed ?? []) if (!this.#own.has(callId)) await this.release(callId);
  }

  #claim(calls: readonly (readonly [callId: string, carrierKey: string | undefined])[]): Promise<number[] | undefined> {
    const args = [MOST_CALLS, ...calls.flatMap(([callId, carrierKey]) => [callId, carrierKey ?? ''])];
    return this.#ask('offhookClaim', args, z.array(z.number()));
  }

  #ask<Reply>(
    script: 'offhookClaim' | 'offhookRelease' | 'offhookOwned',
    args: readonly (string | number)[],
    reply: z.ZodType<Reply>,
  ): Promise<Reply | undefined> {
    return this.#link.ask({ script, args: [...this.#asker, ...args], reply, counted: this.#questions });
  }
}

/** @param entry "member carrier-key" */
function entryOf([callId, entry]: readonly [string, string]): CallEntry {
  const [memberId = '', carrierKey = ''] = splitAtSpace(entry);
  return { callId, carrierKey: carrierKey === '' ? undefined : carrierKey, memberId };
}

function splitAtSpace(text: string): readonly string[] {
  const at = text.indexOf(' ');
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

export function pairsOf(flat: readonly string[]): (readonly [string, string])[] {
  return flat.flatMap((text, at) => (at % 2 === 0 ? [[text, flat[at + 1] ?? ''] as const] : []));
}

import type { Clock, Timer } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { queryMessage, type SplitReply, type Subscription, splitReply } from './wire.ts';

/** What runs protocol bytes: one backend session, one batch at a time. */
export interface Backend {
  exec(batch: Uint8Array): Promise<Uint8Array>;
  /** The backend is broken; the next statement starts another one. */
  discard?(error: Error): void;
}

export interface GateClient {
  /** Backend messages for this client, whole, in order. */
  deliver(bytes: Buffer): void;
  /** The session is over and nothing more is delivered. */
  ended(sqlState: string, reason: string): void;
}

export interface GateLimits {
  /** Batches waiting, of all sessions together; the session that exceeds it is ended. */
  readonly maxWaiting: number;
  /** A session may hold a transaction open without sending anything for this long. */
  readonly idleInTransactionMs: number;
}

export interface Batch {
  readonly bytes: Uint8Array;
  readonly subscriptions: readonly Subscription[];
}

export interface GateSession {
  run(batch: Batch): void;
  close(): void;
}

interface Member {
  readonly client: GateClient;
  readonly channels: Set<string>;
  open: boolean;
}

interface Waiting extends Batch {
  readonly member: Member;
  /** Whether this is the end of a transaction that its client left. */
  readonly rollsBack?: boolean;
}

/**
 * Shares one backend session among many clients. From the batch that opens a transaction to the one that ends it the
 * backend belongs to that client; everyone else waits. Notifications go to the clients that asked for their channel.
 * Session settings (`SET`) and session-level advisory locks are shared: nothing here may rely on them.
 */
export class SessionGate {
  readonly #backend: Backend;
  readonly #clock: Clock;
  readonly #limits: GateLimits;
  readonly #members = new Set<Member>();
  #waiting: Waiting[] = [];
  #holder: Member | undefined;
  #idleTimer: Timer | undefined;
  #running = false;
  #closed: string | undefined;

  constructor(backend: Backend, clock: Clock, limits: GateLimits) {
    this.#backend = backend;
    this.#clock = clock;
    this.#limits = limits;
  }

  open(client: GateClient): GateSession {
    const member: Member = { client, channels: new Set(), open: true };
    this.#members.add(member);
    if (this.#closed !== undefined) this.#end(member, '57P01', this.#closed);
    return {
      run: (batch) => {
        if (!member.open) return;
        if (this.#waiting.length >= this.#limits.maxWaiting) {
          this.#end(member, '53400', `more than ${this.#limits.maxWaiting} batches are waiting`);
          return;
        }
        this.#waiting.push({ ...batch, member });
        this.#pump();
      },
      close: () => this.#forget(member),
    };
  }

  /** Ends every session, now and from now on; what waits is dropped. */
  shut(reason: string): void {
    this.#closed ??= reason;
    this.#endAll(reason);
  }

  #endAll(reason: string): void {
    for (const member of this.#members) this.#end(member, '57P01', reason);
  }

  #end(member: Member, sqlState: string, reason: string): void {
    if (!member.open) return;
    this.#forget(member);
    member.client.ended(sqlState, reason);
  }

  #forget(member: Member): void {
    if (!member.open) return;
    member.open = false;
    this.#members.delete(member);
    this.#waiting = this.#waiting.filter((waiting) => waiting.member !== member);
    this.#pump();
  }

  #pump(): void {
    if (this.#running || this.#closed !== undefined) return;
    this.#idleTimer?.cancel();
    const holder = this.#holder;
    const task = holder?.open === false ? this.#rollback(holder) : this.#nextOf(holder);
    if (task === undefined) {
      if (holder !== undefined) this.#expectMore(holder);
      return;
    }
    this.#running = true;
    void this.#run(task);
  }

  #rollback(member: Member): Waiting {
    return { member, bytes: queryMessage('ROLLBACK'), subscriptions: [], rollsBack: true };
  }

  #nextOf(holder: Member | undefined): Waiting | undefined {
    if (holder === undefined) return this.#waiting.shift();
    const index = this.#waiting.findIndex((waiting) => waiting.member === holder);
    return index === -1 ? undefined : this.#waiting.splice(index, 1)[0];
  }

  #expectMore(holder: Member): void {
    this.#idleTimer = this.#clock.after(this.#limits.idleInTransactionMs, () => {
      this.#end(holder, '25P03', 'the transaction was left idle for too long');
    });
  }

  async #run(task: Waiting): Promise<void> {
    try {
      const reply = splitReply(await this.#backend.exec(task.bytes));
      this.#check(task, reply);
      if (reply.status !== 'E') this.#subscribe(task);
      for (const notification of reply.notifications) this.#notify(notification.channel, notification.bytes);
      if (task.member.open) task.member.client.deliver(reply.body);
      // No status: the backend waits for the rest of this client's batch.
      this.#holder = reply.status === 'I' ? undefined : task.member;
      if (task.subscriptions.some(({ act }) => act === 'unlisten')) await this.#listenAgain();
    } catch (error) {
      // Open transactions and subscriptions went with the backend: every client has to begin again.
      this.#holder = undefined;
      this.#endAll(`the store's engine failed: ${errorText(error)}`);
    } finally {
      this.#running = false;
      this.#pump();
    }
  }

  /**
   * A full disk leaves PGlite (0.5.14) with a transaction that it cannot end: asked to, again and again, it would never be free.
   * @throws when the backend is broken
   */
  #check({ rollsBack }: Waiting, { panic, status }: SplitReply): void {
    const reason = panic ?? (rollsBack === true && status !== 'I' ? 'a transaction cannot be ended' : undefined);
    if (reason === undefined) return;
    const error = new Error(reason);
    this.#backend.discard?.(error);
    throw error;
  }

  #subscribe({ member, subscriptions }: Waiting): void {
    for (const { act, channel } of subscriptions) {
      if (act === 'listen') member.channels.add(channel);
      else if (channel === '*') member.channels.clear();
      else member.channels.delete(channel);
    }
  }

  /** An UNLISTEN of one client affects all on the connection: the channel is listened to again for the others. */
  async #listenAgain(): Promise<void> {
    const wanted = new Set([...this.#members].flatMap((member) => [...member.channels]));
    for (const channel of wanted) await this.#backend.exec(queryMessage(`LISTEN "${channel.replaceAll('"', '""')}"`));
  }

  #notify(channel: string, bytes: Buffer): void {
    for (const member of this.#members) if (member.channels.has(channel)) member.client.deliver(bytes);
  }
}

import { OffhookError } from '../../kernel/errors.ts';

/*
 * What the machines of a gateway share while calls go on, in Redis (`redis.ts`), where each step is one atomic script. A gateway that is one
 * machine needs only `memory.ts`. What outlives the calls is in the store.
 *
 * No method waits for Redis for more than a quarter of a second, and none rejects but `secret`. "While Redis is away" says what each one
 * answers without it. What a member held is put right by its first heartbeat when Redis is back, even if Redis has lost everything.
 */

/** One gateway, or the front of one, among those that answer at the same public address. */
export interface Member {
  readonly id: string;
  /** Where the others reach it, as `http://10.0.0.5:8090`; undefined where it is the only one. */
  readonly address: string | undefined;
  readonly startedAtWallMs: number;
  /** It ends, and takes no other call. */
  readonly leaving: boolean;
}

/** Who is there. A member that is not heard of for five seconds is gone, and so is what it held. */
export interface Members {
  readonly own: Member;
  /** Those that are there, this one among them, oldest first. While Redis is away: those that were there last. */
  list(): Promise<readonly Member[]>;
  /** This one takes no other call from now on. While Redis is away the others hear of it later. */
  leave(): Promise<void>;
  /**
   * Another one is gone, as its address refuses connections, or it cannot be reached: what it held is free at once, and its calls can be
   * claimed. One that is there all the same is back with its next heartbeat.
   * @param unheardForMs nothing happens where it was heard of since
   * @returns whether it is gone now. While Redis is away: false
   */
  lose(memberId: string, unheardForMs?: number): Promise<boolean>;
}

/** A live call, and who has it. */
export interface CallEntry {
  readonly callId: string;
  /** `liveKey` of the carrier's leg; undefined for a dialled call whose carrier's id is not known yet. */
  readonly carrierKey: string | undefined;
  readonly memberId: string;
}

/** Which member has which call: one at most. Entries of a member that is gone stay for an hour, for the member that goes on with its calls. */
export interface CallDirectory {
  /**
   * Makes this member the owner of a call, or adds the carrier's key to one that it has.
   * @returns false where another member that is there has it, or has another call of that key; one that is gone loses it. Also false
   * beyond 100,000 calls. While Redis is away: true; who has it is settled when Redis is back (`onLost`)
   */
  claim(call: Pick<CallEntry, 'callId' | 'carrierKey'>): Promise<boolean>;
  /** While Redis is away: a call of this member alone. */
  find(by: { readonly callId: string } | { readonly carrierKey: string }): Promise<CallEntry | undefined>;
  /** The call is over. Nothing happens where another member has it. */
  release(callId: string): Promise<void>;
  /** Calls of members that are gone, at most 1,000 at once. While Redis is away: none. */
  orphans(): Promise<readonly CallEntry[]>;
  /** Hears of calls of this member that another has: this one was not heard of for a while, and the other went on with them. */
  onLost(listener: (callId: string) => void): void;
}

/** Ids that may be used once. */
export interface SpentIds {
  /**
   * @param untilWallMs when it can be forgotten, 31 days from now at the latest
   * @returns false for one that any member has spent before. While Redis is away: only this member's own are known, so that an id could
   * be used once at each; the others hear of it when Redis is back
   */
  spend(id: string, untilWallMs: number): Promise<boolean>;
  /** Whether it was spent or marked. While Redis is away: by this member. */
  isSpent(id: string): Promise<boolean>;
  /**
   * Notes an id that all members should know for long; never refused, as `spend` is where too many are known. Of more than 100,000 a member
   * forgets its oldest. Never rejects; while Redis is away only this member knows it.
   */
  mark(id: string, untilWallMs: number): Promise<void>;
}

/**
 * A limit on how many there may be of something at once, over all members: of a speech service's requests under one key. What a member holds
 * is free again when the member is gone.
 */
export interface SharedSlots {
  /**
   * @param wanted so many more; 1 when absent
   * @returns how many of them this member has now in addition. While Redis is away: as many as make what it held last, and its even share
   * of those that were free then; so the sum stays below `most`. A member that only itself is cut off is gone for the others, which
   * then give away what it still holds
   */
  take(name: string, most: number, wanted?: number): Promise<number>;
  give(name: string, count?: number): Promise<void>;
  /** Held by all members. While Redis is away: as far as is known. */
  held(name: string): Promise<number>;
}

/** So many in a row, and so many more with each second. */
export interface Pace {
  readonly burst: number;
  readonly perSecond: number;
}

/** Limits on how often something may happen, over all members. While Redis is away: over this member alone. */
export interface SharedRates {
  /** @returns 0 when it may, else the ms to wait */
  take(name: string, pace: Pace): Promise<number>;
  /** What `take` would return, with nothing taken. */
  wait(name: string, pace: Pace): Promise<number>;
}

export interface SharedState extends AsyncDisposable {
  /** Redis does not answer: what the others do meanwhile is not known here. */
  readonly isAway: boolean;
  readonly members: Members;
  readonly calls: CallDirectory;
  readonly spent: SpentIds;
  readonly slots: SharedSlots;
  readonly rates: SharedRates;
  /**
   * 32 random bytes under a name, the same for all members: the first that asks makes them. Sealed at rest where a master key is set.
   * @throws SharedStateUnavailableError for one that was not asked for before, while Redis is away; SharedSecretError
   */
  secret(name: string): Promise<Uint8Array>;
}

/** Redis, which holds what the machines of a gateway share, does not answer, and there is nothing to go on with instead. */
export class SharedStateUnavailableError extends OffhookError {
  readonly code = 'OFFHOOK_SHARED_STATE_UNAVAILABLE';
  readonly retryable = true;
}

/** A secret of all machines is sealed, and this machine cannot open it: its master key is missing or another one. */
export class SharedSecretError extends OffhookError {
  readonly code = 'OFFHOOK_SHARED_SECRET';
  readonly retryable = false;
}

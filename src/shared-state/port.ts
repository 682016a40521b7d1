/*
 * What all processes and machines of a gateway share while calls go on. One machine has it in memory (`memory.ts`); several have it in Redis
 * (`redis.ts`), where each step is one atomic script. What outlives the calls is in the store.
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

/** Who is there. A member that is not heard of for a while is gone, and so is what it held. */
export interface Members {
  readonly own: Member;
  /** Those that are there, this one among them, oldest first. */
  list(): Promise<readonly Member[]>;
  /** This one takes no other call from now on. */
  leave(): Promise<void>;
}

/** A live call, and who has it. */
export interface CallEntry {
  readonly callId: string;
  /** Of the carrier and the leg: `liveKey`; undefined for a dialled call whose carrier's id is not known yet. */
  readonly carrierKey: string | undefined;
  readonly memberId: string;
}

/** Which member has which call: one at most. Entries of a member that is gone stay for whoever goes on with its calls. */
export interface CallDirectory {
  /**
   * Makes this member the owner of a call.
   * @returns false where another member that is there has it; one that is gone loses it
   */
  claim(call: Pick<CallEntry, 'callId' | 'carrierKey'>): Promise<boolean>;
  find(by: { readonly callId: string } | { readonly carrierKey: string }): Promise<CallEntry | undefined>;
  /** The call is over. Nothing happens where another member has it. */
  release(callId: string): Promise<void>;
  /** Calls of members that are gone. */
  orphans(): Promise<readonly CallEntry[]>;
}

/** Ids that may be used once. */
export interface SpentIds {
  /** @returns false for one that was spent before, by whomever @param untilWallMs when it can be forgotten */
  spend(id: string, untilWallMs: number): Promise<boolean>;
}

/** A limit on how many there may be of something at once, over all members: of a speech service's requests under one key. */
export interface SharedSlots {
  /** @returns whether this member has one more of them now. Those of a member that is gone are free */
  take(name: string, most: number): Promise<boolean>;
  give(name: string): Promise<void>;
  /** Held by all members. */
  held(name: string): Promise<number>;
}

/** Limits on how often something may happen, over all members. */
export interface SharedRates {
  /** @returns 0 when it may, else the ms to wait */
  take(name: string, pace: { readonly burst: number; readonly perSecond: number }): Promise<number>;
}

export interface SharedState extends AsyncDisposable {
  readonly members: Members;
  readonly calls: CallDirectory;
  readonly spent: SpentIds;
  readonly slots: SharedSlots;
  readonly rates: SharedRates;
  /** 32 random bytes under a name, the same for all members: whoever asks first makes them. Sealed at rest where a master key is set. */
  secret(name: string): Promise<Uint8Array>;
}

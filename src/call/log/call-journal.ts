import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { readdir, readFile, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock, type Timer } from '../../kernel/clock.ts';
import { hasCode } from '../../kernel/errors.ts';
import { livenessOf, type ProcessIdentity, processIdentity, startTicksOf, thisProcess } from '../../kernel/process-identity.ts';
import type { CallStates } from '../../hosts/shared-state/call-states.ts';
import { sleep } from '../../kernel/waiting.ts';
import { JournalFile, readJournal } from './journal-file.ts';

/** What a dead process left behind of a call; whoever takes it over parses the document. */
export interface OrphanedCall {
  readonly callId: string;
  readonly document: unknown;
  /** Of a call that another machine took: it has the record, and of here the beginning of the recording alone counts. */
  readonly isElsewhere?: true;
}

/** What a dead process left behind of a call that can go on in another one. */
export interface LeftCall {
  readonly document: unknown;
  readonly state: unknown;
  /** Of a call of another machine: its address, and how often the call will have been taken by another machine. */
  readonly from?: { readonly machine: string; readonly takes: number } | undefined;
}

export interface JournalOptions {
  /** Who owns the calls; this process when absent. */
  readonly owner?: ProcessIdentity;
  readonly clock?: Clock;
  /** The same for the other machines of the gateway; none where this is the only one. */
  readonly copies?: Pick<CallStates, 'folder' | 'keep' | 'find' | 'take' | 'forget'> | undefined;
}

/** @returns false where another machine has the call, or that is not known now */
export type ClaimCall = (callId: string) => Promise<boolean>;

/** How often leases are touched, and after how long without it the owner of one counts as dead that cannot be looked at. */
const TOUCH_MS = 1_000;
const SILENT_MS = 5_000;
/** An owner that cannot be looked at is asked for so often, by the last touch of its lease. */
const LOOK_MS = 100;

/**
 * The state of each live call on disk, one file a call, to which it is written at each turn, beside a lease that names the
 * owning process. An owner in another container cannot be looked at, and counts as alive while it touches its leases. The
 * calls of a dead process are found and ended by another one (`OrphanWatch`).
 */
export class CallJournal {
  readonly #folder: string;
  readonly #owner: ProcessIdentity;
  readonly #clock: Clock;
  readonly #copies: JournalOptions['copies'];
  readonly #leases = new Set<string>();
  readonly #files = new Map<string, JournalFile>();
  readonly #states = new Map<string, JournalFile>();
  /** When calls of dead processes were seen first that may still be brought back by their carriers. */
  readonly #deadSince = new Map<string, number>();
  readonly #onError: (callId: string, error: unknown) => void;
  #touching: Timer | undefined;

  constructor(folder: string, onError: (callId: string, error: unknown) => void, options: JournalOptions = {}) {
    const { owner = thisProcess(), clock = systemClock, copies } = options;
    this.#folder = folder;
    this.#copies = copies;
    this.#owner = owner;
    this.#clock = clock;
    this.#onError = onError;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#touchLater();
  }

  /**
   * Makes this process the owner of a call; false when a living process is. Where the disk refuses, a call goes on all the same,
   * and nothing of it is journalled until the disk takes its lease: a journal without one would be an orphan to other processes.
   */
  lease(callId: string): boolean {
    try {
      return this.#take(callId);
    } catch (error) {
      this.#onError(callId, error);
      return true;
    }
  }

  /** @throws what the disk throws; nothing is left behind then */
  #take(callId: string): boolean {
    const path = this.#path(callId, 'lease');
    for (const retry of [true, false]) {
      try {
        const file = openSync(path, 'wx', 0o600);
        try {
          writeSync(file, JSON.stringify(this.#owner));
        } catch (error) {
          rmSync(path, { force: true });
          throw error;
        } finally {
          closeSync(file);
        }
        this.#leases.add(callId);
        return true;
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error;
        const owner = readFileSync(path, 'utf8');
        if (!retry || this.#leases.has(callId) || this.#isElsewhere(callId, owner)) return false;
        if (!this.#removeLease(callId, owner)) return false;
      }
    }
    return false;
  }

  /**
   * Removes the lease of a dead owner. Two processes may want to at once: the second one would remove the lease of the first.
   * @returns false where another process does so, or has done
   */
  #removeLease(callId: string, deadOwner: string): boolean {
    const guard = this.#path(callId, 'lease.taken');
    const guardIsOld =
      this.#clock.wallMs() - (statSync(guard, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY) > SILENT_MS;
    // Of a process that was killed in these lines.
    if (guardIsOld) rmSync(guard, { force: true });
    try {
      closeSync(openSync(guard, 'wx', 0o600));
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw error;
    }
    try {
      const path = this.#path(callId, 'lease');
      if (textOf(path) !== deadOwner) return false;
      rmSync(path, { force: true });
      return true;
    } finally {
      rmSync(guard, { force: true });
    }
  }

  /** Keeps the call as it stands. */
  keep(callId: string, document: object): void {
    if (!this.#leases.has(callId)) this.lease(callId);
    if (this.#leases.has(callId)) this.#fileOf(callId).keep(document);
    this.#copies?.keep(callId, 'record', document);
  }

  /** Keeps what another process needs, beside the record, to go on with the call. */
  keepState(callId: string, state: object): void {
    if (this.#leases.has(callId)) this.#fileOf(callId, 'state').keep(state);
    this.#copies?.keep(callId, 'state', state);
  }

  /**
   * What a dead process left behind of a call that can go on here, of this machine or of another one; nothing is taken over yet.
   * @returns undefined for a call that is over, and for one of a living process
   */
  async left(callId: string): Promise<LeftCall | undefined> {
    await this.#ownerSeen(callId);
    const here = await this.#leftHere(callId);
    const copy = await this.#copies?.find(callId);
    if (copy === undefined || copy === 'away' || copy.folder === this.#copies?.folder) return here;
    const { record, state, machine, takes } = copy;
    if (record === undefined || state === undefined) return undefined;
    return { document: record, state, from: { machine, takes: takes + 1 } };
  }

  /**
   * Takes over what was left, so that no other machine goes on with it. The directory of calls has to name this machine as the owner.
   * @returns false where another machine has the call
   */
  async take(callId: string): Promise<boolean> {
    const taken = await this.#copies?.take(callId);
    if (taken === 'elsewhere') return false;
    // Without Redis, what is in this folder can go on.
    return (typeof taken === 'object' && taken.record !== undefined) || existsSync(this.#path(callId, 'json'));
  }

  /** Waits until it is known whether the owner of a lease in another container is alive: until it touches the lease, or is silent. */
  async #ownerSeen(callId: string): Promise<void> {
    const path = this.#path(callId, 'lease');
    const touchedMs = (): number | undefined => statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    const firstMs = touchedMs();
    const owner = ownerIn(textOf(path) ?? '', this.#owner);
    if (owner === undefined || this.#leases.has(callId) || livenessOf(owner) !== 'unknown') return;
    while (touchedMs() === firstMs && this.#isTouched(callId)) await sleep(this.#clock, LOOK_MS);
  }

  async #leftHere(callId: string): Promise<LeftCall | undefined> {
    const lease = await readFile(this.#path(callId, 'lease'), 'utf8').catch(() => undefined);
    if (lease === undefined || this.#leases.has(callId) || this.#isElsewhere(callId, lease)) return undefined;
    if (!existsSync(this.#path(callId, 'json')) || !existsSync(this.#path(callId, 'state'))) return undefined;
    const [document, state] = await Promise.all(['json', 'state'].map((kind) => this.#read(`${callId}.${kind}`)));
    return { document, state };
  }

  /** Whether another machine took a call that is alive here: this one was not heard of for a while. */
  async isTakenElsewhere(callId: string): Promise<boolean> {
    const copy = await this.#copies?.find(callId);
    return typeof copy === 'object' && copy.folder !== this.#copies?.folder;
  }

  /** Forgets a call that has ended and whose record is safe elsewhere. */
  async forget(callId: string): Promise<void> {
    await this.#copies?.forget(callId);
    await this.#forgetHere(callId);
  }

  async #forgetHere(callId: string): Promise<void> {
    const files = [this.#files.get(callId), this.#states.get(callId)];
    this.#files.delete(callId);
    this.#states.delete(callId);
    this.#leases.delete(callId);
    this.#deadSince.delete(callId);
    await Promise.all(files.map(async (file) => file?.abandon()));
    for (const kind of ['state.new', 'state']) await rm(this.#path(callId, kind), { force: true });
    await rm(this.#path(callId, 'json.new'), { force: true });
    // In this order: a journal without a lease would be an orphan to whoever looks for them meanwhile.
    await rm(this.#path(callId, 'json'), { force: true });
    await rm(this.#path(callId, 'lease'), { force: true });
  }

  /** Keeps an orphan's journal that nobody can read for a person to look at, beside the others; it is handed out no more. */
  async setAside(callId: string): Promise<void> {
    await rename(this.#path(callId, 'json'), this.#path(callId, 'json.unreadable'));
    await this.forget(callId);
  }

  /**
   * The calls that dead processes left behind, each handed out once: their leases are taken over.
   * @param graceMs a call that its carrier may still bring back is handed out so long after it was seen first
   * @param claim makes this machine the owner of a call; one that cannot be claimed now is handed out later
   */
  async orphans(graceMs = 0, claim: ClaimCall = () => Promise.resolve(true)): Promise<readonly OrphanedCall[]> {
    const names = await readdir(this.#folder);
    const journals = names.filter((name) => /\.json(?:\.new)?$/u.test(name));
    const found: OrphanedCall[] = [];
    await this.#forgetEmptyLeases(names);
    for (const callId of new Set(journals.map((name) => name.replace(/\.json(?:\.new)?$/u, '')))) {
      if (this.#files.has(callId) || this.#mayComeBack(callId, graceMs)) continue;
      const isElsewhere = await this.#isTakenElsewhere(callId, claim);
      if (isElsewhere === undefined || !this.lease(callId) || !this.#leases.has(callId)) continue;
      // Its owner may have forgotten it since the names were read.
      if (!existsSync(this.#path(callId, 'json'))) await this.#adoptFirstState(callId);
      if (!existsSync(this.#path(callId, 'json'))) await this.forget(callId);
      else {
        const document = await this.#read(`${callId}.json`);
        found.push({ callId, document, ...(isElsewhere ? { isElsewhere } : {}) });
      }
    }
    return found;
  }

  /** @returns whether another machine took a call of this folder; undefined where that is not known now, or one is about to */
  async #isTakenElsewhere(callId: string, claim: ClaimCall): Promise<boolean | undefined> {
    if (this.#copies === undefined) return false;
    const copy = await this.#copies.find(callId);
    if (copy === 'away') return undefined;
    if (copy !== undefined && copy.folder !== this.#copies.folder) return true;
    if (this.#isOwnersAlive(callId) || !(await claim(callId))) return undefined;
    const taken = await this.#copies.take(callId);
    return taken === 'away' || taken === 'elsewhere' ? undefined : false;
  }

  #isOwnersAlive(callId: string): boolean {
    const lease = textOf(this.#path(callId, 'lease'));
    return lease !== undefined && (this.#leases.has(callId) || this.#isElsewhere(callId, lease));
  }

  /** Whether the carrier of a call may still ask what comes next: for a while after its process died. */
  #mayComeBack(callId: string, graceMs: number): boolean {
    const lease = textOf(this.#path(callId, 'lease'));
    const isLeft = lease !== undefined && !this.#leases.has(callId) && !this.#isElsewhere(callId, lease);
    if (!isLeft || graceMs === 0 || !existsSync(this.#path(callId, 'state'))) {
      this.#deadSince.delete(callId);
      return false;
    }
    const nowMs = this.#clock.nowMs();
    const sinceMs = this.#deadSince.get(callId) ?? nowMs;
    this.#deadSince.set(callId, sinceMs);
    return nowMs - sinceMs < graceMs;
  }

  /** Removes leases of dead processes whose calls never began, as those of dials. One that is touched may be being written. */
  async #forgetEmptyLeases(names: readonly string[]): Promise<void> {
    const there = new Set(names);
    for (const name of names.filter((each) => each.endsWith('.lease'))) {
      const callId = name.slice(0, -'.lease'.length);
      const isEmpty = !there.has(`${callId}.json`) && !there.has(`${callId}.json.new`);
      if (!isEmpty || this.#leases.has(callId) || this.#isTouched(callId)) continue;
      if (this.lease(callId) && this.#leases.has(callId)) await this.forget(callId);
    }
  }

  /** The first state of a call whose process died before it stood in its place; what is not whole says nothing of the call. */
  async #adoptFirstState(callId: string): Promise<void> {
    const path = this.#path(callId, 'json.new');
    const isWhole = await readJournal(path).then(
      () => true,
      () => false,
    );
    if (isWhole) await rename(path, this.#path(callId, 'json'));
  }

  /** The journal of a call that another living process has; undefined for any other call. */
  async elsewhere(callId: string): Promise<unknown> {
    if (this.#leases.has(callId)) return undefined;
    const lease = await readFile(this.#path(callId, 'lease'), 'utf8').catch(() => undefined);
    if (lease === undefined || !this.#isElsewhere(callId, lease)) return undefined;
    return this.#read(`${callId}.json`);
  }

  /** Closes its files; those of calls that were not forgotten stay for the next start to find. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#touching?.cancel();
    await Promise.all([...this.#files.values(), ...this.#states.values()].map((file) => file.close()));
    this.#files.clear();
    this.#states.clear();
  }

  /** Whether a lease is of another process that is alive. */
  #isElsewhere(callId: string, lease: string): boolean {
    const owner = ownerIn(lease, this.#owner);
    if (owner === undefined) return false;
    const liveness = livenessOf(owner);
    if (liveness === 'unknown') return this.#isTouched(callId);
    // Our own pid on a lease we did not take is a predecessor's: in a container every process is number 1.
    return liveness === 'alive' && owner.pid !== this.#owner.pid;
  }

  #isTouched(callId: string): boolean {
    const lease = statSync(this.#path(callId, 'lease'), { throwIfNoEntry: false });
    return lease !== undefined && this.#clock.wallMs() - lease.mtimeMs < SILENT_MS;
  }

  /** A process in another container sees by this that ours is alive. */
  #touchLater(): void {
    this.#touching = this.#clock.after(TOUCH_MS, () => {
      const seconds = this.#clock.wallMs() / 1000;
      for (const callId of this.#leases) void utimes(this.#path(callId, 'lease'), seconds, seconds).catch(() => undefined);
      this.#touchLater();
    });
  }

  /** What this process has on disk of one of its calls. */
  async kept(callId: string): Promise<{ record?: object; state?: object }> {
    if (!this.#leases.has(callId)) return {};
    const [record, state] = await Promise.all(
      (['json', 'state'] as const).map((kind) => readJournal(this.#path(callId, kind)).catch(() => undefined)),
    );
    return { ...(isObject(record) ? { record } : {}), ...(isObject(state) ? { state } : {}) };
  }

  async #read(name: string): Promise<unknown> {
    try {
      return await readJournal(join(this.#folder, name));
    } catch (error) {
      this.#onError(name, error);
      return undefined;
    }
  }

  #fileOf(callId: string, kind: 'json' | 'state' = 'json'): JournalFile {
    const files = kind === 'json' ? this.#files : this.#states;
    const file = files.get(callId) ?? new JournalFile(this.#path(callId, kind), (error) => this.#onError(callId, error));
    files.set(callId, file);
    return file;
  }

  #path(callId: string, kind: string): string {
    return join(this.#folder, `${callId}.${kind}`);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** @returns undefined where there is no such file */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** @returns undefined for a lease that was cut off before it named anybody */
function ownerIn(lease: string, reader: ProcessIdentity): ProcessIdentity | undefined {
  if (lease.startsWith('{')) {
    try {
      return processIdentity.parse(JSON.parse(lease));
    } catch {
      return undefined;
    }
  }
  // Versions up to 0.1.0 wrote `pid boot.ticks namespace`, or the pid alone, which then has to do.
  const [number = '', start = '', pidNamespace = reader.pidNamespace] = lease.split(' ');
  const pid = Number(number);
  const [bootId = '', startTicks = ''] = start === '' ? [reader.bootId, startTicksOf(pid)] : start.split('.');
  return processIdentity.safeParse({ pid, startTicks, bootId, pidNamespace }).data;
}

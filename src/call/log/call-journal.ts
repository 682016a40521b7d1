import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { readdir, readFile, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock, type Timer } from '../../kernel/clock.ts';
import { hasCode } from '../../kernel/errors.ts';
import { livenessOf, type ProcessIdentity, processIdentity, startTicksOf, thisProcess } from '../../kernel/process-identity.ts';
import type { CallStates } from '../../hosts/shared-state/call-states.ts';
import { sleep } from '../../kernel/waiting.ts';
import { JournalFile, readJournal } from './journal-file.ts';

/** The journal of an orphaned call; the process that takes it over parses the document. */
export interface OrphanedCall {
  readonly callId: string;
  readonly document: unknown;
  /** Another machine took the call and has its record; only the beginning of the recording is here. */
  readonly isElsewhere?: true;
}

/** The journal of an orphaned call that can continue in another process. */
export interface LeftCall {
  readonly document: unknown;
  readonly state: unknown;
  /** For a call of another machine: its address, and the number of takeovers including this one. */
  readonly from?: { readonly machine: string; readonly takes: number } | undefined;
}

export interface JournalOptions {
  /** Identity of the owning process; this process when absent. */
  readonly owner?: ProcessIdentity;
  readonly clock?: Clock;
  /** Copies on the gateway's other machines; none where there is only one. */
  readonly copies?: Pick<CallStates, 'folder' | 'keep' | 'find' | 'take' | 'forget'> | undefined;
}

/** @returns false where another machine has the call, or that is unknown for now */
export type ClaimCall = (callId: string) => Promise<boolean>;

/** Interval at which leases are touched, and silence after which an unreachable owner counts as dead. */
const TOUCH_MS = 1_000;
const SILENT_MS = 5_000;
/** Interval at which an unreachable owner's lease is checked for a touch. */
const LOOK_MS = 100;

/**
 * Journals each live call on disk: one file a call, written at each turn, beside a lease that names the owning process. An owner in another container
 * cannot be inspected, and counts as alive while it touches its leases. `OrphanWatch` finds and ends the calls of dead processes.
 */
export class CallJournal {
  readonly #folder: string;
  readonly #owner: ProcessIdentity;
  readonly #clock: Clock;
  readonly #copies: JournalOptions['copies'];
  /** Ended calls whose files are being removed: they look orphaned until the last one is gone. */
  readonly #forgetting = new Set<string>();
  readonly #leases = new Set<string>();
  readonly #files = new Map<string, JournalFile>();
  readonly #states = new Map<string, JournalFile>();
  /** First sighting of dead processes' calls that their carriers may still bring back. */
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
   * Makes this process the owner of a call; false when a living process is. When the disk fails, the call goes on unjournalled until the lease can be
   * written: a journal without one would look orphaned.
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
   * Removes a dead owner's lease. A guard file keeps two processes from removing each other's.
   * @returns false where another process does so, or has done
   */
  #removeLease(callId: string, deadOwner: string): boolean {
    const guard = this.#path(callId, 'lease.taken');
    const guardIsOld =
      this.#clock.wallMs() - (statSync(guard, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY) > SILENT_MS;
    // Left by a process that was killed inside this method.
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

  /** Journals the call's record. */
  keep(callId: string, document: object): void {
    if (!this.#leases.has(callId)) this.lease(callId);
    if (this.#leases.has(callId)) this.#fileOf(callId).keep(document);
    this.#copies?.keep(callId, 'record', document);
  }

  /** Journals the state with which another process can continue the call. */
  keepState(callId: string, state: object): void {
    if (this.#leases.has(callId)) this.#fileOf(callId, 'state').keep(state);
    this.#copies?.keep(callId, 'state', state);
  }

  /**
   * An orphaned call, of this machine or another, that can continue here; not taken over yet.
   * @returns undefined for a call that is over, or has a living owner
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
   * Takes an orphaned call over, so that no other machine continues it. The directory of calls must name this machine as owner.
   * @returns false where another machine has the call
   */
  async take(callId: string): Promise<boolean> {
    const taken = await this.#copies?.take(callId);
    if (taken === 'elsewhere') return false;
    // Without Redis, a call in this folder can continue.
    return (typeof taken === 'object' && taken.record !== undefined) || existsSync(this.#path(callId, 'json'));
  }

  /** Waits until an unreachable owner touches its lease (alive) or stays silent (dead). */
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

  /** Whether another machine took a call that is alive here, while this one was unreachable. */
  async isTakenElsewhere(callId: string): Promise<boolean> {
    const copy = await this.#copies?.find(callId);
    return typeof copy === 'object' && copy.folder !== this.#copies?.folder;
  }

  /** Removes the journal of an ended call whose record is saved elsewhere. */
  async forget(callId: string): Promise<void> {
    await this.#copies?.forget(callId);
    this.#forgetting.add(callId);
    const files = [this.#files.get(callId), this.#states.get(callId)];
    this.#files.delete(callId);
    this.#states.delete(callId);
    this.#leases.delete(callId);
    this.#deadSince.delete(callId);
    try {
      await Promise.all(files.map(async (file) => file?.abandon()));
      // The lease last: without it a journal would look orphaned to other processes.
      for (const kind of ['state.new', 'state', 'json.new', 'json', 'lease'] as const)
        await rm(this.#path(callId, kind), { force: true });
    } finally {
      this.#forgetting.delete(callId);
    }
  }

  /** Sets an unreadable journal aside for inspection; it is not handed out again. */
  async setAside(callId: string): Promise<void> {
    await rename(this.#path(callId, 'json'), this.#path(callId, 'json.unreadable'));
    await this.forget(callId);
  }

  /**
   * Hands out each orphaned call once and takes over its lease.
   * @param graceMs wait after the first sighting of a call that its carrier may still bring back
   * @param claim makes this machine the owner; a call that cannot be claimed now is handed out later
   */
  async orphans(graceMs = 0, claim: ClaimCall = () => Promise.resolve(true)): Promise<readonly OrphanedCall[]> {
    const names = await readdir(this.#folder);
    const journals = names.filter((name) => /\.json(?:\.new)?$/u.test(name));
    const found: OrphanedCall[] = [];
    await this.#forgetEmptyLeases(names);
    for (const callId of new Set(journals.map((name) => name.replace(/\.json(?:\.new)?$/u, '')))) {
      if (this.#files.has(callId) || this.#forgetting.has(callId) || this.#mayComeBack(callId, graceMs)) continue;
      const isElsewhere = await this.#isTakenElsewhere(callId, claim);
      if (isElsewhere === undefined || !this.lease(callId) || !this.#leases.has(callId)) continue;
      // Its owner may have removed it since the names were read.
      if (!existsSync(this.#path(callId, 'json'))) await this.#adoptFirstState(callId);
      if (!existsSync(this.#path(callId, 'json'))) await this.forget(callId);
      else {
        const document = await this.#read(`${callId}.json`);
        found.push({ callId, document, ...(isElsewhere ? { isElsewhere } : {}) });
      }
    }
    return found;
  }

  /** @returns whether another machine took a call of this folder; undefined where that is unknown now, or one is about to */
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

  /** Whether the carrier may still ask what comes next, for a while after the process died. */
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

  /** Removes dead processes' leases without a journal, such as those of dials. A fresh one may still be in writing. */
  async #forgetEmptyLeases(names: readonly string[]): Promise<void> {
    const there = new Set(names);
    for (const name of names.filter((each) => each.endsWith('.lease'))) {
      const callId = name.slice(0, -'.lease'.length);
      const isEmpty = !there.has(`${callId}.json`) && !there.has(`${callId}.json.new`);
      if (!isEmpty || this.#leases.has(callId) || this.#isTouched(callId)) continue;
      if (this.lease(callId) && this.#leases.has(callId)) await this.forget(callId);
    }
  }

  /** Renames a first journal that a crash left unrenamed; an incomplete one is ignored. */
  async #adoptFirstState(callId: string): Promise<void> {
    const path = this.#path(callId, 'json.new');
    const isWhole = await readJournal(path).then(
      () => true,
      () => false,
    );
    if (isWhole) await rename(path, this.#path(callId, 'json'));
  }

  /** The journal of a call with another living owner; undefined otherwise. */
  async elsewhere(callId: string): Promise<unknown> {
    if (this.#leases.has(callId)) return undefined;
    const lease = await readFile(this.#path(callId, 'lease'), 'utf8').catch(() => undefined);
    if (lease === undefined || !this.#isElsewhere(callId, lease)) return undefined;
    return this.#read(`${callId}.json`);
  }

  /** Closes its files; journals of unfinished calls stay for the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#touching?.cancel();
    await Promise.all([...this.#files.values(), ...this.#states.values()].map((file) => file.close()));
    this.#files.clear();
    this.#states.clear();
  }

  /** Whether the lease belongs to another living process. */
  #isElsewhere(callId: string, lease: string): boolean {
    const owner = ownerIn(lease, this.#owner);
    if (owner === undefined) return false;
    const liveness = livenessOf(owner);
    if (liveness === 'unknown') return this.#isTouched(callId);
    // Our pid on a lease we did not take is a predecessor's: in a container every process is number 1.
    return liveness === 'alive' && owner.pid !== this.#owner.pid;
  }

  #isTouched(callId: string): boolean {
    const lease = statSync(this.#path(callId, 'lease'), { throwIfNoEntry: false });
    return lease !== undefined && this.#clock.wallMs() - lease.mtimeMs < SILENT_MS;
  }

  /** The touch shows processes in other containers that this one is alive. */
  #touchLater(): void {
    this.#touching = this.#clock.after(TOUCH_MS, () => {
      const seconds = this.#clock.wallMs() / 1000;
      for (const callId of this.#leases) void utimes(this.#path(callId, 'lease'), seconds, seconds).catch(() => undefined);
      this.#touchLater();
    });
  }

  /** This process's journal of one of its calls. */
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

/** @returns undefined for a lease that was cut off before the owner's name */
function ownerIn(lease: string, reader: ProcessIdentity): ProcessIdentity | undefined {
  if (lease.startsWith('{')) {
    try {
      return processIdentity.parse(JSON.parse(lease));
    } catch {
      return undefined;
    }
  }
  // Versions up to 0.1.0 wrote `pid boot.ticks namespace`, or the pid alone.
  const [number = '', start = '', pidNamespace = reader.pidNamespace] = lease.split(' ');
  const pid = Number(number);
  const [bootId = '', startTicks = ''] = start === '' ? [reader.bootId, startTicksOf(pid)] : start.split('.');
  return processIdentity.safeParse({ pid, startTicks, bootId, pidNamespace }).data;
}

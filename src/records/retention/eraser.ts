import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { readJournal } from '../../call/log/journal-file.ts';
import { plainNumber } from '../../config/bots.ts';
import { partiesOf } from '../../kernel/call-parties.ts';
import type { Clock } from '../../kernel/clock.ts';
import { CALL_ID } from '../../kernel/ids.ts';
import { unlessMissing } from '../../kernel/temporary.ts';
import type { CallRef, ErasedCall, PrivacyRepository } from '../port.ts';
import type { Recordings } from '../objects/recordings.ts';
import { removeCallFiles } from './call-files.ts';
import type { Outbox } from '../outbox/outbox.ts';

export interface EraserParts {
  readonly store: {
    readonly privacy: Pick<PrivacyRepository, 'erase' | 'eraseKind' | 'eraseNumber' | 'knows' | 'callsOf' | 'attemptsOf'>;
  };
  readonly recordings: Pick<Recordings, 'remove'>;
  /** Outboxes whose entries for erased calls are dropped. */
  readonly outboxes: readonly Outbox[];
  readonly dataDir: string;
  readonly clock: Clock;
}

export interface Erasure {
  /** Calls and attempts whose personal data was removed. */
  readonly erased: readonly string[];
  /** Calls that a legal hold protects. */
  readonly held: readonly string[];
  /** Still live: repeat the erasure when they have ended. */
  readonly live: readonly string[];
  /** Requested ids that are not calls of this tenant; untouched. */
  readonly missing: readonly string[];
  /** Do-not-call entries that stay in force by the number's hash. */
  readonly suppressions: number;
  /** Withdrawn and erased consents. */
  readonly consents: number;
  /** Blanked campaign contacts, which are not called any longer. */
  readonly contacts: number;
}

const NO_LISTS = { suppressions: 0, consents: 0, contacts: 0 };

/** Files of a call's sound, work folders, and files with both sound and words. */
const IS_AUDIO = /\.(?:wav|flac|opus|recording\.json)(?:\.sealed)?$|^[\w-]+$/u;
const IS_BOTH = /\.fixture\.(?:gz|sealed)$/u;

/** As much of an outbox entry or a journal as tells whose it is. */
/** A missing field of another version counts as the person's call. */
const directionOfCall = z.enum(['inbound', 'outbound']).catch('inbound');

const about = z.object({
  tenantId: z.string(),
  id: z.string().min(1).optional(),
  callId: z.string().min(1).optional(),
  from: z.string().optional(),
  to: z.string().optional(),
  direction: directionOfCall.optional(),
  /** Part of a webhook event. */
  data: z.object({ direction: directionOfCall.optional() }).optional(),
  numbers: z.object({ from: z.string().optional(), to: z.string().optional() }).optional(),
});

/**
 * Erases calls everywhere: keys and rows, sealed objects, plain and temporary files, and entries in this data folder's outboxes. Jobs only have
 * references, and find nothing.
 */
export class Eraser {
  readonly #parts: EraserParts;

  constructor(parts: EraserParts) {
    this.#parts = parts;
  }

  /**
   * Erases one call of the tenant.
   * @throws TypeError for an invalid id, by which files are found
   */
  async eraseCall(tenantId: string, callId: string): Promise<Erasure> {
    if (!CALL_ID.test(callId)) throw new TypeError(`${JSON.stringify(callId)} is no id of a call`);
    const isThis = (found: { callId: string }): boolean => found.callId === callId;
    const stored = async (): Promise<string[]> => ((await this.#parts.store.privacy.knows(tenantId, callId)) ? [callId] : []);
    const { erased, held, live } = await this.#erase(tenantId, isThis, stored);
    return { erased, held, live, missing: [...erased, ...held, ...live].length === 0 ? [callId] : [], ...NO_LISTS };
  }

  /** Erases all calls and attempts with this person, their consents, contacts, and listed number; the bot's own number erases nothing. */
  async eraseNumber(tenantId: string, number: string): Promise<Erasure> {
    const wanted = plainNumber(number);
    if (wanted === '') return { erased: [], held: [], live: [], missing: [], ...NO_LISTS };
    const isTheirs = ({ party }: { party: string }): boolean => plainNumber(party) === wanted;
    const { store, clock } = this.#parts;
    // Contacts first, so that no erased person is called again.
    const lists = await store.privacy.eraseNumber(tenantId, number, clock.wallMs());
    const found = await this.#erase(tenantId, isTheirs, async () => [
      ...(await store.privacy.callsOf(tenantId, number)),
      ...(await store.privacy.attemptsOf(tenantId, number)),
    ]);
    return { ...found, missing: [], ...lists };
  }

  /** For retention: erases one kind. Legal holds are respected. */
  async eraseKind(calls: readonly CallRef[], kind: 'audio' | 'text', signal?: AbortSignal): Promise<void> {
    const { store, recordings, clock } = this.#parts;
    const all: ErasedCall[] = [];
    try {
      for (const { tenantId, callId } of calls) {
        signal?.throwIfAborted();
        const erased = await store.privacy.eraseKind(tenantId, callId, kind, clock.wallMs());
        if (erased === 'held') continue;
        all.push(erased);
        if (kind === 'audio') await recordings.remove(erased);
      }
    } finally {
      // Includes calls before a failed one, which the store does not list again.
      await this.#removeFiles(all, (name) => IS_BOTH.test(name) || (kind === 'audio') === IS_AUDIO.test(name));
    }
  }

  async #erase(
    tenantId: string,
    isMeant: (found: { callId: string; party: string }) => boolean,
    stored: () => Promise<readonly string[]>,
  ): Promise<Pick<Erasure, 'erased' | 'held' | 'live'>> {
    // Outboxes first, then the store, where entries may arrive meanwhile.
    const ids = new Set<string>();
    const live = await this.#liveCalls(tenantId, isMeant, (callId) => ids.add(callId));
    for (const outbox of this.#parts.outboxes) {
      for (const { callId } of await entriesOf(outbox, tenantId, isMeant)) ids.add(callId);
    }
    for (const callId of await stored()) ids.add(callId);
    const [all, held]: [ErasedCall[], string[]] = [[], []];
    try {
      for (const callId of ids) {
        if (live.includes(callId)) continue;
        const erased = await this.#eraseOne(tenantId, callId);
        if (erased === 'held') held.push(callId);
        else if (erased === 'live') live.push(callId);
        else all.push(erased);
      }
    } finally {
      await this.#removeFiles(all, () => true);
    }
    return { erased: all.map(({ callId }) => callId), held, live };
  }

  async #eraseOne(tenantId: string, callId: string): Promise<ErasedCall | 'held' | 'live'> {
    const { store, recordings, outboxes, clock } = this.#parts;
    // The store first: from then on it refuses late copies of this call.
    const erased = await store.privacy.erase(tenantId, callId, clock.wallMs());
    if (typeof erased === 'string') return erased;
    for (const outbox of outboxes) {
      const entries = await entriesOf(outbox, tenantId, (found) => found.callId === callId);
      for (const { name } of entries) await outbox.forget(name);
    }
    await recordings.remove(erased);
    return erased;
  }

  /** Files are named after their call, in any day's folder. */
  async #removeFiles(calls: readonly ErasedCall[], isMeant: (name: string) => boolean): Promise<void> {
    const { dataDir, clock } = this.#parts;
    const callIds = new Set(calls.map(({ callId }) => callId));
    const paths = calls.flatMap(({ recordingPath }) => recordingPath ?? []);
    await removeCallFiles({
      dataDir,
      folders: new Set(paths.map((path) => dirname(path))),
      nowMs: clock.wallMs(),
      isMeant: (callId, name) => callIds.has(callId) && isMeant(name),
      callIds: [...callIds],
    });
  }

  /** Live calls. @param setAside called for each call with only an unreadable journal */
  async #liveCalls(
    tenantId: string,
    isMeant: (found: { callId: string; party: string }) => boolean,
    setAside: (callId: string) => void,
  ): Promise<string[]> {
    const folder = join(this.#parts.dataDir, 'calls');
    const live: string[] = [];
    for (const name of await readdir(folder).catch(unlessMissing<string[]>([]))) {
      if (!/\.json(?:\.unreadable)?$/u.test(name)) continue;
      const found = ownerOf(await readJournal(join(folder, name)).catch(unlessGone));
      if (found === undefined || found.tenantId !== tenantId || !isMeant(found)) continue;
      if (name.endsWith('.json')) live.push(found.callId);
      else setAside(found.callId);
    }
    return live;
  }
}

interface Owner {
  readonly tenantId: string;
  readonly callId: string;
  /** The person's number, as written. */
  readonly party: string;
}

async function entriesOf(
  outbox: Outbox,
  tenantId: string,
  isMeant: (found: Owner) => boolean,
): Promise<{ name: string; callId: string }[]> {
  const found: { name: string; callId: string }[] = [];
  for (const name of await outbox.allNames()) {
    // A delivered entry is in the store, which is searched next.
    const entry = await outbox.read(name).catch(unlessMissing(undefined));
    const owner = ownerOf(entry?.body);
    if (owner !== undefined && owner.tenantId === tenantId && isMeant(owner)) found.push({ name, callId: owner.callId });
  }
  return found;
}

function ownerOf(body: unknown): Owner | undefined {
  const parsed = about.safeParse(body);
  if (!parsed.success) return undefined;
  const { tenantId, id, callId = id, numbers, from = numbers?.from ?? '', to = numbers?.to ?? '', data } = parsed.data;
  const { direction = data?.direction ?? 'inbound' } = parsed.data;
  return callId === undefined ? undefined : { tenantId, callId, party: partiesOf({ from, to, direction }).person };
}

/** An ended call is in an outbox, searched next; a journal without a complete state names no call. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof SyntaxError)) unlessMissing(undefined)(error);
}

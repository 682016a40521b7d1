import { paceStarts } from '../../../src/kernel/pace.ts';
import type {
  CampaignContact,
  CampaignRef,
  CampaignRepository,
  ContactRepository,
  ContactState,
  StoredCampaign,
} from '../../../src/records/campaigns.ts';
import type { Attempt, Disposition } from '../../../src/records/dialling.ts';

type Row = { -readonly [Key in keyof CampaignContact]: CampaignContact[Key] } & {
  priority: number;
  owner: string | undefined;
  carrier: string;
  from: string;
};

const PRIORITIES = ['call-back', 'retry', 'new'];

/** Campaigns and contacts in memory, as the store keeps them: for many runs in virtual time. */
export class MemoryCampaigns {
  readonly stored = new Map<string, StoredCampaign>();
  readonly rows = new Map<string, Row>();
  readonly freeAtMs = new Map<string, number>();
  readonly #attempts: () => readonly Attempt[];

  constructor(attempts: () => readonly Attempt[]) {
    this.#attempts = attempts;
  }

  #of({ tenantId, campaignId }: CampaignRef): Row[] {
    return [...this.rows.values()].filter((row) => row.tenantId === tenantId && row.campaignId === campaignId);
  }

  #row(id: string, fits: (row: Row) => boolean): Row | undefined {
    const row = this.rows.get(id);
    return row !== undefined && fits(row) ? row : undefined;
  }

  #set({ campaignId }: CampaignRef, from: readonly string[], change: Partial<StoredCampaign>): boolean {
    const campaign = this.stored.get(campaignId);
    if (campaign === undefined || !from.includes(campaign.state)) return false;
    this.stored.set(campaignId, { ...campaign, ...change });
    return true;
  }

  readonly campaigns: Pick<
    CampaignRepository,
    | 'create'
    | 'get'
    | 'setState'
    | 'finish'
    | 'running'
    | 'stoppedWithOpenContacts'
    | 'counts'
    | 'outcomes'
    | 'paces'
    | 'takePace'
  > = {
    create: async ({ tenantId, id, name, settings, createdAtMs }) => {
      const none = {
        reason: undefined,
        changedBy: undefined,
        startedAtMs: undefined,
        endedAtMs: undefined,
        erasedAtMs: undefined,
      };
      const made = { tenantId, id, name, settings, state: 'draft' as const, createdAtMs, changedAtMs: createdAtMs, ...none };
      this.stored.set(id, made);
      return made;
    },
    get: async (_tenantId, id) => this.stored.get(id),
    setState: async (ref, from, state, { reason, atMs }) => this.#set(ref, from, { state, reason, changedAtMs: atMs }),
    finish: async (ref, atMs) =>
      this.#of(ref).every(({ state }) => state === 'done') &&
      this.#set(ref, ['running'], { state: 'finished', changedAtMs: atMs }),
    running: async () => [...this.stored.values()].filter(({ state }) => state === 'running'),
    stoppedWithOpenContacts: async () =>
      [...this.stored.values()]
        .filter(({ state }) => state === 'stopped')
        .map(({ tenantId, id }) => ({ tenantId, campaignId: id }))
        .filter((ref) => this.#of(ref).some(waits)),
    counts: async (ref) => {
      const states: Record<ContactState, number> = { pending: 0, leased: 0, waiting: 0, done: 0 };
      const dispositions: Partial<Record<Disposition, number>> = {};
      for (const { state, disposition } of this.#of(ref)) {
        states[state] += 1;
        if (state === 'done' && disposition !== undefined) dispositions[disposition] = (dispositions[disposition] ?? 0) + 1;
      }
      return { contacts: this.#of(ref).length, states, dispositions };
    },
    outcomes: async ({ campaignId }, sinceMs) => {
      const counts = new Map<Disposition, number[]>();
      for (const { campaignId: of, disposition, endedAtMs = -1 } of this.#attempts()) {
        if (of !== campaignId || disposition === undefined) continue;
        const row = counts.get(disposition) ?? sinceMs.map(() => 0);
        counts.set(
          disposition,
          row.map((count, index) => count + (endedAtMs >= (sinceMs[index] ?? 0) ? 1 : 0)),
        );
      }
      return counts;
    },
    paces: async () => new Map(this.freeAtMs),
    takePace: async (calls, nowMs) => paceStarts(calls, this.freeAtMs, nowMs),
  };

  readonly contacts: Omit<ContactRepository, 'erase' | 'known' | 'page' | 'sample'> = {
    add: async (ref, contacts, dueAtMs) => {
      for (const contact of contacts) {
        const ordinal = this.rows.size + 1;
        const id = `contact_${ordinal}`;
        const history = { attempts: 0, outcomes: {}, disposition: undefined, cause: undefined, lastAttemptId: undefined };
        const more = {
          callBackAtMs: undefined,
          messageLeft: false,
          erased: false,
          priority: 2,
          owner: undefined,
          carrier: '',
          from: '',
        };
        this.rows.set(id, { ...ref, ...contact, ...history, ...more, id, ordinal, state: 'pending', dueAtMs });
      }
      return { added: contacts.length, duplicates: [] };
    },
    get: async (_ref, id) => copyOf(this.rows.get(id)),
    lease: async (ref, { owner, nowMs, untilMs, limit, concurrency, carrier, lines }) => {
      if (this.stored.get(ref.campaignId)?.state !== 'running') return [];
      const leased = [...this.rows.values()].filter(({ state }) => state === 'leased');
      const ours = leased.filter(({ campaignId }) => campaignId === ref.campaignId).length;
      const account = leased.filter((row) => row.carrier === carrier.name).length;
      const free = lines.map((line) => ({
        from: line.from,
        room: line.concurrency - leased.filter(({ from }) => from === line.from).length,
      }));
      const room = free.reduce((sum, line) => sum + Math.max(0, line.room), 0);
      const most = Math.max(0, Math.min(limit, concurrency - ours, carrier.concurrency - account, room));
      const due = this.#of(ref).filter((row) => waits(row) && row.dueAtMs <= nowMs);
      due.sort((one, other) => one.priority - other.priority || one.dueAtMs - other.dueAtMs || one.ordinal - other.ordinal);
      return due.slice(0, most).map((row) => {
        const line = free.reduce((best, each) => (each.room > best.room ? each : best));
        line.room -= 1;
        Object.assign(row, { state: 'leased', owner, dueAtMs: untilMs, carrier: carrier.name, from: line.from });
        return { ...row };
      });
    },
    release: async (_ref, owner, released) => {
      for (const { id, dueAtMs, cause } of released) {
        const row = this.#row(id, (each) => each.state === 'leased' && each.owner === owner);
        if (row !== undefined) free(row, dueAtMs, cause);
      }
    },
    attach: async (_ref, owner, attempts, checkAtMs) =>
      attempts.flatMap(({ contactId, attemptId }) => {
        const row = this.#row(contactId, (each) => each.state === 'leased' && each.owner === owner);
        if (row === undefined) return [];
        Object.assign(row, { owner: undefined, attempts: row.attempts + 1, lastAttemptId: attemptId, dueAtMs: checkAtMs });
        return [contactId];
      }),
    refuse: async (_ref, owner, refused) => {
      for (const { id, cause } of refused) {
        const row = this.#row(id, (each) => each.state === 'leased' && each.owner === owner);
        if (row !== undefined)
          Object.assign(row, { state: 'done', disposition: 'refused', cause, owner: undefined, carrier: '', from: '' });
      }
    },
    settle: async (_ref, id, attempt, change) => {
      const row = this.#row(id, (each) => {
        const isThis = each.lastAttemptId === attempt.id;
        if (each.state === 'done') return each.disposition === 'unknown' && isThis;
        return each.state === 'leased' && (each.owner === undefined ? isThis : each.attempts === attempt.index - 1);
      });
      if (row === undefined) return false;
      const facts = { attempts: attempt.index, lastAttemptId: attempt.id, owner: undefined, carrier: '', from: '' };
      const priority = change.state === 'waiting' ? { priority: PRIORITIES.indexOf(change.priority) } : {};
      Object.assign(row, change, facts, priority);
      return true;
    },
    overdue: async ({ nowMs, untilMs, limit }) =>
      [...this.rows.values()]
        .filter(({ state, dueAtMs }) => state === 'leased' && dueAtMs <= nowMs)
        .slice(0, limit)
        .map((row) => {
          row.dueAtMs = untilMs;
          return { ...row, attached: row.owner === undefined };
        }),
    reclaim: async (_ref, id, untilMs, dueAtMs) => {
      const row = this.#row(id, (each) => each.state === 'leased' && each.dueAtMs === untilMs);
      if (row === undefined) return false;
      if (row.owner === undefined) row.attempts -= 1;
      free(row, dueAtMs);
      return true;
    },
    underWay: async () =>
      [...this.rows.values()]
        .filter(({ state }) => state === 'leased')
        .map(({ tenantId, campaignId, carrier, from }) => ({ tenantId, campaignId, carrier, from, count: 1 })),
    open: async (ref) => {
      const waiting = this.#of(ref).filter(waits);
      const nextDueAtMs = waiting.length === 0 ? undefined : Math.min(...waiting.map(({ dueAtMs }) => dueAtMs));
      return { left: this.#of(ref).some(({ state }) => state !== 'done'), nextDueAtMs };
    },
    cancelOpen: async (ref, cause, limit) => {
      const rows = this.#of(ref).filter(waits).slice(0, limit);
      for (const row of rows) Object.assign(row, { state: 'done', disposition: 'cancelled', cause });
      return rows.length;
    },
  };
}

function waits({ state }: Row): boolean {
  return state === 'pending' || state === 'waiting';
}

function free(row: Row, dueAtMs: number, cause = row.cause): void {
  const state = row.disposition === undefined ? 'pending' : 'waiting';
  Object.assign(row, { state, dueAtMs, cause, owner: undefined, carrier: '', from: '' });
}

function copyOf(row: Row | undefined): Row | undefined {
  return row === undefined ? undefined : { ...row };
}

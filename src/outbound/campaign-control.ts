import type { Clock } from '../kernel/clock.ts';
import { OffhookError } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import type { CampaignCounts, CampaignRepository, ContactRepository } from '../records/campaigns.ts';
import type { AttemptRepository, SuppressionRepository } from '../records/dialling.ts';
import {
  type Campaign,
  CAMPAIGN_CHANGES,
  campaignRef,
  campaignSettings,
  readCampaign,
  type WrittenSettings,
} from './campaign.ts';
import { callingHours, type HoursQuestion, type HoursRow, narrowingOf, zonesOf } from './calling-hours.ts';
import { importContacts, type ImportReport } from './contacts/import-contacts.ts';
import type { ContactRow } from './contacts/read-contacts.ts';
import { type CampaignMeans, type Missing, missingOf } from './missing.ts';
import { type NumberZones, readNumber } from './number.ts';
import { type CampaignProgress, ProgressReader } from './progress.ts';
import { type CampaignReport, campaignReport } from './report.ts';

/** A campaign's state does not allow this. */
export class CampaignStateError extends OffhookError {
  readonly code = 'OFFHOOK_CAMPAIGN_STATE';
  readonly retryable = false;
}

/** A campaign lacks something that every call needs: no call was placed. `missing` names everything. */
export class CampaignNotReadyError extends OffhookError {
  readonly code = 'OFFHOOK_CAMPAIGN_NOT_READY';
  readonly retryable = false;
  readonly missing: readonly Missing[];

  constructor(missing: readonly Missing[]) {
    super(`the campaign cannot start:\n${missing.map(({ missing: name, detail }) => `  ${name}: ${detail}`).join('\n')}`, {
      facts: { missing: missing.map(({ missing: name }) => name).join(' ') },
    });
    this.missing = missing;
  }
}

/** A change of an existing campaign. */
export type CampaignChange = keyof typeof CAMPAIGN_CHANGES;

export interface CampaignControlParts {
  readonly campaigns: CampaignRepository;
  readonly contacts: Pick<ContactRepository, 'add' | 'known' | 'open' | 'page' | 'sample'>;
  readonly attempts: Pick<AttemptRepository, 'tally' | 'page' | 'placed'>;
  readonly suppressions: Pick<SuppressionRepository, 'lists'>;
  /** Resources of a tenant's campaigns. */
  readonly means: (tenantId: string) => CampaignMeans;
  /** Zones of numbers. */
  readonly zones: () => NumberZones;
  /** Announces changes; failures are announced later. */
  readonly announce: () => Promise<void>;
  /** Destroys the personal data of a call and its attempt. */
  readonly eraseCall: (
    tenantId: string,
    callId: string,
  ) => Promise<Readonly<Record<'erased' | 'held' | 'live', readonly string[]>>>;
  readonly clock: Clock;
}

/** Result of erasing a campaign's calls, in numbers. */
export interface CampaignErasure {
  readonly erased: number;
  /** Under a legal hold. */
  readonly held: number;
  /** Still live: repeat the erasure when they have ended. */
  readonly live: number;
  /** More remain: repeat the erasure. */
  readonly left: boolean;
}

/** Most contacts whose hours are computed: enough for shares, and quick. */
const MOST_SAMPLED = 500;
/** Calls erased at once. */
const MOST_ERASED = 2000;

/** The operations of campaigns: create, add contacts, start, pause, stop, report, erase. */
export class CampaignControl {
  readonly #parts: CampaignControlParts;
  readonly #progress: ProgressReader;

  constructor(parts: CampaignControlParts) {
    this.#parts = parts;
    this.#progress = new ProgressReader(parts);
  }

  means(tenantId: string): CampaignMeans {
    return this.#parts.means(tenantId);
  }

  /**
   * @param written was checked against `campaignSettings`
   * @param createdBy the API key or person whose ceilings apply; only the tenant's when absent
   */
  async create(tenantId: string, written: WrittenSettings, createdBy?: string): Promise<Campaign> {
    const { name } = campaignSettings.parse(written);
    const createdAtMs = this.#parts.clock.wallMs();
    const stored = await this.#parts.campaigns.create({
      tenantId,
      id: newId('cmp'),
      name,
      settings: written,
      createdBy,
      createdAtMs,
    });
    return readCampaign(stored);
  }

  async get(tenantId: string, id: string): Promise<Campaign | undefined> {
    const stored = await this.#parts.campaigns.get(tenantId, id);
    return stored === undefined ? undefined : readCampaign(stored);
  }

  /** Campaigns with this id or name, newest first. */
  async find(tenantId: string, idOrName: string): Promise<readonly Campaign[]> {
    const byId = await this.get(tenantId, idOrName);
    if (byId !== undefined) return [byId];
    const found: Campaign[] = [];
    for (let before: string | undefined; ;) {
      const { campaigns, next } = await this.#parts.campaigns.page(tenantId, { limit: 200, before });
      found.push(...campaigns.filter(({ name }) => name === idOrName).map((each) => readCampaign(each)));
      if (next === undefined) return found;
      before = next;
    }
  }

  /**
   * Adds contacts that are new to the campaign.
   * @param dryRun adds none, and reports what would happen
   * @throws CampaignStateError for an ended campaign; ContactsFileError for an unusable file
   */
  async addContacts(
    campaign: Campaign,
    rows: AsyncIterable<ContactRow> | Iterable<ContactRow>,
    dryRun = false,
  ): Promise<ImportReport> {
    if (campaign.state === 'stopped' || campaign.erasedAtMs !== undefined) {
      throw new CampaignStateError(`the campaign ${campaign.id} is ${campaign.erasedAtMs === undefined ? 'stopped' : 'erased'}`);
    }
    const { contacts, clock } = this.#parts;
    return importContacts(rows, async (batch) => {
      if (dryRun)
        return (
          batch.length -
          (await contacts.known(
            campaignRef(campaign),
            batch.map(({ number }) => number.e164),
          ))
        );
      const added = batch.map(({ number, timeZone: zone, variables }) => ({ number: number.e164, zone, variables }));
      return (await contacts.add(campaignRef(campaign), added, clock.wallMs())).added;
    });
  }

  counts(campaign: Campaign): Promise<CampaignCounts> {
    return this.#parts.campaigns.counts(campaignRef(campaign));
  }

  /** Contact counts of several campaigns of a tenant, by id. */
  countsOf(tenantId: string, ids: readonly string[]): Promise<ReadonlyMap<string, CampaignCounts>> {
    return this.#parts.campaigns.countsOf(tenantId, ids);
  }

  /** When the first waiting contact of a running campaign may be called. */
  async nextDueAtMs({ state, ...campaign }: Campaign): Promise<number | undefined> {
    return state === 'running' ? (await this.#parts.contacts.open(campaignRef(campaign))).nextDueAtMs : undefined;
  }

  /** Everything that changes while it runs; see `ProgressReader`. */
  progress(campaign: Campaign): Promise<CampaignProgress> {
    return this.#progress.of(campaign);
  }

  /**
   * Calling hours of open contacts.
   * @returns rows of a sample of at most 500 contacts; empty where the profile is gone
   */
  async hours(
    campaign: Campaign,
    question: Omit<HoursQuestion, 'nowMs'>,
  ): Promise<{ readonly rows: readonly HoursRow[]; readonly sampled: number; readonly open: number }> {
    const { contacts, means, zones, clock } = this.#parts;
    const { settings } = campaign;
    const sample = await contacts.sample(campaignRef(campaign), MOST_SAMPLED);
    const { states } = await this.counts(campaign);
    const people = sample.flatMap((contact) => {
      const number = readNumber(contact.number);
      return 'reason' in number ? [] : [{ number, zones: zonesOf(contact, settings, zones()) }];
    });
    const profile = means(campaign.tenantId).profiles.named(settings.profile);
    const { purpose } = settings;
    const rules = profile && { profile, purpose, narrowing: narrowingOf(settings) };
    const rows = rules === undefined ? [] : callingHours(people, rules, { ...question, nowMs: clock.wallMs() });
    return { rows, sampled: sample.length, open: states.pending + states.waiting + states.leased };
  }

  /** Everything the campaign lacks for its first call; empty when it may start. */
  async missing(campaign: Campaign): Promise<readonly Missing[]> {
    const { suppressions, means, clock } = this.#parts;
    const { contacts } = await this.counts(campaign);
    const { tenantId } = campaign;
    const lists = await suppressions.lists(tenantId);
    return missingOf(campaign.settings, means(tenantId), { tenantId, contacts, lists, atMs: clock.wallMs() });
  }

  /**
   * Starts, pauses, resumes or stops a campaign; no effect if it is in that state already.
   * @param reason for people
   * @throws CampaignStateError; CampaignNotReadyError of a start, with everything that is missing
   */
  async change(campaign: Campaign, change: CampaignChange, reason?: string): Promise<Campaign> {
    const { campaigns, clock, announce } = this.#parts;
    const { tenantId, id, erasedAtMs } = campaign;
    const { from, to } = CAMPAIGN_CHANGES[change];
    if (erasedAtMs !== undefined) throw new CampaignStateError(`the campaign ${id} is erased`);
    if (campaign.state !== to && (change === 'start' || change === 'resume')) {
      const missing = await this.missing(campaign);
      if (missing.length > 0) throw new CampaignNotReadyError(missing);
    }
    const changed = await campaigns.setState(campaignRef(campaign), from, to, { reason, by: 'person', atMs: clock.wallMs() });
    const now = await this.get(tenantId, id);
    if (now === undefined) throw new CampaignStateError(`there is no campaign ${id} any more`);
    if (!changed && now.state !== to) {
      throw new CampaignStateError(`the campaign ${id} is ${now.state}: ${change} needs one that is ${from.join(' or ')}`);
    }
    if (changed) await announce();
    return now;
  }

  /** @param zone time zone of days and hours; the campaign's when absent */
  async report(campaign: Campaign, zone?: string): Promise<CampaignReport> {
    const { tenantId, id } = campaign;
    const tallies = await this.#parts.attempts.tally(tenantId, { campaignId: id });
    return campaignReport(campaign, await this.counts(campaign), tallies, zone);
  }

  /**
   * Stops a campaign and destroys its personal data: numbers and variables of contacts; words, numbers and recordings of calls, 2,000 calls at a
   * time. Its report's figures stay.
   */
  async erase(campaign: Campaign): Promise<CampaignErasure> {
    const { campaigns, attempts, eraseCall, clock } = this.#parts;
    const { tenantId, id: campaignId, state } = campaign;
    if (state === 'draft' || state === 'running' || state === 'paused') {
      await this.change(campaign, 'stop', 'its contacts were erased');
    }
    await campaigns.erase(campaignRef(campaign), clock.wallMs());
    const counts = { erased: 0, held: 0, live: 0 };
    for (let before: string | undefined; ;) {
      const page = await attempts.page(tenantId, { campaignId, limit: 200, before });
      for (const { id, to } of page.attempts) {
        if (to === '') continue;
        if (counts.erased >= MOST_ERASED) return { ...counts, left: true };
        const found = await eraseCall(tenantId, id);
        for (const kind of ['erased', 'held', 'live'] as const) counts[kind] += found[kind].length;
      }
      if (page.next === undefined) return { ...counts, left: false };
      before = page.next;
    }
  }
}

import { setMaxListeners } from 'node:events';
import { errorText, OffhookError } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import { sleep } from '../kernel/waiting.ts';
import type { CampaignChanger, CampaignRef, CampaignRepository, ContactRepository, LeasedContact } from '../records/campaigns.ts';
import type { Attempt } from '../records/dialling.ts';
import { breakerMoments, trippedBy } from './breaker.ts';
import { type Campaign, campaignRef, readCampaign } from './campaign.ts';
import { CHECK_AFTER_MS, ContactKeeper, type ContactKeeperParts } from './contact-keeper.ts';
import { opensFor, requestOf } from './calling-hours.ts';
import type { Dialler } from './dialling.ts';
import { type DiallingProfile, holdsFor } from './gate/profile.ts';
import { campaignKey, callsBefore, carrierKey, lineKey, paceKey, shareRates, shareRoom } from './pacing.ts';

/** An attempt to be placed by any process with a free place, not before its moment. */
export interface DueDial {
  readonly tenantId: string;
  readonly campaignId: string;
  readonly attemptId: string;
  readonly startAtMs: number;
}

/** Limits of a carrier account or caller id: calls a second, and concurrent calls. */
export interface DialLimit {
  readonly callsPerSecond: number;
  readonly concurrency: number;
}

export interface CampaignRunnerParts extends ContactKeeperParts {
  readonly campaigns: CampaignRepository;
  readonly contacts: ContactRepository;
  readonly dialler: Pick<Dialler, 'ask' | 'place' | 'cancel'>;
  readonly profiles: { readonly named: (name: string) => DiallingProfile | undefined };
  /** Calls this gateway has room for now. */
  readonly room: () => number;
  /** The account that a caller id dials by; undefined where the gate will refuse it. */
  readonly carrierOf: (campaign: Campaign, from: string) => string | undefined;
  readonly limitOfCarrier: (carrier: string) => DialLimit;
  /** Undefined: caller ids have no limit of their own. */
  readonly limitOfLine?: DialLimit | undefined;
  /** Queues dials; durable when it returns. */
  readonly enqueue: (dials: readonly DueDial[]) => Promise<void>;
  /** A campaign's state was changed here. */
  readonly changed: () => Promise<void>;
}

const TICK_MS = 250;
/** How far ahead calls get their moment: a process may be this late without slowing the rate. */
const AHEAD_MS = 2_000;
/** Longer than a decision of the gate takes, even with a slow store. */
const LEASE_MS = 30_000;
const SWEEP_EVERY_MS = 5_000;
const BREAKER_EVERY_MS = 10_000;
/** Longest interval of checking an idle campaign: another process may have added contacts. */
const IDLE_MS = 1_000;
/** Age up to which a campaign's state counts as current: a paused one stops dialling after this. */
const FRESH_MS = 400;
/** Contacts postponed at once, and how often in one tick. */
const PUT_OFF_AT_ONCE = 500;
const MOST_ROUNDS = 20;
/** Contacts decided in one transaction. */
const ASKED_AT_ONCE = 200;
const CANCELLED_AT_ONCE = 5_000;

/**
 * Runs campaigns; every process of a gateway has one, independent of the others. Due contacts, pace and leases are in the store; a runner's own
 * memory only holds hints, which may be lost at any time.
 */
export class CampaignRunner implements AsyncDisposable {
  readonly #parts: CampaignRunnerParts;
  readonly #keeper: ContactKeeper;
  readonly #closing = new AbortController();
  /** Idle campaigns, and until when. */
  readonly #idleUntilMs = new Map<string, number>();
  readonly #breakerAtMs = new Map<string, number>();
  /** Moments of calls requested by this process: from then on the gateway's room counts them. */
  #ahead: number[] = [];
  #sweepAtMs = 0;
  /** When the running campaigns were read last, on the monotonic clock. */
  #readAtMs = -Infinity;
  #running: Promise<void> | undefined;

  constructor(parts: CampaignRunnerParts) {
    this.#parts = parts;
    this.#keeper = new ContactKeeper(parts);
    // Every waiting call listens to it.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Runs until disposed. */
  start(): void {
    this.#running ??= this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the runner stops'));
    await this.#running;
  }

  async ended(attempt: Attempt): Promise<void> {
    try {
      await this.#keeper.settle(attempt);
      // Its contact may be due again, and its place is free.
      if (attempt.campaignId !== undefined) this.#idleUntilMs.delete(attempt.campaignId);
    } catch (error) {
      this.#parts.logger.warn({ callId: attempt.id, error }, 'settling a contact failed: the sweep retries it');
    }
  }

  /**
   * Places one dial at its moment, unless its campaign has stopped.
   * @returns `no-room` where it must be retried, here or elsewhere
   */
  async place({ tenantId, campaignId, attemptId, startAtMs }: DueDial): ReturnType<Dialler['place']> {
    const { dialler, campaigns, clock } = this.#parts;
    const waitMs = startAtMs - clock.wallMs();
    if (waitMs > 0) await sleep(clock, Math.min(waitMs, 2 * AHEAD_MS), this.#closing.signal);
    const isFresh = clock.nowMs() - this.#readAtMs < FRESH_MS && this.#keeper.known.has(campaignId);
    const isRunning = isFresh || (await campaigns.get(tenantId, campaignId))?.state === 'running';
    if (isRunning) return dialler.place(tenantId, attemptId);
    await dialler.cancel(tenantId, attemptId);
    return 'over';
  }

  async #run(): Promise<void> {
    const { clock, logger } = this.#parts;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const startedMs = clock.nowMs();
      await this.tick().catch((error: unknown) => {
        const isAway = error instanceof OffhookError && error.retryable;
        logger[isAway ? 'debug' : 'error']({ error }, 'campaigns could not be looked after');
      });
      // Most gateways have no campaign.
      const everyMs = this.#keeper.known.size > 0 ? TICK_MS : IDLE_MS;
      await sleep(clock, Math.max(0, startedMs + everyMs - clock.nowMs()), signal).catch(() => {});
    }
  }

  /** One pass over all campaigns. @throws StoreUnavailableError */
  async tick(): Promise<void> {
    const { campaigns, clock } = this.#parts;
    const nowMs = clock.wallMs();
    if (nowMs >= this.#sweepAtMs) {
      this.#sweepAtMs = nowMs + SWEEP_EVERY_MS;
      await this.#keeper.sweep();
    }
    const running: Campaign[] = [];
    const readAtMs = clock.nowMs();
    const all = await campaigns.running();
    this.#readAtMs = readAtMs;
    this.#keeper.known = new Map(all.map((stored) => [stored.id, stored]));
    for (const stored of all) {
      const campaign = await this.#looked(stored, nowMs);
      if (campaign !== undefined) running.push(campaign);
    }
    const ids = new Set(running.map(({ id }) => id));
    for (const map of [this.#idleUntilMs, this.#breakerAtMs]) for (const id of map.keys()) if (!ids.has(id)) map.delete(id);
    const busy = running.filter(({ id }) => nowMs >= (this.#idleUntilMs.get(id) ?? 0));
    if (busy.length > 0) await this.#dial(busy, nowMs);
  }

  /** Ends or pauses a campaign when due. @returns undefined where it does not dial now */
  async #looked(stored: Parameters<typeof readCampaign>[0], nowMs: number): Promise<Campaign | undefined> {
    const ref = { tenantId: stored.tenantId, campaignId: stored.id };
    let campaign: Campaign;
    try {
      campaign = readCampaign(stored);
    } catch (error) {
      await this.#pause(ref, errorText(error), 'gateway');
      return undefined;
    }
    const { startsAt, endsAt } = campaign.settings;
    if (startsAt !== undefined && nowMs < Date.parse(startsAt)) return undefined;
    if (endsAt !== undefined && nowMs >= Date.parse(endsAt)) {
      await this.#end(campaign);
      return undefined;
    }
    const reason = await this.#tripped(campaign, nowMs);
    if (reason === undefined) return campaign;
    await this.#pause(ref, reason, 'breaker');
    return undefined;
  }

  async #tripped(campaign: Campaign, nowMs: number): Promise<string | undefined> {
    const { id, settings, changedAtMs } = campaign;
    if (nowMs < (this.#breakerAtMs.get(id) ?? 0)) return undefined;
    this.#breakerAtMs.set(id, nowMs + BREAKER_EVERY_MS);
    const duties = this.#parts.profiles.named(settings.profile)?.duties ?? [];
    const abandon = duties.find((duty) => duty.duty === 'abandon-at-most' && holdsFor(duty, settings.purpose));
    const moments = breakerMoments(settings.breaker, nowMs, changedAtMs);
    return trippedBy(await this.#parts.campaigns.outcomes(campaignRef(campaign), moments), settings.breaker, abandon?.percent);
  }

  async #pause(ref: CampaignRef, reason: string, by: CampaignChanger): Promise<void> {
    const { campaigns, clock, logger, changed } = this.#parts;
    if (!(await campaigns.setState(ref, ['running'], 'paused', { reason, by, atMs: clock.wallMs() }))) return;
    logger.warn({ campaignId: ref.campaignId, reason }, 'campaign paused');
    await changed();
  }

  /** After the last day the remaining contacts are not called. */
  async #end(campaign: Campaign): Promise<void> {
    const ref = campaignRef(campaign);
    while ((await this.#parts.contacts.cancelOpen(ref, 'campaign-over', CANCELLED_AT_ONCE)) >= CANCELLED_AT_ONCE);
    await this.#finish(campaign);
  }

  async #finish(campaign: Campaign): Promise<void> {
    const { campaigns, clock, logger, changed } = this.#parts;
    if (!(await campaigns.finish(campaignRef(campaign), clock.wallMs()))) return;
    logger.info({ campaignId: campaign.id }, 'campaign finished');
    await changed();
  }

  /** Calls as many contacts of each campaign as pace, room and weights allow. */
  async #dial(busy: readonly Campaign[], nowMs: number): Promise<void> {
    const { campaigns, contacts, room, carrierOf, limitOfCarrier, limitOfLine } = this.#parts;
    const paced = busy.map((campaign) => {
      const { id, settings } = campaign;
      return { id, campaign, ...settings, carrier: carrierOf(campaign, settings.from[0] ?? '') ?? '' };
    });
    const rates = shareRates(paced, (carrier) => limitOfCarrier(carrier).callsPerSecond);
    const plans = paced.map(({ id, campaign, carrier }) => ({
      campaign,
      carrier,
      keys: [
        { ...paceKey(campaignKey(campaign.tenantId, id), rates.get(id) ?? 0), makesUp: true as const },
        paceKey(carrierKey(carrier), limitOfCarrier(carrier).callsPerSecond),
      ],
      lines: limitOfLine && campaign.settings.from.map((from) => paceKey(lineKey(from), limitOfLine.callsPerSecond)),
    }));
    const freeAtMs = await campaigns.paces(plans.flatMap(({ keys, lines = [] }) => [...keys, ...lines].map(({ key }) => key)));
    const underWay = await contacts.underWay();
    this.#ahead = this.#ahead.filter((startAtMs) => startAtMs > nowMs);
    const wishes = plans.map(({ campaign, keys, lines }) => {
      const calls = underWay.filter(({ campaignId, tenantId }) => campaignId === campaign.id && tenantId === campaign.tenantId);
      const has = calls.reduce((sum, { count }) => sum + count, 0);
      const may = callsBefore(nowMs + AHEAD_MS, nowMs, { keys, lines }, freeAtMs);
      return { weight: campaign.settings.weight, underWay: has, wanted: Math.min(may, campaign.settings.concurrency - has) };
    });
    const counts = shareRoom(room() - this.#ahead.length, wishes);
    for (const [index, plan] of plans.entries()) {
      const count = counts[index] ?? 0;
      if (count > 0) await this.#dialSome(plan, count);
    }
  }

  async #dialSome(plan: DialPlan, count: number): Promise<void> {
    let left = count;
    for (let round = 0; round < MOST_ROUNDS && left > 0; round += 1) {
      const owner = newId('job');
      const leased = await this.#lease(plan, owner, Math.min(ASKED_AT_ONCE, left));
      if (leased.length === 0) return round === 0 ? this.#idle(plan.campaign) : undefined;
      const open = await this.#putOff(plan.campaign, owner, leased);
      if (open.length > 0) left -= await this.#ask(plan, owner, open);
      // Closed hours usually affect many contacts.
      else await this.#putOffMany(plan);
    }
  }

  /** @param many leases more than can be called, to be released at once */
  #lease({ campaign, carrier }: DialPlan, owner: string, limit: number, many = false): Promise<readonly LeasedContact[]> {
    const { contacts, clock, limitOfCarrier, limitOfLine } = this.#parts;
    const { concurrency, from } = campaign.settings;
    const nowMs = clock.wallMs();
    const most = (of: number): number => (many ? Infinity : of);
    return contacts.lease(campaignRef(campaign), {
      owner,
      nowMs,
      untilMs: nowMs + LEASE_MS,
      limit,
      concurrency: most(concurrency),
      carrier: { name: carrier, concurrency: most(limitOfCarrier(carrier).concurrency) },
      lines: from.map((line) => ({ from: line, concurrency: most(limitOfLine?.concurrency ?? concurrency) })),
    });
  }

  async #idle(campaign: Campaign): Promise<void> {
    const { contacts, clock } = this.#parts;
    const { left, nextDueAtMs = Infinity } = await contacts.open(campaignRef(campaign));
    if (!left) await this.#finish(campaign);
    else this.#idleUntilMs.set(campaign.id, Math.min(nextDueAtMs, clock.wallMs() + IDLE_MS));
  }

  async #putOffMany(plan: DialPlan): Promise<void> {
    const owner = newId('job');
    const leased = await this.#lease(plan, owner, PUT_OFF_AT_ONCE, true);
    await this.#giveBack(plan.campaign, owner, await this.#putOff(plan.campaign, owner, leased));
  }

  /** Postpones contacts outside their hours until those open. @returns the others */
  async #putOff(campaign: Campaign, owner: string, leased: readonly LeasedContact[]): Promise<readonly LeasedContact[]> {
    const { contacts, profiles, zones, clock } = this.#parts;
    const profile = profiles.named(campaign.settings.profile);
    if (profile === undefined) return leased;
    const nowMs = clock.wallMs();
    const due = leased.map((contact) => ({ contact, dueAtMs: opensFor(contact, campaign, profile, zones, nowMs) }));
    const closed = due.filter(({ dueAtMs }) => dueAtMs > nowMs);
    await contacts.release(
      campaignRef(campaign),
      owner,
      closed.map(({ contact, dueAtMs }) => ({ id: contact.id, dueAtMs, cause: 'outside-window' })),
    );
    return due.filter(({ dueAtMs }) => dueAtMs <= nowMs).map(({ contact }) => contact);
  }

  #giveBack(campaign: Campaign, owner: string, leased: readonly LeasedContact[]): Promise<void> {
    const dueAtMs = this.#parts.clock.wallMs();
    return this.#parts.contacts.release(
      campaignRef(campaign),
      owner,
      leased.map(({ id }) => ({ id, dueAtMs })),
    );
  }

  /** Asks the gate, and queues what it allows. @returns how many it allowed */
  async #ask(plan: DialPlan, owner: string, leased: readonly LeasedContact[]): Promise<number> {
    const { campaign } = plan;
    const { contacts, dialler, clock } = this.#parts;
    const ref = campaignRef(campaign);
    let gated: Awaited<ReturnType<Dialler['ask']>>;
    try {
      gated = await dialler.ask(leased.map((contact) => requestOf(campaign, contact)));
    } catch (error) {
      if (error instanceof OffhookError && error.retryable) throw error;
      // All contacts would get the same answer.
      await this.#giveBack(campaign, owner, leased);
      await this.#pause(ref, errorText(error), 'gateway');
      return leased.length;
    }
    const contactOf = new Map(leased.map((contact) => [contact.id, contact]));
    const later: { id: string; dueAtMs: number; cause: string }[] = [];
    const never: { id: string; cause: string }[] = [];
    const allowed: { contactId: string; attemptId: string }[] = [];
    for (const each of gated) {
      const { contactId: id = '', id: attemptId } = each.attempt;
      if (each.allowed) allowed.push({ contactId: id, attemptId });
      else if (each.refusal.retryAtMs === undefined) never.push({ id, cause: each.refusal.refusal });
      else later.push({ id, dueAtMs: each.refusal.retryAtMs, cause: each.refusal.refusal });
    }
    const nowMs = clock.wallMs();
    const attached = new Set(await contacts.attach(ref, owner, allowed, nowMs + CHECK_AFTER_MS));
    await this.#enqueue(
      plan,
      allowed
        .filter(({ contactId }) => attached.has(contactId))
        .map((dial) => ({ ...dial, from: contactOf.get(dial.contactId)?.from ?? '' })),
    );
    await contacts.release(ref, owner, later);
    await contacts.refuse(ref, owner, never);
    return allowed.length;
  }

  async #enqueue(
    { campaign: { tenantId, id: campaignId }, keys, lines }: DialPlan,
    dials: readonly { readonly attemptId: string; readonly from: string }[],
  ): Promise<void> {
    if (dials.length === 0) return;
    const { campaigns, clock, enqueue, dialler, logger } = this.#parts;
    const lineOf = (from: string) => lines?.filter(({ key }) => key === lineKey(from)) ?? [];
    const moments = await campaigns.takePace(
      dials.map(({ from }) => [...keys, ...lineOf(from)]),
      clock.wallMs(),
    );
    const due = dials.map(({ attemptId }, index) => ({ tenantId, campaignId, attemptId, startAtMs: moments[index] ?? 0 }));
    this.#ahead.push(...moments);
    try {
      await enqueue(due);
    } catch (error) {
      // Without a queue this process places them itself; those without a free place expire, and are decided anew.
      logger.warn({ campaignId, error }, 'dials not queued: placing them in this process');
      for (const { attemptId } of due) void dialler.place(tenantId, attemptId).catch(() => {});
    }
  }
}

/** One campaign's dialling in this tick. */
interface DialPlan {
  readonly campaign: Campaign;
  readonly carrier: string;
  readonly keys: Parameters<typeof callsBefore>[2]['keys'];
  readonly lines: Parameters<typeof callsBefore>[2]['lines'];
}

import { type AllowedTarget, checkDial } from '../config/allowed-target.ts';
import { callerIdOf } from '../config/caller-ids.ts';
import type { Destinations, DestinationsOf } from '../config/destinations.ts';
import { didYouMean } from '../config/nearest.ts';
import { type PlacingMeans, wantedAccount } from '../config/tenants.ts';
import type { ReachedSpend } from '../costs/spend.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import type { Attempt, AttemptRepository, DecisionEntry, KnownOfNumber, NewAttempt } from '../records/dialling.ts';
import { type DialRequest, type GatedDial, DialRequestError } from './dialling.ts';
import { appendEntry, loggedDecision } from './gate/chain.ts';
import {
  CallDay,
  type DayLimits,
  type DialJump,
  EARLIER_DAYS,
  type DialDecision,
  type DialFacts,
  type Refusal,
  type RefusedDial,
} from './gate/facts.ts';
import { mayDial } from './gate/may-dial.ts';
import { attemptHistoryMs, type DiallingProfile, type Duty, holdsFor } from './gate/profile.ts';
import { type NumberZones, readNumber, recipientZones } from './number.ts';
import type { DialPrices } from './prices.ts';
import type { DiallingProfiles } from './profiles.ts';

export interface DialGateParts {
  readonly attempts: Pick<AttemptRepository, 'decide'>;
  readonly profiles: Pick<DiallingProfiles, 'named' | 'names'>;
  readonly zones: NumberZones;
  readonly clock: Clock;
  /** Where a tenant's calls may go. */
  readonly destinationsOf: DestinationsOf;
  /** The ceilings of a tenant's day. */
  readonly limitsOf: (tenantId: string) => DayLimits;
  readonly prices: DialPrices;
  /** The limit of the day's real costs that a bot's calls have reached; no limits where absent. */
  readonly spendReached?: ((botName: string) => ReachedSpend | undefined) | undefined;
  /** Assumed length of a call in the cost estimate. */
  readonly expectedMinutes: number;
  /** Called when a tenant calls much more often than usual. */
  readonly tellJump?: ((jump: DialJump) => void) | undefined;
  /** The carriers, bots and profiles a tenant's calls can use now. */
  readonly means: (tenantId: string) => PlacingMeans;
  /** Duties that this bot's calls cannot meet for lack of configuration, one sentence each, for the operator. */
  readonly missingFor: (botName: string, duties: readonly Duty[]) => readonly string[];
}

/** Longest time that the gate's approval is valid: facts change, and a process may have been away. */
const TERM_MS = 60_000;
/** When to ask again for a number that is being called now. */
const BUSY_RETRY_MS = 60_000;

/** A request with its facts that do not depend on the moment. */
interface Asked {
  readonly request: DialRequest;
  readonly number: ReturnType<typeof readNumber>;
  /** The number in the store: E.164, or the given text where it is no number. */
  readonly to: string;
  readonly carrier: string;
  readonly profile: DiallingProfile;
}

/** Asks the dial gate, and stores its decision. */
export class DialGate {
  readonly #parts: DialGateParts;

  constructor(parts: DialGateParts) {
    this.#parts = parts;
  }

  /**
   * Decides about requests of one tenant and one campaign, each for another number, in one transaction.
   * @param lease of the process about to place what is allowed
   * @returns in the order of the requests
   * @throws DialRequestError before anything is written; StoreUnavailableError
   */
  async ask(
    requests: readonly DialRequest[],
    lease: { readonly owner: string; readonly untilMs: number },
  ): Promise<readonly GatedDial[]> {
    const asked = requests.map((request) => this.#read(request));
    const [first] = asked;
    if (first === undefined) return [];
    const { tenantId, campaign, askedBy } = first.request;
    const numbers = asked.map(({ to }) => to);
    if (new Set(numbers).size < numbers.length) throw new TypeError('each number is asked about once');
    const isOther = (each: DialRequest): boolean =>
      each.tenantId !== tenantId || each.campaign?.id !== campaign?.id || each.askedBy !== askedBy;
    if (requests.some(isOther)) throw new TypeError('one tenant and one campaign are asked about');
    const { clock, limitsOf, prices, expectedMinutes, tellJump } = this.#parts;
    const rules = asked.flatMap(({ request, profile }) => [
      profile,
      ...profile.overlays,
      ...request.narrowing.map((narrowing) => narrowing.rules),
    ]);
    const sinceMs = clock.wallMs() - attemptHistoryMs(rules);
    const startMs = CallDay.startOf(clock.wallMs());
    const about = { numbers, campaignId: campaign?.id, sinceMs, lease, day: { startMs, earlier: EARLIER_DAYS, asker: askedBy } };
    let jump: CallDay['jump'];
    const gated = await this.#parts.attempts.decide(tenantId, about, (known, lists, head, spending) => {
      const nowMs = clock.wallMs();
      const day = new CallDay(limitsOf(tenantId), startMs, spending);
      const entries: DecisionEntry[] = [];
      const attempts: NewAttempt[] = [];
      const result = asked.map((each): GatedDial => {
        const ofNumber = known.get(each.to);
        if (ofNumber === undefined) throw new TypeError('the store tells of every number that it is asked about');
        const costMicros = prices.costMicros(each.to, expectedMinutes);
        const facts = this.#factsOf(each, ofNumber, lists, nowMs, day.facts(costMicros));
        const decision = orBusy(mayDial(facts, each.profile), ofNumber);
        if (decision.allowed) day.add(costMicros);
        const entry = appendEntry(entries.at(-1) ?? head, tenantId, nowMs, loggedDecision(facts, decision, ofNumber.subject));
        entries.push(entry);
        const attempt = attemptOf(each, decision, entry.sequence, () => termOf(facts, each.profile));
        attempts.push(attempt);
        return decision.allowed ? { allowed: true, attempt } : { allowed: false, attempt, refusal: decision };
      });
      jump = day.jump;
      return { entries, attempts, spent: { ...day.added, isTold: jump !== undefined }, result };
    });
    if (jump !== undefined) tellJump?.({ tenantId, ...jump });
    return gated;
  }

  /** Whether a request can be decided at all. @throws DialRequestError */
  check(request: DialRequest): void {
    this.#read(request);
  }

  /** @throws DialRequestError */
  #read(request: DialRequest): Asked {
    const { profiles } = this.#parts;
    const profile = profiles.named(request.profile);
    if (profile === undefined) {
      const { names } = profiles;
      const hint = didYouMean(request.profile, names);
      throw new DialRequestError(`there is no dialling profile of this name; there are ${names.join(', ')}.${hint}`);
    }
    const duties = profile.duties.filter((duty) => holdsFor(duty, request.purpose));
    const missing = this.#parts.missingFor(request.botName, duties);
    if (missing.length > 0)
      throw new DialRequestError(`the profile ${profile.name} requires missing settings: ${missing.join('; ')}`);
    const number = readNumber(request.to);
    return { request, number, to: 'e164' in number ? number.e164 : request.to, carrier: this.#carrierOf(request), profile };
  }

  /** @throws DialRequestError */
  #carrierOf(request: DialRequest): string {
    const means = this.#parts.means(request.tenantId);
    const { carriers: able } = means;
    const wanted = wantedAccount(means, request);
    if (able.length === 0) throw new DialRequestError('no carrier account is configured that could place a call');
    if (wanted !== undefined && !able.includes(wanted)) {
      throw new DialRequestError(`the carrier ${wanted} has no account here that could place a call; ${able.join(', ')} has one`);
    }
    const [only, ...others] = able;
    if (wanted === undefined && others.length > 0) {
      throw new DialRequestError(`the call needs a carrier: ${able.join(' or ')}; dialling.carrier names one for all calls`);
    }
    return wanted ?? only ?? '';
  }

  #factsOf(
    { request, number, carrier }: Asked,
    { suppressions, consents, attemptsMs, attemptsInCampaign }: KnownOfNumber,
    lists: DialFacts['lists'],
    nowMs: number,
    day: DialFacts['day'],
  ): DialFacts {
    const { from, botName, callBackAtMs, zone, zoneAlone, tenantId, purpose, registrations, narrowing, campaign } = request;
    const { callerIds } = this.#parts.means(tenantId);
    return {
      tenantId,
      nowMs,
      number,
      zones: 'e164' in number ? recipientZones(number, this.#parts.zones, zone, zoneAlone) : [],
      destinationRefusal: 'e164' in number ? this.#parts.destinationsOf(tenantId).refusalOf(number) : undefined,
      day,
      spend: this.#parts.spendReached?.(botName),
      purpose,
      registrations,
      consents,
      suppressions,
      lists,
      callerId: from === '' ? undefined : { number: from, isOwn: callerIdOf(callerIds, from, carrier) !== undefined },
      campaignId: campaign?.id,
      attemptsMs,
      attemptsInCampaign,
      narrowing,
      callBack: callBackAtMs === undefined ? undefined : { promisedAtMs: callBackAtMs },
    };
  }
}

/** A number that is being called is never called a second time, whatever the profile says. */
function orBusy(decision: DialDecision, { isBeingCalled }: KnownOfNumber): DialDecision {
  if (!isBeingCalled) return decision;
  const busy: Refusal = { refusal: 'too-soon', detail: 'the number is being called now' };
  const { atMs, profile, overlays, local } = decision;
  const retryAtMs = atMs + BUSY_RETRY_MS;
  if (decision.allowed) return { allowed: false, ...busy, refusals: [busy], retryAtMs, atMs, profile, overlays, local };
  const refused: RefusedDial = { ...decision, refusals: [...decision.refusals, busy] };
  return decision.retryAtMs === undefined ? refused : { ...refused, retryAtMs: Math.max(retryAtMs, decision.retryAtMs) };
}

/** How long a dial allowed now stays allowed, as hours close and consents end: at most `TERM_MS`. */
function termOf(facts: DialFacts, profile: DiallingProfile): number {
  const isAllowed = (atMs: number): boolean => mayDial({ ...facts, nowMs: atMs }, profile).allowed;
  let lastMs = facts.nowMs;
  let firstRefusedMs = facts.nowMs + TERM_MS;
  if (isAllowed(firstRefusedMs)) return firstRefusedMs;
  while (firstRefusedMs - lastMs > 1) {
    const middleMs = Math.floor((lastMs + firstRefusedMs) / 2);
    if (isAllowed(middleMs)) lastMs = middleMs;
    else firstRefusedMs = middleMs;
  }
  return lastMs;
}

function attemptOf(
  { request, to, carrier }: Asked,
  decision: DialDecision,
  decisionSequence: number,
  term: () => number,
): NewAttempt {
  const { tenantId, from, zone, botName, variables, metadata, profile, purpose, campaign } = request;
  const duties = decision.allowed ? decision.duties.map(({ duty, ms }) => ({ duty, ...(ms === undefined ? {} : { ms }) })) : [];
  const leastRingMs = duties.find(({ duty }) => duty === 'ring-at-least')?.ms ?? 0;
  const refused = decision.allowed
    ? { state: 'queued' as const }
    : { state: 'ended' as const, endedAtMs: decision.atMs, disposition: 'refused' as const, cause: decision.refusal };
  return {
    tenantId,
    id: request.callId ?? newId('call'),
    botName,
    carrier,
    campaignId: campaign?.id,
    contactId: campaign?.contactId,
    index: campaign?.index ?? 1,
    from,
    to,
    zone,
    variables,
    metadata,
    ringTimeoutMs: Math.max(request.ringTimeoutMs, leastRingMs),
    purpose,
    profile,
    duties,
    decisionSequence,
    placeByMs: decision.allowed ? term() : decision.atMs,
    createdAtMs: decision.atMs,
    ...refused,
  };
}

/** Proof that the gate approved an attempt and the approval is still valid. Every dial requires one, and only `of` makes them. */
export class DialPermit {
  readonly attempt: Attempt;
  readonly target: AllowedTarget;
  /** Makes the class nominal. */
  readonly #isPermit = true;

  private constructor(attempt: Attempt, target: AllowedTarget) {
    this.attempt = attempt;
    this.target = target;
  }

  /** Whether an attempt is queued within its term. */
  static holds({ state, decisionSequence, placeByMs }: Attempt, nowMs: number): boolean {
    return state === 'queued' && decisionSequence > 0 && nowMs <= placeByMs;
  }

  /**
   * @param destinations of the tenant now: another process, with other settings, may have asked the gate
   * @returns undefined for an attempt that is not queued or has expired, or whose number may not be called now
   */
  static of(attempt: Attempt, nowMs: number, destinations: Destinations): DialPermit | undefined {
    const checked = checkDial(attempt.to, destinations);
    if ('refusal' in checked || !DialPermit.holds(attempt, nowMs)) return undefined;
    const permit = new DialPermit(attempt, checked.target);
    return permit.#isPermit ? permit : undefined;
  }
}

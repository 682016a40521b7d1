import type { Consent, Suppression } from '../../records/dialling.ts';
import { type DialFacts, OWN_LIST, type RefusalName } from './facts.ts';
import { isKnownZone } from './local-time.ts';
import { type DiallingProfile, holdsFor, type TimingRules } from './profile.ts';

const HOUR_MS = 3_600_000;

/** A reason to refuse a dial at a moment. */
export interface Finding {
  readonly refusal: RefusalName;
  readonly detail: string;
  /** Earliest possible end of the refusal, after the moment asked about. Undefined: time alone does not end it. */
  readonly untilMs?: number | undefined;
}

/** Timing rules with their origin. */
export interface RuleSet {
  readonly name: string;
  readonly rules: TimingRules;
}

/** Refusals because of the number, the person's will, the purpose or the caller id. */
export function findingsAbout(facts: DialFacts, profile: DiallingProfile, atMs: number): Finding[] {
  return [
    ...aboutNumber(facts, profile),
    ...aboutDay(facts, atMs),
    ...aboutLists(facts, profile, atMs),
    ...aboutPurpose(facts, profile),
    ...aboutConsent(facts, profile, atMs),
    ...aboutCallerId(facts, profile),
    ...aboutZones(facts),
  ];
}

function aboutNumber({ number, destinationRefusal }: DialFacts, { name, countries, lineTypes }: DiallingProfile): Finding[] {
  if ('reason' in number) return [{ refusal: 'number-invalid', detail: number.reason }];
  const { country, lineType } = number;
  const found: Finding[] = [];
  if (countries !== undefined && (country === undefined || !countries.includes(country))) {
    const where = country ?? 'no country';
    found.push({ refusal: 'number-invalid', detail: `a number of ${where}: the profile ${name} has no rules for it` });
  }
  if (lineType === undefined || !lineTypes.allowed.includes(lineType)) {
    found.push({ refusal: 'line-type', detail: `${lineType ?? 'unknown line type'} (${lineTypes.source})` });
  }
  if (destinationRefusal !== undefined) found.push({ refusal: 'destination-not-allowed', detail: destinationRefusal });
  return found;
}

/** The day's ceilings. A call without a known price only counts for the number of calls. */
function aboutDay({ day, spend }: DialFacts, atMs: number): Finding[] {
  const { endsAtMs: untilMs, costMicros, spent } = day;
  if (atMs >= untilMs) return [];
  return [
    ...aboutSpend(spend, untilMs),
    ...spent.flatMap((each): Finding[] => {
      const whose = each.of === 'key' ? 'of the key or person' : 'of the tenant';
      const calls = {
        refusal: 'ceiling-calls',
        detail: `${each.calls} calls ${whose} today, at most ${each.mostCalls}`,
        untilMs,
      } as const;
      const { costMicros: before, mostCostMicros: most = Infinity } = each;
      const detail = `the calls ${whose} cost about ${amountText(before)} today and this one ${amountText(costMicros ?? 0)}, at most ${amountText(most)}`;
      return [
        ...(each.calls >= each.mostCalls ? [calls] : []),
        ...(costMicros !== undefined && before + costMicros > most
          ? [{ refusal: 'ceiling-cost', detail, untilMs } as const]
          : []),
      ];
    }),
  ];
}

function aboutSpend(spend: DialFacts['spend'], untilMs: number): Finding[] {
  if (spend === undefined) return [];
  const whose = spend.of === 'bot' ? "the bot's calls" : 'all calls';
  const detail = `${whose} have cost ${amountText(spend.knownMicros)} today, at most ${amountText(spend.mostMicros)} (maximumPerDay)`;
  return [{ refusal: 'ceiling-spend', detail, untilMs }];
}

function amountText(micros: number): string {
  return (micros / 1_000_000).toFixed(2);
}

function aboutPurpose({ purpose, registrations }: DialFacts, profile: DiallingProfile): Finding[] {
  const { name, purposes, purposeRequired, registrations: required } = profile;
  if (purpose === undefined) {
    if (purposeRequired === undefined) return [];
    return [{ refusal: 'purpose-missing', detail: `the campaign names no purpose (${purposeRequired.source})` }];
  }
  if (!purposes.includes(purpose)) {
    return [{ refusal: 'purpose-missing', detail: `the profile ${name} has no rules for ${purpose} calls` }];
  }
  const missing = required.filter((rule) => holdsFor(rule, purpose) && (registrations[rule.name] ?? '').trim() === '');
  return missing.map((rule) => ({
    refusal: 'purpose-missing',
    detail: `the campaign has no ${rule.name} for its ${purpose} calls (${rule.source})`,
  }));
}

/** From when a consent of this level counts; the same moment where one already does, undefined where none ever will. */
function consentFromMs(facts: DialFacts, rule: ConsentDemand, atMs: number): number | undefined {
  const starts = facts.consents
    .filter((consent) => refusedFor(facts, rule, consent) === undefined)
    .map((consent) => ({ ...consent, fromMs: Math.max(atMs, consent.givenAtMs) }))
    .filter(({ fromMs, expiresAtMs = Infinity }) => fromMs < expiresAtMs)
    .map(({ fromMs }) => fromMs);
  return starts.length === 0 ? undefined : Math.min(...starts);
}

interface ConsentDemand {
  readonly level: 'express' | 'written';
  readonly registered?: boolean;
}

/** Why a consent does not count, apart from its times. */
function refusedFor({ purpose }: DialFacts, rule: ConsentDemand, consent: Consent): string | undefined {
  const { level, purposes, withdrawnAtMs, evidence, registeredId = '' } = consent;
  if (withdrawnAtMs !== undefined) return 'the consent was withdrawn';
  if (purpose === undefined || !purposes.includes(purpose)) return `the consent is not for ${purpose ?? 'unnamed'} calls`;
  if (rule.level === 'written' && level !== 'written') return 'the consent is not written';
  if (evidence.trim() === '') return 'the consent has no evidence';
  return rule.registered === true && registeredId.trim() === '' ? 'the consent has no id in the register' : undefined;
}

/** The consent a dial relies on at a moment: the first demanded by a rule of the profile. */
export function usableConsent(facts: DialFacts, profile: DiallingProfile, atMs: number): Consent | undefined {
  const rules = profile.consent.filter((rule) => holdsFor(rule, facts.purpose));
  return facts.consents.find((consent) =>
    rules.some((rule) => consentFromMs({ ...facts, consents: [consent] }, rule, atMs) === atMs),
  );
}

function aboutConsent(facts: DialFacts, profile: DiallingProfile, atMs: number): Finding[] {
  const rules = profile.consent.filter((rule) => holdsFor(rule, facts.purpose));
  return rules.flatMap((rule): Finding[] => {
    const starts = [consentFromMs(facts, rule, atMs), absentFromMs(facts, profile, rule.orAbsentFrom, atMs)];
    const fromMs = Math.min(...starts.map((start = Infinity) => start));
    if (fromMs === atMs) return [];
    const untilMs = fromMs === Infinity ? undefined : fromMs;
    const fitting = facts.consents.filter((consent) => refusedFor(facts, rule, consent) === undefined);
    const expired = fitting.some(({ expiresAtMs = Infinity }) => expiresAtMs <= atMs);
    if (expired) return [{ refusal: 'consent-expired', detail: `the ${rule.level} consent expired (${rule.source})`, untilMs }];
    const reasons = facts.consents.flatMap((consent) => refusedFor(facts, rule, consent) ?? []);
    const [reason = fitting.length > 0 ? 'the consent is dated in the future' : 'no consent is on file'] = reasons;
    return [{ refusal: 'no-consent', detail: `${reason}: ${rule.level} consent is needed (${rule.source})`, untilMs }];
  });
}

/** From when the number is absent from a fresh list. */
function absentFromMs(facts: DialFacts, profile: DiallingProfile, name: string | undefined, atMs: number): number | undefined {
  const list = profile.lists.find((each) => each.name === name);
  if (list === undefined) return undefined;
  const ends = facts.suppressions.filter((hit) => hit.list === name).map(({ untilMs = Infinity }) => untilMs);
  const fromMs = Math.max(atMs, ...ends);
  return fromMs < freshUntilMs(facts, list) ? fromMs : undefined;
}

/** First moment at which a list is too old; -Infinity if it was never obtained. */
function freshUntilMs({ lists }: DialFacts, { name, maxAgeHours }: DiallingProfile['lists'][number]): number {
  const obtainedAtMs = lists[name];
  return obtainedAtMs === undefined ? -Infinity : obtainedAtMs + maxAgeHours * HOUR_MS;
}

function aboutLists(facts: DialFacts, profile: DiallingProfile, atMs: number): Finding[] {
  const hits = facts.suppressions.flatMap((hit) => suppressed(facts, profile, hit, atMs));
  const stale = profile.lists.filter((list) => holdsFor(list, facts.purpose) && atMs >= freshUntilMs(facts, list));
  return [
    ...hits,
    ...stale.map(({ name, maxAgeHours, source }): Finding => {
      const age = facts.lists[name] === undefined ? 'was never obtained' : `is older than ${maxAgeHours} hours`;
      return { refusal: 'list-too-old', detail: `the list ${name} ${age} (${source})` };
    }),
  ];
}

function suppressed(facts: DialFacts, profile: DiallingProfile, { list, untilMs }: Suppression, atMs: number): Finding[] {
  if (untilMs !== undefined && untilMs <= atMs) return [];
  const rule = list === OWN_LIST ? undefined : profile.lists.find(({ name }) => name === list);
  if (rule !== undefined && !holdsFor(rule, facts.purpose)) return [];
  const overrides = rule?.consentOverrides;
  const consentMs = overrides === undefined ? undefined : consentFromMs(facts, { level: overrides }, atMs);
  if (consentMs === atMs) return [];
  const endMs = Math.min(untilMs ?? Infinity, consentMs ?? Infinity);
  const detail = rule === undefined ? `the number is on the list ${list}` : `the number is on the list ${list} (${rule.source})`;
  return [{ refusal: 'suppressed', detail, untilMs: endMs === Infinity ? undefined : endMs }];
}

function aboutCallerId({ callerId, purpose }: DialFacts, { callerIds }: DiallingProfile): Finding[] {
  if (callerId === undefined) return [{ refusal: 'caller-id-not-allowed', detail: 'the call has no caller id' }];
  if (!callerId.isOwn) return [{ refusal: 'caller-id-not-allowed', detail: "the caller id is not one of the tenant's own" }];
  const digits = callerId.number.replace(/^\+/u, '');
  return callerIds
    .filter((rule) => holdsFor(rule, purpose) && !rule.prefixes.some((prefix) => digits.startsWith(prefix)))
    .map(({ prefixes, source }) => ({
      refusal: 'caller-id-not-allowed',
      detail: `the caller id does not begin with ${prefixes.map((prefix) => `+${prefix}`).join(' or ')} (${source})`,
    }));
}

function aboutZones({ zones, number }: DialFacts): Finding[] {
  if (zones.length === 0) {
    const why = 'e164' in number ? 'no zone is known for the number, and none was given' : 'the number is none';
    return [{ refusal: 'zone-unknown', detail: why }];
  }
  // Details are logged for ever, and a wrong column may contain anything.
  if (zones.every((zone) => isKnownZone(zone))) return [];
  return [{ refusal: 'zone-unknown', detail: 'the zone that was given is not a time zone' }];
}

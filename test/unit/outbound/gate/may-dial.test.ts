import { describe, expect, it, test } from 'vitest';
import { type DialFacts, REFUSALS, type RefusalName } from '../../../../src/outbound/gate/facts.ts';
import { mayDial } from '../../../../src/outbound/gate/may-dial.ts';
import { allowedFacts, campaignRules, DAY_MS, HOUR_MS, numberFacts, profileOf, profiles } from './dial-facts.ts';

type ProfileName = keyof typeof profiles;
const NAMES = ['in', 'us', 'eu', 'none'] as const;
const [consent] = allowedFacts('in').consents;
if (consent === undefined) throw new Error('the facts have no consent');

function decide(profile: ProfileName, changes: Partial<DialFacts> = {}) {
  return mayDial(allowedFacts(profile, changes), profiles[profile]);
}

function refusalOf(profile: ProfileName, changes: Partial<DialFacts> = {}): RefusalName | 'allowed' {
  const decision = decide(profile, changes);
  return decision.allowed ? 'allowed' : decision.refusal;
}

describe('mayDial', () => {
  test.each(NAMES)('it allows a call that breaks no rule of %s, and says on which consent and with which duties', (name) => {
    const decision = decide(name);
    expect(decision).toMatchObject({ allowed: true, profile: { name }, waived: [] });
    if (!decision.allowed) return;
    expect(decision.consentId).toBe(name === 'none' ? undefined : 'consent-1');
    expect(decision.duties.map(({ duty }) => duty)).toEqual(
      {
        in: ['tell-operator', 'opt-out-in-call', 'ask-consent-again-after', 'keep-evidence'],
        us: [
          'say-identity-first',
          'say-callback-number',
          'opt-out-in-call',
          'opt-out-on-mailbox',
          'ring-at-least',
          'abandon-at-most',
        ],
        eu: ['say-machine-first', 'opt-out-in-call', 'recording-consent', 'no-voice-print'],
        none: [],
      }[name],
    );
  });

  const at = (hour: number, minute = 0): number => Date.UTC(2026, 2, 3, hour, minute);
  const suppressed = (list: string, untilMs?: number) => ({ suppressions: [{ list, addedAtMs: at(0), untilMs }] });
  /** What each profile says of one change to facts that it allows. */
  const rows: readonly (readonly [string, Partial<DialFacts>, Readonly<Record<ProfileName, RefusalName | 'allowed'>>])[] = [
    ['a number that is none', { number: { reason: 'not a telephone number' }, zones: [] }, all('number-invalid')],
    [
      'a number of a country without rules',
      numberFacts('+81312345678'),
      { in: 'number-invalid', us: 'number-invalid', eu: 'number-invalid', none: 'outside-window' },
    ],
    ["a number on the tenant's own list", suppressed('own'), all('suppressed')],
    ['a number on a list that the profile does not know', suppressed('litigators'), all('suppressed')],
    ['an entry of the own list that is over', suppressed('own', at(0, 1)), all('allowed')],
    [
      'a number on the national list, with consent',
      suppressed('national'),
      { in: 'suppressed', us: 'allowed', eu: 'suppressed', none: 'suppressed' },
    ],
    [
      'a number whose preferences forbid the call, with consent',
      suppressed('preferences'),
      { in: 'allowed', us: 'suppressed', eu: 'suppressed', none: 'suppressed' },
    ],
    [
      'a number whose preferences forbid the call, without consent',
      { ...suppressed('preferences'), consents: [] },
      all('suppressed'),
    ],
    [
      'no purpose',
      { purpose: undefined },
      { in: 'purpose-missing', us: 'purpose-missing', eu: 'purpose-missing', none: 'allowed' },
    ],
    [
      'no registration of the entity',
      { registrations: {} },
      { in: 'purpose-missing', us: 'allowed', eu: 'allowed', none: 'allowed' },
    ],
    // In India the preferences allow the call where the number is not on their list.
    ['no consent', { consents: [] }, { in: 'allowed', us: 'no-consent', eu: 'no-consent', none: 'allowed' }],
    [
      'consent that is spoken only',
      { consents: [{ ...consent, level: 'express' }] },
      { in: 'allowed', us: 'no-consent', eu: 'allowed', none: 'allowed' },
    ],
    [
      'consent without evidence',
      { consents: [{ ...consent, evidence: ' ' }] },
      { in: 'allowed', us: 'no-consent', eu: 'no-consent', none: 'allowed' },
    ],
    [
      'consent that was withdrawn',
      { consents: [{ ...consent, withdrawnAtMs: at(1) }] },
      { in: 'allowed', us: 'no-consent', eu: 'no-consent', none: 'allowed' },
    ],
    [
      'consent to service calls only',
      { consents: [{ ...consent, purposes: ['service'] }] },
      { in: 'allowed', us: 'no-consent', eu: 'no-consent', none: 'allowed' },
    ],
    [
      'consent that expired',
      { consents: [{ ...consent, expiresAtMs: at(1) }] },
      { in: 'allowed', us: 'consent-expired', eu: 'consent-expired', none: 'allowed' },
    ],
    ['lists that were never obtained', { lists: {} }, { in: 'list-too-old', us: 'list-too-old', eu: 'allowed', none: 'allowed' }],
    [
      'lists of 32 days ago',
      { lists: { national: at(0) - 32 * DAY_MS, preferences: at(0) - 32 * DAY_MS } },
      { in: 'list-too-old', us: 'list-too-old', eu: 'allowed', none: 'allowed' },
    ],
    ['no caller id', { callerId: undefined }, all('caller-id-not-allowed')],
    ['a caller id of somebody else', { callerId: { number: '+911401234567', isOwn: false } }, all('caller-id-not-allowed')],
    [
      'an ordinary number as caller id',
      { callerId: { number: '+919812345678', isOwn: true } },
      { in: 'caller-id-not-allowed', us: 'allowed', eu: 'allowed', none: 'allowed' },
    ],
    ['no zone', { zones: [] }, all('zone-unknown')],
    ['a zone that does not exist', { zones: ['Asia/Atlantis'] }, all('zone-unknown')],
    ['night where the person is', { zones: ['Pacific/Honolulu'] }, { ...all('outside-window') }],
  ];
  test.each(rows.flatMap(([note, changes, expected]) => NAMES.map((name) => ({ note, name, changes, want: expected[name] }))))(
    'it answers $want for $note under $name',
    ({ name, changes, want }) => {
      // Honolulu is in its night at noon in India and Europe; for the United States the clock has to be turned back.
      const isNight = changes.zones?.[0] === 'Pacific/Honolulu';
      expect(refusalOf(name, isNight ? { ...changes, nowMs: at(12) } : changes)).toBe(want);
    },
  );

  test.each([
    { profile: 'us', number: '+18003334444', want: 'line-type' },
    { profile: 'us', number: '+19002345678', want: 'line-type' },
    { profile: 'in', number: '+911800123456', want: 'line-type' },
    { profile: 'eu', number: '+33892123456', want: 'line-type' },
    { profile: 'none', number: '+870773111632', want: 'zone-unknown' },
  ] as const)('it answers $want for $number under $profile', ({ profile, number, want }) => {
    const decision = decide(profile, numberFacts(number));
    expect(decision.allowed ? [] : decision.refusals.map(({ refusal }) => refusal)).toContain(want);
  });

  test.each([
    { note: 'a fourth call in a day', attemptsMs: [1, 2, 3], rules: { caps: [cap(3, 24)] }, want: 'cap-day' },
    { note: 'a third call in a day', attemptsMs: [1, 2], rules: { caps: [cap(3, 24)] }, want: 'allowed' },
    { note: 'a call after 24 hours', attemptsMs: [24, 25, 26], rules: { caps: [cap(3, 24)] }, want: 'allowed' },
    { note: 'a second call just after 24 hours', attemptsMs: [24], rules: { caps: [cap(1, 24)] }, want: 'allowed' },
    { note: 'a sixth call in a week', attemptsMs: [1, 30, 60, 90, 167], rules: { caps: [cap(5, 168)] }, want: 'cap-week' },
    {
      note: 'a fifth call of the campaign',
      attemptsMs: [],
      attemptsInCampaign: 4,
      rules: { caps: [{ most: 4, perCampaign: true, source: 'campaign' }] },
      want: 'cap-campaign',
    },
    { note: 'a call 59 minutes after the last', attemptsMs: [0.99], rules: { spacing: [spacing(60)] }, want: 'too-soon' },
    { note: 'a call 60 minutes after the last', attemptsMs: [1], rules: { spacing: [spacing(60)] }, want: 'allowed' },
    { note: 'a day of the calendar', attemptsMs: [], rules: { holidays: [days('2026-03-03')] }, want: 'holiday' },
    { note: 'a day of every year', attemptsMs: [], rules: { holidays: [days('03-03')] }, want: 'holiday' },
    { note: 'the day before a holiday', attemptsMs: [], rules: { holidays: [days('03-04')] }, want: 'allowed' },
    { note: 'hours of the campaign', attemptsMs: [], rules: { windows: [hours('13:00', '14:00')] }, want: 'outside-window' },
  ] as const)('it answers $want for $note', ({ rules, want, attemptsMs, ...rest }) => {
    for (const name of NAMES) {
      const facts = allowedFacts(name, { narrowing: campaignRules(rules), ...rest });
      const changed = { ...facts, attemptsMs: attemptsMs.map((hoursAgo) => facts.nowMs - hoursAgo * HOUR_MS) };
      const decision = mayDial(changed, profiles[name]);
      expect(decision.allowed ? 'allowed' : decision.refusal).toBe(want);
    }
  });

  it('names all refusals, the lasting ones first, and never the number', () => {
    const spent = { of: 'tenant', calls: 9, mostCalls: 9, costMicros: 5, mostCostMicros: 5 } as const;
    const decision = decide('us', {
      destinationRefusal: 'a number of US',
      day: { endsAtMs: at(23), costMicros: 1, spent: [spent] },
      spend: { of: 'all', knownMicros: 5, mostMicros: 5 },
      suppressions: [{ list: 'own', addedAtMs: 0 }],
      consents: [],
      purpose: undefined,
      lists: {},
      callerId: undefined,
      nowMs: at(3),
      attemptsMs: [at(1), at(1), at(2)],
      attemptsInCampaign: 3,
      narrowing: campaignRules({
        caps: [cap(3, 24), cap(3, 168), { most: 3, perCampaign: true, source: 'campaign' }],
        spacing: [spacing(600)],
        holidays: [days('2026-03-02')],
      }),
    });
    if (decision.allowed) throw new Error('allowed');
    const names = [...new Set(decision.refusals.map(({ refusal }) => refusal))];
    expect(names).toEqual(
      REFUSALS.filter((name) => !['number-invalid', 'line-type', 'consent-expired', 'zone-unknown'].includes(name)),
    );
    expect(decision).toMatchObject({ refusal: 'suppressed', retryAtMs: undefined });
    expect(JSON.stringify(decision)).not.toContain('2127365000');
  });

  test.each([
    { note: 'Mumbai by mistake in the night of New York', zone: 'Asia/Kolkata', want: 'outside-window' },
    { note: 'no zone given', zone: undefined, want: 'allowed' },
  ])('it uses the zone that is given instead of the zones of the number: $note', ({ zone, want }) => {
    expect(refusalOf('us', { nowMs: at(17, 30), ...numberFacts('+12127365000', zone) })).toBe(want);
  });

  it('asks for every zone of an ambiguous number', () => {
    const number = numberFacts('+12085551212');
    // 07:30 in Los Angeles, 08:30 in Boise; then 08:30 and 09:30.
    expect(number.zones).toEqual(['America/Boise', 'America/Los_Angeles']);
    const decision = decide('us', { ...number, nowMs: at(15, 30) });
    expect(decision).toMatchObject({ refusal: 'outside-window', retryAtMs: at(16) });
    expect(refusalOf('us', { ...number, nowMs: at(16) })).toBe('allowed');
    // 20:30 in Los Angeles, 21:30 in Boise.
    expect(refusalOf('us', { ...number, nowMs: Date.UTC(2026, 2, 4, 4, 30) })).toBe('outside-window');
  });

  it('holds Indian hours on the Indian clock too, wherever the person is', () => {
    const facts = { zones: ['Europe/London'], nowMs: at(17) };
    expect(decide('in', facts)).toMatchObject({ refusal: 'outside-window' });
    expect(refusalOf('in', { ...facts, purpose: 'transactional', callerId: { number: '+911600123456', isOwn: true } })).toBe(
      'allowed',
    );
  });

  test.each([
    { note: 'Florida', number: '+13052345678', hour: 1, want: 'outside-window' },
    { note: 'New York', number: '+12127365000', hour: 1, want: 'allowed' },
    { note: 'Washington', number: '+12062345678', hour: 4, want: 'outside-window' },
    { note: 'California', number: '+12132345678', hour: 4, want: 'allowed' },
  ])('it closes at the hour of the state: $note at half past eight', ({ number, hour, note, want }) => {
    const decision = decide('us', { ...numberFacts(number), nowMs: Date.UTC(2026, 2, 4, hour, 30) });
    expect(decision.allowed ? 'allowed' : decision.refusal).toBe(want);
    expect(decision.overlays).toEqual(want === 'allowed' ? [] : [note]);
  });

  test.each([
    { note: 'half past one', nowMs: Date.UTC(2026, 2, 3, 12, 30), want: 'outside-window', retryAtMs: Date.UTC(2026, 2, 3, 13) },
    { note: 'Saturday', nowMs: Date.UTC(2026, 2, 7, 11), want: 'outside-window', retryAtMs: Date.UTC(2026, 2, 9, 9) },
    // Daylight saving begins in between: 10:00 is 08:00 UTC on Tuesday.
    { note: 'Easter Monday', nowMs: Date.UTC(2026, 3, 6, 9), want: 'holiday', retryAtMs: Date.UTC(2026, 3, 7, 8) },
    { note: 'Ascension', nowMs: Date.UTC(2026, 4, 14, 9), want: 'holiday', retryAtMs: Date.UTC(2026, 4, 15, 8) },
  ])('it keeps the hours of France: $note', ({ nowMs, want, retryAtMs }) => {
    expect(
      decide('eu', { ...numberFacts('+33612345678'), nowMs, consents: [{ ...consent, expiresAtMs: undefined }] }),
    ).toMatchObject({
      refusal: want,
      retryAtMs,
    });
  });

  it('gives a moment to retry only while consent lasts until then', () => {
    const night = { nowMs: at(22), zones: ['Europe/Berlin'] };
    const lasting = { ...consent, expiresAtMs: at(22) + 9 * HOUR_MS + 1 };
    expect(decide('eu', { ...night, consents: [lasting] })).toMatchObject({ retryAtMs: at(22) + 9 * HOUR_MS });
    expect(decide('eu', { ...night, consents: [{ ...lasting, expiresAtMs: at(22) + 9 * HOUR_MS }] })).toMatchObject({
      refusal: 'outside-window',
      retryAtMs: undefined,
    });
  });

  it("keeps the tenant's own list above consent, whatever a profile says of it", () => {
    const lists = (name: string) => [{ name, maxAgeHours: 24, consentOverrides: 'express', source: 'test' }];
    for (const [name, allowed] of [
      ['own', false],
      ['other', true],
    ] as const) {
      const facts = allowedFacts('none', { suppressions: [{ list: name, addedAtMs: 0 }], lists: { [name]: at(11) } });
      expect(mayDial(facts, profileOf({ lists: lists(name) })).allowed).toBe(allowed);
    }
  });

  it('says when a cap is free again', () => {
    const narrowing = campaignRules({ caps: [cap(2, 24)] });
    const facts = { narrowing, attemptsMs: [at(11, 30), at(9), at(10)], nowMs: at(12) };
    expect(decide('none', facts)).toMatchObject({ refusal: 'cap-day', retryAtMs: Date.UTC(2026, 2, 4, 10) });
  });

  it('throws for a time that is not a number instead of counting it for nothing', () => {
    expect(() => decide('none', { attemptsMs: [Number.NaN] })).toThrow(RangeError);
    expect(() => decide('none', { nowMs: Number.NaN })).toThrow(RangeError);
  });

  it('gives no moment to retry for zones whose hours never meet', () => {
    const decision = mayDial(
      allowedFacts('none', { zones: ['Asia/Tokyo', 'Europe/London'] }),
      profileOf({ windows: [hours('09:00', '12:00')] }),
    );
    expect(decision).toMatchObject({ refusal: 'outside-window', retryAtMs: undefined });
  });

  describe('with a promised call-back', () => {
    const promisedAtMs = at(14);
    const spaced = { callBack: { promisedAtMs }, narrowing: campaignRules({ spacing: [spacing(1440)] }), attemptsMs: [at(11)] };

    test.each([
      { note: 'waits for the promised time', nowMs: at(13), want: { refusal: 'too-soon', retryAtMs: at(13, 55) } },
      { note: 'waives the spacing then', nowMs: at(14, 10), want: { allowed: true, waived: ['too-soon'] } },
      {
        note: 'keeps the spacing when the promise is past',
        nowMs: at(14, 30),
        want: { refusal: 'too-soon', retryAtMs: Date.UTC(2026, 2, 4, 11) },
      },
    ])('it $note', ({ nowMs, want }) => {
      expect(decide('none', { ...spaced, nowMs })).toMatchObject(want);
    });

    it('waives neither the list, the consent nor the hours', () => {
      const callBack = { promisedAtMs: at(3) };
      const decision = decide('us', { callBack, nowMs: at(3), consents: [], suppressions: [{ list: 'own', addedAtMs: 0 }] });
      if (decision.allowed) throw new Error('allowed');
      const names = decision.refusals.map(({ refusal }) => refusal);
      expect(names).toEqual(['suppressed', 'no-consent', 'outside-window']);
    });
  });
});

function all<Value>(value: Value): Readonly<Record<ProfileName, Value>> {
  return { in: value, us: value, eu: value, none: value };
}

function cap(most: number, withinHours: number): object {
  return { most, withinHours, source: 'campaign' };
}

function spacing(minutes: number): object {
  return { minutes, source: 'campaign' };
}

function days(...dates: string[]): object {
  return { dates, source: 'calendar' };
}

function hours(from: string, to: string): object {
  return { hours: [{ from, to }], source: 'campaign' };
}

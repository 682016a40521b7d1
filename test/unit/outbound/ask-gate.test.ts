import { describe, expect, it } from 'vitest';
import { DialPermit } from '../../../src/outbound/ask-gate.ts';
import { verifyChain, type LoggedDecision } from '../../../src/outbound/gate/chain.ts';
import { parseProfile } from '../../../src/outbound/gate/profile.ts';
import { DiallingProfiles, SHIPPED_FOLDER } from '../../../src/outbound/profiles.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diallerBench, NOON_MS, PERSON, wish } from './dialler-bench.ts';
import { Destinations } from '../../../src/config/destinations.ts';

describe('asking the gate', () => {
  it('keeps an allowed attempt as queued, for a minute', async () => {
    const { dialler, attempts } = diallerBench();
    const [gated] = await dialler.ask([wish({ metadata: { order: '17' } })]);
    expect(gated).toMatchObject({
      allowed: true,
      attempt: { state: 'queued', to: PERSON, carrier: 'twilio', placeByMs: NOON_MS + 60_000, decisionSequence: 1, index: 1 },
    });
    expect(attempts.all).toMatchObject([{ state: 'queued', metadata: { order: '17' } }]);
    expect(attempts.log).toMatchObject([{ sequence: 1, body: { allowed: true, profile: 'none' } }]);
  });

  it('keeps a refusal under its name, in the log and as an attempt that is over', async () => {
    const { dialler, attempts, told } = diallerBench();
    attempts.suppressed.set(PERSON, [{ list: 'own', addedAtMs: 0 }]);
    const [gated] = await dialler.ask([wish()]);
    expect(gated).toMatchObject({ allowed: false, refusal: { refusal: 'suppressed', detail: 'the number is on the list own' } });
    expect(attempts.all).toMatchObject([{ state: 'ended', disposition: 'refused', cause: 'suppressed', endedAtMs: NOON_MS }]);
    expect(told).toMatchObject([['refused', { cause: 'suppressed' }]]);
  });

  it('writes a chain that holds over several askings, with nothing of the number in it', async () => {
    const { dialler, attempts } = diallerBench();
    await dialler.ask([wish(), wish({ to: '+442079460002' }), wish({ to: '12' })]);
    await dialler.ask([wish({ to: '+442079460003' })]);
    const entries = attempts.log.map((entry) => ({ ...entry, body: entry.body as LoggedDecision }));
    expect(await verifyChain(entries, 'default')).toMatchObject({ entries: 4, faultCount: 0, head: { sequence: 4 } });
    expect(JSON.stringify(attempts.log)).not.toMatch(/4420794600(00|02|03)/u);
  });

  it('refuses a number that is being called now', async () => {
    const { dialler } = diallerBench();
    await dialler.ask([wish()]);
    const [gated] = await dialler.ask([wish()]);
    expect(gated).toMatchObject({
      allowed: false,
      refusal: { refusal: 'too-soon', detail: 'the number is being called now', retryAtMs: NOON_MS + 60_000 },
    });
  });

  it.each([
    { what: 'a number of no plan', changes: { to: '+4420' }, refusal: 'number-invalid' },
    { what: "a caller id that is not the tenant's own", changes: { from: '+442079460099' }, refusal: 'caller-id-not-allowed' },
    { what: 'no caller id', changes: { from: '' }, refusal: 'caller-id-not-allowed' },
    { what: 'a call at night where the person is', changes: { zone: 'Pacific/Auckland' }, refusal: 'outside-window' },
    { what: 'a zone that there is not', changes: { zone: 'Mars/Olympus' }, refusal: 'zone-unknown' },
    { what: 'a profile whose purpose is missing', changes: { profile: 'eu', to: '+4915112345678' }, refusal: 'purpose-missing' },
  ])('refuses $what as $refusal', async ({ changes, refusal }) => {
    const [gated] = await diallerBench().dialler.ask([wish(changes)]);
    expect(gated).toMatchObject({ allowed: false, refusal: { refusal } });
  });

  it('takes a caller id for its own at the carrier that has it alone', async () => {
    const bench = diallerBench({ callerIds: '+442079460001@vonage', carriers: ['twilio', 'vonage'] });
    const [byCallerId] = await bench.dialler.ask([wish()]);
    expect(byCallerId).toMatchObject({ allowed: true, attempt: { carrier: 'vonage' } });
    const [elsewhere] = await bench.dialler.ask([wish({ to: '+442079460002', carrier: 'twilio' })]);
    expect(elsewhere).toMatchObject({ allowed: false, refusal: { refusal: 'caller-id-not-allowed' } });
  });

  it.each([
    { what: 'no account', carriers: [], changes: {}, says: 'no carrier account' },
    { what: 'another carrier', carriers: ['twilio'], changes: { carrier: 'vonage' }, says: 'twilio has one' },
    { what: 'two carriers and no choice', carriers: ['twilio', 'vonage'], changes: {}, says: 'dialling.carrier' },
    { what: 'a mistyped profile', carriers: ['twilio'], changes: { profile: 'non' }, says: 'Did you mean none?' },
  ])('writes nothing and says what is accepted for $what', async ({ carriers, changes, says }) => {
    const { dialler, attempts } = diallerBench({ carriers });
    await expect(dialler.ask([wish(changes)])).rejects.toThrow(says);
    expect(attempts.log).toEqual([]);
  });

  it('writes nothing when the call could not say what its profile has it say', async () => {
    const missing = (duties: readonly string[]) => (duties.includes('say-identity-first') ? ['set dialling.identityName'] : []);
    const { dialler, attempts } = diallerBench({ missing });
    await expect(dialler.ask([wish({ profile: 'us', purpose: 'service' })])).rejects.toThrow('set dialling.identityName');
    expect(attempts.log).toEqual([]);
    expect((await dialler.ask([wish()]))[0]?.allowed).toBe(true);
  });

  it('gives a yes that ends with the calling hours', async () => {
    const closesMs = Date.UTC(2026, 2, 3, 21);
    const { dialler } = diallerBench({ clock: new ManualClock(0, closesMs - 20_000) });
    const [gated] = await dialler.ask([wish()]);
    if (gated === undefined) throw new Error('no answer');
    expect(gated.attempt.placeByMs).toBe(closesMs - 1);
    expect(DialPermit.of(gated.attempt, closesMs - 1, Destinations.anywhere)).toBeDefined();
    expect(DialPermit.of(gated.attempt, closesMs, Destinations.anywhere)).toBeUndefined();
    expect(DialPermit.of({ ...gated.attempt, state: 'placing' }, closesMs - 1, Destinations.anywhere)).toBeUndefined();
  });

  it('has a call ring for as long as the profile wants at least', async () => {
    const { dialler, attempts } = diallerBench({
      callerIds: '+12125550100',
      clock: new ManualClock(0, Date.UTC(2026, 2, 3, 17)),
    });
    const consent = { id: 'c1', level: 'express' as const, purposes: ['service' as const], givenAtMs: 0, evidence: 'form 17' };
    attempts.consents.set('+12127365000', [consent]);
    const us = { profile: 'us', to: '+12127365000', from: '+12125550100', purpose: 'service' as const, ringTimeoutMs: 5_000 };
    const [gated] = await dialler.ask([wish(us)]);
    expect(gated).toMatchObject({ allowed: true, attempt: { ringTimeoutMs: 15_000 } });
    expect(gated?.attempt.duties).toContainEqual({ duty: 'opt-out-in-call', ms: 2000 });
  });
});

describe('DiallingProfiles', () => {
  it('has the profiles of a folder, and the shipped ones that it does not have', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'profiles-'));
    const none = readFileSync(join(SHIPPED_FOLDER, 'none.yaml'), 'utf8');
    writeFileSync(join(folder, 'ours.yaml'), none.replace('name: none', 'name: ours'));
    writeFileSync(join(folder, 'none.yaml'), none.replace("to: '21:00'", "to: '18:00'"));
    const profiles = await DiallingProfiles.load(folder);
    expect([...profiles.names].sort()).toEqual(['eu', 'in', 'none', 'ours', 'us']);
    expect(profiles.named('none')?.hash).not.toBe(parseProfile(none, 'none.yaml').hash);
    expect((await DiallingProfiles.load(join(folder, 'nothing-here'))).names).toHaveLength(4);
  });

  it('names the file whose profile has another name', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'profiles-'));
    writeFileSync(join(folder, 'ours.yaml'), readFileSync(join(SHIPPED_FOLDER, 'none.yaml')));
    await expect(DiallingProfiles.load(folder)).rejects.toThrow('ours.yaml has a profile of another name');
  });
});

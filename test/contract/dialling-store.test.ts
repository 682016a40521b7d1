import { describe, expect, it } from 'vitest';
import { sql } from 'drizzle-orm';
import { appendEntry, verifyChain } from '../../src/outbound/gate/chain.ts';
import type { Consent, DecisionEntry, NewAttempt, SuppressionEntry } from '../../src/records/dialling.ts';
import { attemptRecordOf, loggedDecisionOf, yesToEach } from '../support/attempt-records.ts';
import { callRecordOf } from '../support/call-records.ts';
import { sharedStore, STORE_PLACES } from '../support/databases.ts';

const ASHA = '+919876543210';
const RAVI = '+12127365000';
const lease = { owner: 'process-1', untilMs: 100 };

describe.each(STORE_PLACES)('what is kept of dials in $place', ({ place, isThere, start }) => {
  const store = sharedStore(start);

  const entry = (changes: Partial<SuppressionEntry> & { number: string }) => ({
    list: 'own',
    addedAtMs: 1_000,
    source: 'api',
    ...changes,
  });
  const consent = (changes: Partial<Consent> = {}): Consent => ({
    id: 'c1',
    level: 'written',
    purposes: ['service', 'promotional'],
    givenAtMs: 500,
    evidence: 'https://example.com/form/17',
    ...changes,
  });
  const ask = (tenantId: string, numbers: readonly string[], changes: Partial<NewAttempt> = {}, tag = '') =>
    store.attempts.decide(
      tenantId,
      { numbers, sinceMs: 0, lease },
      yesToEach(tenantId, (number) => `a${tag}${number}`, changes),
    );
  const knownOf = (tenantId: string, number: string, about: { campaignId?: string; sinceMs?: number } = {}) =>
    store.attempts.decide(tenantId, { numbers: [number], sinceMs: 0, lease, ...about }, (known, lists) => ({
      entries: [],
      attempts: [],
      result: { ...known.get(number), lists },
    }));
  const report = (tenantId: string) => verifyChain(store.attempts.decisions(tenantId), tenantId);
  const all = async <Entry>(
    read: (after: string | undefined) => Promise<{ found: readonly Entry[]; next: string | undefined }>,
  ) => {
    const found: Entry[] = [];
    let after: string | undefined;
    do {
      const page = await read(after);
      found.push(...page.found);
      after = page.next;
    } while (after !== undefined);
    return found;
  };

  describe.runIf(isThere)('suppressions', () => {
    it('keeps an entry as it was added, under any spelling of its number, and of its tenant alone', async () => {
      const tenantId = 'lists';
      const heard = entry({ number: ASHA, source: 'caller', callId: 'call_7', note: 'said stop', untilMs: 9_000 });
      expect(await store.suppressions.add(tenantId, [heard])).toBe(1);
      expect(await store.suppressions.of(tenantId, '+91 98765-43210')).toEqual([heard]);
      expect(await store.suppressions.of('elsewhere', ASHA)).toEqual([]);
      expect(await store.suppressions.remove('elsewhere', 'own', ASHA)).toBe(false);
      expect(await store.suppressions.remove(tenantId, 'own', ASHA)).toBe(true);
      expect(await store.suppressions.remove(tenantId, 'own', ASHA)).toBe(false);
    });

    it('renews an entry: the earlier addition and the later end stay, and an opt-out that was heard names its call', async () => {
      const tenantId = 'renewed';
      const added = entry({ number: ASHA, addedAtMs: 2_000, untilMs: 5_000 });
      await store.suppressions.add(tenantId, [added]);
      const again = [
        entry({ number: ASHA, addedAtMs: 3_000, untilMs: 4_000 }),
        entry({ number: ASHA, addedAtMs: 1_500, untilMs: 8_000 }),
      ];
      expect(await store.suppressions.add(tenantId, [...again, entry({ number: RAVI })])).toBe(1);
      expect(await store.suppressions.of(tenantId, ASHA)).toMatchObject([{ addedAtMs: 1_500, untilMs: 8_000, source: 'api' }]);
      await store.suppressions.add(tenantId, [entry({ number: ASHA, source: 'caller', callId: 'call_8' })]);
      await store.suppressions.add(tenantId, [entry({ number: ASHA, untilMs: 9_000 })]);
      const [kept] = await store.suppressions.of(tenantId, ASHA);
      expect(kept).toMatchObject({ addedAtMs: 1_000, source: 'caller', callId: 'call_8' });
      expect(kept?.untilMs).toBeUndefined();
    });

    it('pages through thousands of entries by the time of their addition, each once', async () => {
      const tenantId = 'pages';
      const numbers = Array.from({ length: 2_500 }, (_, index) => `+1212${String(5_000_000 + index)}`);
      const list = (index: number) => (index % 5 === 0 ? 'national' : 'own');
      const entries = numbers.map((number, index) => entry({ number, list: list(index), addedAtMs: index < 1_300 ? 1 : 2 }));
      expect(await store.suppressions.add(tenantId, entries)).toBe(2_500);
      const read = async (after: string | undefined, only?: string) => {
        const { entries: found, next } = await store.suppressions.page(tenantId, { limit: 1_000, after, list: only });
        return { found, next };
      };
      const found = await all(read);
      expect(new Set(found.map(({ number }) => number))).toEqual(new Set(numbers));
      expect(found.map(({ addedAtMs }) => addedAtMs)).toEqual(entries.map(({ addedAtMs }) => addedAtMs));
      expect(await all((after) => read(after, 'national'))).toHaveLength(500);
      await expect(store.suppressions.page(tenantId, { limit: 1_001 })).rejects.toThrow(RangeError);
    });

    it('knows when each list was obtained last', async () => {
      const tenantId = 'obtained';
      for (const atMs of [2_000, 5_000, 3_000]) await store.suppressions.obtained(tenantId, 'national', atMs);
      await store.suppressions.obtained(tenantId, 'state', 1);
      expect(await store.suppressions.lists(tenantId)).toEqual({ national: 5_000, state: 1 });
      expect(await store.suppressions.lists('elsewhere')).toEqual({});
    });
  });

  describe.runIf(isThere)('consents', () => {
    it('keeps consents with their evidence, replaces one of the same id, and never revives one that was withdrawn', async () => {
      const tenantId = 'consents';
      const other = consent({
        id: 'c2',
        level: 'express',
        purposes: ['service'],
        givenAtMs: 700,
        expiresAtMs: 900,
        registeredId: 'R1',
      });
      await store.consents.put(tenantId, ASHA, [consent(), other]);
      // As consents of earlier versions, these say nothing of who wrote them.
      await store.consents.put(tenantId, RAVI, [consent({ evidence: 'paper' })]);
      const whole = { evidenceKind: 'form', evidenceSource: 'web shop', writtenBy: 'key_1', writtenAtMs: 9 } as const;
      await store.consents.put('whole', RAVI, [consent(whole)]);
      expect(await store.consents.of('whole', RAVI)).toEqual([consent(whole)]);
      expect(await store.consents.of(tenantId, ASHA)).toEqual([consent(), other]);
      await store.consents.put(tenantId, ASHA, [consent({ evidence: 'a recording' })]);
      expect((await store.consents.of(tenantId, ASHA)).map(({ evidence }) => evidence)).toEqual(['a recording', other.evidence]);
      expect(await store.consents.withdraw(tenantId, ASHA, 'c1', 5_000)).toBe(true);
      expect(await store.consents.withdraw(tenantId, ASHA, 'c1', 6_000)).toBe(true);
      expect(await store.consents.withdraw(tenantId, ASHA, 'nothing', 6_000)).toBe(false);
      expect(await store.consents.withdraw('elsewhere', ASHA, 'c1', 6_000)).toBe(false);
      await store.consents.put(tenantId, ASHA, [consent()]);
      expect((await store.consents.of(tenantId, ASHA))[0]?.withdrawnAtMs).toBe(5_000);
      const read = async (after: string | undefined) => {
        const { consents: found, next } = await store.consents.page(tenantId, { limit: 1, after });
        return { found, next };
      };
      expect((await all(read)).map(({ id, number }) => `${id} ${number}`).sort()).toEqual([
        `c1 ${RAVI}`,
        `c1 ${ASHA}`,
        `c2 ${ASHA}`,
      ]);
    });
  });

  describe.runIf(isThere)('decisions and attempts', () => {
    it('tells all that is known of each number, and keeps what is decided', async () => {
      const tenantId = 'known';
      await store.suppressions.add(tenantId, [entry({ number: RAVI, list: 'national', untilMs: 7 })]);
      await store.suppressions.obtained(tenantId, 'national', 5);
      await store.consents.put(tenantId, ASHA, [consent()]);
      const seen = await store.attempts.decide(tenantId, { numbers: [ASHA, RAVI], sinceMs: 0, lease }, (known, lists, head) => ({
        ...yesToEach(tenantId, (number) => `k${number}`)(known, lists, head),
        result: { known, lists, head },
      }));
      expect(seen.lists).toEqual({ national: 5 });
      expect(seen.head).toBeUndefined();
      expect(seen.known.get(ASHA)).toMatchObject({
        suppressions: [],
        consents: [consent()],
        attemptsMs: [],
        attemptsInCampaign: 0,
        isBeingCalled: false,
      });
      expect(seen.known.get(RAVI)?.suppressions).toEqual([{ list: 'national', addedAtMs: 1_000, untilMs: 7 }]);
      const subjects = [ASHA, RAVI].map((number) => seen.known.get(number)?.subject);
      expect(new Set(subjects).size).toBe(2);
      expect((await knownOf(tenantId, ASHA)).subject).toBe(subjects[0]);
      expect(await store.attempts.get(tenantId, `k${ASHA}`)).toMatchObject(attemptRecordOf({ tenantId, id: `k${ASHA}` }));
      expect(await store.attempts.get('elsewhere', `k${ASHA}`)).toBeUndefined();
      expect(await report(tenantId)).toMatchObject({ entries: 2, faultCount: 0, head: { sequence: 2 } });
      expect(await store.attempts.decisionHead(tenantId)).toEqual((await report(tenantId)).head);
      expect(await store.attempts.decisionHead('elsewhere')).toBeUndefined();
      const heads = await store.attempts.decisionHeads();
      expect(heads.filter((head) => head.tenantId === tenantId)).toEqual([{ tenantId, ...(await report(tenantId)).head }]);
    });

    it('counts attempts for caps while they are under way, when placed, and when nobody knows, and otherwise not', async () => {
      const tenantId = 'caps';
      const { attempts } = store;
      const counted = async (): Promise<readonly [number[], boolean]> => {
        const { attemptsMs = [], isBeingCalled = false } = await knownOf(tenantId, ASHA);
        return [[...attemptsMs].sort((one, other) => one - other), isBeingCalled];
      };
      await ask(tenantId, [ASHA], { createdAtMs: 1_000, campaignId: 'spring' }, '1');
      expect(await counted()).toEqual([[1_000], true]);
      // The second is refused by `yesToEach`, since the first is under way.
      await ask(tenantId, [ASHA], { createdAtMs: 1_100 }, '2');
      expect(await counted()).toEqual([[1_000], true]);
      await attempts.advance(tenantId, `a1${ASHA}`, ['queued'], 'placing', { placedAtMs: 1_500 });
      expect(await counted()).toEqual([[1_500], true]);
      await attempts.advance(tenantId, `a1${ASHA}`, ['placing'], 'ended', {
        disposition: 'failed',
        placedAtMs: null,
        endedAtMs: 1_600,
      });
      expect(await counted()).toEqual([[], false]);
      await ask(tenantId, [ASHA], { createdAtMs: 2_000, campaignId: 'spring' }, '3');
      await attempts.advance(tenantId, `a3${ASHA}`, ['queued'], 'placing', {});
      await attempts.advance(tenantId, `a3${ASHA}`, ['placing'], 'ended', { disposition: 'unknown', endedAtMs: 2_100 });
      await ask(tenantId, [ASHA], { createdAtMs: 3_000 }, '4');
      await attempts.advance(tenantId, `a4${ASHA}`, ['queued'], 'placing', { placedAtMs: 3_001.6 });
      await attempts.advance(tenantId, `a4${ASHA}`, ['placing'], 'ended', { disposition: 'busy', endedAtMs: 3_100 });
      expect(await counted()).toEqual([[2_000, 3_002], false]);
      expect(await knownOf(tenantId, ASHA, { sinceMs: 2_001, campaignId: 'spring' })).toMatchObject({
        attemptsMs: [3_002],
        attemptsInCampaign: 1,
      });
    });

    it('moves an attempt on for one of many that try, and keeps what is learnt of it', async () => {
      const tenantId = 'moving';
      await ask(tenantId, [ASHA]);
      const id = `a${ASHA}`;
      const tries = Array.from({ length: 6 }, (_, index) =>
        store.attempts.advance(tenantId, id, ['queued'], 'placing', { placedAtMs: 10 }, { owner: `p${index}`, untilMs: 50 }),
      );
      expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1);
      expect(await store.attempts.advance('elsewhere', id, ['placing'], 'ended', {})).toBe(false);
      expect(await store.attempts.advance(tenantId, id, ['placing'], 'ringing', { carrierCallId: 'CA1', ringingAtMs: 11 })).toBe(
        true,
      );
      const news = {
        answeredAtMs: 12,
        endedAtMs: 13,
        answeredBy: 'mailbox',
        disposition: 'message-left',
        cause: 'a\0b',
        callBackAtMs: 99,
      } as const;
      expect(await store.attempts.advance(tenantId, id, ['ringing', 'answered'], 'ended', news)).toBe(true);
      expect(await store.attempts.byCarrierId(tenantId, 'twilio', 'CA1')).toMatchObject({
        id,
        to: ASHA,
        state: 'ended',
        placedAtMs: 10,
        ringingAtMs: 11,
        ...news,
        cause: 'a\uFFFDb',
      });
      expect(await store.attempts.byCarrierId(tenantId, 'vonage', 'CA1')).toBeUndefined();
    });

    it('names attempts that nobody is busy with, of all tenants, and what is not over by caller id', async () => {
      const of = async (nowMs: number) =>
        (await store.attempts.abandoned({ nowMs, limit: 1_000 }))
          .filter((each) => each.tenantId.startsWith('lease'))
          .map(({ id }) => id);
      for (const [tenantId, createdAtMs] of [
        ['lease-1', 20],
        ['lease-2', 10],
      ] as const)
        await store.attempts.decide(
          tenantId,
          { numbers: [ASHA], sinceMs: 0, lease },
          yesToEach(tenantId, () => tenantId, { createdAtMs, from: '+911400000777', campaignId: tenantId }),
        );
      expect(await of(99)).toEqual([]);
      expect(await of(100)).toEqual(['lease-2', 'lease-1']);
      await store.attempts.renew('process-1', 200);
      await store.attempts.renew('process-2', 900);
      expect(await of(199)).toEqual([]);
      const live = async () => (await store.attempts.live()).filter(({ from }) => from === '+911400000777');
      const lines = { from: '+911400000777', carrier: 'twilio', count: 1 };
      expect((await live()).map((line) => line.campaignId ?? '').toSorted((one, other) => one.localeCompare(other))).toEqual([
        'lease-1',
        'lease-2',
      ]);
      await store.attempts.advance('lease-2', 'lease-2', ['queued'], 'ended', { disposition: 'cancelled', endedAtMs: 201 });
      expect(await of(500)).toEqual(['lease-1']);
      expect(await live()).toEqual([{ ...lines, tenantId: 'lease-1', campaignId: 'lease-1' }]);
      // Its owner does not know of it, where the answer to its decision was lost, and renews its lease for ever.
      await store.attempts.renew('process-1', 1_000_000);
      expect(await of(64_000)).toEqual([]);
      expect(await of(66_000)).toEqual(['lease-1']);
    });

    it('says yes once when several connections decide about one number at the same time', async () => {
      const tenantId = 'racing';
      const numbers = Array.from({ length: 20 }, (_, index) => `+1212736${5_000 + index}`);
      const askers = Array.from({ length: 8 }, (_, asker) => ask(tenantId, numbers, {}, `r${asker}-`));
      const allowed = (await Promise.all(askers)).flat();
      expect([...allowed].sort()).toEqual(numbers);
      expect(await report(tenantId)).toMatchObject({ entries: 160, faultCount: 0, head: { sequence: 160 } });
    });

    it('counts the calls of a day exactly when several connections ask for them at once, and tells of the days before', async () => {
      const tenantId = 'days';
      const day = { startMs: 10 * 86_400_000, earlier: 7, asker: 'key-1' };
      const most = 25;
      const spend = (about: Omit<typeof day, 'asker'> & { asker?: string }, calls: number) =>
        store.attempts.decide(tenantId, { numbers: [], sinceMs: 0, lease, day: about }, (_known, _lists, _head, spending) => {
          const allowed = Math.min(calls, most - spending.tenant.calls);
          const spent = { calls: allowed, costMicros: allowed * 1_500, isTold: allowed > 0 && spending.tenant.calls > 10 };
          return { entries: [], attempts: [], spent, result: { allowed, spending } };
        });
      await spend({ startMs: 9 * 86_400_000, earlier: 7 }, 3);
      await spend({ startMs: 2 * 86_400_000, earlier: 7 }, 4);
      const askers = Array.from({ length: 12 }, (_, index) => spend({ ...day, asker: `key-${index % 2}` }, 5));
      const allowed = (await Promise.all(askers)).map((each) => each.allowed);
      expect(allowed.reduce((sum, each) => sum + each, 0)).toBe(most);
      const { spending } = await spend(day, 0);
      expect(spending).toMatchObject({ tenant: { calls: most, costMicros: most * 1_500 }, earlier: [3], isTold: true });
      expect(spending.asker?.calls).toBeLessThan(most);
      expect((await spend({ ...day, asker: 'key-9' }, 0)).spending.asker).toMatchObject({ calls: 0, costMicros: 0 });
    });

    it('writes nothing when the asker throws, when its entries do not fit the log, or when an id is taken', async () => {
      const tenantId = 'nothing';
      await ask(tenantId, [ASHA]);
      const before = await report(tenantId);
      const error = new Error('the asker has a bug');
      const about = { numbers: [RAVI], sinceMs: 0, lease };
      await expect(
        store.attempts.decide(tenantId, about, () => {
          throw error;
        }),
      ).rejects.toBe(error);
      const forged = appendEntry(undefined, tenantId, 1, loggedDecisionOf('x'));
      const attempts = [attemptRecordOf({ tenantId, id: 'forged', to: RAVI })];
      await expect(store.attempts.decide(tenantId, about, () => ({ entries: [forged], attempts, result: 0 }))).rejects.toThrow(
        TypeError,
      );
      await expect(ask(tenantId, [RAVI], { id: `a${ASHA}` })).rejects.toMatchObject({ code: 'OFFHOOK_STORE_RECORD' });
      expect(await report(tenantId)).toEqual(before);
      expect(await store.attempts.get(tenantId, 'forged')).toBeUndefined();
      expect((await store.attempts.page(tenantId, { limit: 10 })).attempts).toHaveLength(1);
    });

    it('pages through attempts, newest first, by campaign, contact, number, outcome and time', async () => {
      const tenantId = 'attempt-pages';
      const numbers = Array.from({ length: 6 }, (_, index) => `+1212736${6_000 + index}`);
      for (const [index, number] of numbers.entries()) {
        const contact = { campaignId: index % 2 === 0 ? 'even' : 'odd', contactId: `contact-${index}` };
        await ask(tenantId, [number], { createdAtMs: 1_000 + Math.floor(index / 3), ...contact });
      }
      await store.attempts.advance(tenantId, `a${numbers[2]}`, ['queued'], 'ended', { disposition: 'busy', endedAtMs: 5 });
      const read = async (before: string | undefined) => {
        const { attempts: found, next } = await store.attempts.page(tenantId, { limit: 4, before });
        return { found, next };
      };
      expect((await all(read)).map(({ to }) => to)).toEqual([...numbers].reverse());
      const found = async (query: object) =>
        (await store.attempts.page(tenantId, { limit: 9, ...query })).attempts.map(({ to }) => numbers.indexOf(to));
      expect(await found({ campaignId: 'odd' })).toEqual([5, 3, 1]);
      expect(await found({ contactId: 'contact-4' })).toEqual([4]);
      expect(await found({ number: '+1 212 736-6001' })).toEqual([1]);
      expect(await found({ disposition: 'busy' })).toEqual([2]);
      expect(await found({ fromMs: 1_001 })).toEqual([5, 4, 3]);
      expect(await found({ toMs: 1_001, campaignId: 'even' })).toEqual([2, 0]);
    });

    it('sums up the attempts of a campaign by quarter of an hour, bot, caller id and outcome', async () => {
      const tenantId = 'tally';
      const quarter = 900_000;
      const [first, second, third] = ['+12127365001', '+12127365002', '+12127365003'];
      await ask(tenantId, [first, second, third], { createdAtMs: quarter + 5, campaignId: 'spring' });
      await ask(tenantId, [third], { createdAtMs: quarter + 6, campaignId: 'spring' }, 'again');
      await ask(tenantId, ['+12127365004'], { createdAtMs: 5, campaignId: 'autumn' });
      for (const number of [first, second])
        await store.attempts.advance(tenantId, `a${number}`, ['queued'], 'ended', {
          placedAtMs: 2 * quarter + 7,
          answeredAtMs: 2 * quarter + 9,
          endedAtMs: 2 * quarter + 5_008,
          disposition: 'completed',
        });
      const shared = { botName: 'reminder', from: '+911400000001' };
      const none = { answered: 0, talkSeconds: 0 };
      expect(await store.attempts.tally(tenantId, { campaignId: 'spring' })).toEqual([
        { ...shared, ...none, quarterMs: quarter, disposition: 'refused', refusal: 'too-soon', attempts: 1 },
        { ...shared, ...none, quarterMs: quarter, disposition: undefined, refusal: undefined, attempts: 1 },
        {
          ...shared,
          quarterMs: 2 * quarter,
          disposition: 'completed',
          refusal: undefined,
          attempts: 2,
          answered: 2,
          talkSeconds: 8,
        },
      ]);
      expect(await store.attempts.tally('elsewhere', { campaignId: 'spring' })).toEqual([]);
    });

    it('keeps the text of a decision to the character, and reads a log longer than a page', async () => {
      const tenantId = 'long';
      const detail = 'a\0b \uD83D 🙂 1e21';
      await store.attempts.decide(tenantId, { numbers: [], sinceMs: 0, lease }, (_known, _lists, start) => {
        let head = start;
        const entries: DecisionEntry[] = [];
        for (let index = 0; index < 2_345; index += 1) {
          const entry = appendEntry(head, tenantId, index, loggedDecisionOf('s', { detail, retryAtMs: 1e21, allowed: false }));
          entries.push(entry);
          head = entry;
        }
        return { entries, attempts: [], result: undefined };
      });
      expect(await report(tenantId)).toMatchObject({ entries: 2_345, faultCount: 0 });
      await store.database.pool.query(`UPDATE offhook.dial_decisions SET at_ms = 7 WHERE tenant_id = 'long' AND sequence = 1500`);
      await store.database.pool.query(`DELETE FROM offhook.dial_decisions WHERE tenant_id = 'long' AND sequence IN (1, 2000)`);
      const { faults } = await report(tenantId);
      expect(faults.map(({ fault, sequence }) => `${fault} ${sequence}`)).toEqual(['changed 1500', 'missing 1', 'missing 2000']);
    });
  });

  describe.runIf(isThere)('erasing', () => {
    it('erases a number from attempts, consents and lists, while the suppression holds and the log verifies', async () => {
      const tenantId = 'erased';
      await store.suppressions.add(tenantId, [entry({ number: ASHA, note: 'asked us to' }), entry({ number: RAVI })]);
      await store.consents.put(tenantId, ASHA, [consent()]);
      await ask(tenantId, [ASHA, RAVI]);
      const id = `a${ASHA}`;
      await store.attempts.advance(tenantId, id, ['queued'], 'placing', { placedAtMs: 5 });
      expect(await store.privacy.erase(tenantId, id, 50)).toBe('live');
      await store.attempts.advance(tenantId, id, ['placing'], 'ended', { disposition: 'no-answer', endedAtMs: 60 });
      expect(await store.privacy.knows(tenantId, id)).toBe(true);
      expect(await store.privacy.attemptsOf(tenantId, ASHA)).toEqual([id]);
      await store.privacy.erase(tenantId, id, 77);
      expect(await store.privacy.eraseNumber(tenantId, ASHA, 77)).toEqual({ suppressions: 1, consents: 1, contacts: 0 });
      expect(await store.privacy.eraseNumber(tenantId, ASHA, 78)).toEqual({ suppressions: 0, consents: 0, contacts: 0 });

      expect(await store.privacy.attemptsOf(tenantId, ASHA)).toEqual([]);
      expect(await store.attempts.get(tenantId, id)).toMatchObject({
        to: '',
        variables: {},
        metadata: {},
        disposition: 'no-answer',
      });
      const [held] = await store.suppressions.of(tenantId, ASHA);
      expect(held).toMatchObject({ list: 'own', number: undefined, note: undefined });
      const known = await knownOf(tenantId, ASHA);
      expect(known).toMatchObject({ suppressions: [{ list: 'own' }], consents: [], attemptsMs: [] });
      expect(await store.consents.of(tenantId, ASHA)).toEqual([]);
      const { consents } = await store.consents.page(tenantId, { limit: 10 });
      expect(consents).toMatchObject([{ id: 'c1', number: undefined, evidence: '', withdrawnAtMs: 77 }]);
      // An import of the same list brings the number not back, and a call's late record neither.
      await store.suppressions.add(tenantId, [entry({ number: ASHA })]);
      expect((await store.suppressions.of(tenantId, ASHA))[0]?.number).toBeUndefined();
      await store.calls.upsert(callRecordOf({ tenantId, id, direction: 'outbound', to: ASHA }));
      expect(await store.calls.get(tenantId, id)).toBeUndefined();
      // The log names another one from now on, and is whole.
      const subjects: unknown[] = [];
      for await (const { body } of store.attempts.decisions(tenantId)) subjects.push(body);
      expect(subjects).not.toContainEqual(expect.objectContaining({ subject: known.subject }));
      expect(await report(tenantId)).toMatchObject({ entries: 2, faultCount: 0 });
      expect(await store.attempts.get(tenantId, `a${RAVI}`)).toMatchObject({ to: RAVI, variables: { name: 'Asha' } });
    });

    it('cancels an attempt that still waits when it is erased', async () => {
      await ask('waiting', [ASHA]);
      await store.privacy.erase('waiting', `a${ASHA}`, 9);
      expect(await store.attempts.get('waiting', `a${ASHA}`)).toMatchObject({ state: 'ended', disposition: 'cancelled', to: '' });
    });

    it('lets the words of old attempts expire, which still count for caps', async () => {
      const tenantId = 'expiring';
      await ask(tenantId, [ASHA, RAVI], { botName: 'expiring-bot' });
      for (const number of [ASHA, RAVI])
        await store.attempts.advance(tenantId, `a${number}`, ['queued'], 'ended', {
          placedAtMs: 5,
          endedAtMs: 6,
          disposition: 'busy',
        });
      // A call of its own says itself when it expires.
      await store.calls.upsert(callRecordOf({ tenantId, id: `a${RAVI}`, botName: 'expiring-bot', endedAtMs: 5_000 }));
      const query = { kind: 'text', endedBeforeMs: 2_000, botNames: ['expiring-bot'], except: false, limit: 10 } as const;
      expect(await store.privacy.expired(query)).toEqual([{ tenantId, callId: `a${ASHA}` }]);
      await store.privacy.eraseKind(tenantId, `a${ASHA}`, 'text', 90);
      expect(await store.privacy.expired(query)).toEqual([]);
      expect(await store.attempts.get(tenantId, `a${ASHA}`)).toMatchObject({ to: '', metadata: {}, disposition: 'busy' });
      expect((await knownOf(tenantId, ASHA)).attemptsMs).toEqual([5]);
      expect(await store.privacy.expired({ ...query, endedBeforeMs: 9_000 })).toEqual([{ tenantId, callId: `a${RAVI}` }]);
      await store.privacy.eraseKind(tenantId, `a${RAVI}`, 'text', 90);
      expect(await store.attempts.get(tenantId, `a${RAVI}`)).toMatchObject({ to: '' });
    });
  });

  it.runIf(isThere && place === 'a Postgres server')("hides other tenants' dials, and lets nobody change the log", async () => {
    for (const tenantId of ['mine', 'theirs']) {
      await store.suppressions.add(tenantId, [entry({ number: ASHA })]);
      await store.suppressions.obtained(tenantId, 'national', 5);
      await store.consents.put(tenantId, ASHA, [consent()]);
      await ask(tenantId, [ASHA]);
    }
    const tables = ['suppressions', 'suppression_lists', 'consents', 'attempts', 'dial_decisions', 'dial_heads', 'dial_subjects'];
    for (const table of tables) {
      const seen = await store.database.tenancy.atOnce('mine', (session) =>
        session.execute<{ tenant_id: string }>(sql.raw(`SELECT DISTINCT tenant_id FROM offhook.${table}`)),
      );
      expect([table, seen.rows]).toEqual([table, [{ tenant_id: 'mine' }]]);
    }
    for (const change of [
      'UPDATE offhook.dial_decisions SET at_ms = 1',
      'DELETE FROM offhook.dial_decisions',
      'TRUNCATE offhook.dial_decisions',
    ])
      await expect(store.database.tenancy.atOnce('mine', (session) => session.execute(sql.raw(change)))).rejects.toMatchObject({
        cause: { code: '42501' },
      });
  });
});

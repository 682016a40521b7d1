import { describe, expect, it } from 'vitest';
import type { CampaignContact, CampaignRef, ContactChange, LeasedContact, NewContact } from '../../src/records/campaigns.ts';
import type { AttemptNews, NewAttempt } from '../../src/records/dialling.ts';
import { StoreRecordError } from '../../src/records/errors.ts';
import type { Store } from '../../src/records/port.ts';
import { yesToEach } from '../support/attempt-records.ts';
import { sharedStore, STORE_PLACES } from '../support/databases.ts';

const T = 1_780_000_000_000;
const settings = { name: 'reminders', bot: 'reminder', from: ['+15550100001'], profile: 'none' };

describe.each(STORE_PLACES)('campaigns: $place', ({ isThere, start }) => {
  const store = sharedStore(start);
  let count = 0;

  const people = (from: number, to: number): NewContact[] =>
    Array.from({ length: to - from }, (_, index) => ({
      number: `+1212555${String(from + index).padStart(4, '0')}`,
      zone: 'America/New_York',
      variables: { name: `Asha ${from + index}` },
    }));

  /** A campaign that runs, and its contacts. */
  const campaign = async (contacts: readonly NewContact[] = [], tenantId = 'default'): Promise<CampaignRef> => {
    count += 1;
    const ref = { tenantId, campaignId: `campaign_${count}` };
    await store.campaigns.create({ tenantId, id: ref.campaignId, name: 'reminders', settings, createdAtMs: T + count });
    await store.contacts.add(ref, contacts, T);
    await store.campaigns.setState(ref, ['draft'], 'running', { atMs: T + 1 });
    return ref;
  };

  const lease = (ref: CampaignRef, more: Partial<Parameters<Store['contacts']['lease']>[1]> = {}) =>
    store.contacts.lease(ref, {
      owner: `owner_${(count += 1)}`,
      nowMs: T,
      untilMs: T + 30_000,
      limit: 100,
      concurrency: 100,
      carrier: { name: `carrier of ${ref.campaignId}`, concurrency: 100 },
      lines: [{ from: '+15550100001', concurrency: 100 }],
      ...more,
    });
  const ids = (contacts: readonly LeasedContact[]): string[] => contacts.map(({ id }) => id);
  const all = async (ref: CampaignRef) => (await store.contacts.page(ref, { limit: 1000 })).contacts;
  const busy: ContactChange = {
    state: 'waiting',
    dueAtMs: T + 60_000,
    priority: 'retry',
    disposition: 'busy',
    outcomes: { busy: 1 },
    cause: '486',
  };

  it.runIf(isThere)('moves a campaign on from the states that were named, once', async () => {
    const ref = await campaign();
    const { tenantId, campaignId } = ref;
    expect(await store.campaigns.get(tenantId, campaignId)).toMatchObject({ state: 'running', startedAtMs: T + 1, settings });
    expect(await store.campaigns.get('other', campaignId)).toBeUndefined();
    const pauses = [1, 2, 3].map((index) =>
      store.campaigns.setState(ref, ['running'], 'paused', { reason: `reason ${index}`, atMs: T + 2 }),
    );
    expect((await Promise.all(pauses)).filter(Boolean)).toHaveLength(1);
    expect(await store.campaigns.get(tenantId, campaignId)).toMatchObject({
      state: 'paused',
      reason: expect.stringMatching(/^reason/),
    });
    expect((await store.campaigns.running()).map(({ id }) => id)).not.toContain(campaignId);
    expect(await store.campaigns.setState(ref, ['paused'], 'running', { atMs: T + 3 })).toBe(true);
    expect(await store.campaigns.get(tenantId, campaignId)).toMatchObject({
      state: 'running',
      reason: undefined,
      startedAtMs: T + 1,
    });
    expect((await store.campaigns.running()).map(({ id }) => id)).toContain(campaignId);
    expect(await store.campaigns.change(tenantId, campaignId, { name: 'new', settings: { ...settings, name: 'new' } })).toBe(
      true,
    );
    expect(await store.campaigns.setState(ref, ['running'], 'stopped', { atMs: T + 4 })).toBe(true);
    expect(await store.campaigns.get(tenantId, campaignId)).toMatchObject({ name: 'new', state: 'stopped', endedAtMs: T + 4 });
    expect(await store.campaigns.change(tenantId, campaignId, { name: 'late', settings })).toBe(false);
  });

  it.runIf(isThere)('announces each change of a state', async () => {
    const ref = await campaign();
    const changed = async () => (await store.campaigns.unannounced(1000)).find(({ id }) => id === ref.campaignId);
    const started = await changed();
    expect(started?.state).toBe('running');
    await store.campaigns.setState(ref, ['running'], 'paused', { atMs: T + 1 });
    // The first announcement comes late: the second change is not lost.
    await store.campaigns.announced(ref, started?.changedAtMs ?? 0);
    const paused = await changed();
    expect(paused?.state).toBe('paused');
    await store.campaigns.announced(ref, paused?.changedAtMs ?? 0);
    expect(await changed()).toBeUndefined();
  });

  it.runIf(isThere)('adds a number once a campaign, and names the places of the others', async () => {
    const ref = await campaign(people(0, 3));
    const again = [...people(2, 4), ...people(3, 5)];
    expect(await store.contacts.add(ref, again, T)).toEqual({ added: 2, duplicates: [0, 2] });
    const contacts = await all(ref);
    expect(contacts.map(({ number }) => number)).toEqual(people(0, 5).map(({ number }) => number));
    expect(contacts[4]).toMatchObject({ ...people(4, 5)[0], state: 'pending', attempts: 0, outcomes: {}, erased: false });
    const first = await store.contacts.page(ref, { limit: 2 });
    expect(first.contacts).toHaveLength(2);
    expect((await store.contacts.page(ref, { limit: 9, after: first.next })).contacts).toEqual(contacts.slice(2));
    expect(await store.contacts.get(ref, contacts[1]?.id ?? '')).toEqual(contacts[1]);
    expect(await store.contacts.get(ref, 'contact_x')).toBeUndefined();
    expect(await store.contacts.get({ ...ref, tenantId: 'other' }, contacts[1]?.id ?? '')).toBeUndefined();
    await expect(store.contacts.add({ ...ref, campaignId: 'none' }, people(0, 1), T)).rejects.toThrow(StoreRecordError);
  });

  it.runIf(isThere)('leases each contact to one of those who ask at the same time', async () => {
    const ref = await campaign(people(0, 40));
    const leased = (await Promise.all([1, 2, 3, 4, 5].map(() => lease(ref, { limit: 10 })))).flatMap(ids);
    expect(leased).toHaveLength(40);
    expect(new Set(leased).size).toBe(40);
    expect(await lease(ref)).toEqual([]);
  });

  it.runIf(isThere)('leases never more than the limits of campaign, account and caller ids leave', async () => {
    const account = { name: 'account', concurrency: 7 };
    const [one, other] = [await campaign(people(0, 20)), await campaign(people(20, 40))];
    const lines = [
      { from: '+15550100001', concurrency: 2 },
      { from: '+15550100002', concurrency: 9 },
    ];
    expect(await lease(one, { concurrency: 3, carrier: account })).toHaveLength(3);
    expect(await lease(one, { concurrency: 3, carrier: account })).toHaveLength(0);
    const more = (await Promise.all([1, 2, 3].map(() => lease(other, { limit: 3, carrier: account })))).flat();
    expect(more).toHaveLength(4);
    const third = await campaign(people(40, 60));
    const shared = await lease(third, { lines, limit: 20 });
    // The first caller id has more calls than it may already.
    expect(shared.map(({ from }) => from)).toEqual(Array.from({ length: 9 }, () => '+15550100002'));
    const underWay = (await store.contacts.underWay()).filter(({ campaignId }) => campaignId === third.campaignId);
    expect(underWay).toEqual([{ ...third, carrier: `carrier of ${third.campaignId}`, from: '+15550100002', count: 9 }]);
    for (const contact of [...(await all(one)), ...(await all(other)), ...(await all(third))]) {
      if (contact.state === 'leased') await store.contacts.reclaim(contact, contact.id, T + 30_000, T);
    }
  });

  it.runIf(isThere)(
    'leases those who asked for a call first, then those who were called before, and nobody who is not due',
    async () => {
      const ref = await campaign(people(0, 4));
      const first = await lease(ref, { owner: 'me', limit: 3 });
      const [a, b, c] = ids(first);
      await store.contacts.attach(
        ref,
        'me',
        first.map(({ id }) => ({ contactId: id, attemptId: `call of ${id}` })),
        T + 60_000,
      );
      const settle = (id: string | undefined, change: ContactChange) =>
        store.contacts.settle(ref, id ?? '', { id: `call of ${id}`, index: 1 }, change);
      expect(await settle(a, busy)).toBe(true);
      expect(await settle(b, { ...busy, priority: 'call-back', dueAtMs: T + 90_000, callBackAtMs: T + 90_000 })).toBe(true);
      expect(await settle(c, { ...busy, dueAtMs: T + 500_000 })).toBe(true);
      expect(await store.contacts.open(ref)).toEqual({ left: true, nextDueAtMs: T });
      const next = await lease(ref, { nowMs: T + 90_000 });
      expect(ids(next)).toEqual([b, a, (await all(ref))[3]?.id]);
      expect(next[0]).toMatchObject({
        callBackAtMs: T + 90_000,
        attempts: 1,
        outcomes: { busy: 1 },
        lastAttemptId: `call of ${b}`,
        cause: '486',
      });
    },
  );

  it.runIf(isThere)('leases nobody of a campaign that is paused', async () => {
    const ref = await campaign(people(0, 2));
    await store.campaigns.setState(ref, ['running'], 'paused', { atMs: T });
    expect(await lease(ref)).toEqual([]);
  });

  it.runIf(isThere)('gives contacts back as they were, or refuses them for ever', async () => {
    const ref = await campaign(people(0, 3));
    const [a, b, c] = await lease(ref, { owner: 'me' });
    await store.contacts.release(ref, 'another', [{ id: a?.id ?? '', dueAtMs: 1 }]);
    expect(await store.contacts.get(ref, a?.id ?? '')).toMatchObject({ state: 'leased' });
    await store.contacts.release(ref, 'me', [
      { id: a?.id ?? '', dueAtMs: T + 5, cause: 'outside-window' },
      { id: b?.id ?? '', dueAtMs: T + 6 },
    ]);
    await store.contacts.refuse(ref, 'me', [{ id: c?.id ?? '', cause: 'suppressed' }]);
    expect(await all(ref)).toMatchObject([
      { state: 'pending', dueAtMs: T + 5, cause: 'outside-window', attempts: 0 },
      { state: 'pending', dueAtMs: T + 6, attempts: 0 },
      { state: 'done', disposition: 'refused', cause: 'suppressed' },
    ]);
    expect(await store.campaigns.counts(ref)).toEqual({
      contacts: 3,
      states: { pending: 2, leased: 0, waiting: 0, done: 1 },
      dispositions: { refused: 1 },
    });
    expect(await store.contacts.open(ref)).toEqual({ left: true, nextDueAtMs: T + 5 });
  });

  it.runIf(isThere)('settles an attempt once, whether its contact knew of it or not', async () => {
    const ref = await campaign(people(0, 2));
    const [a, b] = await lease(ref, { owner: 'me' });
    const attempt = (id: string | undefined, index: number) => ({ id: `call ${index} of ${id}`, index });
    // Its process died before it could say that the gate allowed the attempt.
    expect(await store.contacts.settle(ref, a?.id ?? '', attempt(a?.id, 1), busy)).toBe(true);
    expect(await store.contacts.attach(ref, 'me', [{ contactId: a?.id ?? '', attemptId: 'x' }], T)).toEqual([]);
    expect(await store.contacts.attach(ref, 'me', [{ contactId: b?.id ?? '', attemptId: attempt(b?.id, 1).id }], T)).toEqual([
      b?.id,
    ]);
    expect(await store.contacts.settle(ref, b?.id ?? '', attempt('another', 1), busy)).toBe(false);
    const both = [1, 2].map(() => store.contacts.settle(ref, b?.id ?? '', attempt(b?.id, 1), busy));
    expect((await Promise.all(both)).filter(Boolean)).toHaveLength(1);
    await lease(ref, { owner: 'me', nowMs: T + 60_000 });
    // The same news once more, while the next attempt is being asked for.
    expect(await store.contacts.settle(ref, b?.id ?? '', attempt(b?.id, 1), { state: 'done', disposition: 'failed' })).toBe(
      false,
    );
    expect(await store.contacts.settle(ref, b?.id ?? '', attempt(b?.id, 2), { state: 'done', disposition: 'completed' })).toBe(
      true,
    );
    expect(await store.contacts.get(ref, b?.id ?? '')).toMatchObject({ state: 'done', disposition: 'completed', attempts: 2 });
  });

  it.runIf(isThere)('hands out leases that ran out, each to one who asks, and takes back those without an attempt', async () => {
    const ref = await campaign(people(0, 3));
    const [a, b, c] = await lease(ref, { owner: 'me', untilMs: T + 10 });
    await store.contacts.attach(ref, 'me', [{ contactId: b?.id ?? '', attemptId: 'call of b' }], T + 20);
    await store.contacts.attach(ref, 'me', [{ contactId: c?.id ?? '', attemptId: 'call of c' }], T + 9_000);
    const ask = () => store.contacts.overdue({ nowMs: T + 20, untilMs: T + 5_000, limit: 100 });
    const overdue = (await Promise.all([ask(), ask()])).flat().filter(({ campaignId }) => campaignId === ref.campaignId);
    overdue.sort((one, other) => one.ordinal - other.ordinal);
    expect(overdue.map(({ id, attached, attempts }) => [id, attached, attempts])).toEqual([
      [a?.id, false, 0],
      [b?.id, true, 1],
    ]);
    expect(overdue[0]).toMatchObject({ number: people(0, 1)[0]?.number, variables: { name: 'Asha 0' } });
    expect(await store.contacts.reclaim(ref, a?.id ?? '', T + 10, T)).toBe(false);
    expect(await store.contacts.reclaim(ref, a?.id ?? '', T + 5_000, T)).toBe(true);
    expect(await store.contacts.reclaim(ref, b?.id ?? '', T + 5_000, T)).toBe(true);
    expect(await all(ref)).toMatchObject([
      { state: 'pending', attempts: 0, dueAtMs: T },
      { state: 'pending', attempts: 0 },
      { state: 'leased', attempts: 1 },
    ]);
  });

  it.runIf(isThere)('keeps one attempt of each index, so that a process that lost its lease places nothing', async () => {
    const ref = await campaign(people(0, 1));
    const [contact] = await lease(ref);
    const { id: contactId = '', number = '' } = contact ?? {};
    const ask = (id: string, index: number) =>
      store.attempts.decide(
        ref.tenantId,
        { numbers: [number], sinceMs: 0, lease: { owner: 'me', untilMs: T } },
        yesToEach(ref.tenantId, () => id, { campaignId: ref.campaignId, contactId, index }),
      );
    await ask('first', 1);
    await store.attempts.advance(ref.tenantId, 'first', ['queued'], 'ended', { disposition: 'busy', endedAtMs: T });
    await ask('late', 1);
    await ask('second', 2);
    const { attempts } = await store.attempts.page(ref.tenantId, { limit: 9, contactId });
    expect(attempts.map(({ id }) => id).sort()).toEqual(['first', 'second']);
    expect(await store.attempts.get(ref.tenantId, 'late')).toBeUndefined();
    expect(await store.campaigns.outcomes(ref, [T - 1, T + 1])).toEqual(new Map([['busy', [1, 0]]]));
  });

  it.runIf(isThere)('cancels who waits, and leaves calls under way', async () => {
    const ref = await campaign(people(0, 5));
    await lease(ref, { limit: 1 });
    expect(await store.contacts.cancelOpen(ref, 'stopped', 3)).toBe(3);
    await store.campaigns.setState(ref, ['running'], 'stopped', { atMs: T });
    expect(await store.campaigns.stoppedWithOpenContacts(1000)).toContainEqual(ref);
    expect(await store.contacts.cancelOpen(ref, 'stopped', 3)).toBe(1);
    expect(await store.campaigns.stoppedWithOpenContacts(1000)).not.toContainEqual(ref);
    expect((await store.campaigns.counts(ref)).states).toEqual({ pending: 0, leased: 1, waiting: 0, done: 4 });
    expect(await store.contacts.open(ref)).toEqual({ left: true, nextDueAtMs: undefined });
    await expect(store.contacts.add(ref, people(9, 10), T)).rejects.toThrow(StoreRecordError);
  });

  it.runIf(isThere)('gives processes that ask at the same time different moments', async () => {
    const keys = [`account ${count}`, `line ${count}`];
    const call = keys.map((key, index) => ({ key, intervalMs: index === 0 ? 10 : 50 }));
    const asked = await Promise.all([1, 2, 3, 4].map(() => store.campaigns.takePace([call, call], T)));
    expect(asked.flat().sort((one, other) => one - other)).toEqual([0, 50, 100, 150, 200, 250, 300, 350].map((each) => T + each));
    expect(await store.campaigns.paces([...keys, 'unknown'])).toEqual(
      new Map([
        [keys[0], T + 360],
        [keys[1], T + 400],
      ]),
    );
    expect(await store.campaigns.takePace([], T)).toEqual([]);
  });

  it.runIf(isThere)('blanks one person everywhere, who is called no more, and keeps what came of them', async () => {
    const [one, other] = [await campaign(people(0, 2)), await campaign(people(0, 1))];
    const theirs = await campaign(people(0, 1), 'other');
    const [leased] = await lease(other, { owner: 'me' });
    expect((await store.privacy.eraseNumber('default', people(0, 1)[0]?.number ?? '', T)).contacts).toBeGreaterThanOrEqual(2);
    expect(await all(one)).toMatchObject([
      { erased: true, number: '', variables: {}, state: 'done', disposition: 'cancelled', cause: 'erased' },
      { erased: false, state: 'pending' },
    ]);
    await store.contacts.attach(other, 'me', [{ contactId: leased?.id ?? '', attemptId: 'the call' }], T);
    await store.contacts.settle(other, leased?.id ?? '', { id: 'the call', index: 1 }, busy);
    expect(await all(other)).toMatchObject([{ erased: true, state: 'done', disposition: 'busy' }]);
    expect(await all(theirs)).toMatchObject([{ erased: false, state: 'pending' }]);
    const [, second] = await all(one);
    expect(await store.contacts.erase(one, second?.id ?? '')).toBe(true);
    expect((await all(one))[1]).toMatchObject({ erased: true, number: '' });
  });

  it.runIf(isThere)('destroys the personal data of a campaign, and takes no more', async () => {
    const ref = await campaign(people(0, 3));
    await store.campaigns.setState(ref, ['running'], 'stopped', { atMs: T });
    expect((await store.campaigns.endedBefore({ endedBeforeMs: T + 1, limit: 1000 })).map(({ id }) => id)).toContain(
      ref.campaignId,
    );
    await store.campaigns.erase(ref, T + 2);
    expect((await store.campaigns.endedBefore({ endedBeforeMs: T + 1, limit: 1000 })).map(({ id }) => id)).not.toContain(
      ref.campaignId,
    );
    expect(await all(ref)).toMatchObject([{ erased: true }, { erased: true }, { erased: true }]);
    expect(await store.campaigns.counts(ref)).toMatchObject({ contacts: 3, dispositions: { cancelled: 3 } });
    await expect(store.contacts.add(ref, people(9, 10), T)).rejects.toThrow(StoreRecordError);
    expect(await store.campaigns.get(ref.tenantId, ref.campaignId)).toMatchObject({ erasedAtMs: T + 2 });
  });

  it.runIf(isThere)('counts whom a campaign reached, each person once, what was refused, and calls by time', async () => {
    const [ref, other] = [await campaign(people(500, 504)), await campaign()];
    const [first, second, third] = await all(ref);
    const decide = async (
      attempt: string,
      contact: CampaignContact | undefined,
      more: Partial<NewAttempt>,
      news?: AttemptNews,
    ) => {
      const about = { numbers: [contact?.number ?? ''], sinceMs: 0, lease: { owner: 'me', untilMs: T + 60_000 } };
      const changes = { campaignId: ref.campaignId, contactId: contact?.id, ...more };
      const id = `${ref.campaignId}${attempt}`;
      await store.attempts.decide(
        'default',
        about,
        yesToEach('default', () => id, changes),
      );
      if (news !== undefined) await store.attempts.advance('default', id, ['queued'], 'ended', news);
    };
    await decide('a', first, {}, { placedAtMs: T + 1_000, disposition: 'busy', endedAtMs: T + 2_000 });
    await decide('b', first, { index: 2 }, { placedAtMs: T + 61_000, answeredAtMs: T + 62_000, disposition: 'completed' });
    await decide('c', second, {}, { placedAtMs: T + 1_999, answeredAtMs: T + 3_000, disposition: 'mailbox' });
    await decide('d', third, { state: 'ended', disposition: 'refused', cause: 'suppressed' });
    const leased = await lease(ref, { owner: 'gate' });
    await store.contacts.release(
      ref,
      'gate',
      leased.map(({ id }) => ({ id, dueAtMs: T + 9, cause: id === third?.id ? undefined : 'outside-window' })),
    );
    expect(await store.campaigns.reach(ref)).toEqual({
      called: 2,
      answered: 2,
      person: 1,
      refusals: { suppressed: 1 },
      putOff: { 'outside-window': 3 },
    });
    const nobody = { called: 0, answered: 0, person: 0, refusals: {}, putOff: {} };
    expect(await store.campaigns.reach(other)).toEqual(nobody);
    expect(await store.campaigns.reach({ ...ref, tenantId: 'other' })).toEqual(nobody);
    const span = { campaignIds: [ref.campaignId, other.campaignId], fromMs: T, toMs: T + 61_000, everyMs: 1_000 };
    const { campaignId } = ref;
    expect(await store.attempts.placed('default', span)).toEqual([{ campaignId, atMs: T + 1_000, placed: 2, answered: 1 }]);
    expect(await store.attempts.placed('default', { ...span, toMs: T + 61_001, everyMs: 60_000 })).toEqual([
      { campaignId, atMs: T, placed: 2, answered: 1 },
      { campaignId, atMs: T + 60_000, placed: 1, answered: 1 },
    ]);
    expect(await store.attempts.placed('other', span)).toEqual([]);
    const refused = await store.attempts.page('default', { limit: 9, campaignId, cause: 'suppressed' });
    const [refusal] = refused.attempts;
    expect(refused.attempts).toHaveLength(1);
    expect(await store.attempts.decision('default', refusal?.decisionSequence ?? 0)).toMatchObject({
      sequence: refusal?.decisionSequence,
      body: { allowed: true },
    });
    expect(await store.attempts.decision('other', refusal?.decisionSequence ?? 0)).toBeUndefined();
  });

  it.runIf(isThere)('finds a contact by number, knows numbers, and shows some of those that are still to be called', async () => {
    const [ref, other] = [await campaign(people(0, 40)), await campaign(people(40, 41))];
    const found = await store.contacts.page(ref, { limit: 9, number: '+1 212 555-0007' });
    expect(found.contacts.map(({ number }) => number)).toEqual(['+12125550007']);
    expect((await store.contacts.page(other, { limit: 9, number: '+12125550007' })).contacts).toEqual([]);
    expect(await store.contacts.known(ref, ['+12125550007', '+12125550008', '+12125550099', 'no number'])).toBe(2);
    expect(await store.contacts.sample(ref, 100)).toHaveLength(40);
    const some = await store.contacts.sample(ref, 10);
    expect(some.length).toBeGreaterThan(5);
    expect(some.length).toBeLessThanOrEqual(10);
    expect(some[0]).toMatchObject({ number: expect.stringMatching(/^\+1212555/u), zone: 'America/New_York' });
    const [first] = await lease(ref, { owner: 'me', limit: 1 });
    await store.contacts.refuse(ref, 'me', [{ id: first?.id ?? '', cause: 'suppressed' }]);
    expect(await store.contacts.sample(ref, 100)).toHaveLength(39);
    const counts = await store.campaigns.countsOf('default', [ref.campaignId, other.campaignId, 'none']);
    expect([...counts].map(([, { contacts }]) => contacts)).toEqual([40, 1, 0]);
    expect((await store.campaigns.countsOf('other', [ref.campaignId])).get(ref.campaignId)?.contacts).toBe(0);
  });

  it.runIf(isThere)('adds contacts by the thousand', async () => {
    const ref = await campaign();
    for (let from = 0; from < 5000; from += 1000) await store.contacts.add(ref, people(from, from + 1000), T);
    expect(await lease(ref, { limit: 10 })).toHaveLength(10);
    expect((await store.campaigns.counts(ref)).contacts).toBe(5000);
  });
});

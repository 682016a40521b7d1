import { describe, expect, it } from 'vitest';
import { sharedStore, STORE_PLACES } from '../support/databases.ts';

describe.each(STORE_PLACES)('submissions: $place', ({ isThere, start }) => {
  const store = sharedStore(start);

  const said = (name: string) => ({ name, url: `https://example.com/${name}`, recordedAtMs: undefined, metadata: { name } });
  const done = (sha256: string) => ({
    state: 'done' as const,
    sha256,
    bytes: 7,
    profileKey: 'default',
    disposition: 'sold',
    score: 50,
    document: { words: `\0said of ${sha256}` },
  });
  const make = (id: string, names: readonly string[], tenantId = 'default') =>
    store.submissions.create({ tenantId, id, profile: 'default', createdAtMs: 5, items: names.map(said) });

  it.runIf(isThere)('keeps the counts right when recordings finish at the same time, and ends once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    expect((await make('many', names)).counts).toMatchObject({ queued: 6 });
    expect((await make('many', ['other'])).counts).toMatchObject({ queued: 6 });
    const refs = names.map((_, index) => ({ tenantId: 'default', submissionId: 'many', index }));
    const begun = await Promise.all(refs.map((ref) => store.submissions.begin(ref, 6)));
    expect(begun.map((item) => [item?.name, item?.attempts])).toEqual(names.map((name) => [name, 1]));
    const ends = await Promise.all(refs.map((ref) => store.submissions.finish(ref, done(`h${ref.index}`), 7)));
    expect(ends.filter((submission) => submission?.endedAtMs !== undefined)).toHaveLength(1);
    const counts = { queued: 0, running: 0, done: 6, failed: 0, cancelled: 0 };
    expect(await store.submissions.get('default', 'many')).toMatchObject({ counts, endedAtMs: 7, round: 0 });
    expect(await store.submissions.begin(refs[0]!, 8)).toBeUndefined();
    expect(await store.submissions.document(refs[1]!)).toEqual({ words: '\uFFFDsaid of h1' });
    expect((await store.submissions.unannounced(9)).map(({ id }) => id)).toEqual(['many']);
    await store.submissions.announced(refs[0]!, 9);
    expect(await store.submissions.unannounced(9)).toEqual([]);
  });

  it.runIf(isThere)('retries failed recordings and leaves cancelled ones', async () => {
    await make('again', ['a', 'b', 'c']);
    const ref = { tenantId: 'default', submissionId: 'again' };
    const failed = { state: 'failed' as const, code: 'OFFHOOK_X', reason: 'why' };
    expect((await store.submissions.finish({ ...ref, index: 0 }, failed, 2))?.counts).toMatchObject({ queued: 2, failed: 1 });
    expect(await store.submissions.retry(ref, 1, 3)).toBe(0);
    expect(await store.submissions.retry(ref, undefined, 3)).toBe(1);
    expect(await store.submissions.get('default', 'again')).toMatchObject({ round: 1, counts: { queued: 3, failed: 0 } });
    expect(await store.submissions.waiting({ untouchedSinceMs: 6, limit: 9 })).toEqual([ref]);
    expect((await store.submissions.cancel(ref, 4))?.counts).toMatchObject({ queued: 0, cancelled: 3 });
    expect((await store.submissions.finish({ ...ref, index: 1 }, done('late'), 5))?.counts).toMatchObject({
      cancelled: 3,
      done: 0,
    });
    expect(await store.submissions.retry(ref, undefined, 6)).toBe(0);
    expect(await store.submissions.waiting({ untouchedSinceMs: 6, limit: 9 })).toEqual([]);
  });

  it.runIf(isThere)('keeps tenants apart, and destroys everything of one submission', async () => {
    await make('mine', ['a']);
    const ref = { tenantId: 'default', submissionId: 'mine', index: 0 };
    await store.submissions.finish(ref, done('same'), 2);
    const theirs = { ...ref, tenantId: 'other' };
    expect(await store.submissions.get('other', 'mine')).toBeUndefined();
    expect(await store.submissions.items(theirs, { after: -1, limit: 9 })).toEqual([]);
    expect(await store.submissions.document(theirs)).toBeUndefined();
    expect(await store.submissions.sameContent('other', 'same', 'default', undefined)).toBeUndefined();
    expect(await store.submissions.begin(theirs, 3)).toBeUndefined();
    expect([await store.submissions.cancel(theirs, 3), await store.submissions.remove(theirs)]).toEqual([undefined, undefined]);
    expect(await store.submissions.sameContent('default', 'same', 'default', undefined)).toEqual({ words: '\uFFFDsaid of same' });
    expect(await store.submissions.sameContent('default', 'same', 'default', 5)).toBeUndefined();
    expect(await store.submissions.endedBefore({ endedBeforeMs: 3, limit: 9 })).toContainEqual({
      tenantId: 'default',
      submissionId: 'mine',
    });
    expect(await store.submissions.remove(ref)).toEqual([]);
    expect(await store.submissions.sameContent('default', 'same', 'default', undefined)).toBeUndefined();
    expect(await store.submissions.finish(ref, done('late'), 4)).toBeUndefined();
    expect(await store.privacy.audioKey('default', 'mine', false)).toBeUndefined();
  });

  it.runIf(isThere)('gives an idempotency key to one request until it is released, a day old or abandoned', async () => {
    const claim = (fingerprint: string, atMs = 1000, tenantId = 'default') =>
      store.idempotency.claim(tenantId, 'k', { fingerprint, atMs, forgetBeforeMs: atMs - 500, abandonedBeforeMs: atMs - 100 });
    const claims = await Promise.all([claim('f'), claim('f'), claim('f')]);
    expect(claims.map(({ kind }) => kind).sort()).toEqual(['busy', 'busy', 'ours']);
    expect([await claim('g'), await claim('f', 1000, 'other')]).toEqual([{ kind: 'taken' }, { kind: 'ours' }]);
    await store.idempotency.release('default', 'k');
    expect((await claim('g')).kind).toBe('ours');
    // Who had it died with it: the same may come again, and another may not.
    expect([(await claim('x', 1200)).kind, (await claim('g', 1200)).kind]).toEqual(['taken', 'ours']);
    const kept = { status: 202, location: '/x', answer: { a: [1] } };
    await store.idempotency.keep('default', 'k', kept);
    await store.idempotency.release('default', 'k');
    expect(await claim('g', 1600)).toEqual({ kind: 'answered', kept });
    expect((await claim('g', 1701)).kind).toBe('ours');
    await store.idempotency.forget(5000);
    expect((await claim('other', 1701)).kind).toBe('ours');
  });
});

import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { wavFile } from '../../../src/audio/wav.ts';
import { stateOf } from '../../../src/records/submissions/job.ts';
import { sweep } from '../../../src/records/sweep.ts';
import type { Work } from '../../../src/records/queue/port.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { MOST_BYTES, startApi } from '../../support/api-server.ts';
import { eventually } from '../../support/eventually.ts';
import { hangs } from '../../support/patience.ts';

const RATE_HZ = 8000;

/** A second of quiet and half a second of tone, of its own loudness for each number. */
function recording(number: number): Uint8Array {
  const sample = (at: number): number => (at < RATE_HZ ? 0 : Math.round((6000 + number) * Math.sin(at / 2)));
  return wavFile(
    Int16Array.from({ length: RATE_HZ * 1.5 }, (_, at) => sample(at)),
    RATE_HZ,
    1,
  );
}

interface View {
  id: string;
  state: string;
  counts: Record<string, number>;
  items: { index: number; state: string; reason: string | null; code: string | null; metadata: object; name: string }[];
}

describe('recordings from elsewhere', () => {
  let api: Awaited<ReturnType<typeof startApi>>;
  let work: Work;
  let sent = 0;
  const failing = new Set<string>();

  beforeAll(async () => {
    api = await startApi({
      async transcribe() {
        sent += 1;
        if (failing.size > 0) throw new Error('the platform is away, says /some/secret/path');
        return { text: 'hello there', requestId: 'r', segments: [{ startS: 1, endS: 1.5, text: 'hello there' }] };
      },
    });
    work = api.work();
  });
  afterAll(async () => api[Symbol.asyncDispose]());

  const ask = (path: string, more: RequestInit = {}, key = api.key) =>
    fetch(`${api.url}/api${path}`, { ...more, headers: { authorization: `Bearer ${key}`, ...(more.headers as object) } });
  const post = (path: string, body: unknown = {}, headers = {}, key = api.key) =>
    ask(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }, key);
  const upload = (bytes: Uint8Array, fields: Record<string, string> = {}, headers = {}) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set('file', new Blob([Uint8Array.from(bytes)]), 'a/call 1.wav');
    return ask('/analyses', { method: 'POST', body: form, headers });
  };
  const ended = async (id: string): Promise<View> => {
    await eventually('its end', async () => (await api.store.submissions.get('default', id))?.endedAtMs !== undefined);
    return (await ask(`/analyses/${id}`)).json() as Promise<View>;
  };
  const hosted = (path: string, bytes?: Uint8Array): string => {
    if (bytes !== undefined) api.files.set(path, bytes);
    return `http://${api.audioHost}${path}`;
  };
  const told = (id: string) => api.receiver.received.filter(({ body }) => body.data['analysisId'] === id);

  it('removes an upload whose fields are refused', async () => {
    const answer = await upload(recording(1), { metadata: 'no JSON' });
    expect([answer.status, ((await answer.json()) as { detail: string }).detail]).toEqual([
      400,
      expect.stringContaining('metadata'),
    ]);
    expect(await readdir(api.uploadFolder)).toEqual([]);
  });

  it('takes no file of this disk that a JSON body names', async () => {
    const file = { path: '/etc/hostname', sha256: 'x', bytes: 1, name: 'x.wav' };
    const answer = await post('/analyses', { profile: 'default', file });
    expect([answer.status, ((await answer.json()) as { detail: string }).detail]).toEqual([400, expect.stringContaining('file')]);
  });

  it('analyses an uploaded file, tells of it, and leaves no plain copy and no upload behind', async () => {
    const answer = await upload(recording(1), { metadata: '{"agent":"7"}', recordedAt: '2026-01-02T03:04:05Z' });
    expect(answer.status).toBe(202);
    const { id, state } = (await answer.json()) as View;
    expect([answer.headers.get('location'), state]).toEqual([`/api/analyses/${id}`, 'queued']);
    const view = await ended(id);
    expect(view).toMatchObject({ state: 'done', items: [{ state: 'done', name: 'call 1.wav', metadata: { agent: '7' } }] });
    const document = await (await ask(`/analyses/${id}/items/0`)).json();
    expect(document).toMatchObject({
      channels: [{ text: 'hello there' }],
      recording: { metadata: { agent: '7' }, recordedAt: '2026-01-02T03:04:05.000Z' },
    });
    await eventually('a webhook', () => told(id).length > 0);
    expect(told(id)[0]?.body).toMatchObject({
      type: 'analysis.completed',
      data: { analysisId: id, profile: 'default', done: 1, failed: 0 },
    });
    expect(told(id)[0]?.body.data).not.toHaveProperty('callId');
    expect(await readdir(api.uploadFolder)).toEqual([]);
    await eventually('what comes next', async () =>
      (await readdir(api.objectFolder, { recursive: true })).every((name) => !name.endsWith('.sealed')),
    );
  });

  it('sends the same bytes with the same profile once, whatever they are called', async () => {
    const first = (await (await upload(recording(2))).json()) as View;
    await ended(first.id);
    const before = sent;
    const again = (await (await upload(recording(2))).json()) as View;
    expect(again).toMatchObject({ id: first.id, state: 'done' });
    const url = hosted('/copy.wav', recording(2));
    const copy = await ended(((await (await post('/analyses', { url, metadata: { list: 'b' } })).json()) as View).id);
    expect(copy).toMatchObject({ state: 'done', items: [{ name: url, metadata: { list: 'b' } }] });
    expect(await (await ask(`/analyses/${copy.id}/items/0`)).json()).toMatchObject({
      recording: { name: url, metadata: { list: 'b' } },
    });
    expect(sent).toBe(before);
  });

  it('carries a list through, each recording by itself, and tries failed ones again', async () => {
    const items = [
      { url: hosted('/one.wav', recording(3)), name: 'one', metadata: { row: '1' } },
      { url: hosted('/late.wav'), metadata: { row: '2' } },
      { url: 'https://127.0.0.1:1/inside.wav' },
      { url: hosted('/text.wav', Buffer.from('no audio at all, no audio at all')) },
      { url: 'http://example.com/plain.wav' },
    ];
    const { id } = (await (await post('/analyses', { items })).json()) as View;
    const view = await ended(id);
    expect(view).toMatchObject({
      state: 'failed',
      reason: '4 of 5 recordings failed: see items',
      counts: { done: 1, failed: 4 },
    });
    expect(view.items.map(({ reason }) => reason)).toEqual([
      null,
      'the server answered with status 404',
      'this address is not public',
      expect.stringContaining('no audio'),
      'only https addresses are fetched',
    ]);
    expect(view.items[1]).toMatchObject({ code: 'OFFHOOK_RECORDING_FETCH', metadata: { row: '2' } });
    await eventually('a webhook', () => told(id).length > 0);
    expect(told(id)[0]?.body).toMatchObject({ type: 'analysis.failed', data: { done: 1, failed: 4 } });

    hosted('/late.wav', recording(4));
    expect(await (await post(`/analyses/${id}/retry`, { index: 1 })).json()).toEqual({ retried: 1 });
    await eventually('what comes next', async () => (await api.store.submissions.get('default', id))?.counts.done === 2);
    expect((await post(`/analyses/${id}/retry`, { index: 1 })).status).toBe(404);
    const lines = (await (await ask(`/analyses/${id}/results`)).text()).trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { recording: { metadata: object } }).recording.metadata)).toEqual([
      { row: '1' },
      { row: '2' },
    ]);
    const failed = (await (await ask(`/analyses/${id}?state=failed&limit=2`)).json()) as View & { next: string };
    expect(failed.items.map(({ index }) => index)).toEqual([2, 3]);
    const rest = (await (await ask(`/analyses/${id}?state=failed&limit=2&cursor=${failed.next}`)).json()) as View;
    expect(rest.items.map(({ index }) => index)).toEqual([4]);
    await eventually('a webhook', () => told(id).length === 2);
  });

  it('tries again what may go better, and says nothing of what went wrong inside', async () => {
    failing.add('all');
    const { id } = (await (await upload(recording(5))).json()) as View;
    const view = await ended(id);
    failing.clear();
    expect(view.items).toMatchObject([
      { state: 'failed', attempts: 2, code: 'OFFHOOK_INTERNAL', reason: 'something went wrong inside' },
    ]);
    await post(`/analyses/${id}/retry`);
    expect((await ended(id)).state).toBe('done');
  });

  it('cancels what has not begun, and deletes all of it with its upload', async () => {
    await work.stop();
    const { id } = (await (await upload(recording(6))).json()) as View;
    expect(await readdir(api.objectFolder, { recursive: true })).toContainEqual(expect.stringContaining('.sealed'));
    expect(await (await post(`/analyses/${id}/cancel`)).json()).toMatchObject({ state: 'cancelled', counts: { cancelled: 1 } });
    work = api.work();
    expect((await ask(`/analyses/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await ask(`/analyses/${id}`)).status).toBe(404);
    expect((await readdir(api.objectFolder, { recursive: true })).filter((name) => name.endsWith('.sealed'))).toEqual([]);
    expect(told(id)).toEqual([]);
  });

  it('finds in the store what the queue was never asked for', async () => {
    const items = [{ url: hosted('/swept.wav', recording(7)), name: 'swept', recordedAtMs: undefined, metadata: {} }];
    await api.store.submissions.create({ tenantId: 'default', id: 'ana_lost', profile: 'default', createdAtMs: 1, items });
    const parts = { store: api.store, queue: api.queue, dispatcher: api.dispatcher, clock: systemClock };
    await sweep({ ...parts, settledMs: 0 });
    expect((await ended('ana_lost')).state).toBe('done');
  });

  it('lists newest first by cursor, of its own tenant alone', async () => {
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = (await (await ask(`/analyses/submitted?limit=3${cursor}`)).json()) as {
        analyses: View[];
        next: string | null;
      };
      seen.push(...page.analyses.map(({ id }) => id));
      cursor = page.next === null ? null : `&cursor=${encodeURIComponent(page.next)}`;
    }
    expect([new Set(seen).size, seen.at(-1)]).toEqual([seen.length, 'ana_lost']);
    expect(seen.length).toBeGreaterThan(4);
    const theirs = await ask('/analyses/submitted', {}, api.otherKey);
    expect(await theirs.json()).toEqual({ analyses: [], next: null });
  });

  it("keeps every route from another tenant's key", async () => {
    const { id } = (await (await upload(recording(1))).json()) as View;
    for (const path of ['', '/items/0', '/results'])
      expect((await ask(`/analyses/${id}${path}`, {}, api.otherKey)).status).toBe(404);
    for (const path of ['/retry', '/cancel'])
      expect((await post(`/analyses/${id}${path}`, {}, {}, api.otherKey)).status).toBe(404);
    expect((await ask(`/analyses/${id}`, { method: 'DELETE' }, api.otherKey)).status).toBe(404);
    expect((await ask(`/analyses/${id}`)).status).toBe(200);
    await ended(id);
    // The same bytes of another tenant are heard anew.
    const before = sent;
    const url = hosted('/theirs.wav', recording(1));
    const mine = (await (await post('/analyses', { url }, {}, api.otherKey)).json()) as View;
    await eventually('what comes next', async () => (await api.store.submissions.get('other', mine.id))?.endedAtMs !== undefined);
    expect(sent).toBe(before + 1);
  });

  it('answers the same request under one key with the same answer, for a day', async () => {
    const url = hosted('/keyed.wav', recording(8));
    const headers = { 'idempotency-key': 'order-1' };
    const first = await post('/analyses', { url }, headers);
    const made = (await first.json()) as View;
    await ended(made.id);
    const again = await post('/analyses', { url }, headers);
    expect([again.status, again.headers.get('location'), again.headers.get('idempotent-replayed')]).toEqual([
      202,
      `/api/analyses/${made.id}`,
      'true',
    ]);
    expect(await again.json()).toEqual(made);
    const other = await post('/analyses', { url, name: 'x' }, headers);
    expect([other.status, other.headers.get('content-type')]).toEqual([422, 'application/problem+json; charset=utf-8']);
    expect((await post(`/analyses/${made.id}/cancel`, {}, headers)).status).toBe(422);
    expect((await post('/analyses', { url }, { 'idempotency-key': 'order-2' })).status).toBe(202);
    expect((await post('/analyses', { url }, { 'idempotency-key': 'x'.repeat(101) })).status).toBe(400);
    // Another tenant's key of the same name is another key.
    expect((await post('/analyses', { url, name: 'y' }, headers, api.otherKey)).status).toBe(202);
    const file = { 'idempotency-key': 'file-1' };
    expect((await upload(recording(9), {}, file)).status).toBe(202);
    expect((await upload(recording(9), {}, file)).headers.get('idempotent-replayed')).toBe('true');
    expect((await upload(recording(10), {}, file)).status).toBe(422);
    // What was refused is not kept.
    const refused = { 'idempotency-key': 'refused-1' };
    expect((await post('/analyses', { url, profile: 'unknown' }, refused)).status).toBe(400);
    expect((await post('/analyses', { url }, refused)).status).toBe(202);
  });

  const url = 'https://example.com/';
  test.each([
    ['nothing', {}, 'url'],
    ['a number for an address', { url: 5 }, 'url'],
    ['a profile alone', { profile: 'default' }, 'url'],
    ['a list that is none', { items: {} }, 'items'],
    ['a list of nothing', { items: [] }, 'items'],
    ['a list of more than a thousand', { items: Array.from({ length: 1001 }, (_, n) => ({ url: `${url}${n}` })) }, 'items'],
    ['a list with something else in it', { items: [{ url }, { url: 5 }] }, 'items[1].url'],
    ['an object of a bucket', { url: 's3://bucket/key.wav' }, 'url'],
    ['a file of the server', { url: 'file:///etc/passwd' }, 'url'],
    ['an unknown field', { url, path: '/etc/passwd' }, '"path"'],
    ['a number in the metadata', { url, metadata: { agent: 7 } }, 'metadata.agent'],
    ['a profile that is a path', { url, profile: '../x' }, 'profile'],
    ['what is no object', 5, 'expected object'],
  ])('refuses %s, and says where', async (_note, body, where) => {
    const answer = await post('/analyses', body);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/problem+json; charset=utf-8']);
    const { detail } = (await answer.json()) as { detail: string };
    expect(detail).toContain(where);
    expect(detail).toMatch(/^✖ [^✖\n]*(?:\n {2}→ at [^✖\n]*)?$/u);
  });

  /** Sends bytes as they are, then ends its side; what came back. */
  async function raw(pieces: readonly (string | Uint8Array)[], end = false): Promise<string> {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => undefined);
    for (const piece of pieces) socket.write(piece);
    if (end) socket.end();
    await once(socket, 'close', { signal: hangs() });
    return Buffer.concat(chunks).toString('utf8');
  }
  const head = (length: number | string, more = '') =>
    `POST /api/analyses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.key}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${length}\r\n${more}Connection: close\r\n\r\n`;
  const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="x.wav"\r\n\r\n';

  it('answers truncated, lying and endless bodies with a problem that names what is accepted, and keeps nothing of them', async () => {
    const whole = `${part}RIFF\r\n--b--\r\n`;
    const answers = {
      'no last boundary': await raw([head(part.length + 4), `${part}RIFF`]),
      'longer than it says': await raw([head(part.length + 2), whole]),
      'shorter than it says': await raw([head(100_000), whole.slice(0, -8)], true),
      'says too much': await raw([head(9_999_999_999)]),
      'is too much': await raw([head(MOST_BYTES + 1000), part, Buffer.alloc(MOST_BYTES + 1)]),
      'no number': await raw([head('12x')]),
      'no form': await raw([head(3), 'abc']),
      'an empty file': await raw([head(part.length + 9), `${part}\r\n--b--\r\n`]),
      'two files': await raw([head(2 * part.length + 17), `${part}RIFF\r\n${part}RIFF\r\n--b--`]),
    };
    const statuses = Object.entries(answers).map(([note, answer]) => [note, /^HTTP\/1.1 (\d+)/u.exec(answer)?.[1]]);
    expect(Object.fromEntries(statuses)).toEqual({
      'no last boundary': '400',
      'longer than it says': '400',
      'shorter than it says': '400',
      'says too much': '413',
      'is too much': '413',
      'no number': '400',
      'no form': '400',
      'an empty file': '400',
      'two files': '400',
    });
    for (const answer of Object.values(answers)) {
      expect(answer).toMatch(/content-type: application\/problem\+json/iu);
      expect(answer).toMatch(/Accepted is (?:multipart|HTTP)/u);
    }
    expect(answers['two files']).toContain('There is more than one file in the body.');
    expect(await readdir(api.uploadFolder)).toEqual([]);
  });

  it('says of a form with too many fields that it has too many', async () => {
    const answer = await upload(recording(1), Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`field${n}`, 'x'])));
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('There are more than 20 fields')]);
  });

  it('reads no body of who has no key, and waits for no slow body but an upload', async () => {
    const unknown = await raw([head(9_000_000).replace(api.key, 'ohk_nobody'), part]);
    expect(unknown).toMatch(/^HTTP\/1.1 401 /u);
    expect(unknown).toMatch(/connection: close/iu);
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    const slow = `POST /api/calls/c1/analyses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
    socket.write(slow);
    await once(socket, 'close', { signal: hangs() });
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1.1 408 /u);
  });

  test.each([
    [{ queued: 2, running: 0, done: 0, failed: 0, cancelled: 0 }, 'queued'],
    [{ queued: 1, running: 0, done: 1, failed: 0, cancelled: 0 }, 'running'],
    [{ queued: 0, running: 1, done: 0, failed: 3, cancelled: 0 }, 'running'],
    [{ queued: 0, running: 0, done: 2, failed: 0, cancelled: 0 }, 'done'],
    [{ queued: 0, running: 0, done: 2, failed: 1, cancelled: 0 }, 'failed'],
    [{ queued: 0, running: 0, done: 2, failed: 1, cancelled: 1 }, 'cancelled'],
  ])('%o is %s', (counts, state) => expect(stateOf({ counts })).toBe(state));
});

import { afterAll, beforeAll, expect, it } from 'vitest';
import { callReviewView, commentView, reviewPageView } from '../../../src/http/api/calls/review-routes.ts';
import { statisticsView } from '../../../src/http/api/calls/statistics-views.ts';
import { API_SCOPES, type ApiScope } from '../../../src/http/api/system/api-keys.ts';
import { startApi } from '../../support/api-server.ts';
import { callRecordOf } from '../../support/call-records.ts';

const NOON = Date.UTC(2026, 2, 1, 12);
const HOUR_MS = 3_600_000;
let api: Awaited<ReturnType<typeof startApi>>;

beforeAll(async () => {
  api = await startApi({ transcribe: async () => Promise.reject(new Error('unused')) });
  const call = (id: string, hours: number, changes: object) =>
    callRecordOf({
      id,
      startedAtMs: NOON + hours * HOUR_MS,
      endedAtMs: NOON + hours * HOUR_MS + 9_000,
      timeline: [],
      ...changes,
    });
  await api.store.calls.upsertMany([
    call('one', 0, { botVersion: 'v1', endReason: 'finished' }),
    call('two', 1, { botVersion: 'v2', endReason: 'dialog-failed' }),
    call('three', 8, { botVersion: 'v2', endReason: 'transferred' }),
    call('four', 8, { botName: '=desk', endReason: 'finished' }),
  ]);
  await api.store.calls.setDisposition('default', 'one', 'booked');
});

afterAll(() => api[Symbol.asyncDispose]());

const ask = (path: string, headers: Record<string, string> = {}, key = api.key): Promise<Response> =>
  api.send('GET', path, undefined, key, headers);
const send: typeof api.send = (...request) => api.send(...request);
const keyWith = (name: string, ...scopes: ApiScope[]): string => api.keys.create({ name, tenantId: 'default', scopes }, 0).secret;

const RANGE = 'from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z';

it('counts calls in total, by hour and day of a zone, by bot, version and disposition, and what the last version changed', async () => {
  const by = 'hour,day,bot,version,disposition,change';
  const answer = await ask(`/statistics?${RANGE}&by=${by}&zone=Asia/Kolkata&before=2026-02-28T00:00:00Z`);
  const statistics = statisticsView.parse(await answer.json());
  expect(statistics.total).toMatchObject({ calls: 4, answered: 4, contained: 2, transferred: 1, givenUp: 0, costs: [] });
  expect(statistics.total.endings).toMatchObject({ finished: 2, failed: 1, transferred: 1 });
  expect(statistics.before).toMatchObject({ calls: 0, replies: null });
  expect(statistics.hours?.length).toBe(25);
  expect(statistics.hours?.filter(({ calls }) => calls > 0).map(({ from, calls }) => [from, calls])).toEqual([
    ['2026-03-01T11:30:00.000Z', 1],
    ['2026-03-01T12:30:00.000Z', 1],
    ['2026-03-01T19:30:00.000Z', 2],
  ]);
  expect(statistics.days?.map(({ day, calls }) => [day, calls])).toEqual([
    ['2026-03-01', 2],
    ['2026-03-02', 2],
  ]);
  expect(statistics.bots?.map(({ bot, calls }) => [bot, calls]).sort()).toEqual([
    ['=desk', 1],
    ['clinic', 3],
  ]);
  expect(statistics.versions?.map(({ bot, version, calls }) => [bot, version, calls])).toContainEqual(['=desk', null, 1]);
  expect(statistics.dispositions).toEqual([
    { disposition: null, calls: 3 },
    { disposition: 'booked', calls: 1 },
  ]);
  expect(statistics.changes?.map(({ bot, newest, previous }) => [bot, newest.version, previous.version])).toEqual([
    ['clinic', 'v2', 'v1'],
  ]);
});

it('gives one group as a table, whose cells no spreadsheet takes for formulas', async () => {
  for (const answer of [
    await ask(`/statistics?${RANGE}&by=bot&format=csv`),
    await ask(`/statistics?${RANGE}&by=bot`, { accept: 'text/csv' }),
  ]) {
    expect(answer.headers.get('content-type')).toContain('text/csv');
    const lines = (await answer.text()).trim().split(/\r?\n/u);
    expect(lines[0]).toMatch(/^bot,calls,answered,contained/u);
    expect(
      lines
        .slice(1)
        .map((line) => line.split(',').slice(0, 2).join(' '))
        .sort(),
    ).toEqual(["'=desk 1", 'clinic 3']);
  }
  const total = await (await ask(`/statistics?${RANGE}&format=csv`)).text();
  expect(total).toContain('2026-03-01T00:00:00.000Z,2026-03-02T00:00:00.000Z,4,4,2,1');
});

it.each([
  { path: `/statistics?${RANGE}&zone=Mars/Olympus`, says: 'time zone' },
  { path: `/statistics?${RANGE}&by=week`, says: 'hour' },
  { path: `/statistics?${RANGE}&by=hour,day&format=csv`, says: 'one group' },
  { path: '/statistics?from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z', says: 'before' },
  { path: '/statistics?from=2024-01-01T00:00:00Z&to=2026-03-01T00:00:00Z', says: '366 days' },
  { path: '/statistics?from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z&by=hour', says: '32 days' },
  { path: '/reviews?reason=boring', says: 'reason' },
  { path: '/calls?result=great', says: 'result' },
])('says what is accepted for $path', async ({ path, says }) => {
  const answer = await ask(path);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain(says);
});

it('finds the calls behind a figure', async () => {
  const found = async (filter: string): Promise<string[]> => {
    const { calls } = (await (await ask(`/calls?${filter}`)).json()) as { calls: { id: string }[] };
    return calls.map(({ id }) => id).sort();
  };
  expect(await found('result=contained')).toEqual(['four', 'one']);
  expect(await found('result=transferred&bot=clinic')).toEqual(['three']);
  expect(await found('attention=failed')).toEqual(['two']);
  expect(await found('cutOff=true')).toEqual([]);
  expect(await found('answered=false')).toEqual([]);
});

it('lists calls to look at, and takes labels, assignees and comments from those who may', async () => {
  const listed = reviewPageView.parse(await (await ask('/reviews?state=open')).json());
  expect(listed.reviews.map(({ callId, findings }) => [callId, findings[0]?.reason])).toEqual([['two', 'failed']]);
  const asha = keyWith('asha', 'calls:read', 'calls:review');
  const changed = await send('POST', '/calls/two/review', { labels: ['prompt', 'prompt'], assignee: 'ravi' }, asha);
  expect(callReviewView.parse(await changed.json()).review).toMatchObject({
    labels: ['prompt'],
    assignee: 'ravi',
    changedBy: 'asha',
  });
  const said = await send('POST', '/calls/two/comments', { text: 'Ring +15550001 back' }, asha);
  expect(said.status).toBe(201);
  // Numbers in it are masked for this key.
  const comment = commentView.parse(await said.json());
  expect(comment).toMatchObject({ by: 'asha' });
  expect(comment.text).not.toContain('15550001');
  expect((await send('POST', '/calls/two/review', { state: 'done' })).status).toBe(200);
  expect(((await (await ask('/reviews/count?state=open')).json()) as { count: number }).count).toBe(0);

  const ravi = keyWith('ravi', 'calls:read', 'calls:review');
  expect((await send('DELETE', `/calls/two/comments/${comment.id}`, undefined, ravi)).status).toBe(404);
  expect((await send('DELETE', `/calls/two/comments/${comment.id}`, undefined, asha)).status).toBe(200);
  const viewer = keyWith('viewer', 'calls:read');
  expect((await send('POST', '/calls/two/review', { state: 'open' }, viewer)).status).toBe(403);
  expect((await send('POST', '/calls/two/comments', { text: 'x' }, viewer)).status).toBe(403);
  expect((await send('POST', '/calls/none/review', { state: 'open' })).status).toBe(404);
  expect((await send('POST', '/calls/two/review', { labels: ['x'.repeat(41)] })).status).toBe(400);
  expect((await send('POST', '/calls/two/comments', { text: ' ' })).status).toBe(400);
  expect(API_SCOPES).toContain('calls:review');
});

import { describe, expect, it, test } from 'vitest';
import { campaignPaused, problemsOf } from '../../../src/http/api/system/system-problems.ts';
import { PROBLEM_CODES, type SystemState } from '../../../src/http/api/system/system-views.ts';

const GB = 1024 ** 3;
const NOW = '2026-03-01T12:00:00.000Z';
const process = { name: 'gateway', pid: 7, state: 'up', lagMs: 3, shedding: false, calls: 1 } as const;
const queue = { name: 'post-call', purpose: '', waiting: 0, active: 0, delayed: 0, failed: 0, oldestAt: null } as const;
const carrier = {
  name: 'twilio',
  title: 'Twilio',
  configured: true,
  live: 1,
  lastCallAt: NOW,
  lastRefusalAt: '2026-03-01T11:00:00.000Z',
  lastRefusal: 'signature',
  marksMissing: false,
};
const slots = { vendor: 'platform', service: 'asr', live: 16, batch: 0, waiting: 0, most: 16 } as const;

const well: SystemState = {
  version: '1.0.0',
  startedAt: NOW,
  checkedAt: NOW,
  calls: { live: 1, most: 10, draining: false },
  replies: { count: 0, upTo: [] },
  processes: [process],
  machine: { cores: 2, load: 9, memoryBytes: 4 * GB, memoryFreeBytes: GB, diskBytes: 40 * GB, diskFreeBytes: 2 * GB },
  store: { kind: 'embedded', state: 'ok' },
  outbox: { calls: 200, recordings: 0, rejected: 0 },
  speech: { state: 'ok', slots: [slots], openBreakers: [], failing: [] },
  queues: { backend: 'postgres', queues: [{ ...queue, waiting: 3, oldestAt: '2026-03-01T11:51:00.000Z' }] },
  carriers: [carrier],
  untrustedProxies: [],
  bots: { count: 1, reloadedAt: null, problems: [], down: [] },
};
const reached = { address: 'https://voice.example.com', carriers: ['Twilio'] };

describe('what is wrong with a gateway', () => {
  it('says nothing when all is well, however full its slots are and however old a refusal is', () => {
    expect(problemsOf(well, reached)).toEqual([]);
    expect(problemsOf(well, { address: undefined, carriers: [] })).toEqual([]);
  });

  const { machine, outbox, speech, calls } = well;
  const media: SystemState['processes'] = [
    { ...process, name: 'media 1' },
    { ...process, name: 'media 2', state: 'silent' },
  ];
  test.each<[string, Partial<SystemState>, string]>([
    ['store-down', { store: { kind: 'server', state: 'down' } }, 'does not answer'],
    ['processes-missing', { processes: media }, '1 of 2'],
    ['speech-down', { speech: { ...speech, state: 'down' } }, 'No bot'],
    ['disk-full', { machine: { ...machine, diskFreeBytes: 0.1 * GB } }, '0.1 GB'],
    ['late', { processes: [{ ...process, lagMs: 250.4, shedding: true }] }, '250 ms'],
    ['bot-down', { bots: { ...well.bots, down: ['desk'] } }, 'desk'],
    ['draining', { calls: { ...calls, draining: true } }, '1 calls go on'],
    ['speech-partly', { speech: { ...speech, state: 'partly' } }, 'Some bots'],
    ['breaker-open', { speech: { ...speech, openBreakers: ['synthesis'] } }, 'synthesis'],
    ['vendor-failing', { speech: { ...speech, failing: [{ service: 'synthesis', vendor: 'azure' }] } }, 'azure'],
    ['speech-waiting', { speech: { ...speech, slots: [{ ...slots, waiting: 2 }] } }, '2 requests wait'],
    ['calls-full', { calls: { ...calls, live: 10 } }, 'limit of 10'],
    ['disk-low', { machine: { ...machine, diskFreeBytes: 2 * GB - 1 } }, '2.0 GB'],
    ['outbox-long', { outbox: { ...outbox, recordings: 1 } }, '201 ended calls'],
    ['outbox-rejected', { outbox: { ...outbox, rejected: 1 } }, 'set aside'],
    [
      'jobs-failed',
      { queues: { backend: 'redis', queues: [{ ...queue, failed: 3 }] } },
      'Jobs of post-call that were given up: 3',
    ],
    [
      'jobs-waiting',
      { queues: { backend: 'redis', queues: [{ ...queue, waiting: 1, oldestAt: '2026-03-01T11:48:30.000Z' }] } },
      'waited for 11 minutes',
    ],
    ['webhooks-refused', { carriers: [{ ...carrier, lastRefusalAt: '2026-03-01T11:55:00.000Z' }] }, 'signature'],
    ['marks-missing', { carriers: [{ ...carrier, marksMissing: true }] }, 'Twilio returned too few'],
    ['bots-refused', { bots: { ...well.bots, reloadedAt: NOW, problems: ['clinic.yaml: no voice'] } }, 'clinic.yaml'],
  ])('names %s, alone, with what to do', (code, wrong, text) => {
    const problems = problemsOf({ ...well, ...wrong }, reached);
    expect(problems.map((problem) => problem.code)).toEqual([code]);
    expect(problems[0]?.what).toContain(text);
    expect(`${problems[0]?.what} ${problems[0]?.remedy}`).not.toMatch(/[{}]|undefined/u);
    expect(problems[0]?.remedy).not.toBe('');
  });

  it('names a proxy that is not trusted', () => {
    expect(problemsOf({ ...well, untrustedProxies: ['10.0.0.5'] }, reached)).toMatchObject([
      { code: 'proxy-untrusted', remedy: 'Set `http.trustedProxies` to 10.0.0.5 if that is your proxy.' },
    ]);
  });

  it('says where carriers cannot come in, and which campaign stopped by itself', () => {
    expect(problemsOf(well, { ...reached, address: undefined })).toMatchObject([{ code: 'address-missing' }]);
    expect(problemsOf(well, { ...reached, address: 'http://voice.example.com' })).toMatchObject([{ code: 'address-plain' }]);
    expect(campaignPaused({ name: 'March', reason: '9 of 20 calls failed' })).toMatchObject([
      { code: 'campaign-paused', what: 'The campaign “March” was paused by itself: 9 of 20 calls failed' },
    ]);
  });

  it('puts what costs calls first', () => {
    const all = problemsOf(
      { ...well, store: { kind: 'server', state: 'down' }, calls: { ...calls, live: 10 }, outbox: { ...outbox, rejected: 1 } },
      { ...reached, address: undefined },
    );
    const order = all.map(({ code }) => PROBLEM_CODES.indexOf(code));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(all[0]?.severity).toBe('error');
  });
});

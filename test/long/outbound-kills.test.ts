import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { API_KEYS_FILE, ApiKeys } from '../../src/http/api/system/api-keys.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { SimulatedCallee } from '../../src/sim/caller/callee.ts';
import { SimulatedTwilioApi } from '../../src/sim/twilio/api.ts';
import { openDatabase, storeOn } from '../../src/records/database.ts';
import { eventually } from '../support/eventually.ts';
import { startTestPlatform } from '../integration/platform/setup.ts';
import { zoneAtNoon } from '../../src/sim/caller/noon.ts';
import { freePort } from '../support/processes.ts';
import { startGatewayProcess, talkativeGateway } from './gateway-process.ts';

const ACCOUNT = `AC${'3'.repeat(32)}`;
const AUTH_TOKEN = 'outbound-kills-token';

/** What the API says of an attempt, or of a list of them. */
interface Seen {
  readonly state: string;
  readonly disposition: string | null;
  readonly cause: string | null;
  readonly attempts: readonly { readonly id: string }[];
}

interface Moment {
  readonly when: string;
  readonly callee: SimulatedCallee;
  /** When to kill: as the order comes, after its answer, or when the attempt is there. */
  readonly at: 'order' | 'answer' | 'ringing' | 'answered';
  /** Calls that the carrier has of it. */
  readonly calls: number;
  /** What may come of it. */
  readonly ends: readonly string[];
}

const rings = { dialMs: 100, ringMs: 300_000, outcome: { kind: 'answered' as const } };
const MOMENTS: readonly Moment[] = [
  {
    when: 'between the request and its answer',
    callee: { ...rings, order: { kind: 'taken', afterMs: 5_000 } },
    at: 'order',
    calls: 1,
    ends: ['failed process-died'],
  },
  {
    when: "after the carrier's answer",
    callee: { ...rings, dialMs: 30_000 },
    at: 'answer',
    calls: 1,
    ends: ['failed process-died'],
  },
  { when: 'while the phone rings', callee: rings, at: 'ringing', calls: 1, ends: ['failed process-died'] },
  {
    when: 'after the answer',
    callee: { dialMs: 50, ringMs: 100, outcome: { kind: 'answered', fullMedia: true } },
    at: 'answered',
    calls: 1,
    ends: ['failed process-died', 'silence'],
  },
  {
    when: 'before the carrier has the request',
    callee: { order: { kind: 'lost', placed: false, afterMs: 5_000 }, outcome: { kind: 'busy' } },
    at: 'order',
    calls: 0,
    // The carrier's list of calls is believed after two minutes, when the yes of the gate is over.
    ends: ['failed not-placed'],
  },
];

it('places no call twice, and knows what came of it, whenever kill -9 comes', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-outbound-kills-'));
  await using speech = await startTestPlatform();
  let callee: SimulatedCallee = rings;
  let onOrder = (): void => undefined;
  await using api = await SimulatedTwilioApi.start(ACCOUNT, AUTH_TOKEN, {
    onDial: () => {
      onOrder();
      return callee;
    },
  });
  const env = {
    ...talkativeGateway(dataDir, speech.platform),
    OFFHOOK_PORT: String(await freePort()),
    OFFHOOK_TWILIO_ACCOUNT_SID: ACCOUNT,
    OFFHOOK_TWILIO_AUTH_TOKEN: AUTH_TOKEN,
    OFFHOOK_TWILIO_API_URL: api.url,
    OFFHOOK_DIALLING__CALLER_IDS: '+442079460001',
    OFFHOOK_DIALLING__CALLS_PER_SECOND: '100',
    // Calls are what is tested, not how busy the machine is.
    OFFHOOK_CALL__REFUSE_LAG_MS: '60000',
  };
  const keys = new ApiKeys(join(dataDir, API_KEYS_FILE));
  const key = keys.create({ name: 'test', tenantId: 'default', scopes: ['calls:dial', 'calls:read'] }, 0).secret;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  let gateway = await startGatewayProcess(env);
  const get = async (path: string): Promise<Seen> => {
    for (;;) {
      const answer = await fetch(`${gateway.url}/api${path}`, { headers });
      if (answer.ok) return (await answer.json()) as Seen;
      // A key may ask ten times a second.
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  };
  for (const [index, moment] of MOMENTS.entries()) {
    ({ callee } = moment);
    const { when, at } = moment;
    const to = `+4420794601${String(index).padStart(2, '0')}`;
    const list = `/attempts?number=${encodeURIComponent(to)}`;
    const dial = () =>
      fetch(`${gateway.url}/api/calls`, {
        method: 'POST',
        headers: { ...headers, 'idempotency-key': to },
        body: JSON.stringify({ to, bot: 'talker', zone: zoneAtNoon(), ringTimeoutMs: 120_000 }),
      });
    const ordered = new Promise<void>((resolve) => (onOrder = resolve));
    const placed = dial().then(async (answer) => {
      if (!answer.ok) throw new Error(`refused: ${await answer.text()}`);
    });
    // The connection ends with the process.
    placed.catch(() => undefined);
    await Promise.race([ordered, placed.then(() => ordered)]);
    if (at !== 'order') await placed;
    if (at === 'ringing' || at === 'answered') {
      const [attempt] = (await get(list)).attempts;
      await eventually(at, async () => (await get(`/attempts/${attempt?.id}`)).state === at);
    }
    gateway.child.kill('SIGKILL');
    await once(gateway.child, 'exit');
    gateway = await startGatewayProcess(env);
    // The client does not know what became of its request, and sends it again.
    const { id } = (await (await dial()).json()) as { readonly id: string };
    let end: Seen | undefined;
    const isOver = async (): Promise<boolean> => (end = await get(`/attempts/${id}`)).state === 'ended';
    await eventually(`the end of the call that was killed ${when}`, isOver, 300_000);
    const outcome = [end?.disposition, end?.cause].filter((each) => typeof each === 'string').join(' ');
    console.log(`killed ${when}: ${outcome}`);
    expect(moment.ends, when).toContain(outcome);
    const orders = api.dialled.orders.filter((order) => order.to === to);
    const phones = api.dialled.calls.map(({ phone }) => phone).filter(({ order }) => order.to === to);
    expect([orders.length, phones.length], when).toEqual([1, moment.calls]);
    expect((await get(list)).attempts, when).toHaveLength(1);
    // Nobody picked up a phone that nobody would have spoken to.
    if (at !== 'answered')
      expect(phones.map(({ answeredAtMs }) => answeredAtMs).filter((atMs) => atMs !== undefined)).toEqual([]);
  }
  gateway.child.kill('SIGTERM');
  await once(gateway.child, 'exit');
  const database = await openDatabase({ url: undefined, dataDir, clock: systemClock, onProblem: () => undefined });
  expect(await storeOn(database).attempts.live()).toEqual([]);
  await database.close();
  rmSync(dataDir, { recursive: true, force: true });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyChain } from '../../../src/outbound/gate/chain.ts';
import type { LoggedDecision } from '../../../src/outbound/gate/chain.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openDatabase, storeOn } from '../../../src/records/database.ts';
import type { DecisionEntry } from '../../../src/records/dialling.ts';
import type { Store } from '../../../src/records/port.ts';
import { onProblem, temporaryFolder } from '../../support/databases.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { requireTool } from '../../support/requires.ts';
import { diallerOver, NOON_MS, ScriptedCarrier, wish } from '../../unit/outbound/dialler-bench.ts';

const postgres = requireTool('postgres');
const KEY = Buffer.alloc(32, 7).toString('base64');

describe.skipIf(postgres === undefined)('two gateways on one PostgreSQL server', () => {
  let server: PostgresServer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let stores: readonly [Store, Store];
  const clock = new ManualClock(0, NOON_MS);

  beforeAll(async () => {
    server = await startPostgres(postgres ?? '');
    folder = await temporaryFolder();
    const open = async (): Promise<Store> => {
      const masterKeys = [new Secret(KEY)];
      return storeOn(await openDatabase({ url: server.url, dataDir: folder.path, masterKeys, clock: systemClock, onProblem }));
    };
    stores = [await open(), await open()];
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    await server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  const gateways = (carrier: ScriptedCarrier) =>
    stores.map(({ attempts }) => diallerOver({ attempts, carrier, clock, callsPerSecond: Infinity }));

  it('place an attempt once that both are told to place', async () => {
    const carrier = new ScriptedCarrier();
    const [one, other] = gateways(carrier);
    if (one === undefined || other === undefined) throw new Error('there are two');
    const wishes = Array.from({ length: 10 }, (_, index) => wish({ to: `+4420794602${String(index).padStart(2, '0')}` }));
    const gated = await one.dialler.ask(wishes);
    const placing = gated.flatMap(({ attempt: { id } }) => [one, other].map(({ dialler }) => dialler.place('default', id)));
    const outcomes = await Promise.all(placing);
    expect(outcomes.filter((outcome) => outcome === 'placed')).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === 'elsewhere')).toHaveLength(10);
    expect(new Set(carrier.orders.map(({ to }) => to)).size).toBe(10);
    expect(carrier.orders).toHaveLength(10);
    expect(one.held.size + other.held.size).toBe(10);
  });

  it('never both get yes for one number, and write one chain of decisions', async () => {
    const carrier = new ScriptedCarrier();
    const both = gateways(carrier);
    const numbers = Array.from({ length: 8 }, (_, index) => `+4420794603${String(index).padStart(2, '0')}`);
    const asked = numbers.flatMap((to) => both.map(({ dialler }) => dialler.ask([wish({ to })])));
    const answers = (await Promise.all(asked)).flat();
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(8);
    expect(new Set(answers.filter(({ allowed }) => allowed).map(({ attempt }) => attempt.to))).toEqual(new Set(numbers));
    const entries: (DecisionEntry & { readonly body: LoggedDecision })[] = [];
    for await (const entry of stores[0].attempts.decisions('default'))
      entries.push({ ...entry, body: entry.body as LoggedDecision });
    const head = await stores[1].attempts.decisionHead('default');
    expect(await verifyChain(entries, 'default', head)).toMatchObject({ faultCount: 0, entries: head?.sequence });
  });

  it('take over from each other what a dead one left, once', async () => {
    const carrier = new ScriptedCarrier();
    const [dead, one] = gateways(carrier);
    const [second] = gateways(carrier);
    if (dead === undefined || one === undefined || second === undefined) throw new Error('there are three');
    const { id } = await dead.dial({ to: '+442079460400' });
    await dead.dialler.follower.reported(id, { carrier: 'twilio', carrierCallId: `CA-${id}`, progress: { state: 'ringing' } });
    carrier.progress = { state: 'ringing' };
    one.dialler.start();
    second.dialler.start();
    const told = () => [...one.told, ...second.told].filter(([event, attempt]) => event === 'ended' && attempt.id === id);
    while (told().length === 0) {
      clock.advance(500);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await stores[1].attempts.get('default', id)).toMatchObject({ disposition: 'failed', cause: 'process-died' });
    expect(carrier.orders.filter(({ callId }) => callId === id)).toHaveLength(1);
    await one.dialler[Symbol.asyncDispose]();
    await second.dialler[Symbol.asyncDispose]();
    expect(told()).toHaveLength(1);
  });
});

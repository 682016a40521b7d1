import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CalleeOutcome, SimulatedCallee } from '../../../src/sim/caller/callee.ts';
import type { SystemState } from '../../../src/http/api/system/system-views.ts';
import { ALL_QUEUES } from '../../../src/records/queue/port.ts';
import { eventually } from '../../support/eventually.ts';
import { type OutboundBench, sayHello, startOutboundBench } from './outbound-bench.ts';

interface Attempt {
  readonly state: string;
  readonly disposition?: string;
  readonly cause?: string;
}
interface LiveCall {
  readonly id: string;
  readonly phase: string;
  readonly to: string;
}

describe.each([
  { note: 'in one process', processes: 1 },
  { note: 'with calls in two processes', processes: 2 },
])('a gateway that dials, $note', ({ processes }) => {
  let bench: OutboundBench;
  const people = new Map<string, SimulatedCallee>();
  const answers = (outcome: Omit<CalleeOutcome & { kind: 'answered' }, 'kind'>, ringMs = 200): SimulatedCallee => ({
    ringMs,
    outcome: { kind: 'answered', ...outcome },
  });
  let numbers = 100;
  /** Somebody whom nobody has called yet. */
  const somebody = (callee: SimulatedCallee): string => {
    const number = `+44207946${String((numbers += 1)).padStart(4, '0')}`;
    people.set(number, callee);
    return number;
  };

  beforeAll(async () => {
    bench = await startOutboundBench(processes, ({ to }) => people.get(to) ?? { outcome: { kind: 'failed', sip: 404 } });
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  const attempt = async (id: string): Promise<Attempt> => (await bench.api<Attempt>(`/attempts/${id}`)).body;
  const ended = (id: string) => eventually('the end of the attempt', async () => (await attempt(id)).state === 'ended');
  const live = async (): Promise<readonly LiveCall[]> => (await bench.api<{ calls: LiveCall[] }>('/live-calls')).body.calls;
  const phaseOf = async (id: string): Promise<string | undefined> => (await live()).find((call) => call.id === id)?.phase;
  const leases = (): readonly string[] => readdirSync(join(bench.dataDir, 'calls')).filter((name) => name.endsWith('.lease'));
  const stateOf = (number: string): string | undefined =>
    bench.carrier.dialled.calls.find(({ phone }) => phone.order.to === number)?.phone.state;
  const isFree = async (id: string): Promise<boolean> => (await phaseOf(id)) === undefined && !leases().includes(`${id}.lease`);
  const ownerOf = (id: string): number =>
    Number(/\d+/u.exec(readFileSync(join(bench.dataDir, 'calls', `${id}.lease`), 'utf8'))?.[0]);

  it.concurrent('greets the person by name behind their hello, and keeps what came of it', async () => {
    const to = somebody(answers({ fullMedia: true, talk: sayHello }));
    const id = await bench.dial(to, { variables: { name: 'Asha' }, metadata: { order: 'A-7' } });
    await ended(id);
    expect(await attempt(id)).toMatchObject({ disposition: 'completed' });
    expect((await bench.api(`/calls/${id}`)).body).toMatchObject({
      direction: 'outbound',
      to,
      endReason: 'reminded',
      variables: { name: 'Asha' },
      turns: [{ botHeardText: 'Hello Asha.' }],
      outbound: { metadata: { order: 'A-7' }, identified: true, answeredBy: 'person' },
    });
    await eventually('its place', () => isFree(id));
  });

  it.runIf(processes > 1).concurrent('calls a person no more who opted out in a call', async () => {
    const to = somebody(answers({ fullMedia: true, talk: (line) => sayHello(line, '9') }));
    const id = await bench.dial(to);
    await ended(id);
    expect(await attempt(id)).toMatchObject({ disposition: 'opt-out' });
    expect((await bench.api(`/calls/${id}`)).body).toMatchObject({ optOut: { kind: 'opt-out', how: 'keyed' } });
    await expect(bench.dial(to)).rejects.toThrow('suppressed');
  });

  it.concurrent('cancels a ringing call at its carrier when somebody hangs it up', async () => {
    const to = somebody({ outcome: { kind: 'no-answer' } });
    const id = await bench.dial(to);
    await eventually('ringing', async () => (await phaseOf(id)) === 'ringing');
    expect((await bench.api(`/live-calls/${id}/hang-up`, {})).status).toBe(200);
    await ended(id);
    expect(await attempt(id)).toMatchObject({ disposition: 'cancelled' });
    await eventually('the end at the carrier', () => stateOf(to) === 'cancelled');
    await eventually('its place', () => isFree(id));
  });

  it.concurrent('shows how it is with all its processes: calls, slots, queues, store', async () => {
    const id = await bench.dial(somebody({ outcome: { kind: 'no-answer' } }));
    await eventually('ringing', async () => (await phaseOf(id)) === 'ringing');
    const look = async (): Promise<SystemState> => (await bench.api<SystemState>('/system')).body;
    // An answer serves whoever asks within two seconds.
    let state = await look();
    await eventually('the call to be counted, and the store to have answered', async () => {
      state = await look();
      return state.calls.live > 0 && state.store.state === 'ok';
    });
    expect(state).toMatchObject({
      store: { kind: 'embedded', state: 'ok' },
      speech: { state: 'ok', openBreakers: [], failing: [] },
      outbox: { rejected: 0 },
      bots: { count: expect.any(Number), problems: [] },
    });
    expect(state.processes.map(({ name, state: each }) => `${name} ${each}`)).toEqual(
      processes > 1 ? ['front up', 'media 1 up', 'media 2 up'] : ['gateway up'],
    );
    expect(state.processes.reduce((sum, { calls }) => sum + (calls ?? 0), 0)).toBeGreaterThan(0);
    const [asr] = state.speech.slots.filter(({ service }) => service === 'asr');
    expect(asr).toMatchObject({ vendor: 'platform', live: expect.any(Number), waiting: 0 });
    expect(asr?.live).toBeGreaterThan(0);
    expect(asr?.most).toBeGreaterThanOrEqual(asr?.live ?? 0);
    expect(state.queues.queues.map(({ name }) => name)).toEqual([...ALL_QUEUES]);
    expect((await bench.api(`/live-calls/${id}/hang-up`, {})).status).toBe(200);
    await ended(id);
  });

  it.runIf(processes > 1)('cancels what rings in a process that dies, and talks on in the other', async () => {
    const ringing = await bench.dial(somebody({ outcome: { kind: 'no-answer' } }));
    await eventually('ringing', async () => (await phaseOf(ringing)) === 'ringing');
    const talking = await bench.dial(somebody(answers({ fullMedia: true, talk: sayHello }, 50)));
    await eventually('the other call', async () => (await phaseOf(talking)) !== undefined);
    expect(ownerOf(talking)).not.toBe(ownerOf(ringing));
    process.kill(ownerOf(ringing), 'SIGKILL');
    await Promise.all([ended(ringing), ended(talking)]);
    expect(await attempt(ringing)).toMatchObject({ disposition: 'failed', cause: 'process-died' });
    expect((await bench.api(`/calls/${talking}`)).body).toMatchObject({ endReason: 'reminded' });
  });

  it('cancels what rings when it stops', async () => {
    const to = somebody({ outcome: { kind: 'no-answer' } });
    const id = await bench.dial(to);
    await eventually('ringing', async () => (await phaseOf(id)) === 'ringing');
    await bench.close();
    await eventually('the end at the carrier', () => stateOf(to) === 'cancelled');
    expect(leases()).not.toContain(`${id}.lease`);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallerEar } from '../../../src/sim/ear.ts';
import { newCallSid, type SimulatedCall } from '../../../src/sim/twilio-carrier.ts';
import { requireTool } from '../../support/requires.ts';
import { eventually } from '../gateway/eventually.ts';
import { sayTones } from '../platform/tone-engines.ts';
import { type Machine, type Machines, startMachines } from './machines.ts';

const redis = requireTool('redis-server');
const postgres = requireTool('postgres');

/** Spells of speech that the caller has heard to their ends. */
function spellsHeard(call: SimulatedCall): number {
  const ear = new CallerEar();
  ear.listen(call.stream.buffer.heard);
  return ear.phrases.filter(({ toMs }) => toMs !== undefined).length;
}

describe.skipIf(redis === undefined || postgres === undefined)('three machines behind one address', () => {
  let cluster: Machines;
  let a: Machine;
  let b: Machine;
  let c: Machine;

  beforeAll(async () => {
    cluster = await startMachines({ redis: redis ?? '', postgres: postgres ?? '' }, ['a', 'b', 'c']);
    [a, b, c] = cluster.machines as [Machine, Machine, Machine];
  }, 60_000);

  afterAll(async () => cluster[Symbol.asyncDispose]());

  /** Which machine gets webhooks, media sockets and status callbacks. */
  function route(to: { readonly voice: Machine; readonly stream: Machine; readonly status: Machine }): void {
    cluster.balancer.targetOf = (path) => {
      const kind = path.includes('/stream/') ? 'stream' : path.includes('/status') ? 'status' : 'voice';
      return to[kind].gateway.url;
    };
  }

  const liveAt = (machine: Machine) => machine.gateway.calls.calls.length;

  it('talks with a caller whose webhook, media socket and status callback come to different machines', async () => {
    route({ voice: a, stream: b, status: c });
    const call = cluster.call();
    await call.connect();
    expect([a, b, c].map(liveAt)).toEqual([1, 0, 0]);
    await eventually('the greeting', () => spellsHeard(call) > 0);
    const session = a.sessionOf(call);
    await eventually('the end of the greeting', () => session.standing.phase === 'listening');
    call.stream.say(sayTones(['bravo'], 8_000));
    await eventually('the answer', () => session.standing.botText.includes('bravo'));
    // The carrier stops the stream and tells C; A would wait for another stream otherwise.
    await call.hangUp();
    await eventually('the end of the call', () => liveAt(a) === 0, 5_000);
    await eventually('the release', async () => (await c.shared.calls.find({ callId: session.id })) === undefined, 5_000);
  });

  it('has one call of two webhooks that come to two machines at once', async () => {
    route({ voice: a, stream: c, status: c });
    const callSid = newCallSid();
    const calls = [cluster.call({ callSid, connectTo: a.gateway.url }), cluster.call({ callSid, connectTo: b.gateway.url })];
    await Promise.all(calls.map((call) => call.connect()));
    expect(liveAt(a) + liveAt(b) + liveAt(c)).toBe(1);
    await calls[0]?.hangUp();
    await eventually('the end of the call', () => liveAt(a) + liveAt(b) === 0, 5_000);
  });
});

import { once } from 'node:events';
import { join } from 'node:path';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { StreamTokens } from '../../../src/carriers/stream-token.ts';
import {
  type AudioMessage,
  audioMessage,
  type WatchMessage,
  watchMessage,
  type WatchRequest,
} from '../../../src/http/api/calls/watch-messages.ts';
import { API_KEYS_FILE, ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { SharedApiKeys } from '../../../src/http/api/system/shared-api-keys.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { CallerEar } from '../../../src/sim/caller/ear.ts';
import { newCallSid, type SimulatedCall } from '../../../src/sim/twilio/carrier.ts';
import { requireTool } from '../../support/requires.ts';
import { eventually } from '../../support/eventually.ts';
import { sayTones } from '../platform/tone-engines.ts';
import { type Machine, type Machines, startMachines } from './machines.ts';
import { HANGS_MS } from '../../support/patience.ts';

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
    cluster = await startMachines({ redis: redis ?? '', postgres: postgres ?? '' }, ['a', 'b', 'c'], {
      OFFHOOK_SPEECH__SLOTS_PER_KEY: '5',
    });
    [a, b, c] = cluster.machines as [Machine, Machine, Machine];
  });

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
    await eventually('the end of the call', () => liveAt(a) === 0);
    await eventually('the release', async () => (await c.shared.calls.find({ callId: session.id })) === undefined);
  });

  it('has one call of two webhooks that come to two machines at once', async () => {
    route({ voice: a, stream: c, status: c });
    const callSid = newCallSid();
    const calls = [
      cluster.call({ carrierCallId: callSid, connectTo: a.gateway.url }),
      cluster.call({ carrierCallId: callSid, connectTo: b.gateway.url }),
    ];
    await Promise.all(calls.map((call) => call.connect()));
    expect(liveAt(a) + liveAt(b) + liveAt(c)).toBe(1);
    await calls[0]?.hangUp();
    await eventually('the end of the call', () => liveAt(a) + liveAt(b) === 0);
  });

  it('shows, follows and steers at any machine the calls of the others', async () => {
    route({ voice: a, stream: b, status: b });
    const call = cluster.call();
    await call.connect();
    const session = a.sessionOf(call);
    const listed = await c.ask('/live-calls');
    expect(listed.body).toMatchObject({ calls: [{ id: session.id, carrier: 'twilio' }] });
    const watch = await watcherAt(c);
    watch.ask({ type: 'follow', callId: session.id });
    await eventually('the greeting, as C is told of it', () => watch.newsOf(session.id).some(({ type }) => type === 'heard'));
    const audio = new WebSocket(`${c.gateway.url.replace('http', 'ws')}/api/live-calls/${session.id}/audio`, c.authorized);
    const heard: Int16Array[] = [];
    const told: AudioMessage[] = [];
    audio.on('message', (data: Buffer, isBinary) => {
      if (isBinary) heard.push(new Int16Array(Uint8Array.from(data).buffer));
      else told.push(audioMessage.parse(JSON.parse(data.toString('utf8'))));
    });
    await once(audio, 'open');
    const said = await c.ask(`/live-calls/${session.id}/say`, { text: 'One moment please.' });
    expect(said).toMatchObject({ status: 200, body: { id: session.id } });
    await eventually('the voice of the bot, as C hears it', () => heard.some((pcm) => rmsLevelDb(pcm) > -35));
    audio.send(JSON.stringify({ type: 'take-over' }));
    await eventually('the take-over', () => session.takeOver.by !== undefined);
    await expect.poll(() => told).toContainEqual({ type: 'standing', takenOver: 'you', by: session.takeOver.by });
    expect((await b.ask(`/live-calls/${session.id}/transfer`, { to: '+15550100' })).status).toBe(409);
    audio.close();
    await eventually('the bot to have the call again', () => session.takeOver.by === undefined);
    expect((await b.ask(`/live-calls/${session.id}/hang-up`, {})).status).toBe(200);
    await eventually('the end, as C is told of it', () => watch.newsOf(session.id).at(-1)?.type === 'ended');
    watch.socket.close();
    await call.ended;
    await eventually('the call to be over', async () => (await b.ask(`/live-calls/${session.id}/hang-up`, {})).status === 409);
  });

  it('takes a key of the API at all machines that was made at one, and refuses it everywhere once it is revoked', async () => {
    const keys = new SharedApiKeys(a.gateway.backlog.store.apiKeys, new ApiKeys(join(a.dataDir, API_KEYS_FILE)), systemClock);
    const { secret, key } = await keys.create({ name: 'made at A', tenantId: 'default', scopes: ['calls:read'] }, 0);
    const statusAt = async (machine: Machine): Promise<number> =>
      (await fetch(`${machine.gateway.url}/api/calls`, { headers: { authorization: `Bearer ${secret}` } })).status;
    expect(await Promise.all([a, b, c].map(statusAt))).toEqual([200, 200, 200]);
    expect(await keys.revoke(key.id)).toBe(true);
    await eventually('the refusal', async () => (await Promise.all([a, b, c].map(statusAt))).every((status) => status === 401));
  });

  it('goes on with a call whose redirect comes to another machine', async () => {
    route({ voice: a, stream: a, status: a });
    const call = cluster.call();
    await call.connect();
    route({ voice: b, stream: c, status: a });
    await call.connect();
    expect(call.streams).toHaveLength(2);
    expect([a, b, c].map(liveAt)).toEqual([1, 0, 0]);
    const session = a.sessionOf(call);
    await eventually('sound on the second stream', () => spellsHeard(call) > 0 && session.attached);
    await call.hangUp();
    await eventually('the end of the call', () => liveAt(a) === 0);
  });

  it('has another machine begin a call that it takes no more', async () => {
    route({ voice: b, stream: b, status: b });
    b.gateway.callDrain.drain().catch(() => undefined);
    const call = cluster.call();
    await call.connect();
    expect(liveAt(b)).toBe(0);
    expect(liveAt(a) + liveAt(c)).toBe(1);
    await call.hangUp();
    await eventually('the end of the call', () => liveAt(a) + liveAt(c) === 0);
    expect(b.gateway.callDrain.undo()).toBe(true);
  });

  it('has as many calls at all machines as the key of the speech platform has slots', async () => {
    route({ voice: a, stream: a, status: a });
    const calls: SimulatedCall[] = [];
    const live = (): number => liveAt(a) + liveAt(b) + liveAt(c);
    await eventually('a call for each slot', async () => {
      const call = cluster.call();
      const isTaken = await call.connect().then(
        () => true,
        () => false,
      );
      if (isTaken) calls.push(call);
      return calls.length === 5;
    });
    expect(live()).toBe(5);
    // A takes what is free, and the others what they have in hand.
    expect(liveAt(b) + liveAt(c)).toBeGreaterThan(0);
    await expect(cluster.call().connect()).rejects.toThrow();
    expect(live()).toBe(5);
    await Promise.all(calls.map((call) => call.hangUp()));
    await eventually('the ends of the calls', () => live() === 0);
    const again = cluster.call();
    await again.connect();
    await again.hangUp();
    await eventually('the end of the call', () => live() === 0);
  });

  it('is not ready at a machine that alone has lost Redis: its calls go on, and others begin those that still come', async () => {
    const readiness = async () => {
      const response = await fetch(`${b.gateway.url}/readyz`);
      return { status: response.status, body: await response.json() };
    };
    expect(await readiness()).toMatchObject({ status: 200, body: { parts: { cluster: 'ok' } } });
    route({ voice: b, stream: b, status: b });
    const own = cluster.call();
    await own.connect();
    b.redis.cut();
    await eventually('B to notice', async () => (await readiness()).status === 503);
    const cluster503 = 'cut off: Redis answers other machines, and not this one';
    expect(await readiness()).toMatchObject({ status: 503, body: { parts: { cluster: cluster503 } } });
    // The socket comes to whichever machine the balancer chooses.
    route({ voice: b, stream: c, status: c });
    const other = cluster.call();
    await other.connect();
    expect(liveAt(b)).toBe(1);
    expect(liveAt(a) + liveAt(c)).toBe(1);
    await eventually('both greetings', () => spellsHeard(own) > 0 && spellsHeard(other) > 0);
    b.redis.mend();
    await eventually('B to be ready again', async () => (await readiness()).status === 200);
    await Promise.all([own.hangUp(), other.hangUp()]);
    await eventually('the ends of the calls', () => liveAt(a) + liveAt(b) + liveAt(c) === 0);
  });

  it('refuses the media of a call whose machine is gone, and shows the call no more', async () => {
    // A machine that says nothing more: its calls are somebody's to go on with, and nobody answers for them.
    const gone = await cluster.join('http://127.0.0.1:9');
    const callId = newId('call');
    expect(await gone.calls.claim({ callId, carrierKey: 'CAgone' })).toBe(true);
    const key = await a.shared.secret('stream-tokens');
    const tokens = new StreamTokens({ key, clock: systemClock });
    const mediaOf = async () => {
      const token = await tokens.mint({ carrier: 'twilio', callId, attachmentId: newId('att') }, HANGS_MS);
      const url = `${cluster.balancer.url.replace('http', 'ws')}/carriers/twilio/stream/${token}`;
      return refusalOf(new WebSocket(url));
    };
    route({ voice: a, stream: c, status: a });
    expect(await mediaOf()).toMatchObject({ status: 503, body: { detail: expect.stringContaining('cannot be reached') } });
    expect((await c.ask(`/live-calls/${callId}/hang-up`, {})).status).toBe(503);
    await gone[Symbol.asyncDispose]();
    await eventually('the machine to be gone', async () => (await c.shared.members.list()).length === 3);
    const findAtC = async () => (await c.ask(`/live-calls/${callId}/hang-up`, {})).status;
    await expect.poll(findAtC, { timeout: HANGS_MS, interval: 200 }).toBe(404);
    expect(await mediaOf()).toMatchObject({ status: 503, body: { detail: expect.stringContaining('its machine is gone') } });
    expect((await c.ask('/live-calls')).body).toEqual({ calls: [] });
  });
});

/** A client of a machine's API that watches. */
async function watcherAt(machine: Machine) {
  const socket = new WebSocket(`${machine.gateway.url.replace('http', 'ws')}/api/watch`, machine.authorized);
  const told: WatchMessage[] = [];
  socket.on('message', (data: Buffer) => void told.push(watchMessage.parse(JSON.parse(data.toString('utf8')))));
  await once(socket, 'open');
  return {
    socket,
    ask: (request: WatchRequest) => socket.send(JSON.stringify(request)),
    newsOf: (callId: string) => told.flatMap((each) => (each.type === 'news' && each.callId === callId ? [each.news] : [])),
  };
}

async function refusalOf(socket: WebSocket): Promise<{ readonly status: number | undefined; readonly body: unknown }> {
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return { status: response.statusCode, body: JSON.parse(Buffer.concat(parts).toString('utf8')) };
}

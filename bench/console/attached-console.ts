// What it costs a gateway full of calls that somebody has the console open: one gateway with the same calls, without and with, by turns.
import { on, once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { type WatchMessage, watchMessage, type WatchRequest } from '../../src/http/api/calls/watch-messages.ts';
import { compile } from '../capacity/compiled.ts';
import { busyMsOf, usageOf } from '../capacity/processor.ts';
import { measureRow, type RunningSubject, SUBJECT_PROCESSOR } from '../capacity/row.ts';
import type { WorkloadName } from '../capacity/workload.ts';
import { type Spread, spread } from '../document.ts';

export interface AttachedConsoleOptions {
  readonly workload: WorkloadName;
  readonly calls: number;
  readonly pairs: number;
  /** Of each stretch, without or with. */
  readonly stretchMs: number;
  /** Whether the cost of a client that listens to a call is measured too. */
  readonly listener: boolean;
}

/** Extra processor time in percent, over pairs of stretches. */
export interface Cost extends Spread {
  /** Without the fifth of the pairs at either end. The true one is within `plusMinus` of it 95 times of 100. */
  readonly trimmedMean: number;
  /** Null for fewer than five pairs. */
  readonly plusMinus: number | null;
}

/** Null without a valid pair. */
export interface AttachedConsoleCosts {
  readonly loopCostPercent: Cost | null;
  /** Of a listener without a console. */
  readonly listenerCostPercent?: Cost | null;
}

/** The gateway's client in a stretch. A console has the list of calls and follows one; a listener hears one. */
export type Client = 'none' | 'console' | 'listener';

interface Attached extends AsyncDisposable {
  readonly isOpen: boolean;
  /** Received so far. */
  readonly received: { readonly messages: number; readonly bytes: number };
}

export interface Stretch {
  readonly usPerCallSecond: number;
  /** Share of the gateway's processor that other processes and the machine's host took. */
  readonly others: number;
}

type Stretches = ReadonlyMap<Client, Stretch>;

const HERE = 'bench/capacity';
const WARM_UP_MS = 10_000;
/** After a client comes or goes. */
const SETTLE_MS = 500;
/** The first clients cost more than the later ones, until their code is optimised. */
const UNCOUNTED_PAIRS = 4;
const ANSWER_WITHIN_MS = 10_000;
const MOST_OTHERS = 0.05;
/** Of the pairs, left out at either end: a collection of garbage, or many calls that change at once. */
const TRIMMED = 0.2;
const FEWEST_PAIRS = 5;

export async function measureAttachedConsole(options: AttachedConsoleOptions): Promise<AttachedConsoleCosts> {
  const { workload, calls, listener } = options;
  let pairs: readonly Stretches[] = [];
  const row = await measureRow({
    folder: join(compile([`${HERE}/gateway-child`], [`${HERE}/bots`]), HERE),
    subject: 'gateway',
    workload,
    calls,
    warmUpMs: WARM_UP_MS,
    measureMs: 0,
    meanwhile: async (gateway) => void (pairs = await measurePairs(gateway, options)),
  });
  const { cpu, loopP99Ms, generatorLateP99Ms, others, checksumOk } = row;
  console.error(`all stretches: ${JSON.stringify({ cpu, loopP99Ms, generatorLateP99Ms, others, checksumOk })}`);
  if (row.void.length > 0) console.error(`void: ${row.void.join('; ')}`);
  const counted = row.void.length > 0 ? [] : pairs;
  const loopCostPercent = costPercent(counted, 'console');
  return listener ? { loopCostPercent, listenerCostPercent: costPercent(counted, 'listener') } : { loopCostPercent };
}

async function measurePairs(gateway: RunningSubject, options: AttachedConsoleOptions): Promise<Stretches[]> {
  const clients: readonly Client[] = options.listener ? ['none', 'console', 'listener'] : ['none', 'console'];
  const pairs: Stretches[] = [];
  for (let pair = 0; pair < UNCOUNTED_PAIRS + options.pairs; pair += 1) {
    const stretches = new Map<Client, Stretch>();
    for (const client of pair % 2 === 0 ? clients : clients.toReversed())
      stretches.set(client, await measureStretch(gateway, client, options));
    pairs.push(stretches);
  }
  return pairs.slice(UNCOUNTED_PAIRS);
}

async function measureStretch(gateway: RunningSubject, client: Client, options: AttachedConsoleOptions): Promise<Stretch> {
  await using attached = await attach(gateway, client);
  await wait(SETTLE_MS);
  const { messages, bytes } = attached.received;
  const before = usageOf(gateway.pid);
  const busyBeforeMs = busyMsOf(SUBJECT_PROCESSOR);
  await wait(options.stretchMs);
  const after = usageOf(gateway.pid);
  const busyMs = busyMsOf(SUBJECT_PROCESSOR) - busyBeforeMs;
  if (!attached.isOpen) throw new Error(`the gateway closed the socket of the ${client}`);
  const wallMs = after.atMs - before.atMs;
  const cpuMs = after.cpuMs - before.cpuMs;
  const usPerCallSecond = Math.round((cpuMs * 1_000_000) / wallMs / options.calls);
  const others = Math.max(0, busyMs - cpuMs) / wallMs;
  const perSecond = (count: number): number => Math.round((10_000 * count) / wallMs) / 10;
  const received = {
    messages: perSecond(attached.received.messages - messages),
    kb: perSecond((attached.received.bytes - bytes) / 1024),
  };
  console.error(
    `${client}: ${JSON.stringify({ usPerCallSecond, others: Math.round(1000 * others) / 1000, receivedPerSecond: received })}`,
  );
  return { usPerCallSecond, others };
}

/** @throws Error when the gateway does not answer as its API says */
async function attach(gateway: RunningSubject, client: Client): Promise<Attached> {
  if (client === 'none')
    return { isOpen: true, received: { messages: 0, bytes: 0 }, [Symbol.asyncDispose]: () => Promise.resolve() };
  const watching = await connect(gateway, '/api/watch');
  const { calls } = await ask(watching.socket, { type: 'calls' }, 'calls');
  const [call] = calls;
  if (call === undefined) throw new Error('the gateway lists no calls');
  if (client === 'listener') {
    await watching[Symbol.asyncDispose]();
    return await connect(gateway, `/api/live-calls/${call.id}/audio`);
  }
  await ask(watching.socket, { type: 'follow', callId: call.id }, 'news');
  return watching;
}

async function connect({ url, apiKey }: RunningSubject, path: string): Promise<Attached & { readonly socket: WebSocket }> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers });
  const received = { messages: 0, bytes: 0 };
  socket.on('message', (data: Buffer) => {
    received.messages += 1;
    received.bytes += data.length;
  });
  await once(socket, 'open', { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  return {
    socket,
    received,
    get isOpen() {
      return socket.readyState === WebSocket.OPEN;
    },
    async [Symbol.asyncDispose]() {
      if (socket.readyState === WebSocket.CLOSED) return;
      const closed = once(socket, 'close', { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
      socket.close();
      await closed;
    },
  };
}

/** @returns the first message of this type after the request */
async function ask<Type extends WatchMessage['type']>(
  socket: WebSocket,
  request: WatchRequest,
  type: Type,
): Promise<Extract<WatchMessage, { type: Type }>> {
  const answers = on(socket, 'message', { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  socket.send(JSON.stringify(request));
  for await (const [data] of answers) {
    const message = watchMessage.parse(JSON.parse(String(data)));
    if (isOf(message, type)) return message;
    if (message.type === 'refused') throw new Error(`the gateway refused ${request.type}: ${message.why}`);
  }
  throw new Error(`the gateway did not answer ${request.type}`);
}

function isOf<Type extends WatchMessage['type']>(
  message: WatchMessage,
  type: Type,
): message is Extract<WatchMessage, { type: Type }> {
  return message.type === type;
}

/** @returns what the client costs in the pairs in which other work disturbed neither stretch; null without any */
export function costPercent(pairs: readonly Stretches[], client: Client): Cost | null {
  const counted = pairs.flatMap((stretches) => {
    const [without, attached] = [stretches.get('none'), stretches.get(client)];
    if (without === undefined || attached === undefined || Math.max(without.others, attached.others) > MOST_OTHERS) return [];
    return [100 * (attached.usPerCallSecond / without.usPerCallSecond - 1)];
  });
  const changes = spread(counted);
  return changes === null ? null : { ...changes, ...trimmedMeanOf(counted) };
}

/** With Tukey and McLaughlin's interval: the error comes of the values with those at the ends drawn in (winsorised). To a tenth. */
function trimmedMeanOf(values: readonly number[]): Pick<Cost, 'trimmedMean' | 'plusMinus'> {
  const sorted = values.toSorted((one, other) => one - other);
  const cut = Math.floor(TRIMMED * sorted.length);
  const inner = sorted.slice(cut, sorted.length - cut);
  const mean = (some: readonly number[]): number => some.reduce((sum, value) => sum + value, 0) / some.length;
  const to1 = (value: number): number => Math.round(10 * value) / 10;
  if (sorted.length < FEWEST_PAIRS) return { trimmedMean: to1(mean(inner)), plusMinus: null };
  const [least = 0, most = 0] = [inner[0], inner.at(-1)];
  const drawnIn = sorted.map((value) => Math.min(most, Math.max(least, value)));
  const middle = mean(drawnIn);
  const deviation = Math.sqrt(drawnIn.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (sorted.length - 1));
  const error = deviation / ((1 - (2 * cut) / sorted.length) * Math.sqrt(sorted.length));
  return { trimmedMean: to1(mean(inner)), plusMinus: to1(studentT(inner.length - 1) * error) };
}

/** The quantile of 97.5 % of Student's distribution (Cornish and Fisher's expansion), within 2 % from three degrees of freedom on. */
function studentT(degrees: number): number {
  const z = 1.96;
  return z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2);
}

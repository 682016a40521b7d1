import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readDevSecret } from '../../src/config/dev-secrets.ts';
import { API_KEYS_FILE, API_SCOPES, ApiKeys } from '../../src/http/api/system/api-keys.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { CallRefused, type DialOptions, dialTwilio, type SimulatedCall } from '../../src/sim/twilio/carrier.ts';
import { openDatabase, storeOn } from '../../src/records/database.ts';
import { eventually } from '../support/eventually.ts';
import { startTestPlatform } from '../integration/platform/setup.ts';
import { startGatewayProcess, talkativeGateway } from './gateway-process.ts';

const LIMIT = 4;

it('has calls in two processes behind one port, up to one limit, and all go on when one is killed', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-processes-'));
  await using speech = await startTestPlatform();
  const { child, url } = await startGatewayProcess({
    ...talkativeGateway(dataDir, speech.platform),
    OFFHOOK_CALL__PROCESSES: '2',
    OFFHOOK_CALL__MAXIMUM: String(LIMIT),
    OFFHOOK_CALL__REFUSE_LAG_MS: '60000',
  });
  const authToken = readDevSecret(dataDir, 'twilio', 'authToken').reveal();
  const { secret } = new ApiKeys(join(dataDir, API_KEYS_FILE)).create(
    { name: 'test', tenantId: 'default', scopes: [...API_SCOPES] },
    0,
  );
  const dial = (): Promise<SimulatedCall> => dialTwilio({ url, authToken, clock: systemClock });
  const ask = (path: string, body?: object): Promise<Response> =>
    fetch(`${url}/api${path}`, {
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
  const live = async () => ((await (await ask('/live-calls')).json()) as { calls: { id: string }[] }).calls.map(({ id }) => id);
  const metric = async (line: string): Promise<number> => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(
      text
        .split('\n')
        .find((each) => each.startsWith(`${line} `))
        ?.slice(line.length),
    );
  };
  const ownerOf = (id: string): number => ownerIn(dataDir, `${id}.lease`);
  const heardMs = ({ stream }: SimulatedCall): number => stream.buffer.heard.findLastIndex((sample) => Math.abs(sample) > 1_000);

  // One and a half times the limit, all at once.
  const dialled = await Promise.allSettled(Array.from({ length: LIMIT * 1.5 }, dial));
  const calls = dialled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const refused = dialled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  expect(calls).toHaveLength(LIMIT);
  const over = new Set<SimulatedCall>();
  for (const call of calls) void call.ended.then(() => over.add(call));
  for (const error of refused) expect(error).toBeInstanceOf(CallRefused);
  await eventually('the greetings', () => calls.every((call) => heardMs(call) > 0));
  const ids = await live();
  expect(ids).toHaveLength(LIMIT);
  const owners = ids.map(ownerOf);
  expect(new Set(owners).size).toBe(2);
  expect(owners).not.toContain(child.pid);
  for (const owner of owners) expect(readFileSync(`/proc/${owner}/environ`, 'utf8')).toContain('MALLOC_ARENA_MAX=1');
  expect(await metric('offhook_calls_active{carrier="twilio"}')).toBe(LIMIT);
  expect(await metric('offhook_calls_answered_total{carrier="twilio",answer="accepted"}')).toBe(LIMIT);
  expect(await metric('offhook_calls_refused_total{carrier="twilio",cause="calls"}')).toBe(LIMIT / 2);
  expect(await metric('offhook_processes_up')).toBe(2);

  // An order reaches the call wherever it is.
  const hungUp = ids[owners.indexOf(owners[0]!)]!;
  expect((await ask(`/live-calls/${hungUp}/hang-up`, {})).status).toBe(200);
  await eventually('the end of one call', async () => (await live()).length === LIMIT - 1);
  await eventually('the end at its carrier', () => over.size === 1);
  await eventually('its count', async () => (await metric('offhook_calls_total{carrier="twilio",outcome="bot-hangup"}')) === 1);

  // One process is killed in the middle of its calls: they go on in the other, which keeps its own.
  const killed = owners.find((owner) => owners.filter((each) => each === owner).length === 2 && owner !== owners[0])!;
  const left = await live();
  const going = calls.filter((call) => !over.has(call));
  process.kill(killed, 'SIGKILL');
  await eventually('another stream of each of its calls', () => going.filter(({ streams }) => streams.length === 2).length === 2);
  await eventually('other owners', () => left.every((id) => ownerOf(id) !== killed));
  expect((await live()).toSorted()).toEqual(left.toSorted());
  const before = new Map(going.map((call) => [call, heardMs(call)]));
  await eventually('more words at the ears of all', () => going.every((call) => heardMs(call) > (before.get(call) ?? 0) + 8_000));
  await eventually('the process again', async () => (await metric('offhook_processes_up')) === 2, 60_000);
  expect(await metric('offhook_process_restarts')).toBe(1);
  // What the dead one had counted is not forgotten.
  expect(await metric('offhook_calls_total{carrier="twilio",outcome="bot-hangup"}')).toBe(1);
  going.push(await dial());
  await eventually('a new call', async () => (await live()).length === left.length + 1);

  // As a service manager does: all processes of the group at once.
  for (const pid of new Set((await live()).map(ownerOf))) process.kill(pid, 'SIGTERM');
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  expect(code).toBe(0);
  expect(await endReasons(dataDir)).toEqual(['operator-hangup', ...going.map(() => 'shutdown')]);
  rmSync(dataDir, { recursive: true, force: true });
});

it('ends its calls politely when the process that has the port is killed, and the next start has their records', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-processes-'));
  await using speech = await startTestPlatform();
  const env = { ...talkativeGateway(dataDir, speech.platform), OFFHOOK_CALL__REFUSE_LAG_MS: '60000' };
  const { child, url } = await startGatewayProcess({ ...env, OFFHOOK_CALL__PROCESSES: '2' });
  const authToken = readDevSecret(dataDir, 'twilio', 'authToken').reveal();
  const calls = await Promise.all([1, 2].map(() => dialTwilio({ url, authToken, clock: systemClock })));
  await eventually('the calls', () =>
    calls.every(({ stream }) => stream.buffer.heard.some((sample) => Math.abs(sample) > 1_000)),
  );
  const owners = mediaProcesses(dataDir);
  child.kill('SIGKILL');
  await once(child, 'exit');
  // By the bot's own apology and a close of the stream, not by a socket that breaks.
  await Promise.all(calls.map(({ ended }) => ended));
  await eventually('the ends of the media processes', () => owners.every((pid) => !isAlive(pid)), 40_000);
  // At the same port.
  const next = await startGatewayProcess({ ...env, OFFHOOK_CALL__PROCESSES: '2', OFFHOOK_PORT: new URL(url).port });
  expect(next.url).toBe(url);
  await eventually('their records', async () => (await endReasons(dataDir)).length === 2, 60_000);
  expect(await endReasons(dataDir)).toEqual(['shutdown', 'shutdown']);
  expect(readdirSync(join(dataDir, 'calls')).filter((name) => name.endsWith('.lease'))).toEqual([]);
  const again = await dialTwilio({ url, authToken, clock: systemClock });
  await again.hangUp();
  next.child.kill('SIGTERM');
  await once(next.child, 'exit');
  rmSync(dataDir, { recursive: true, force: true });
});

it("holds a tenant's calls in several processes to its own bots, secret and limit", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-processes-'));
  await using speech = await startTestPlatform();
  const file = join(dataDir, 'tenants.yaml');
  writeFileSync(
    file,
    `tenants:
  - { id: acme, calls: 2, carriers: { twilio: { secrets: { authToken: ACME_TOKEN } } } }
  - { id: globex, calls: 1, carriers: { twilio: { secrets: { authToken: GLOBEX_TOKEN } } } }
`,
  );
  const tokens = { acme: 'the token of acme', globex: 'the token of globex' };
  const env = {
    ...talkativeGateway(dataDir, speech.platform),
    OFFHOOK_CALL__REFUSE_LAG_MS: '60000',
    OFFHOOK_CALL__PROCESSES: '2',
    OFFHOOK_TENANTS__FILE: file,
    ACME_TOKEN: tokens.acme,
    GLOBEX_TOKEN: tokens.globex,
  };
  for (const tenant of ['acme', 'globex'])
    writeFileSync(
      join(dataDir, 'bots', `${tenant}.yaml`),
      `name: ${tenant}-bot\ntenant: ${tenant}\ndefault: true\nvoice: Nisha\ndialog: { kind: module, file: talker.js }\n`,
    );
  const { child, url } = await startGatewayProcess(env);
  const callSid = `CA${'4'.repeat(32)}`;
  const dial = (tenant: keyof typeof tokens, more: Partial<DialOptions> = {}): Promise<SimulatedCall> =>
    dialTwilio({ url, authToken: tokens[tenant], route: `/tenants/${tenant}/carriers/twilio`, clock: systemClock, ...more });
  // The same id at two accounts.
  const calls = [
    await dial('acme', { carrierCallId: callSid }),
    await dial('globex', { carrierCallId: callSid }),
    await dial('acme'),
  ];
  for (const tenant of ['acme', 'globex'] as const) await expect(dial(tenant)).rejects.toThrow(CallRefused);
  await expect(dial('acme', { authToken: tokens.globex })).rejects.toThrow();
  await calls[1]?.hangUp();
  await eventually('a free place of that tenant alone', async () => (await dial('globex').catch(() => undefined)) !== undefined);
  await expect(dial('acme')).rejects.toThrow(CallRefused);
  expect(new Set(mediaProcesses(dataDir)).size).toBe(2);
  child.kill('SIGTERM');
  await once(child, 'exit');
  for (const tenant of ['acme', 'globex'])
    expect((await storedCalls(dataDir, tenant)).map(({ botName, carrier }) => [botName, carrier])).toEqual(
      Array.from({ length: 2 }, () => [`${tenant}-bot`, `twilio@${tenant}`]),
    );
  expect(await storedCalls(dataDir, 'default')).toEqual([]);
  rmSync(dataDir, { recursive: true, force: true });
});

/** The processes that have calls. */
function mediaProcesses(dataDir: string): number[] {
  const leases = readdirSync(join(dataDir, 'calls')).filter((name) => name.endsWith('.lease'));
  return leases.map((name) => ownerIn(dataDir, name));
}

function ownerIn(dataDir: string, lease: string): number {
  return Number(/\d+/u.exec(readFileSync(join(dataDir, 'calls', lease), 'utf8'))?.[0]);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Why the calls in the store ended. */
async function endReasons(dataDir: string): Promise<string[]> {
  return (await storedCalls(dataDir, 'default')).map(({ endReason = 'none' }) => endReason).toSorted();
}

async function storedCalls(dataDir: string, tenant: string) {
  const onProblem = (): void => undefined;
  await using database = await openDatabase({ url: undefined, dataDir, clock: systemClock, onProblem });
  return (await storeOn(database).calls.search(tenant, { limit: 50 })).calls;
}

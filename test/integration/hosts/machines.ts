import { join as pathOf } from 'node:path';
import { API_KEYS_FILE, API_SCOPES, ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { type DialOptions, SimulatedCall } from '../../../src/sim/twilio/carrier.ts';
import { type CuttableProxy, startCuttableProxy } from '../../support/cuttable-proxy.ts';
import { HANGS_MS } from '../../support/patience.ts';
import { startPostgres } from '../../support/postgres-server.ts';
import { freePort } from '../../support/processes.ts';
import { RecordingProxy } from '../../support/recording-proxy.ts';
import { startRedis } from '../../support/redis-server.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import type { SharedState } from '../../../src/hosts/shared-state/port.ts';
import { openRedisSharedState } from '../../../src/hosts/shared-state/redis.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';
import { startTestPlatform } from '../platform/setup.ts';

const TOKEN = 'machines-test-token';
const MASTER_KEY = Buffer.alloc(32, 'machines').toString('base64');

export interface Machine extends GatewayBench {
  readonly name: string;
  readonly shared: SharedState;
  /** Its way to Redis. */
  readonly redis: CuttableProxy;
  /** A request of its API with all scopes. */
  readonly authorized: { readonly headers: Readonly<Record<string, string>> };
  /** Asks its API. */
  ask(path: string, body?: object): Promise<{ readonly status: number; readonly body: unknown }>;
}

export interface Machines extends AsyncDisposable {
  readonly machines: readonly Machine[];
  /** Stands before all of them, at the public address. Which machine gets a request is chosen by its path. */
  readonly balancer: RecordingProxy;
  /** Another member, which is no gateway. */
  join(address: string): Promise<SharedState>;
  /** A call of the carrier, not connected yet. */
  call(options?: Partial<DialOptions>): SimulatedCall;
}

/** Gateways that are one: own data folders and ports, one Redis, one PostgreSQL, one public address. */
export async function startMachines(
  programs: { readonly redis: string; readonly postgres: string },
  names: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Machines> {
  const [redis, postgres, speech, balancer] = await Promise.all([
    startRedis(programs.redis),
    startPostgres(programs.postgres),
    startTestPlatform({}, 8_000),
    RecordingProxy.start('http://127.0.0.1:9'),
  ]);
  const machines: Machine[] = [];
  const join = (address: string, url = redis.url): Promise<SharedState> =>
    openRedisSharedState({
      url,
      namespace: 'gateway',
      address,
      // Longer than a busy machine stands still.
      goneAfterMs: Math.round(HANGS_MS / 20),
      clock: systemClock,
      logger: silentLogger,
    });
  for (const name of names) {
    const port = await freePort();
    const address = `http://127.0.0.1:${port}`;
    const way = await startCuttableProxy(Number(new URL(redis.url).port));
    const shared = await join(address, `redis://127.0.0.1:${way.port}`);
    const bench = await startGatewayBench({
      clock: systemClock,
      speech,
      shared,
      env: {
        OFFHOOK_PUBLIC_URL: balancer.url,
        OFFHOOK_TWILIO_AUTH_TOKEN: TOKEN,
        REDIS_URL: redis.url,
        DATABASE_URL: postgres.url,
        OFFHOOK_MASTER_KEY: MASTER_KEY,
        OFFHOOK_CLUSTER__ADDRESS: address,
        ...env,
      },
    });
    const keys = new ApiKeys(pathOf(bench.dataDir, API_KEYS_FILE));
    const { secret: apiKey } = keys.create({ name: 'test', tenantId: 'default', scopes: [...API_SCOPES] }, 0);
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    machines.push({
      ...bench,
      name,
      shared,
      redis: way,
      authorized: { headers },
      async ask(path, body) {
        const sent = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
        const response = await fetch(`${bench.gateway.url}/api${path}`, sent);
        return { status: response.status, body: await response.json() };
      },
    });
  }
  return {
    machines,
    balancer,
    join: (address) => join(address),
    call: (options = {}) => new SimulatedCall({ url: balancer.url, authToken: TOKEN, clock: systemClock, ...options }),
    async [Symbol.asyncDispose]() {
      await Promise.all(machines.map((machine) => machine[Symbol.asyncDispose]()));
      await Promise.all(machines.map(({ shared }) => shared[Symbol.asyncDispose]()));
      await Promise.all(machines.map((machine) => machine.redis[Symbol.asyncDispose]()));
      await balancer[Symbol.asyncDispose]();
      await speech[Symbol.asyncDispose]();
      await Promise.all([redis[Symbol.asyncDispose](), postgres[Symbol.asyncDispose]()]);
    },
  };
}

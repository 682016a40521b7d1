import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { fromPackage, packageRoot } from '../../src/cli/setup/package-root.ts';
import { runningGateways } from '../../src/cli/running-gateways.ts';
import { temporaryFolder } from '../support/databases.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { eventually } from '../support/eventually.ts';
import { freePort, run } from '../support/processes.ts';
import { startRedis, type TestServer } from '../support/redis-server.ts';
import { renderChart } from '../support/helm-chart.ts';
import { requireTool } from '../support/requires.ts';
import { startTestPlatform, type TestPlatform } from '../integration/platform/setup.ts';
import { lastJson, runCommand } from '../support/command.ts';
import { runOffhook } from './run-offhook.ts';

const service = z.looseObject({
  command: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.coerce.string()).default({}),
  volumes: z.array(z.string()).default([]),
});
const { services } = z
  .looseObject({ services: z.record(z.string(), service) })
  .parse(parse(readFileSync(fromPackage('docker/compose.yaml'), 'utf8'), { merge: true }));

const probe = z.object({ httpGet: z.object({ path: z.string() }) });
const variable = z.object({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z.object({ fieldRef: z.object({ fieldPath: z.string() }) }).optional(),
});
const items = z.array(z.object({ key: z.string(), path: z.string() }));
const sources = z.array(z.object({ secret: z.object({ items }) }));
const podSpec = z.object({
  containers: z.tuple([
    z.object({
      command: z.array(z.string()),
      env: z.array(variable),
      readinessProbe: probe,
      livenessProbe: probe,
      lifecycle: z.object({ preStop: z.object({ exec: z.object({ command: z.array(z.string()) }) }) }),
      volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
    }),
  ]),
  volumes: z.array(z.object({ name: z.string(), projected: z.object({ sources }).optional() })),
});

/** The one container of the chart's gateways. */
function gatewayOf(manifest: unknown) {
  const { spec } = z.object({ spec: z.object({ template: z.object({ spec: podSpec }) }) }).parse(manifest);
  const { containers, volumes } = spec.template.spec;
  return { container: containers[0], volumes };
}

const tools = { postgres: requireTool('postgres'), redis: requireTool('redis-server') };

/** Inherited without what would change the settings. */
function plainEnvironment(): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(OFFHOOK_|DATABASE_URL|REDIS_URL)/u.test(name));
  return Object.fromEntries(inherited.map(([name, value]) => [name, value ?? '']));
}

/** What both are started with: the servers that they name, and secrets. */
let servers: { readonly postgres: TestServer; readonly redis: TestServer; readonly speech: TestPlatform };
let secrets: Readonly<Record<string, string>>;
let platform: Readonly<Record<string, string>>;

describe.runIf(tools.postgres !== undefined && tools.redis !== undefined)('what a container engine starts', () => {
  beforeAll(async () => {
    servers = {
      postgres: await startPostgres(tools.postgres ?? ''),
      redis: await startRedis(tools.redis ?? '', undefined, { password: 'of-the-queue' }),
      speech: await startTestPlatform(),
    };
    const { authUrl, asrUrl, ttsUrl, apiKey } = servers.speech.platform;
    platform = { OFFHOOK_AUTH_URL: authUrl, OFFHOOK_ASR_URL: asrUrl, OFFHOOK_TTS_URL: ttsUrl, OFFHOOK_API_KEY: apiKey };
    secrets = {
      twilio_auth_token: 'a'.repeat(32),
      master_key: Buffer.alloc(32, 'compose').toString('base64'),
      database_url: servers.postgres.url,
      redis_url: servers.redis.url,
    };
    // Compiles the program first when it has changed.
    await runOffhook(['--version']);
  });
  afterAll(async () => {
    for (const server of Object.values(servers)) await server[Symbol.asyncDispose]();
  });

  it('analyses a call with the commands, environment and folders of docker/compose.yaml', async () => {
    await using folder = await temporaryFolder();
    const url = `http://127.0.0.1:${await freePort()}`;
    const internalPort = String(await freePort());
    await mkdir(join(folder.path, 'secrets'));
    for (const [name, value] of Object.entries(secrets)) await writeFile(join(folder.path, 'secrets', name), value);

    /** What a container of this service sees, with its volumes and secrets as folders of this machine. */
    const environmentOf = (name: string): Record<string, string> => {
      const { environment, volumes } = services[name] ?? service.parse({});
      const mounts = volumes.map((mount) => mount.split(':'));
      const here = (value: string): string =>
        [
          ...mounts.map(([volume = '', path = '']) => [path, join(folder.path, 'volumes', volume)]),
          ['/run/secrets', join(folder.path, 'secrets')],
        ]
          .filter(([path = '']) => value === path || value.startsWith(`${path}/`))
          .map(([path = '', place = '']) => place + value.slice(path.length))
          .at(0) ?? value;
      const image = { OFFHOOK_DATA_DIR: '/data' };
      const entries = Object.entries({ ...image, ...environment }).map(([key, value]) => [
        key,
        value.startsWith('${OFFHOOK_PUBLIC_URL') ? url : here(value),
      ]);
      const loopback = {
        OFFHOOK_PORT: new URL(url).port,
        OFFHOOK_CLUSTER__HOST: '127.0.0.1',
        OFFHOOK_CLUSTER__PORT: internalPort,
        OFFHOOK_CALL__REFUSE_LAG_MS: '60000',
      };
      return { ...plainEnvironment(), ...platform, ...loopback, ...Object.fromEntries(entries) };
    };
    const start = (name: string) => {
      const [program = '', ...args] = services[name]?.command ?? [];
      // Compose reads `$$` as a dollar sign; the image has the program in its working folder.
      return run(
        program,
        args.map((arg) => arg.replaceAll('$$', '$').replace(/(?<=^|\s)bin\//u, `${packageRoot}/bin/`)),
        {},
        environmentOf(name),
      );
    };
    const gateway = start('gateway');
    const worker = start('worker');
    try {
      const { OFFHOOK_DATA_DIR: dataDir = '' } = environmentOf('gateway');
      await eventually('the gateway', async () => (await runningGateways(dataDir)).length === 1);
      await eventually('the worker', () => worker.output().includes('Working on'));
      const call = await runCommand(['call', '--url', url, '--say', '#2', '--json'], environmentOf('gateway'));
      expect(call.code, `${call.stderr}${gateway.output()}`).toBe(0);
      expect(lastJson(call)).toBeDefined();
      const database = new Client({ connectionString: servers.postgres.url });
      await database.connect();
      const state = async (): Promise<unknown> =>
        (await database.query('SELECT analysis_state, recording_object IS NOT NULL AS sealed FROM offhook.calls')).rows;
      await eventually('the analysis', async () => JSON.stringify(await state()).includes('done')).catch(() => undefined);
      expect(await state(), worker.output()).toEqual([{ analysis_state: 'done', sealed: true }]);
      await database.end();
    } finally {
      await Promise.all([gateway.stop(), worker.stop()]);
    }
  });

  it('starts the gateway of deploy/helm with exactly its environment, is ready, and drains by its hook', async () => {
    await using folder = await temporaryFolder();
    const url = `http://127.0.0.1:${await freePort()}`;
    const named: Readonly<Record<string, string>> = {
      OFFHOOK_TWILIO_AUTH_TOKEN: 'twilio_auth_token',
      OFFHOOK_MASTER_KEY: 'master_key',
      DATABASE_URL: 'database_url',
      REDIS_URL: 'redis_url',
    };
    const references = Object.entries(named).map(([name, key]) => [name, { secret: 'offhook', key }]);
    const { container, volumes } = gatewayOf(
      renderChart('gateway.yaml', { publicUrl: url, secrets: Object.fromEntries(references) }),
    );
    // The projected volume has one file a secret.
    await mkdir(join(folder.path, 'secrets'));
    for (const { projected } of volumes)
      for (const { secret } of projected?.sources ?? [])
        for (const { key, path } of secret.items) await writeFile(join(folder.path, 'secrets', path), secrets[key] ?? '');
    /** A path of the container, where its volume is on this machine. */
    const here = (path: string): string => {
      const mount = container.volumeMounts.find(
        ({ name, mountPath }) => name !== 'tmp' && `${path}/`.startsWith(`${mountPath}/`),
      );
      return mount === undefined ? path : join(folder.path, mount.name, path.slice(mount.mountPath.length));
    };
    const fields: Readonly<Record<string, string>> = { 'metadata.name': 'voice-0', 'status.podIP': '127.0.0.1' };
    const pod: Record<string, string> = {};
    for (const { name, value = '', valueFrom } of container.env) {
      const text = valueFrom === undefined ? value : (fields[valueFrom.fieldRef.fieldPath] ?? '');
      pod[name] = here(text.replaceAll(/\$\((\w+)\)/gu, (_, other: string) => pod[other] ?? ''));
    }
    const ports = { OFFHOOK_PORT: new URL(url).port, OFFHOOK_CLUSTER__PORT: String(await freePort()) };
    const env = { ...plainEnvironment(), ...platform, OFFHOOK_DATA_DIR: here('/data'), ...pod, ...ports };
    const start = ([program = '', ...args]: readonly string[]) =>
      run(
        program,
        args.map((arg) => arg.replace(/^bin\//u, `${packageRoot}/bin/`)),
        {},
        env,
      );
    const answer = async ({ httpGet }: z.infer<typeof probe>): Promise<number | undefined> =>
      await fetch(`${url}${httpGet.path}`).then(
        ({ status }) => status,
        () => undefined,
      );

    const gateway = start(container.command);
    try {
      await eventually('readiness', async () => (await answer(container.readinessProbe)) === 200).catch((error: unknown) => {
        throw new Error(gateway.output(), { cause: error });
      });
      expect(pod['OFFHOOK_CLUSTER__ADDRESS']).toBe('http://voice-0.voice-pods:8090');
      const hook = start(container.lifecycle.preStop.exec.command);
      await eventually('the end of the hook', () => hook.child.exitCode !== null);
      expect(hook.child.exitCode, hook.output()).toBe(0);
      expect([await answer(container.readinessProbe), await answer(container.livenessProbe)]).toEqual([503, 200]);
    } finally {
      await gateway.stop();
    }
    expect(gateway.child.exitCode, gateway.output()).toBe(0);
  });
});

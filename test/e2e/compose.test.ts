import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { fromPackage, packageRoot } from '../../src/cli/setup/package-root.ts';
import { runningGateways } from '../../src/cli/running-gateways.ts';
import { temporaryFolder } from '../support/databases.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { freePort, run, until } from '../support/processes.ts';
import { startRedis } from '../support/redis-server.ts';
import { requireTool } from '../support/requires.ts';
import { startTestPlatform } from '../integration/platform/setup.ts';
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

const tools = { postgres: requireTool('postgres'), redis: requireTool('redis-server') };

/** Inherited without what would change the settings. */
function plainEnvironment(): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(OFFHOOK_|DATABASE_URL|REDIS_URL)/u.test(name));
  return Object.fromEntries(inherited.map(([name, value]) => [name, value ?? '']));
}

it.runIf(tools.postgres !== undefined && tools.redis !== undefined)(
  'analyses a call with the commands, environment and folders of docker/compose.yaml',
  async () => {
    await using folder = await temporaryFolder();
    await using postgres = await startPostgres(tools.postgres ?? '');
    await using redis = await startRedis(tools.redis ?? '', undefined, { password: 'of-the-queue' });
    await using speech = await startTestPlatform();
    const { authUrl, asrUrl, ttsUrl, apiKey } = speech.platform;
    const platform = { OFFHOOK_AUTH_URL: authUrl, OFFHOOK_ASR_URL: asrUrl, OFFHOOK_TTS_URL: ttsUrl, OFFHOOK_API_KEY: apiKey };
    // Compiles the program first when it has changed.
    await runOffhook(['--version']);
    const url = `http://127.0.0.1:${await freePort()}`;
    const internalPort = String(await freePort());
    const secrets: Readonly<Record<string, string>> = {
      twilio_auth_token: 'a'.repeat(32),
      master_key: Buffer.alloc(32, 'compose').toString('base64'),
      database_url: postgres.url,
      redis_url: redis.url,
    };
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
      await until('the gateway', async () => (await runningGateways(dataDir)).length === 1, 90_000);
      await until('the worker', () => worker.output().includes('Working on'), 90_000);
      const call = await runCommand(['call', '--url', url, '--say', '#2', '--json'], environmentOf('gateway'));
      expect(call.code, `${call.stderr}${gateway.output()}`).toBe(0);
      expect(lastJson(call)).toBeDefined();
      const database = new Client({ connectionString: postgres.url });
      await database.connect();
      const state = async (): Promise<unknown> =>
        (await database.query('SELECT analysis_state, recording_object IS NOT NULL AS sealed FROM offhook.calls')).rows;
      await until('the analysis', async () => JSON.stringify(await state()).includes('done'), 60_000).catch(() => undefined);
      expect(await state(), worker.output()).toEqual([{ analysis_state: 'done', sealed: true }]);
      await database.end();
    } finally {
      await Promise.all([gateway.stop(), worker.stop()]);
    }
  },
  240_000,
);

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runningGateways } from '../../src/cli/running-gateways.ts';
import { packageRoot } from '../../src/cli/setup/package-root.ts';
import { temporaryFolder } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { lastJson, runCommand } from '../support/command.ts';
import { runOffhook } from './run-offhook.ts';

/** Addresses at which nobody answers: a gateway starts all the same, and takes no calls. */
const NO_PLATFORM = {
  OFFHOOK_AUTH_URL: 'http://127.0.0.1:1',
  OFFHOOK_ASR_URL: 'http://127.0.0.1:1',
  OFFHOOK_TTS_URL: 'http://127.0.0.1:1',
  OFFHOOK_API_KEY: 'none',
};
const BOT = 'name: greeter\ndefault: true\nvoice: Nisha\ndialog: { kind: module, file: greeter.js }\n';

it('reloads its bots, is drained and takes calls again, names the process that has its port, and ends with the npm that started it', async () => {
  await using folder = await temporaryFolder();
  const dataDir = join(folder.path, 'data');
  const bots = join(folder.path, 'bots');
  mkdirSync(bots);
  writeFileSync(join(bots, 'greeter.yaml'), BOT);
  writeFileSync(join(bots, 'greeter.js'), "export async function* respond() { yield 'Hello.'; }\n");
  writeFileSync(join(bots, 'package.json'), '{"type":"module"}');
  const env = { ...NO_PLATFORM, OFFHOOK_DATA_DIR: dataDir, OFFHOOK_BOTS__FOLDER: bots };
  // Compiles the program first when it has changed.
  await runOffhook(['--version']);
  const npm = spawn('npm', ['start', '--silent'], {
    cwd: packageRoot,
    env: { ...process.env, ...env, OFFHOOK_PORT: '0' },
    stdio: 'ignore',
  });
  const npmEnded = once(npm, 'exit');
  const gateway = await eventually('the gateway', async () => (await runningGateways(dataDir))[0]);
  try {
    expect(await runCommand(['reload'], env)).toMatchObject({ code: 0, stdout: expect.stringContaining(gateway.url) as unknown });
    writeFileSync(join(bots, 'greeter.yaml'), BOT.replace('voice: Nisha', 'voise: Nisha'));
    const refused = await runCommand(['reload', '--json'], env);
    expect(refused.code).toBe(1);
    const { pid } = gateway.owner;
    const problems = expect.arrayContaining([expect.stringContaining('voise')]) as unknown;
    expect(lastJson(refused)).toMatchObject({ gateways: [{ pid, problems }] });

    const drained = await runCommand(['drain', '--wait', '10', '--json'], env);
    expect([drained.code, lastJson(drained)]).toMatchObject([0, { gateways: [{ pid, state: 'drained', problem: null }] }]);
    const state = async (): Promise<unknown> => (await (await fetch(`${gateway.url}/readyz`)).json()) as unknown;
    expect(await state()).toMatchObject({ parts: { calls: 'draining' } });
    expect(await runCommand(['drain', '--undo'], env)).toMatchObject({ code: 0 });
    expect(await state()).toMatchObject({ parts: { calls: 'ok' } });

    const port = new URL(gateway.url).port;
    const second = await runOffhook(['start'], {
      ...env,
      OFFHOOK_BOTS__FOLDER: join(packageRoot, 'config/bots'),
      OFFHOOK_DATA_DIR: join(folder.path, 'other'),
      OFFHOOK_PORT: port,
    });
    expect(second.code).toBe(1);
    const said = second.stderr.split('\n').filter((line) => line.startsWith('offhook start:'));
    expect(said).toEqual([expect.stringContaining(`port ${port} on 127.0.0.1 is taken`)]);
    expect(said[0]).toContain('OFFHOOK_PORT');
    if (process.platform === 'linux') expect(said[0]).toContain(`process ${pid} `);
    expect(second.stderr).not.toMatch(/\n\s+at /u);
  } finally {
    npm.kill('SIGTERM');
  }
  await npmEnded;
  await eventually('the end of the gateway', async () => (await runningGateways(dataDir)).length === 0);
});

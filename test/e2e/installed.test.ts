import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { fromPackage } from '../../src/cli/setup/package-root.ts';
import { eventually } from '../support/eventually.ts';
import { runOffhook } from './run-offhook.ts';

const run = promisify(execFile);
const npm = (folder: string, ...args: string[]) =>
  run('npm', [...args, '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });

/** A folder in which the packed package is installed from its tarball; undefined where no registry has its dependencies. */
async function installPacked(): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-installed-'));
  // Compiles what is packed; `npm pack` alone does so by `prepack`.
  await runOffhook(['--version']);
  const { stdout } = await npm(fromPackage(), 'pack', '--json', '--pack-destination', folder);
  const filename = /"filename": "(.+?)"/u.exec(stdout)?.[1] ?? '';
  try {
    await npm(folder, 'install', '--prefer-offline', `./${filename}`);
    return folder;
  } catch (error) {
    if (process.env['OFFHOOK_TEST_REQUIRE_ALL'] === '1') throw error;
    process.stdout.write('skipped: no npm registry to install dependencies from\n');
    return undefined;
  }
}

const folder = await installPacked();

describe.skipIf(folder === undefined)('the package, installed from its tarball', () => {
  const home = folder ?? '';
  const offhook = (...args: string[]) => run('npx', ['--no-install', 'offhook', ...args], { cwd: home });
  const env = { ...process.env, OFFHOOK_PORT: '0', OFFHOOK_PLATFORM_PORT: '0', OFFHOOK_CALL__REFUSE_LAG_MS: '60000' };

  it('creates a folder with a bot whose test passes, and keeps existing files', async () => {
    writeFileSync(join(home, '.gitignore'), 'mine\n');
    const { stdout } = await offhook('init');
    expect(stdout).toContain('made   config/bots/desk.yaml');
    expect(stdout).toContain('kept   .gitignore, which was there');
    expect(readFileSync(join(home, '.gitignore'), 'utf8')).toBe('mine\n');
    expect(readFileSync(join(home, '.env.example'), 'utf8')).toContain('OFFHOOK_PUBLIC_URL');
    expect((await run(process.execPath, ['--test', 'test/'], { cwd: home })).stdout).toContain('# pass 2');
    const scripts = ['test/desk.chat', 'test/hours.chat'];
    expect((await offhook('chat', '--script', ...scripts)).stdout).toContain('2 scripts: 2 passed, 0 failed');
    expect((await offhook('config', 'check')).stdout).toContain('bots: desk.');
  });

  it('answers a call with that bot from an otherwise empty folder', async () => {
    const gateway = spawn('npx', ['--no-install', 'offhook', 'start'], { cwd: home, env, detached: true });
    let output = '';
    for (const stream of [gateway.stdout, gateway.stderr])
      stream.on('data', (part: Buffer) => void (output += part.toString('utf8')));
    try {
      const url = (): string | undefined => /Its console: (http:\/\/127\.0\.0\.1:\d+)/u.exec(output)?.[1];
      await eventually(`the gateway to listen: ${output}`, () => url() !== undefined);
      const { stdout } = await offhook('call', '--url', url() ?? '', '--say', 'when are you open', '--json');
      const last: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
      expect(last).toMatchObject({ ok: true, turns: [{}, { botHeardText: expect.stringContaining('from nine to five') }] });
      expect(existsSync(join(home, 'data'))).toBe(true);
    } finally {
      const closed = new Promise((resolve) => gateway.once('close', resolve));
      if (gateway.pid !== undefined) process.kill(-gateway.pid, 'SIGTERM');
      await closed;
    }
  });

  it('runs a bot in TypeScript that imports offhook/bot', async () => {
    const other = join(home, 'typescript');
    await offhook('init', other, '--kind', 'module');
    const { stdout } = await run(process.execPath, ['--test', 'test/'], { cwd: other });
    expect(stdout).toContain('# pass 1');
    const chat = await run('npx', ['--no-install', 'offhook', 'chat', '--script', 'test/desk.chat'], { cwd: other });
    expect(chat.stdout).toContain('ok      test/desk.chat (7 expectations)');
  });
});

it('is compiled by npm pack', () => {
  expect(readFileSync(fromPackage('package.json'), 'utf8')).toContain('"prepack": "npm run build"');
});

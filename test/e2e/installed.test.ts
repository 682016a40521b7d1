import { execFile, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fromPackage } from '../../src/cli/setup/package-root.ts';
import { eventually } from '../support/eventually.ts';
import { runOffhook } from './run-offhook.ts';

const run = promisify(execFile);

const lockSchema = z.object({
  packages: z.record(z.string(), z.looseObject({ dev: z.boolean().optional(), devOptional: z.boolean().optional() })),
});
const manifestSchema = z.object({ bin: z.record(z.string(), z.string()) });

/**
 * A folder in which the packed package is installed from its tarball. Beside it are its dependencies alone, as links to this checkout's:
 * what it imports without naming it is missing. `npm install` would give the same for half a minute of processor time.
 */
async function installPacked(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-installed-'));
  // Compiles what is packed; `npm pack` alone does so by `prepack`.
  await runOffhook(['--version']);
  const packing = ['pack', '--json', '--ignore-scripts', '--no-audit', '--pack-destination', folder];
  const { stdout } = await run('npm', packing, { cwd: fromPackage() });
  const modules = join(folder, 'node_modules');
  const own = join(modules, 'offhook');
  mkdirSync(own, { recursive: true });
  await run('tar', ['-xzf', join(folder, /"filename": "(.+?)"/u.exec(stdout)?.[1] ?? ''), '-C', own, '--strip-components=1']);
  const { packages } = lockSchema.parse(JSON.parse(readFileSync(fromPackage('package-lock.json'), 'utf8')));
  for (const [path, { dev, devOptional }] of Object.entries(packages)) {
    if (!/^node_modules\/(?:@[^/]+\/)?[^/]+$/u.test(path) || dev === true || devOptional === true) continue;
    if (!existsSync(fromPackage(path))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(fromPackage(path), join(folder, path));
  }
  mkdirSync(join(modules, '.bin'));
  const { bin } = manifestSchema.parse(JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')));
  for (const [name, program] of Object.entries(bin)) {
    chmodSync(join(own, program), 0o755);
    symlinkSync(join(own, program), join(modules, '.bin', name));
  }
  return folder;
}

let home: string;
let program: string;
beforeAll(async () => {
  home = await installPacked();
  program = join(home, 'node_modules/.bin/offhook');
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('the package, installed from its tarball', () => {
  const offhook = (...args: string[]) => run(program, args, { cwd: home });
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
    const gateway = spawn(program, ['start'], { cwd: home, env, detached: true });
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
    const chat = await run(program, ['chat', '--script', 'test/desk.chat'], { cwd: other });
    expect(chat.stdout).toContain('ok      test/desk.chat (7 expectations)');
  });
});

it('is compiled by npm pack', () => {
  expect(readFileSync(fromPackage('package.json'), 'utf8')).toContain('"prepack": "npm run build"');
});

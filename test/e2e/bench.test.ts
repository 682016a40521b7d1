import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { lastJson, runCommand } from '../support/command.ts';
import { runOffhook } from './run-offhook.ts';

const BIN = fileURLToPath(new URL('../../bin/offhook.js', import.meta.url));
const args = (...more: string[]): string[] => ['bench', '--calls', '2', '--seconds', '1', ...more];

it('measures a few calls with the shipped bots and recommends a setting', async () => {
  const finished = await runOffhook(args('--json'));
  const report = lastJson(finished);
  // How well this machine does beside other tests is its own affair; that callers were held, and measured, is not.
  expect(report).toMatchObject({ bot: 'clinic', secondsAStep: 1 });
  expect(report).toHaveProperty(['steps', 0, 'calls'], 1);
  const { steps, maximum, setting } = report as {
    steps: { calls: number; cpu: number; rssMb: number; faults: string[]; void: string[] }[];
    maximum: number | null;
    setting: object | null;
  };
  for (const { cpu, rssMb } of steps) {
    expect(cpu).toBeGreaterThan(0);
    expect(rssMb).toBeGreaterThan(30);
  }
  const borne = steps.filter((step) => step.faults.length + step.void.length === 0).at(-1)?.calls ?? null;
  expect(maximum).toBe(borne);
  expect(setting).toEqual(
    borne === null ? null : { key: 'call.maximum', environment: `OFFHOOK_CALL__MAXIMUM=${borne}`, value: borne },
  );
  expect(finished.code).toBe(borne === null ? 1 : 0);
});

it('ends at Ctrl-C without leaving a process or a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-bench-test-'));
  const child = spawn(process.execPath, [BIN, ...args()], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  try {
    await new Promise<void>((resolve) => {
      let output = '';
      child.stdout.on('data', (part: Buffer) => {
        output += part.toString('utf8');
        if (output.includes('starting the gateway')) resolve();
      });
    });
    let notes = '';
    child.stderr.on('data', (part: Buffer) => void (notes += part.toString('utf8')));
    // As a terminal does: to the whole group.
    process.kill(-child.pid!, 'SIGINT');
    const [code] = await once(child, 'close');
    expect(code).toBe(1);
    expect(notes).toContain('stopped');
    expect(() => process.kill(-child.pid!, 0)).toThrow('ESRCH');
    expect(processesWith(`TMPDIR=${folder}`)).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.startsWith('offhook-bench-'))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('refuses a number of calls that is not a number', async () => {
  const finished = await runCommand(['bench', '--calls', 'many']);
  expect(finished.code).toBe(2);
  expect(finished.stderr).toContain('a whole number from 1 to 10000');
});

/** Processes that have this in their environment; none where the system does not tell. */
function processesWith(setting: string): readonly string[] {
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc').filter((id) => {
    if (!/^\d+$/u.test(id)) return false;
    try {
      return readFileSync(join('/proc', id, 'environ'), 'utf8')
        .split('\0')
        .includes(setting);
    } catch {
      return false;
    }
  });
}

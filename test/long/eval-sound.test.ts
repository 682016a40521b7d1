import { expect, it, vi } from 'vitest';
import { runOffhook } from '../e2e/run-offhook.ts';

vi.setConfig({ testTimeout: 400_000, hookTimeout: 400_000 });

it('calls the shipped bots with sound, through a simulated carrier with a codec, a lossy line and the voices of the platform', async () => {
  const { code, stdout } = await runOffhook([
    'eval',
    'clinic',
    'clinic-hi',
    '--depth',
    'sound',
    '--tag',
    'sound',
    '--seed',
    '3',
    '--json',
  ]);
  const report = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}');
  expect(report.results.map(({ name, verdict }: { name: string; verdict: string }) => `${name}: ${verdict}`)).toEqual([
    'books a day and a time, asked one after the other: passed',
    'cancels: passed',
    'books a day and a time, asked one after the other: passed',
  ]);
  expect(code).toBe(0);
});

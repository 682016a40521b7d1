import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { z } from 'zod';

/** Names one process of one machine for as long as that machine runs: a pid alone comes back after a while. */
export const processIdentity = z.object({
  pid: z.number().int().positive(),
  /** When the process started, in ticks since boot; empty where the system does not say. */
  startTicks: z.string(),
  /** This boot of this machine; the host's name where the system does not say. */
  bootId: z.string(),
  /** The pid namespace (a container has its own): pids of another one mean nothing here. */
  pidNamespace: z.string(),
});

export type ProcessIdentity = z.infer<typeof processIdentity>;

async function orEmpty(reading: Promise<string>): Promise<string> {
  return reading.catch(() => '');
}

/** Field 22 of /proc/PID/stat (proc(5)); the command name before it may itself hold spaces and brackets. */
async function startTicksOf(pid: number): Promise<string> {
  const stat = await orEmpty(readFile(`/proc/${pid}/stat`, 'utf8'));
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

export async function thisProcess(): Promise<ProcessIdentity> {
  const bootId = (await orEmpty(readFile('/proc/sys/kernel/random/boot_id', 'utf8'))).trim();
  return {
    pid: process.pid,
    startTicks: await startTicksOf(process.pid),
    bootId: bootId === '' ? hostname() : bootId,
    pidNamespace: await orEmpty(readlink('/proc/self/ns/pid')),
  };
}

/** Whether another process still runs; `unknown` when it lives where this one cannot look. */
export async function livenessOf(other: ProcessIdentity): Promise<'alive' | 'dead' | 'unknown'> {
  const self = await thisProcess();
  if (other.bootId !== self.bootId || other.pidNamespace !== self.pidNamespace) return 'unknown';
  try {
    process.kill(other.pid, 0);
  } catch (error) {
    // EPERM: it runs, as another user.
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return 'dead';
  }
  return (await startTicksOf(other.pid)) === other.startTicks ? 'alive' : 'dead';
}

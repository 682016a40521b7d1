import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { hasCode } from './errors.ts';

/** Identifies one process of a machine until its next boot; a pid alone is used again. */
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

export function thisProcess(): ProcessIdentity {
  return {
    pid: process.pid,
    startTicks: startTicksOf(process.pid),
    bootId: bootId() || hostname(),
    pidNamespace: pidNamespace(),
  };
}

/** Whether a process still runs; `unknown` for one in another container or on another machine. */
export function livenessOf(other: ProcessIdentity): 'alive' | 'dead' | 'unknown' {
  const self = thisProcess();
  if (other.bootId !== self.bootId || other.pidNamespace !== self.pidNamespace) return 'unknown';
  return isRunning(other.pid) && startTicksOf(other.pid) === other.startTicks ? 'alive' : 'dead';
}

/** Whether a process of this pid namespace runs, of any user; false for one that was killed and waits for its parent to notice. */
export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!hasCode(error, 'EPERM')) return false;
  }
  return statOf(pid)[0] !== 'Z';
}

/** When a process started, in ticks since boot: field 22 of `/proc/PID/stat`; empty where the system does not say. */
export function startTicksOf(pid: number): string {
  return statOf(pid)[19] ?? '';
}

/**
 * The fields of `/proc/PID/stat` (proc(5)) from the third on, the state; empty where the system does not say. The command name before
 * them may itself hold spaces and brackets.
 */
function statOf(pid: number): string[] {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** This boot of this machine; empty where the system does not say. */
function bootId(): string {
  return textOf('/proc/sys/kernel/random/boot_id').trim();
}

/** The pid namespace of this process (each container has its own); empty where the system does not say. */
function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

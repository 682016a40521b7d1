import { hostname } from 'node:os';
import { z } from 'zod';
import { bootId, isRunning, pidNamespace, startTicksOf } from './process-start.ts';

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

export function thisProcess(): ProcessIdentity {
  return {
    pid: process.pid,
    startTicks: startTicksOf(process.pid),
    bootId: bootId() || hostname(),
    pidNamespace: pidNamespace(),
  };
}

/** Whether another process still runs; `unknown` when it lives where this one cannot look. */
export function livenessOf(other: ProcessIdentity): 'alive' | 'dead' | 'unknown' {
  const self = thisProcess();
  if (other.bootId !== self.bootId || other.pidNamespace !== self.pidNamespace) return 'unknown';
  return isRunning(other.pid) && startTicksOf(other.pid) === other.startTicks ? 'alive' : 'dead';
}

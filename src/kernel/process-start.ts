import { readFileSync, readlinkSync } from 'node:fs';
import { hasCode } from './error-code.ts';

/** Whether a process of this pid namespace runs, as whichever user; false for what is no process number. */
export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/**
 * When a process started, and in which boot of this machine: with it, a number that has come back is told from the one before.
 * @returns empty where the system does not say (it is no Linux), or there is no such process
 */
export function processStart(pid: number): string {
  const [boot, ticks] = [bootId(), startTicksOf(pid)];
  return boot === '' || ticks === '' ? '' : `${boot}.${ticks}`;
}

/**
 * Field 22 of `/proc/PID/stat` (proc(5)), when a process started in ticks since boot; empty where the system does not say. The
 * command name before it may itself hold spaces and brackets.
 */
export function startTicksOf(pid: number): string {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** This boot of this machine; empty where the system does not say. */
export function bootId(): string {
  return textOf('/proc/sys/kernel/random/boot_id').trim();
}

/** The pid namespace of this process (a container has its own): process numbers of another one mean nothing in it. Empty where the system does not say. */
export function pidNamespace(): string {
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

import { readFileSync } from 'node:fs';

/**
 * When a process started, and in which boot of this machine: with it, a number that has come back is told from the one before.
 * @returns empty where the system does not say (it is no Linux), or there is no such process
 */
export function processStart(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    // Field 22 (proc(5)); the command name before it may itself hold spaces and brackets.
    const startTicks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return startTicks === undefined ? '' : `${bootId}.${startTicks}`;
  } catch {
    return '';
  }
}

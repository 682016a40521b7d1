import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Which process listens on a TCP port of this machine (proc(5), `net/tcp`).
 * @returns undefined where the system does not say: it is no Linux, or the process is another user's
 */
export function portOwner(port: number): { readonly pid: number; readonly command: string } | undefined {
  try {
    const inodes = new Set(['tcp', 'tcp6'].flatMap((table) => listeners(table, port)));
    if (inodes.size === 0) return undefined;
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/u.test(name))) {
      if (!openFiles(pid).some((file) => inodes.has(file))) continue;
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
      return { pid: Number(pid), command: command.slice(0, 100) };
    }
  } catch {
    // A process ended during the search.
  }
  return undefined;
}

/** Names (`socket:[INODE]`) of the sockets that listen on a port, as /proc/PID/fd shows them. */
function listeners(table: string, port: number): string[] {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync(`/proc/net/${table}`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/u))
    .filter(([, local = '', , state]) => state === '0A' && local.endsWith(ending))
    .map((fields) => `socket:[${fields[9] ?? ''}]`);
}

function openFiles(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return '';
      }
    });
  } catch {
    return [];
  }
}

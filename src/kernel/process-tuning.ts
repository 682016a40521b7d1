import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

/**
 * How far the old generation may grow before the next collection, in percent. V8's own choice can be 10, which a hundred calls
 * fill twice a second.
 */
const GROWTH_PERCENT = 100;
/** Niceness of the garbage collector's threads above the main thread's: on a busy core each gets a tenth of its share. */
const NICER = 10;
const NICEST = 19;

let done = false;

/**
 * Keeps V8's garbage collection from delaying calls: the old generation is collected less often, and V8's helper threads get a
 * lower priority than the event loop. Call it once, before the process starts threads of its own, whose priority then stays.
 * On systems without a list of threads (/proc) priorities stay as they are.
 */
export function favourEventLoop(): void {
  if (done || !isMainThread) return;
  done = true;
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  const niceness = Math.min(NICEST, getPriority() + NICER);
  for (const thread of helpers()) {
    try {
      setPriority(thread, niceness);
    } catch {
      // The thread has ended.
    }
  }
}

/** Lowers the priority of a worker thread that has time, so that calls of this process come first; for the thread itself to call. */
export function yieldToCalls(): void {
  // On Linux 0 means the calling thread; elsewhere it would be the whole process.
  if (process.platform === 'linux' && !isMainThread) setPriority(0, Math.min(NICEST, getPriority() + NICER));
}

/** Linux ids of all threads of this process except the main thread. */
function helpers(): readonly number[] {
  try {
    return readdirSync('/proc/self/task')
      .map(Number)
      .filter((thread) => thread !== process.pid);
  } catch {
    return [];
  }
}

/**
 * Settings of glibc's malloc (mallopt(3)): one arena for all threads, and free memory at the heap's end goes back to the system
 * from 1 MB on. Both keep memory down that no call uses. glibc reads them at a process's start, so they are for child processes;
 * other systems ignore them.
 */
const ALLOCATOR = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '1048576' } as const;

/** The environment for a child process that uses little memory; variables that are set already stay. */
export function lowMemoryEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...ALLOCATOR, ...environment };
}

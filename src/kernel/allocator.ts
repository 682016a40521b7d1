/**
 * What the C library of Linux is told about memory (mallopt(3)): one pool for all threads in place of one each, and back to the system
 * with a free end of over a megabyte. A pool that only another thread may use, and an end that grows with what was freed, are resident
 * memory that no call has. It is read when a process starts, so that one can give it to others only; elsewhere it is nothing.
 */
const ALLOCATOR = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '1048576' } as const;

/** The environment for a process that is to hold little memory; what is set already stays. */
export function sparingEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...ALLOCATOR, ...environment };
}

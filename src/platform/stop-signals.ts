import type { Readable } from 'node:stream';

export interface StopSources {
  /** The process: the end of its message channel when it has one, and SIGTERM and SIGINT where no parent decides. */
  readonly process: NodeJS.Process;
  /**
   * When given, its end stops in place of signals, since a parent that dies in any way lets go of the pipe. A terminal and a
   * service manager tell all processes of a group at once, and the parent has calls that say goodbye.
   */
  readonly parentPipe?: Readable;
}

/**
 * Resolves with the reason to stop, once. Listeners stay, so that a second SIGINT does not kill half-way through.
 */
export function stopRequested({ process, parentPipe }: StopSources): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (parentPipe === undefined) resolve(signal);
      });
    process.on('disconnect', () => resolve('the parent closed its channel'));
    if (parentPipe === undefined) return;
    for (const event of ['end', 'close', 'error'] as const) {
      parentPipe.on(event, () => resolve('the parent closed its pipe'));
    }
    // Nothing more is expected; without reading, the end would not be seen.
    parentPipe.resume();
  });
}

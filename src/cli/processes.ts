import { availableParallelism } from 'node:os';
import { InvalidArgumentError } from 'commander';

/** As the setting `call.processes` has it. */
const MOST_PROCESSES = 64;

/** Reads the flag `--processes`. @returns 0 for `auto` @throws InvalidArgumentError */
export function readProcesses(text: string): number {
  if (text === 'auto') return 0;
  if (!/^[1-9]\d?$/.test(text) || Number(text) > MOST_PROCESSES)
    throw new InvalidArgumentError(`auto or a whole number from 1 to ${MOST_PROCESSES} is expected.`);
  return Number(text);
}

/** How many processes have the calls: as the flag says, else as the setting `call.processes` does; 0 in either is one for each core. */
export function processCount(flag: number | undefined, setting: number): number {
  return (flag ?? setting) || availableParallelism();
}

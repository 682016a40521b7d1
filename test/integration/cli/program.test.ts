import { describe, expect, it } from 'vitest';
import { buildProgram } from '../../../src/cli/program.ts';

const namesOf = async (...asked: string[]): Promise<string[]> =>
  (await buildProgram(asked)).commands.map((command) => command.name());

describe('the command line', () => {
  it('loads every command when no known one is named', async () => {
    const all = await namesOf();
    expect(all).toEqual(expect.arrayContaining(['start', 'demo', 'call', 'config', 'say', 'api-keys']));
    expect(new Set(all).size).toBe(all.length);
    expect(await namesOf('confg')).toEqual(all);
    expect(await namesOf('--help')).toEqual(all);
    expect(await namesOf('constructor')).toEqual(all);
  });

  it('loads the named command and no other', async () => {
    for (const name of await namesOf()) expect(await namesOf(name, '--json')).toEqual([name]);
    expect(await namesOf('--version')).toEqual([]);
  });
});

import { expect, it } from 'vitest';
import { settingChange } from '../../../src/cli/replay-command.ts';
import { botSettings } from '../../../src/config/bots.ts';

const written = { name: 'desk', voice: 'v', dialog: { kind: 'module', file: 'desk.js' } };
const bot = { ...botSettings.parse(written), folder: '/bots' };

function changed(...pairs: string[]) {
  const change = settingChange(pairs);
  if (typeof change === 'string') throw new TypeError(change);
  return change(bot);
}

it('changes only the named settings', () => {
  const expected = { ...bot, endpointingMs: 900, interruption: { ...bot.interruption, clearAfterMs: 200 } };
  expect(changed('endpointingMs=900', 'interruption.clearAfterMs=200')).toEqual(expected);
});

it('says in one line which setting a bot does not have, and which value it cannot have', () => {
  const line = /^these are no settings of a bot: endpointingMs: Too small.*; Unrecognized key: "bogus"$/;
  expect(() => changed('bogus=1', 'endpointingMs=3')).toThrow(line);
});

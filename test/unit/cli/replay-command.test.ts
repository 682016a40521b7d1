import { expect, it } from 'vitest';
import { namedSettings } from '../../../src/cli/replay-command.ts';
import { botSettings } from '../../../src/config/bots.ts';
import { settingChange } from '../../../src/rehearsal/replay/replay-call.ts';

const written = { name: 'desk', voice: 'v', dialog: { kind: 'module', file: 'desk.js' } };
const bot = { ...botSettings.parse(written), folder: '/bots' };

function changed(...pairs: string[]) {
  const settings = namedSettings(pairs);
  if (typeof settings === 'string') throw new TypeError(settings);
  return settingChange(settings)(bot);
}

it('changes only the named settings', () => {
  const expected = { ...bot, endpointingMs: 900, interruption: { ...bot.interruption, clearAfterMs: 200 } };
  expect(changed('endpointingMs=900', 'interruption.clearAfterMs=200')).toEqual(expected);
});

it('says in one line which setting a bot does not have, and which value it cannot have', () => {
  const line = /^these are no settings of a bot: endpointingMs: Too small.*; Unrecognized key: "bogus"$/;
  expect(() => changed('bogus=1', 'endpointingMs=3')).toThrow(line);
});

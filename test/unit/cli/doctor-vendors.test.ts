import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Check } from '../../../src/cli/doctor/check.ts';
import { vendorChecks } from '../../../src/cli/doctor/vendors.ts';
import { botSettings } from '../../../src/config/bots.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { SpeechAuthError } from '../../../src/speech/client/errors.ts';
import { SpeechPlatform } from '../../../src/speech/platform.ts';
import type { SpeechVendor } from '../../../src/speech/vendors/vendor.ts';

const rusty: SpeechVendor = {
  name: 'rusty',
  title: 'Rusty',
  settings: z.object({}),
  secrets: z.object({}),
  services: ['recognition'],
  prices: [],
  needs: 'RUSTY_KEY',
  open() {
    throw new SpeechAuthError('the key is wrong');
  },
};

it.each([
  { names: 'rusty', found: [['Rusty is configured', 'the key is wrong']] },
  { names: 'acme', found: [] },
])('goes on with the other checks when a vendor cannot be opened, and a bot uses $names', async ({ names, found }) => {
  const config = loadConfig({ env: {}, files: [] });
  const settings = botSettings.parse({
    name: 'clinic',
    voice: 'x',
    dialog: { kind: 'module', file: 'x.js' },
    speech: { recogniser: names, synthesizer: 'acme' },
  });
  await using platform = new SpeechPlatform(
    { authUrl: 'http://127.0.0.1:1', apiKey: 'x' },
    { clock: systemClock, logger: silentLogger },
  );
  const told: unknown[] = [];
  const run = async (check: Check): Promise<void> => {
    told.push([check.name, (await check.run(new AbortController().signal)).detail]);
  };
  const vendors = new Map([['rusty', { settings: {}, secrets: {} }]]);
  await vendorChecks(
    { ...config, vendors },
    [{ ...settings, folder: '.' }],
    { platform, sentence: 'Hello.', logger: silentLogger },
    run,
    [rusty],
  );
  expect(told).toEqual(found);
});

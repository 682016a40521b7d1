import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { carrierChecks, type CarrierChecksWorld, marksCheck } from '../../../src/cli/doctor/carriers.ts';
import { runCheck } from '../../../src/cli/doctor/check.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { simulatedTwilio } from '../../../src/sim/twilio/api.ts';
import { simulatedVonage } from '../../../src/sim/vonage/api.ts';
import type { SimulatedAccount } from '../../../src/sim/simulated-carrier.ts';
import { hangs } from '../../support/patience.ts';

let twilio: SimulatedAccount;
let vonage: SimulatedAccount;
beforeAll(async () => {
  twilio = await simulatedTwilio.open({ clock: systemClock });
  vonage = await simulatedVonage.open({ clock: systemClock });
});
afterAll(async () => {
  await twilio[Symbol.asyncDispose]();
  await vonage[Symbol.asyncDispose]();
});

/** A world in which every name is a public address, and every address a gateway's. */
const fine: CarrierChecksWorld = {
  clock: systemClock,
  resolve: async () => [{ address: '93.184.215.14', family: 4 }],
  fetch: async () => new Response('{"status":"ok"}'),
};
const PUBLIC = { OFFHOOK_PUBLIC_URL: 'https://voice.example.com' };

async function checked(env: Readonly<Record<string, string>>, world: Partial<CarrierChecksWorld> = {}) {
  const checks = carrierChecks(loadConfig({ env, files: [] }), { ...fine, ...world });
  return Promise.all(checks.map((check) => runCheck(check, systemClock, hangs())));
}

describe('the doctor', () => {
  it('checks nothing of carriers where none is configured', async () => {
    expect(await checked({})).toEqual([]);
  });

  it('finds accounts, clocks and address right', async () => {
    const results = await checked({ ...twilio.env, ...vonage.env, ...PUBLIC });
    expect(results.map(({ name, ok, detail }) => [name, ok, detail])).toEqual([
      ['Twilio account', true, 'credentials are accepted, and the clocks agree to 1 s'],
      ['Vonage account', true, 'credentials are accepted, and the clocks agree to 1 s'],
      ['address for carriers', true, 'https://voice.example.com answers as this gateway'],
    ]);
  });

  it('says that credentials are refused, and which setting to look at', async () => {
    const [account] = await checked({ ...twilio.env, ...PUBLIC, OFFHOOK_TWILIO_AUTH_TOKEN: 'another' });
    expect(account).toMatchObject({ ok: false, detail: expect.stringContaining('HTTP 401') as unknown });
    expect(account?.advice).toContain('OFFHOOK_TWILIO_ACCOUNT_SID');
  });

  it('says that bots cannot act on calls without the account', async () => {
    const [account] = await checked({ OFFHOOK_TWILIO_AUTH_TOKEN: 'x', ...PUBLIC });
    expect(account).toMatchObject({ ok: true, detail: expect.stringContaining('OFFHOOK_TWILIO_ACCOUNT_SID') as unknown });
  });

  it.each([
    [-90_000, '89 s behind', 'behind'],
    [90_000, '89 s ahead of', 'ahead'],
  ])('says that the clock is off by %i ms', async (offMs, _, which) => {
    const clock = { ...systemClock, wallMs: () => systemClock.wallMs() + offMs };
    const [account] = await checked({ ...twilio.env, ...PUBLIC }, { clock });
    expect(account).toMatchObject({ ok: false, advice: expect.stringContaining('NTP') as unknown });
    expect(account?.detail).toMatch(new RegExp(`clock is (88|89|90) s ${which}`, 'u'));
  });

  it.each([
    ['is not set', {}, {}, /OFFHOOK_PUBLIC_URL is not set/],
    ['is plain http', { OFFHOOK_PUBLIC_URL: 'http://voice.example.com' }, {}, /not https/],
    [
      'does not resolve',
      PUBLIC,
      { resolve: () => Promise.reject(new Error('ENOTFOUND voice.example.com')) },
      /voice\.example\.com does not resolve: ENOTFOUND/,
    ],
    [
      'is private',
      PUBLIC,
      { resolve: async () => [{ address: '192.168.1.7', family: 4 }] },
      /is 192\.168\.1\.7, which Twilio cannot reach/,
    ],
    [
      'is this machine',
      { OFFHOOK_PUBLIC_URL: 'https://[::1]:8443' },
      { resolve: async () => [{ address: '::1', family: 6 }] },
      /is ::1/,
    ],
    [
      'has a certificate that nobody believes',
      PUBLIC,
      { fetch: () => Promise.reject(new TypeError('fetch failed', { cause: new Error('self-signed certificate') })) },
      /does not answer: .*self-signed certificate/,
    ],
    [
      'is answered by another server',
      PUBLIC,
      { fetch: async () => new Response('<html>') },
      /answered 200, and not as a gateway/,
    ],
  ] as const)('says that the address for carriers %s', async (_, env, world, detail) => {
    const results = await checked({ OFFHOOK_TWILIO_AUTH_TOKEN: 'x', ...env }, world);
    expect(results.at(-1)).toMatchObject({ name: 'address for carriers', ok: false });
    expect(results.at(-1)?.detail).toMatch(detail);
    expect(results.at(-1)?.advice).toBeDefined();
  });

  it('takes a private address for a carrier of the own network', async () => {
    const env = { OFFHOOK_ASTERISK_PASSWORD: 'a-long-enough-password', OFFHOOK_PUBLIC_URL: 'http://gateway.lan:8080' };
    const results = await checked(env, { resolve: async () => [{ address: '192.168.1.7', family: 4 }] });
    expect(results.at(-1)).toMatchObject({ ok: true, detail: 'http://gateway.lan:8080 answers as this gateway' });
  });
});

describe('the doctor, of playout marks', () => {
  const checkedAt = (answer: typeof fetch) =>
    runCheck(marksCheck('http://127.0.0.1:3000', { fetch: answer }), systemClock, hangs());

  it('names the carriers of the running gateway that return none', async () => {
    const metrics = createMetrics();
    metrics.marksMissing('twilio', true);
    metrics.marksMissing('vonage', false);
    const { body } = await metrics.render();
    expect(await checkedAt(async () => new Response(body))).toMatchObject({
      ok: false,
      detail: 'the latest call of Twilio got too few of its marks back',
      advice: expect.stringContaining('estimated') as unknown,
    });
    metrics.marksMissing('twilio', false);
    const { body: later } = await metrics.render();
    expect(await checkedAt(async () => new Response(later))).toMatchObject({ ok: true });
  });

  it('blames no carrier where the gateway does not answer', async () => {
    expect(await checkedAt(() => Promise.reject(new Error('no route')))).toMatchObject({
      ok: true,
      detail: expect.stringContaining('no route') as unknown,
    });
  });
});

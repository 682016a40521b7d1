import { expect, it } from 'vitest';
import { carriers } from '../../../src/carriers/registry.ts';
import { lastJson, runCommand } from '../../support/command.ts';

it('checks the shipped configuration and finds it sound', async () => {
  const finished = await runCommand(['config', 'check', '--json']);
  expect(lastJson(finished)).toMatchObject({ ok: true, bots: ['clinic-hi', 'clinic', 'reminder'], problems: [] });
  expect(finished.code).toBe(0);
});

it('reports every problem of the configuration at once, with the nearest known key', async () => {
  const finished = await runCommand(['config', 'check', '--json'], { OFFHOOK_PORT: 'eighty', OFFHOOK_HTTP__PROT: '1' });
  expect(finished.code).toBe(1);
  expect(lastJson(finished)).toMatchObject({ ok: false });
  expect(finished.stdout).toContain('eighty');
  expect(finished.stdout).toContain('http.port');
});

it.each(['start', 'worker'])('exits %s with 2 on a configuration that the check refuses', async (command) => {
  const env = { OFFHOOK_MASTER_KEY: 'too-short', REDIS_URL: 'nowhere' };
  const [checked, started] = await Promise.all([runCommand(['config', 'check'], env), runCommand([command], env)]);
  expect(checked.stdout).toMatch(/master key is 32 bytes[^]*REDIS_URL is no redis:/u);
  expect([checked.code, started.code]).toEqual([1, 2]);
  expect(started.stderr).toContain(checked.stdout);
});

it('explains where a setting comes from, and never shows a secret', async () => {
  const finished = await runCommand(['config', 'explain', '--json'], {
    OFFHOOK_PORT: '9001',
    OFFHOOK_TWILIO_AUTH_TOKEN: 'do-not-show',
  });
  expect(finished.stdout).toContain('"value":"9001"');
  expect(finished.stdout + finished.stderr).not.toContain('do-not-show');
});

it('exits with 2 on a wrong command', async () => {
  expect((await runCommand(['call'])).code).toBe(2);
  expect((await runCommand(['dance'])).code).toBe(2);
});

it('says that no gateway answers when none runs', async () => {
  // A port that is nobody's.
  const url = 'http://127.0.0.1:2';
  const finished = await runCommand(['call', '--url', url, '--say', 'yes', '--json'], { OFFHOOK_TWILIO_AUTH_TOKEN: 'token' });
  expect(finished.code).toBe(1);
  const error = expect.stringContaining(`no gateway answers at ${url}; start one with npm start`);
  expect(lastJson(finished)).toMatchObject({ ok: false, error });
});

it('says that no gateway was started when a call has no secret to sign with', async () => {
  const finished = await runCommand(['call', '--say', 'yes'], { OFFHOOK_DATA_DIR: '/nowhere', OFFHOOK_TWILIO_AUTH_TOKEN: '' });
  expect(finished.code).toBe(1);
  expect(finished.stderr).toContain('no gateway was started yet with the data folder /nowhere; start one with npm start');
});

it('says why the store cannot be used', async () => {
  const env = { DATABASE_URL: 'postgres://me:hidden@127.0.0.1:2/calls', OFFHOOK_MASTER_KEY: Buffer.alloc(32).toString('base64') };
  const finished = await runCommand(['jobs', 'list'], env);
  expect(finished.code).toBe(1);
  expect(finished.stderr).toMatch(/the database cannot be used: .*ECONNREFUSED/u);
  expect(finished.stderr).not.toContain('hidden');
});

it('lists the carriers with what each can do, and which are configured', async () => {
  const told = await runCommand(['carriers', '--json'], { OFFHOOK_TWILIO_AUTH_TOKEN: 'x', OFFHOOK_VONAGE_SIGNATURE_SECRET: '' });
  const { carriers: listed } = lastJson(told) as { carriers: readonly { name: string; configured: string }[] };
  expect(listed.map(({ name }) => name)).toEqual(carriers.map(({ name }) => name));
  expect(listed.find(({ name }) => name === 'twilio')).toMatchObject({
    configured: 'calls',
    needs: { calls: 'OFFHOOK_TWILIO_AUTH_TOKEN', control: 'OFFHOOK_TWILIO_ACCOUNT_SID' },
    offers: { dials: true },
  });
  expect(listed.find(({ name }) => name === 'vonage')).toMatchObject({ configured: 'no' });
  const table = (await runCommand(['carriers'])).stdout;
  expect(table).toMatch(/^carrier +configured +audio in/mu);
  expect(table).toMatch(/^vonage +no +PCM/mu);
});

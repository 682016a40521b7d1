import { expect, it } from 'vitest';
import { GatewayNote } from '../../../src/cli/running-gateways.ts';
import { SignInLinks } from '../../../src/http/session/console-key.ts';
import { runCommand } from '../../support/command.ts';
import { temporaryFolder } from '../../support/databases.ts';

it('prints an address that signs in once, with the role and name that were asked for', async () => {
  await using folder = await temporaryFolder();
  const env = { OFFHOOK_DATA_DIR: folder.path };
  const early = await runCommand(['console'], env);
  expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('no gateway runs on')]);
  await (await GatewayNote.open(folder.path, 'http://0.0.0.0:8123')).write();
  const links = new SignInLinks(folder.path);
  const codeOf = (text: string): string => /^http:\/\/127\.0\.0\.1:8123\/console#code=([\w-]{32})$/mu.exec(text)?.[1] ?? '';
  const plain = await runCommand(['console'], env);
  expect(plain.stderr).toContain('Signs in once, as admin');
  expect(links.use(codeOf(plain.stdout), Date.now())).toEqual({ name: 'admin', role: 'admin' });
  expect(links.use(codeOf(plain.stdout), Date.now())).toBeUndefined();
  const named = await runCommand(['console', '--role', 'viewer', '--name', 'asha', '--json'], env);
  const { url } = JSON.parse(named.stdout) as { url: string };
  expect(links.use(codeOf(url), Date.now())).toEqual({ name: 'asha', role: 'viewer' });
  const behindProxy = await runCommand(['console'], { ...env, OFFHOOK_PUBLIC_URL: 'https://calls.example.com/' });
  expect(behindProxy.stdout).toMatch(/^https:\/\/calls\.example\.com\/console#code=/u);
  expect((await runCommand(['console', '--role', 'king'], env)).code).toBe(2);
  expect((await runCommand(['console'], { ...env, OFFHOOK_CONSOLE__ENABLED: 'false' })).stderr).toContain('turned off');
});

import type { LoadedConfig } from '../config/load.ts';
import type { HttpServerDeps } from '../http/server.ts';
import { ConsoleKey, SignInLinks } from '../http/session/console-key.ts';
import { OpenIdSignIn } from '../http/session/openid.ts';
import type { Backlog } from './backlog.ts';

/** What the HTTP server needs for the console; undefined where it is turned off. @throws the file system's error */
export function consoleParts(
  { settings, secrets }: Pick<LoadedConfig, 'settings' | 'secrets'>,
  { audit }: Pick<Backlog, 'audit'>,
): HttpServerDeps['console'] {
  if (!settings.console.enabled) return undefined;
  const { dataDir } = settings;
  return {
    settings: settings.console,
    key: ConsoleKey.ensure(dataDir),
    links: new SignInLinks(dataDir),
    password: secrets.adminPassword,
    openid: OpenIdSignIn.from(settings.console, secrets.openidClientSecret),
    audit,
  };
}

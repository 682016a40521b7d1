import type { LoadedConfig } from '../config/load.ts';
import type { HttpServerDeps } from '../http/server.ts';
import { ConsoleKey, SignInLinks } from '../http/session/console-key.ts';
import { OpenIdSignIn } from '../http/session/openid.ts';
import type { SharedState } from '../shared-state/port.ts';
import type { Backlog } from './backlog.ts';

/** What the HTTP server needs for the console; undefined where it is turned off. @throws the file system's error; SharedStateUnavailableError */
export async function consoleParts(
  { settings, secrets }: Pick<LoadedConfig, 'settings' | 'secrets'>,
  { audit }: Pick<Backlog, 'audit'>,
  shared: Pick<SharedState, 'secret' | 'spent'> | undefined,
): Promise<HttpServerDeps['console']> {
  if (!settings.console.enabled) return undefined;
  const { dataDir } = settings;
  return {
    settings: settings.console,
    key: shared === undefined ? ConsoleKey.ensure(dataDir) : new ConsoleKey(await shared.secret('console'), shared.spent),
    links: new SignInLinks(dataDir),
    password: secrets.adminPassword,
    openid: OpenIdSignIn.from(settings.console, secrets.openidClientSecret),
    audit,
  };
}

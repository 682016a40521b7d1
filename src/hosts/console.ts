import type { LoadedConfig } from '../config/load.ts';
import type { HttpServerDeps } from '../http/server.ts';
import { ConsoleKey, SealedLinks, SignInLinks } from '../http/session/console-key.ts';
import { OpenIdSignIn } from '../http/session/openid.ts';
import type { SharedState } from './shared-state/port.ts';
import type { Backlog } from './backlog.ts';

/** What the HTTP server needs for the console; undefined where it is turned off. @throws the file system's error; SharedStateUnavailableError */
export async function consoleParts(
  { settings, secrets }: Pick<LoadedConfig, 'settings' | 'secrets'>,
  { audit }: Pick<Backlog, 'audit'>,
  shared: Pick<SharedState, 'secret' | 'spent'> | undefined,
): Promise<HttpServerDeps['console']> {
  if (!settings.console.enabled) return undefined;
  const { dataDir } = settings;
  const key =
    shared === undefined ? ConsoleKey.ensure(dataDir) : ConsoleKey.shared(dataDir, await shared.secret('console'), shared.spent);
  return {
    settings: settings.console,
    key,
    links: shared === undefined ? new SignInLinks(dataDir) : new SealedLinks(key),
    password: secrets.adminPassword,
    openid: OpenIdSignIn.from(settings.console, secrets.openidClientSecret),
    audit,
  };
}

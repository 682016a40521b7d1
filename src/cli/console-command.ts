import { type Command, Option } from 'commander';
import type { Settings } from '../config/schema.ts';
import { ConsoleKey, LINK_LIFE_MS, SealedLinks, SignInLinks } from '../http/session/console-key.ts';
import { configuredAddress } from '../http/public-addresses.ts';
import { ROLES, type Role } from '../http/session/session-views.ts';
import { systemClock } from '../kernel/clock.ts';
import { requireRunningGateways } from './running-gateways.ts';
import { requireConfiguration } from './setup/configuration.ts';
import { printJson, printLine, printNote } from './shell/output.ts';

interface ConsoleFlags {
  readonly role: Role;
  readonly name?: string;
  readonly json?: boolean;
}

const MOST_CHARACTERS = 100;
const MINUTES = LINK_LIFE_MS / 60_000;

/** `offhook console`: an address that signs in to the console once. Whoever can read the data folder may do everything there. */
export function addConsoleCommand(program: Command): void {
  program
    .command('console')
    .description(`print an address that signs in to the console, once, within ${MINUTES} minutes`)
    .addOption(new Option('--role <role>', 'what its user may do').choices(ROLES).default('admin'))
    .option('--name <name>', 'what the audit log calls its user; the role when absent')
    .option('--json', 'print one JSON document')
    .action(async ({ role, name = role, json = false }: ConsoleFlags) => {
      const { settings } = requireConfiguration().config;
      const { dataDir } = settings;
      if (name.trim() === '' || name.length > MOST_CHARACTERS) throw new Error(`a name has 1 to ${MOST_CHARACTERS} characters`);
      if (!settings.console.enabled) throw new Error('the console is turned off: console.enabled is false');
      const [gateway] = await requireRunningGateways(dataDir);
      const url = await signInAddress(settings, gateway.url, { name, role });
      const expiresAt = new Date(systemClock.wallMs() + LINK_LIFE_MS).toISOString();
      if (json) return printJson({ url, role, name, expiresAt });
      printLine(url);
      printNote(`Signs in once, as ${role}, within ${MINUTES} minutes. Whoever has it can: pass it on as you would a password.`);
    });
}

/** The console's address as people reach it: the public one where it is https, else this machine's. */
export function consoleAddress({ publicUrl }: Pick<Settings, 'publicUrl'>, gatewayUrl: string): string {
  const known = configuredAddress(publicUrl);
  if (known?.startsWith('https:') === true) return `${known}/console`;
  const { port } = new URL(gatewayUrl);
  return `http://127.0.0.1:${port === '' ? '80' : port}/console`;
}

/** The same with the code of a new sign-in link. @throws the file system's error */
export async function signInAddress(
  settings: Pick<Settings, 'publicUrl' | 'dataDir' | 'cluster'>,
  gatewayUrl: string,
  user: { readonly name: string; readonly role: Role },
): Promise<string> {
  const { cluster, dataDir } = settings;
  const isAlone = cluster.address === undefined;
  // The gateway has written the key of all machines to its data folder.
  const links = isAlone ? new SignInLinks(dataDir) : new SealedLinks(ConsoleKey.ensure(dataDir));
  const code = await links.make(user, systemClock.wallMs());
  return `${consoleAddress(settings, gatewayUrl)}#code=${code}`;
}

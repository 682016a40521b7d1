import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { API_KEYS_FILE, API_SCOPES, ApiKeys, type ApiScope } from '../http/api/api-keys.ts';
import { systemClock } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import { requireConfiguration } from './setup/configuration.ts';
import { EXIT, printJson, printLine, printNote, tableText } from './shell/output.ts';

interface KeyFlags {
  readonly json?: boolean;
}

/** `offhook api-keys create | list | revoke`: keys of the gateway's API and their rights. A running gateway sees changes at once. */
export function addApiKeysCommand(program: Command): void {
  const keys = program.command('api-keys').description("make, list and revoke keys of the gateway's API");
  const command = (usage: string, description: string): Command =>
    keys.command(usage).description(description).option('--json', 'print one JSON document');

  command('create <name>', 'make a key; it is shown once')
    .addOption(new Option('--scopes <scopes...>', 'what it may do').choices(API_SCOPES).default(['calls:read', 'analyses:read']))
    .option('--tenant <id>', 'whose calls it sees', 'default')
    .action((name: string, flags: KeyFlags & { scopes: ApiScope[]; tenant: string }) => {
      const facts = { name, tenantId: flags.tenant, scopes: flags.scopes };
      const { secret, key } = withKeys((keys) => keys.create(facts, systemClock.wallMs()));
      if (flags.json === true) printJson({ ok: true, key: secret, id: key.id, scopes: key.scopes, tenant: key.tenantId });
      else {
        printLine(secret);
        printNote(`id ${key.id}, tenant ${key.tenantId}, scopes ${key.scopes.join(' ')}; the key is not shown again`);
      }
    });

  command('list', 'show all keys').action((flags: KeyFlags) => {
    const list = withKeys((keys) => keys.list());
    const rows = list.map(({ id, name, tenantId, scopes, createdAtMs }) => {
      return { id, name, tenant: tenantId, scopes, createdAt: new Date(createdAtMs).toISOString() };
    });
    if (flags.json === true) printJson({ ok: true, keys: rows });
    else {
      const cells = rows.map(({ id, name, tenant, scopes, createdAt }) => [id, name, tenant, createdAt, scopes.join(' ')]);
      printLine(tableText([['id', 'name', 'tenant', 'made', 'scopes'], ...cells]));
    }
  });

  command('revoke <id>', 'end a key').action((id: string, flags: KeyFlags) => {
    const revoked = withKeys((keys) => keys.revoke(id));
    if (flags.json === true) printJson({ ok: revoked, id });
    else if (revoked) printLine(`revoked ${id}`);
    if (revoked) return;
    printNote(`offhook api-keys: there is no key ${id}`);
    process.exit(EXIT.failed);
  });
}

/** Runs with the keys; prints a failure and exits. */
function withKeys<Answer>(use: (keys: ApiKeys) => Answer): Answer {
  const { config } = requireConfiguration();
  try {
    return use(new ApiKeys(join(config.settings.dataDir, API_KEYS_FILE)));
  } catch (error) {
    printNote(`offhook api-keys: ${errorText(error)}`);
    process.exit(EXIT.failed);
  }
}

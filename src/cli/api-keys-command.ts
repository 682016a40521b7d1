import { type Command, Option } from 'commander';
import { withApiKeys } from '../hosts/records.ts';
import { API_SCOPES, type ApiKeyBook, type ApiScope } from '../http/api/system/api-keys.ts';
import { systemClock } from '../kernel/clock.ts';
import { silentLogger } from '../observability/logger.ts';
import { requireConfiguration } from './setup/configuration.ts';
import { printJson, printLine, printNote, tableText } from './shell/output.ts';

interface KeyFlags {
  readonly json?: boolean;
}

/** `offhook api-keys create | list | revoke`: keys of the gateway's API and their rights. A running gateway sees changes at once, each of several machines within a second. */
export function addApiKeysCommand(program: Command): void {
  const keys = program.command('api-keys').description("make, list and revoke keys of the gateway's API");
  const command = (usage: string, description: string): Command =>
    keys.command(usage).description(description).option('--json', 'print one JSON document');

  command('create <name>', 'make a key; it is shown once')
    .addOption(new Option('--scopes <scopes...>', 'what it may do').choices(API_SCOPES).default(['calls:read', 'analyses:read']))
    .option('--tenant <id>', 'whose calls it sees', 'default')
    .action(async (name: string, flags: KeyFlags & { scopes: ApiScope[]; tenant: string }) => {
      const facts = { name, tenantId: flags.tenant, scopes: flags.scopes };
      const { secret, key } = await withKeys(async (keys) => keys.create(facts, systemClock.wallMs()));
      if (flags.json === true) printJson({ ok: true, key: secret, id: key.id, scopes: key.scopes, tenant: key.tenantId });
      else {
        printLine(secret);
        printNote(`id ${key.id}, tenant ${key.tenantId}, scopes ${key.scopes.join(' ')}; the key is not shown again`);
      }
    });

  command('list', 'show all keys').action(async (flags: KeyFlags) => {
    const list = await withKeys(async (keys) => keys.list());
    const rows = list.map(({ id, name, tenantId, scopes, createdAtMs }) => {
      return { id, name, tenant: tenantId, scopes, createdAt: new Date(createdAtMs).toISOString() };
    });
    if (flags.json === true) printJson({ ok: true, keys: rows });
    else {
      const cells = rows.map(({ id, name, tenant, scopes, createdAt }) => [id, name, tenant, createdAt, scopes.join(' ')]);
      printLine(tableText([['id', 'name', 'tenant', 'made', 'scopes'], ...cells]));
    }
  });

  command('revoke <id>', 'end a key').action(async (id: string, flags: KeyFlags) => {
    const revoked = await withKeys(async (keys) => keys.revoke(id));
    if (flags.json === true) printJson({ ok: revoked, id });
    else if (revoked) printLine(`revoked ${id}`);
    if (!revoked) throw new Error(`there is no key ${id}`);
  });
}

function withKeys<Answer>(use: (keys: ApiKeyBook) => Promise<Answer>): Promise<Answer> {
  return withApiKeys(requireConfiguration().config, systemClock, silentLogger, use);
}

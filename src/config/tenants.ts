import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Carrier } from '../carriers/carrier.ts';
import { errorText } from '../kernel/errors.ts';
import { callerIdOf, type CallerId, readCallerIds } from './caller-ids.ts';
import type { Environment } from './env.ts';
import { meant } from './nearest.ts';
import type { Problem } from './problem.ts';
import type { Settings } from './schema.ts';
import { schemaProblems } from './schema-problems.ts';
import { type Secret, secretList } from './secrets.ts';
import type { AdapterConfig } from './setting.ts';
import { accountName, DEFAULT_TENANT, tenantId, tenantOfAccount } from './tenant-id.ts';
import { readYaml } from './yaml-document.ts';

const publicUrl = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));
const secretName = z.string().regex(/^[A-Z][A-Z0-9_]{0,99}$/, 'the name of an environment variable, in capitals');

const accountSettings = z.strictObject({
  /** The address of the gateway that this account was given; the tenant's where absent. */
  publicUrl: publicUrl.optional(),
  /** As under the carrier's name in the settings. */
  settings: z.record(z.string(), z.unknown()).default({}),
  /** By the secret's name in the settings: the environment variable that holds it, or with `_FILE` behind it the file that does. */
  secrets: z.record(z.string(), secretName).default({}),
});

const tenantSettings = z.strictObject({
  id: tenantId,
  /** The address of the gateway that the tenant's carriers were given; `publicUrl` of the settings where absent. */
  publicUrl: publicUrl.optional(),
  /** Calls at once, of all that the gateway may have (`call.maximum`). */
  calls: z.int().min(1).max(10_000).optional(),
  /** Outbound calls in a day of UTC, and their estimated cost; those of `dialling` where absent. */
  callsPerDay: z.int().min(1).max(10_000_000).optional(),
  costPerDay: z.number().min(0).max(1_000_000_000).optional(),
  /** Numbers that its outbound calls may come from, as in `dialling.callerIds`. */
  callerIds: z.array(z.string().min(1)).max(1000).default([]),
  /** Its own account at a carrier, by the carrier's name. */
  carriers: z.record(z.string(), accountSettings).default({}),
});

const tenantsFile = z.strictObject({ tenants: z.array(tenantSettings).max(1000) });

/** One customer of the gateway, as it is configured. */
export interface Tenant {
  readonly id: string;
  /** Calls at once; undefined for as many as the gateway has. */
  readonly calls: number | undefined;
  /** Outbound calls in a day of UTC, and their estimated cost; undefined for those of the settings. */
  readonly callsPerDay?: number | undefined;
  readonly costPerDay?: number | undefined;
  readonly callerIds: readonly CallerId[];
}

export interface LoadedTenants {
  readonly tenants: readonly Tenant[];
  /** By `accountName`; of the gateway's own accounts the address alone, with its settings. */
  readonly accounts: ReadonlyMap<string, AdapterConfig>;
  readonly problems: readonly Problem[];
}

interface Sources {
  readonly env: Environment;
  readonly carriers: readonly Carrier[];
  /** The gateway's own accounts, by carrier. */
  readonly own: ReadonlyMap<string, AdapterConfig>;
}

/** Reads the file of tenants. @returns no tenants if any has a problem */
export function loadTenants(path: string, sources: Sources): LoadedTenants {
  const nothing = (problems: readonly Problem[]): LoadedTenants => ({ tenants: [], accounts: new Map(), problems });
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return nothing([{ key: 'tenants.file', where: path, message: `cannot be read: ${errorText(error)}` }]);
  }
  const read = readYaml(text, path);
  if ('problem' in read) return nothing([read.problem]);
  const { written, whereOf } = read;
  const parsed = tenantsFile.safeParse(written);
  if (!parsed.success) {
    const { issues } = parsed.error;
    return nothing(
      schemaProblems({ schema: tenantsFile, issues, written, whereOf, what: 'the file of tenants', root: 'tenants' }),
    );
  }
  const problems: Problem[] = [];
  const accounts = new Map<string, AdapterConfig>();
  const tenants = parsed.data.tenants.map((tenant, index): Tenant => {
    const at = (...keys: (string | number)[]) => ({
      key: ['tenants', index, ...keys].join('.'),
      where: whereOf(['tenants', index, ...keys]),
    });
    const { id, calls, callsPerDay, costPerDay, carriers } = tenant;
    if (parsed.data.tenants.findIndex((each) => each.id === id) !== index)
      problems.push({ ...at('id'), message: `tenant ${id} stands twice` });
    const { callerIds, wrong } = readCallerIds(tenant.callerIds.join(','));
    for (const entry of wrong)
      problems.push({
        ...at('callerIds'),
        value: entry,
        message: 'allowed are numbers in E.164 (+14155550100) and series (+91140*)',
      });
    if (id === DEFAULT_TENANT && tenant.callerIds.length > 0)
      problems.push({ ...at('callerIds'), message: `caller ids of ${DEFAULT_TENANT} stand in dialling.callerIds` });
    for (const [name, account] of Object.entries(carriers)) {
      const found = accountOf(name, account, { ...sources, isOperator: id === DEFAULT_TENANT });
      for (const { keys, ...problem } of found.problems) problems.push({ ...at('carriers', name, ...keys), ...problem });
      if (found.config === undefined) continue;
      accounts.set(accountName(name, id), { ...found.config, publicUrl: account.publicUrl ?? tenant.publicUrl });
    }
    // The gateway's own accounts are the operator's.
    if (id === DEFAULT_TENANT && tenant.publicUrl !== undefined)
      problems.push({ ...at('publicUrl'), message: 'the address of the operator is publicUrl of the settings' });
    const atAccount = callerIds.map((each) => ({ ...each, carrier: each.carrier && accountName(each.carrier, id) }));
    return { id, calls, callsPerDay, costPerDay, callerIds: atAccount };
  });
  return problems.length > 0 ? nothing(problems) : { tenants, accounts, problems };
}

type Found = Pick<Problem, 'message' | 'nearest' | 'value'> & { readonly keys: readonly string[] };

/** One account as its carrier's schema reads it. */
function accountOf(
  name: string,
  account: z.output<typeof accountSettings>,
  { env, carriers, own, isOperator }: Sources & { readonly isOperator: boolean },
): { readonly config?: AdapterConfig; readonly problems: readonly Found[] } {
  // A carrier without a secret has no accounts: browser calls belong to the signed-in user.
  const able = carriers.filter(({ proof }) => proof !== undefined);
  const carrier = able.find((each) => each.name === name);
  if (carrier?.proof === undefined) {
    const names = able.map((each) => each.name);
    const message = `no such carrier; the carriers are ${names.join(', ')}`;
    return { problems: [{ keys: [], message, ...meant(name, names) }] };
  }
  const isEmpty = Object.keys(account.settings).length + Object.keys(account.secrets).length === 0;
  if (isOperator) {
    const message = `the account of ${DEFAULT_TENANT} stands under ${name} in the settings: only its publicUrl belongs here`;
    const config = own.get(name);
    return isEmpty && config !== undefined ? { config, problems: [] } : { problems: [{ keys: [], message }] };
  }
  const problems: Found[] = [];
  const secrets: Record<string, readonly Secret[]> = {};
  for (const [key, variable] of Object.entries(account.secrets)) {
    const keys = ['secrets', key];
    if (!(key in carrier.secrets.shape)) {
      const message = `no such secret of ${name}; allowed are ${Object.keys(carrier.secrets.shape).join(', ')}`;
      problems.push({ keys, message });
      continue;
    }
    secrets[key] = secretList(valueOf(variable, env));
    if (secrets[key].length === 0) problems.push({ keys, message: `neither ${variable} nor ${variable}_FILE gives a secret` });
  }
  const { secret } = carrier.proof;
  if (!(secret in account.secrets))
    problems.push({ keys: ['secrets'], message: `needs ${secret}, which proves that requests come from ${carrier.title}` });
  const parsed = z.strictObject(carrier.settings.shape).safeParse(account.settings);
  for (const { path, message } of parsed.error?.issues ?? []) problems.push({ keys: ['settings', ...path.map(String)], message });
  if (!parsed.success || problems.length > 0) return { problems };
  const config = { settings: parsed.data, secrets };
  for (const { setting, message } of carrier.problems?.(config) ?? [])
    problems.push({ keys: [setting in carrier.secrets.shape ? 'secrets' : 'settings', setting], message });
  return problems.length > 0 ? { problems } : { config, problems };
}

function valueOf(name: string, env: Environment): string | undefined {
  const file = env[`${name}_FILE`];
  try {
    return env[name] ?? (file === undefined ? undefined : readFileSync(file, 'utf8').trim());
  } catch {
    return undefined;
  }
}

/** What a tenant's calls are placed by. */
export interface PlacingMeans {
  readonly callerIds: readonly CallerId[];
  /** Accounts that place its calls. */
  readonly carriers: readonly string[];
  /** The one that is taken where neither request nor caller id names one. */
  readonly carrier: string | undefined;
}

/**
 * By tenant. Without tenants everybody places calls by the gateway's own accounts. Of several tenants, one with accounts of its own uses those
 * alone, one without any uses the gateway's, with its own numbers, and one that is not configured places no calls.
 * @param able all accounts that place calls
 */
export function placingMeans(
  { dialling }: Pick<Settings, 'dialling'>,
  tenants: readonly Tenant[],
  able: readonly string[],
): (tenantId: string) => PlacingMeans {
  const { callerIds } = readCallerIds(dialling.callerIds);
  const { carrier } = dialling;
  const gateways = { callerIds, carriers: able.filter((name) => tenantOfAccount(name) === undefined), carrier };
  return (id) => {
    if (tenants.length === 0 || id === DEFAULT_TENANT) return gateways;
    const tenant = tenants.find((each) => each.id === id);
    if (tenant === undefined) return { callerIds: [], carriers: [], carrier: undefined };
    const own = able.filter((name) => tenantOfAccount(name) === id);
    if (own.length > 0) return { callerIds: tenant.callerIds, carriers: own, carrier: undefined };
    const shared = tenant.callerIds.map((each) => ({ ...each, carrier: each.carrier?.split('@', 1)[0] }));
    return { callerIds: shared, carriers: gateways.carriers, carrier };
  };
}

/** The account that a call is placed by, where anything names one: a tenant names its own by the carrier alone (`twilio` for `twilio@acme`). */
export function wantedAccount(
  { callerIds, carriers, carrier: byDefault }: PlacingMeans,
  { tenantId: id, carrier, from }: { readonly tenantId: string; readonly carrier?: string | undefined; readonly from: string },
): string | undefined {
  if (carrier === undefined) return callerIdOf(callerIds, from)?.carrier ?? byDefault;
  const own = accountName(carrier, id);
  return carriers.includes(own) ? own : carrier;
}

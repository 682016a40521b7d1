import type { Carrier } from '../carriers/carrier.ts';
import { carriers } from '../carriers/registry.ts';
import { vendors } from '../speech/vendors/registry.ts';
import type { SpeechVendor } from '../speech/vendors/vendor.ts';
import { type Alerts, loadAlerts, NO_ALERTS } from './alerts.ts';
import { crossChecks } from './cross-checks.ts';
import type { Environment } from './env.ts';
import { readEnvSettings } from './env-settings.ts';
import { type Problem, shown } from './problem.ts';
import { catalogue, type Settings, settingsSchema } from './schema.ts';
import { Secret, type Secrets, secretList } from './secrets.ts';
import { type AdapterConfig, type AdapterConfigs, allowedText, defaultOf, type Setting } from './setting.ts';
import { type LoadedTenants, loadTenants, type Tenant } from './tenants.ts';
import { loadPrices, type PriceList } from './prices.ts';
import { type WebhookEndpoint, loadWebhookEndpoints } from './webhook-endpoints.ts';
import { type Located, readYamlSettings, type SettingsFile } from './yaml-settings.ts';

export interface LoadedConfig {
  /** Complete and valid even when there are problems: a setting that is wrong has its default here. */
  readonly settings: Settings;
  readonly secrets: Secrets;
  readonly carriers: AdapterConfigs;
  /** Settings of speech vendors; the speech platform's are under `settings.speech`. */
  readonly vendors: AdapterConfigs;
  /** Tenants; empty where there is only `default`, without configuration. */
  readonly tenants: readonly Tenant[];
  readonly webhooks: readonly WebhookEndpoint[];
  /** Prices of what calls use; those of our own parts alone without a file. */
  readonly prices: PriceList;
  /** Alert channels and rules. */
  readonly alerts: Alerts;
  /** Every problem found, not just the first; a program that has any must not start. */
  readonly problems: readonly Problem[];
  /** Where each setting that is not at its default comes from: an environment name or `file:line`. */
  readonly origins: ReadonlyMap<string, string>;
}

/**
 * Puts the configuration together: environment over files (the last one strongest) over defaults.
 * Reads no file except those that `<SECRET>_FILE` variables, `webhooks.endpoints`, `alerts.file`, `spend.prices` and `tenants.file` name.
 */
export function loadConfig(sources: { readonly env: Environment; readonly files: readonly SettingsFile[] }): LoadedConfig {
  const { raw, problems } = rawSettings(sources);
  const origins = new Map<string, string>();
  const tree: Tree = {};
  const secretTexts = new Map<string, string>();
  for (const setting of catalogue) {
    const located = raw.get(setting.key);
    const parsed = setting.schema.safeParse(located?.value);
    if (!parsed.success) problems.push(refusal(setting, located));
    const value = parsed.success ? parsed.data : defaultOf(setting.schema);
    if (located !== undefined && parsed.success && !repeatsDefault(setting, located)) origins.set(setting.key, located.where);
    if (setting.secret !== true) place(tree, setting.path, value);
    else if (typeof value === 'string') secretTexts.set(setting.key, value);
  }
  const settings = settingsSchema.parse(tree);
  const secrets = secretsIn(secretTexts);
  const configsOf = (adapters: readonly (Carrier | SpeechVendor)[]): AdapterConfigs => {
    const configs = new Map(adapters.map((adapter) => [adapter.name, adapterConfig(adapter, tree, secretTexts)]));
    for (const adapter of adapters) {
      const config = configs.get(adapter.name);
      for (const { setting, message } of config === undefined ? [] : (adapter.problems?.(config) ?? [])) {
        const key = `${adapter.name}.${setting}`;
        problems.push({ key, where: origins.get(key) ?? adapter.name, message });
      }
    }
    return configs;
  };
  const own = configsOf(carriers);
  const { file: tenantsFile } = settings.tenants;
  const {
    tenants,
    accounts,
    problems: tenantProblems,
  } = tenantsFile === undefined ? NO_TENANTS : loadTenants(tenantsFile, { env: sources.env, carriers, own });
  const carrierConfigs = new Map([...own, ...accounts]);
  const vendorConfigs = configsOf(vendors);
  const { endpoints } = settings.webhooks;
  const webhooks = endpoints === undefined ? { endpoints: [], problems: [] } : loadWebhookEndpoints(endpoints, sources.env);
  const names = carriers.map(({ name }) => name);
  const embedsPlatform = usesEmbeddedPlatform({ settings, secrets });
  const priced = loadPrices(settings.spend.prices, embedsPlatform);
  const { file: alertsFile } = settings.alerts;
  const alerting = alertsFile === undefined ? { alerts: NO_ALERTS, problems: [] } : loadAlerts(alertsFile, sources.env);
  const broken = crossChecks({ settings, secrets, origins, carriers: names, embedsPlatform });
  problems.push(...tenantProblems, ...webhooks.problems, ...priced.problems, ...alerting.problems, ...broken);
  const adapters = { carriers: carrierConfigs, vendors: vendorConfigs };
  return {
    settings,
    secrets,
    ...adapters,
    tenants,
    webhooks: webhooks.endpoints,
    prices: priced.prices,
    alerts: alerting.alerts,
    problems,
    origins,
  };
}

/** What the sources say of each setting, the strongest last. */
function rawSettings({ env, files }: { readonly env: Environment; readonly files: readonly SettingsFile[] }) {
  const problems: Problem[] = [];
  const raw = new Map<string, Located>();
  for (const read of [...files.map((file) => readYamlSettings(file, catalogue)), readEnvSettings(env, catalogue)]) {
    problems.push(...read.problems);
    for (const [key, located] of read.values) raw.set(key, located);
  }
  return { raw, problems };
}

function secretsIn(texts: ReadonlyMap<string, string>): Secrets {
  return {
    speechApiKeys: secretList(texts.get('speech.apiKey')),
    s3AccessKeyId: secretOf(texts, 'recordings.s3AccessKeyId'),
    s3SecretAccessKey: secretOf(texts, 'recordings.s3SecretAccessKey'),
    auditS3AccessKeyId: secretOf(texts, 'audit.s3AccessKeyId'),
    auditS3SecretAccessKey: secretOf(texts, 'audit.s3SecretAccessKey'),
    masterKeys: secretList(texts.get('privacy.masterKey')),
    adminPassword: secretOf(texts, 'admin.password'),
    openidClientSecret: secretOf(texts, 'console.openid.clientSecret'),
    databaseUrl: secretOf(texts, 'store.url'),
    redisUrl: secretOf(texts, 'jobs.redisUrl'),
    otlpHeaders: secretOf(texts, 'telemetry.headers'),
  };
}

const NO_TENANTS: LoadedTenants = { tenants: [], accounts: new Map(), problems: [] };

/** Whether the process runs its own speech platform: without platform addresses and API key. */
export function usesEmbeddedPlatform({ settings, secrets }: Pick<LoadedConfig, 'settings' | 'secrets'>): boolean {
  const { authUrl, asrUrl, asrAltUrl, medUrl, ttsUrl } = settings.speech;
  return [authUrl, asrUrl, asrAltUrl, medUrl, ttsUrl].every((url) => url === undefined) && secrets.speechApiKeys.length === 0;
}

function adapterConfig(
  { name, settings, secrets }: Pick<Carrier, 'name' | 'settings' | 'secrets'>,
  tree: Tree,
  texts: ReadonlyMap<string, string>,
): AdapterConfig {
  const lists = Object.keys(secrets.shape).map((secret) => [secret, secretList(texts.get(`${name}.${secret}`))]);
  return { settings: settings.parse(tree[name] ?? {}), secrets: Object.fromEntries(lists) };
}

/** The shipped file repeats the defaults; a value it did not change has no other origin. */
function repeatsDefault(setting: Setting, { value, where }: Located): boolean {
  return where.startsWith('config/default.yaml:') && value === defaultOf(setting.schema);
}

function secretOf(texts: ReadonlyMap<string, string>, key: string): Secret | undefined {
  const text = texts.get(key);
  return text === undefined ? undefined : new Secret(text);
}

function refusal(setting: Setting, located: Located | undefined): Problem {
  return {
    key: setting.key,
    where: located?.where ?? setting.envName,
    ...(setting.secret === true ? {} : { value: shown(located?.value) }),
    message: `allowed is ${allowedText(setting.schema, setting.unit)}`,
  };
}

interface Tree {
  [name: string]: unknown;
}

function place(tree: Tree, path: readonly string[], value: unknown): void {
  const [name, ...below] = path;
  if (name === undefined) return;
  if (below.length === 0) {
    tree[name] = value;
    return;
  }
  const inner: Tree = isTree(tree[name]) ? tree[name] : {};
  tree[name] = inner;
  place(inner, below, value);
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import type { Carrier } from '../carriers/carrier.ts';
import { carriers } from '../carriers/registry.ts';
import { vendors } from '../speech/vendors/registry.ts';
import type { SpeechVendor } from '../speech/vendors/vendor.ts';
import { allowedText, defaultOf } from './allowed.ts';
import { readCallerIds } from './caller-ids.ts';
import { readRoleMap, ROLES } from './console-roles.ts';
import type { Environment } from './env.ts';
import { readEnvSettings } from './env-settings.ts';
import { type Problem, shown } from './problem.ts';
import { catalogue, type Settings, settingsSchema } from './schema.ts';
import { Secret, type Secrets, secretList } from './secrets.ts';
import type { AdapterConfig, AdapterConfigs, Setting } from './setting.ts';
import { type LoadedTenants, loadTenants, type Tenant } from './tenants.ts';
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
  /** Endpoints for events. */
  readonly webhooks: readonly WebhookEndpoint[];
  /** Every problem found, not just the first; a program that has any must not start. */
  readonly problems: readonly Problem[];
  /** Where each setting that is not at its default comes from: an environment name or `file:line`. */
  readonly origins: ReadonlyMap<string, string>;
}

/**
 * Puts the configuration together: environment over files (the last one strongest) over defaults.
 * Reads no file except those that `<SECRET>_FILE` variables, `webhooks.endpoints` and `tenants.file` name.
 */
export function loadConfig(sources: { readonly env: Environment; readonly files: readonly SettingsFile[] }): LoadedConfig {
  const fromEnv = readEnvSettings(sources.env, catalogue);
  const problems: Problem[] = [];
  const raw = new Map<string, Located>();
  for (const file of sources.files) {
    const fromFile = readYamlSettings(file, catalogue);
    problems.push(...fromFile.problems);
    for (const [key, located] of fromFile.values) raw.set(key, located);
  }
  problems.push(...fromEnv.problems);
  for (const [key, located] of fromEnv.values) raw.set(key, located);

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
  const secrets: Secrets = {
    speechApiKeys: secretList(secretTexts.get('speech.apiKey')),
    s3AccessKeyId: secretOf(secretTexts, 'recordings.s3AccessKeyId'),
    s3SecretAccessKey: secretOf(secretTexts, 'recordings.s3SecretAccessKey'),
    auditS3AccessKeyId: secretOf(secretTexts, 'audit.s3AccessKeyId'),
    auditS3SecretAccessKey: secretOf(secretTexts, 'audit.s3SecretAccessKey'),
    masterKeys: secretList(secretTexts.get('privacy.masterKey')),
    adminPassword: secretOf(secretTexts, 'admin.password'),
    openidClientSecret: secretOf(secretTexts, 'console.openid.clientSecret'),
    databaseUrl: secretOf(secretTexts, 'store.url'),
    redisUrl: secretOf(secretTexts, 'jobs.redisUrl'),
    otlpHeaders: secretOf(secretTexts, 'telemetry.headers'),
  };
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
  problems.push(...tenantProblems, ...webhooks.problems, ...crossChecks(settings, secrets, origins));
  const adapters = { carriers: carrierConfigs, vendors: vendorConfigs };
  return { settings, secrets, ...adapters, tenants, webhooks: webhooks.endpoints, problems, origins };
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

/** Least length of the admin password, since the admin pages may be public. */
const LEAST_PASSWORD_CHARACTERS = 16;

/** Rules between settings. */
function crossChecks(settings: Settings, secrets: Secrets, origins: ReadonlyMap<string, string>): Problem[] {
  const problems: Problem[] = [];
  const { speech, call } = settings;
  if (!usesEmbeddedPlatform({ settings, secrets })) {
    const needed = [
      ['speech.authUrl', 'OFFHOOK_AUTH_URL', speech.authUrl !== undefined],
      ['speech.asrUrl', 'OFFHOOK_ASR_URL', speech.asrUrl !== undefined],
      ['speech.ttsUrl', 'OFFHOOK_TTS_URL', speech.ttsUrl !== undefined],
      ['speech.apiKey', 'OFFHOOK_API_KEY', secrets.speechApiKeys.length > 0],
    ] as const;
    const given = [...origins.keys()].find((key) => /^speech\.(.*Url|apiKey)$/.test(key)) ?? 'a speech setting';
    for (const [key, where, present] of needed) {
      if (present) continue;
      const message = `required because ${given} is set; unset all of them for the embedded platform`;
      problems.push({ key, where, message });
    }
  }
  for (const [where, { s3Bucket, s3Endpoint }, accessKeyId, secretAccessKey] of [
    ['recordings', settings.recordings, secrets.s3AccessKeyId, secrets.s3SecretAccessKey],
    ['audit', settings.audit, secrets.auditS3AccessKeyId, secrets.auditS3SecretAccessKey],
  ] as const) {
    const parts = Object.entries({
      s3Endpoint,
      s3Bucket,
      s3AccessKeyId: accessKeyId,
      s3SecretAccessKey: secretAccessKey,
    });
    if (parts.every(([, given]) => given === undefined)) continue;
    for (const [name, given] of parts)
      if (given === undefined)
        problems.push({
          key: `${where}.${name}`,
          where,
          message: 'an S3-compatible store needs an endpoint, a bucket and both keys',
        });
  }
  const { jwksUri, issuer, audience } = settings.jwt;
  const jwtParts = [
    ['jwt.jwksUri', jwksUri],
    ['jwt.issuer', issuer],
    ['jwt.audience', audience],
  ] as const;
  for (const [key, given] of jwtParts) {
    if (given !== undefined || jwtParts.every(([, each]) => each === undefined)) continue;
    problems.push({ key, where: 'jwt', message: 'tokens need a jwksUri, an issuer and an audience' });
  }
  const { openid } = settings.console;
  for (const [key, value] of [
    ['jwt.jwksUri', jwksUri],
    ['console.openid.issuer', openid.issuer],
  ] as const) {
    if (value === undefined || /^https:|^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|\/|$)/u.test(value)) continue;
    const message = 'only https, or an address of this machine';
    problems.push({ key, where: origins.get(key) ?? key, value, message });
  }
  for (const [key, value] of [
    ['console.openid.clientId', openid.clientId],
    ['console.openid.roles', openid.roles],
  ] as const)
    if (openid.issuer !== undefined && value === undefined)
      problems.push({
        key,
        where: origins.get('console.openid.issuer') ?? key,
        message: 'required because console.openid.issuer is set',
      });
  for (const entry of readRoleMap(openid.roles).wrong) {
    const message = `allowed is <value of the claim>=<role>, separated by commas; roles are ${ROLES.join(', ')}`;
    const where = origins.get('console.openid.roles') ?? 'console';
    problems.push({ key: 'console.openid.roles', where, value: shown(entry), message });
  }
  const { adminPassword } = secrets;
  if (adminPassword !== undefined && adminPassword.reveal().length < LEAST_PASSWORD_CHARACTERS) {
    const where = origins.get('admin.password') ?? 'admin';
    problems.push({ key: 'admin.password', where, message: `needs ${LEAST_PASSWORD_CHARACTERS} characters or more` });
  }
  problems.push(...diallingProblems(settings.dialling, origins), ...clusterProblems(settings, secrets, origins));
  if (!(call.leadLowMs <= call.leadTargetMs && call.leadTargetMs <= call.leadMaxMs)) {
    problems.push({
      key: 'call.leadTargetMs',
      where: origins.get('call.leadTargetMs') ?? origins.get('call.leadLowMs') ?? origins.get('call.leadMaxMs') ?? 'call',
      value: `${call.leadLowMs}/${call.leadTargetMs}/${call.leadMaxMs}`,
      message: 'leadLowMs, leadTargetMs and leadMaxMs must not fall',
    });
  }
  if (call.acceptLagMs > call.refuseLagMs) {
    problems.push({
      key: 'call.acceptLagMs',
      where: origins.get('call.acceptLagMs') ?? origins.get('call.refuseLagMs') ?? 'call',
      value: String(call.acceptLagMs),
      message: `must not be above call.refuseLagMs, which is ${call.refuseLagMs}`,
    });
  }
  return problems;
}

/** Problems of the settings for several machines. */
function clusterProblems(
  { cluster: { address } }: Settings,
  { redisUrl, databaseUrl, masterKeys }: Secrets,
  origins: ReadonlyMap<string, string>,
): Problem[] {
  if (address === undefined) return [];
  const where = origins.get('cluster.address') ?? 'cluster.address';
  const because = `required because cluster.address is set`;
  const needed = [
    ['REDIS_URL', redisUrl !== undefined, 'the machines find each other and their calls in Redis'],
    ['DATABASE_URL', databaseUrl !== undefined, 'the embedded store belongs to one machine'],
    [
      'OFFHOOK_MASTER_KEY',
      masterKeys.length > 0,
      'each machine would make a key of its own, with which it reads no record of the others',
    ],
  ] as const;
  const missing = needed.flatMap(([key, given, why]) => (given ? [] : [{ key, where, message: `${because}: ${why}` }]));
  const url = URL.parse(address);
  const isPlain =
    url !== null && url.protocol === 'http:' && url.pathname === '/' && `${url.search}${url.hash}${url.username}` === '';
  if (isPlain && !['0.0.0.0', '[::]'].includes(url.hostname)) return missing;
  const message = 'allowed is http://<host>:<port>, as the other machines reach this one';
  return [...missing, { key: 'cluster.address', where, value: shown(address), message }];
}

function diallingProblems(
  { callerIds: text, carrier: chosen }: Settings['dialling'],
  origins: ReadonlyMap<string, string>,
): Problem[] {
  const { callerIds, wrong } = readCallerIds(text);
  const names = carriers.map(({ name }) => name);
  const noCarrier = (carrier: string | undefined): carrier is string => carrier !== undefined && !names.includes(carrier);
  const problem = (key: string, value: string, message: string): Problem => ({
    key,
    where: origins.get(key) ?? 'dialling',
    value: shown(value),
    message,
  });
  const form = 'numbers in E.164 separated by commas: +14155550100, a series +91140*, or of one carrier +14155550100@twilio';
  return [
    ...wrong.map((entry) => problem('dialling.callerIds', entry, `allowed is ${form}`)),
    ...callerIds
      .map(({ carrier }) => carrier)
      .filter(noCarrier)
      .map((carrier) => problem('dialling.callerIds', carrier, `no such carrier; the carriers are ${names.join(', ')}`)),
    ...(noCarrier(chosen) ? [problem('dialling.carrier', chosen, `allowed is one of ${names.join(', ')}`)] : []),
  ];
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

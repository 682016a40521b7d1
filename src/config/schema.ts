import { z } from 'zod';
import { carriers } from '../carriers/registry.ts';
import { alertSettings } from './alerts.ts';
import { networksOf } from './networks.ts';
import { vendors } from '../speech/vendors/registry.ts';
import { diallingSettings } from './dialling-settings.ts';
import { spendSettings } from './spend-settings.ts';
import {
  address,
  flag,
  hour,
  millis,
  minute,
  optionalText,
  secret,
  type Setting,
  settingFacts,
  settingsOf,
  text,
  whole,
} from './setting.ts';

/** Where the heads of the audit logs are kept elsewhere (docs/operating.md). */
const auditSettings = z.object({
  headMinutes: whole(1, 1440, 10, 'Time between two looks at the heads of the audit logs, which are then kept elsewhere', {
    unit: 'minutes',
  }),
  headFile: optionalText(
    'File that each new head is appended to, best on a disk that this machine can add to and not change; unset: none',
  ),
  s3Endpoint: address('S3-compatible store that each new head is put into; unset: none'),
  s3Bucket: optionalText('Bucket of the heads, with object lock'),
  s3Region: text('us-east-1', 'Region of that store'),
  s3Prefix: optionalText('Prefix of each key in the bucket, for example offhook/heads/'),
  s3LockDays: whole(
    0,
    36_500,
    365,
    'Days for which each head is locked against deletion (object lock, compliance mode); 0: as the bucket says',
    { unit: 'days' },
  ),
});

const auditSecrets = z.object({
  s3AccessKeyId: secret('Access key of the store of heads'),
  s3SecretAccessKey: secret('Secret key of the store of heads'),
});

/**
 * Every setting that is not a secret and no carrier's or speech vendor's: the only place where names, limits, defaults, units and
 * descriptions live. What those need stands in their own descriptions (`carriers/registry.ts`, `speech/vendors/registry.ts`), under
 * their names.
 */
export const settingsSchema = z.object({
  dataDir: text('data', 'Folder for all data: store, recordings, outbox, call journals, platform models', {
    aliases: ['OFFHOOK_DATA_DIR'],
  }),
  publicUrl: address(
    'Public address of this gateway for carriers, without a path; unset: its loopback address',
    'OFFHOOK_PUBLIC_URL',
  ),
  log: z.object({
    level: z
      .enum(['debug', 'info', 'warn', 'error'])
      .default('info')
      .register(settingFacts, { description: 'Lowest log level that is written' }),
    personal: flag(false, 'Write personal values (numbers, words) to the log instead of removing them'),
  }),
  http: z.object({
    host: text('127.0.0.1', 'Address to listen on; 0.0.0.0 for every interface, for example in a container'),
    port: whole(0, 65_535, 8080, 'Port to listen on; 0 takes a free one', { aliases: ['OFFHOOK_PORT'] }),
    bodyLimitBytes: whole(1024, 10_485_760, 32_768, 'Largest form accepted from a carrier', { unit: 'bytes' }),
    uploadLimitBytes: whole(1, 4_294_967_295, 524_288_000, 'Largest recording accepted by the API', { unit: 'bytes' }),
    uploadTimeoutMs: millis(1000, hour, 10 * minute, 'Time limit for the upload of one recording'),
    requestTimeoutMs: millis(100, 10 * minute, 10_000, 'Time limit for receiving one whole request'),
    headersTimeoutMs: millis(100, 10 * minute, 5000, 'Time limit for receiving the headers of one request'),
    keepAliveTimeoutMs: millis(
      100,
      10 * minute,
      65_000,
      "Time before an idle connection is closed; longer than the load balancer's",
    ),
    closeGraceMs: millis(0, hour, 30_000, 'Time limit for the goodbyes and the shutdown after draining'),
    trustedProxies: z
      .string()
      .min(1)
      .refine(
        (named) => networksOf(named).wrong.length === 0,
        'addresses and networks separated by commas: 10.0.0.5, 10.1.0.0/16',
      )
      .optional()
      .register(settingFacts, {
        description:
          'Addresses and networks of your proxies, separated by commas, for example 127.0.0.1, ::1: their X-Forwarded-For says who a visitor is; unset: none is believed',
      }),
    pendingStreamsPerAddress: whole(1, 100_000, 256, 'Media sockets from one address that may wait for their start message', {
      unit: 'sockets',
    }),
  }),
  cluster: z.object({
    address: optionalText(
      'Address by which the other machines of this gateway reach this one, for example http://10.0.0.5:8090; unset: this is the only one. Needs REDIS_URL, DATABASE_URL and OFFHOOK_MASTER_KEY',
    ),
    host: optionalText(
      'Address to listen on for the other machines, on an internal network and never a public one; unset: the host of cluster.address',
    ),
    port: whole(0, 65_535, 0, 'Port to listen on for the other machines; 0: the port of cluster.address'),
  }),
  console: z.object({
    enabled: flag(true, 'Serve the console at /console'),
    sessionMinutes: whole(5, 10_080, 720, 'Time after which people of the console sign in again', { unit: 'minutes' }),
    openid: z.object({
      issuer: address('OpenID Connect issuer that people of the console sign in at; unset: none'),
      clientId: optionalText('Id of the console at the issuer; required with issuer'),
      scopes: text('openid profile email', 'Scopes asked for, separated by spaces'),
      roleClaim: text(
        'roles',
        "Claim of the ID token, or of the issuer's answer about the user, with roles or groups; dots lead into nested claims",
      ),
      roles: optionalText(
        'Roles of the console by values of that claim, for example offhook-admins=admin, support=operator; nobody else gets in; required with issuer',
      ),
    }),
    embed: z.object({
      origins: optionalText(
        'Origins of sites whose visitors may call a bot from a button of yours, separated by commas, for example https://www.example.com; unset: none (docs/carriers/browser.md)',
      ),
      bots: optionalText('Bots that they may call, separated by commas; unset: the default bot'),
      maximum: whole(1, 10_000, 4, 'Concurrent calls of all visitors', { unit: 'calls' }),
      maximumPerAddress: whole(1, 10_000, 2, 'Concurrent calls from one address of a visitor', { unit: 'calls' }),
      callsPerMinute: whole(1, 1000, 4, 'New calls a minute from one address of a visitor', { unit: 'calls/min' }),
    }),
  }),
  jwt: z.object({
    jwksUri: address('Address of the JWKS document with the keys that sign API tokens; unset: only API keys are accepted'),
    issuer: optionalText('Issuer of the tokens (iss); required with jwksUri'),
    audience: optionalText('Audience of the tokens (aud); required with jwksUri'),
    tenantClaim: text('tenant', 'Claim that names the tenant'),
    scopesClaim: text('scope', 'Claim that holds the scopes: a list, or a text separated by spaces'),
    toleranceSeconds: whole(0, 300, 5, 'Accepted clock difference to the issuer', { unit: 'seconds' }),
  }),
  speech: z.object({
    recogniser: text(
      'platform',
      'Who recognises callers where their bot does not say: platform (the speech platform) or a vendor; behind a comma another one that stands by',
    ),
    synthesizer: text(
      'platform',
      'Who speaks to callers where their bot does not say: platform or a vendor; behind a comma another one that stands by',
    ),
    pronounce: z
      .string()
      .regex(/^[^=,]+=[^=,]+(?:,[^=,]+=[^=,]+)*$/u, 'WORD=SPOKEN, several separated by commas')
      .optional()
      .register(settingFacts, {
        description: 'How words are spoken by all bots, for example Offhook=off-hook, Rs=rupees; a bot may have its own',
      }),
    authUrl: address('Token service of the speech platform', 'OFFHOOK_AUTH_URL'),
    asrUrl: address('Recognition service', 'OFFHOOK_ASR_URL'),
    asrAltUrl: address('Recognition service, Variant B', 'OFFHOOK_ASR_ALT_URL'),
    medUrl: address('Medical batch transcription service', 'OFFHOOK_MED_URL'),
    ttsUrl: address('Synthesis service', 'OFFHOOK_TTS_URL'),
    connectTimeoutMs: millis(100, minute, 5000, 'Time limit for opening a socket to the platform, up to its ready message'),
    requestTimeoutMs: millis(
      1000,
      hour,
      2 * minute,
      'Time limit of a batch request (the ASR documentation asks for at least 120 seconds)',
    ),
    tokenLifeSeconds: whole(60, 86_400, 900, 'Requested lifetime of access tokens', { unit: 'seconds' }),
    slotsPerKey: whole(1, 10_000, 16, 'Concurrent requests that the platform allows for each service and key', {
      unit: 'requests',
    }),
  }),
  platform: z.object({
    port: whole(
      0,
      65_531,
      7100,
      'First of the five ports of the embedded platform: auth, ASR, Variant B, medical, TTS; 0 takes free ports',
      {
        aliases: ['OFFHOOK_PLATFORM_PORT'],
      },
    ),
    profile: z
      .enum(['plain', 'hosted-like'])
      .default('plain')
      .register(settingFacts, { description: 'Behaviour of the embedded platform; hosted-like is slower and less regular' }),
    vocabulary: z.enum(['bots', 'files']).default('bots').register(settingFacts, {
      description:
        "What the built-in recogniser hears: the vocabulary files and, with bots, what callers of the bots' flows can answer",
    }),
    vocabularyFolder: text('config/platform', "Folder of the recogniser's vocabulary.<language>.yaml files"),
    modelsFolder: z.string().min(1).optional().register(settingFacts, {
      description: 'Folder of speech models: installed ones and your own; <dataDir>/models when absent (docs/models.md)',
    }),
    threads: whole(
      0,
      64,
      0,
      'Threads of the embedded platform that recognise with speech models, each with its own copy of them, and pieces of text that voice models speak at once; 0: by the cores and the memory',
      { unit: 'threads' },
    ),
    modelsMirror: z
      .url({ protocol: /^https?$/u })
      .refine((url) => !/^[^/]+\/\/[^/]*@/u.test(url), 'an address without a name and password')
      .optional()
      .register(settingFacts, {
        description: "Where 'offhook models get' fetches in place of the internet: <mirror>/<host>/<path> of each address",
        aliases: ['OFFHOOK_MODELS_MIRROR'],
      }),
    audioHosts: z.string().min(1).optional().register(settingFacts, {
      description:
        'Hosts on this machine or reached over http that a transcription URL may name: name or name:port, separated by commas',
    }),
    faults: z.string().min(1).optional().register(settingFacts, {
      description:
        'Faults that the embedded platform injects for tests, for example latency=100-800,errors=0.1 (docs/platform-faults.md)',
    }),
    startTimeoutMs: millis(
      1000,
      10 * minute,
      5 * minute,
      'Time limit for the start of the embedded platform; the first start trains the recogniser',
    ),
  }),
  bots: z.object({
    folder: text('config/bots', 'Folder of bot files, one YAML file per bot'),
  }),
  tenants: z.object({
    file: optionalText('YAML file of the tenants, where one gateway serves several customers (docs/tenants.md)'),
  }),
  analysis: z.object({
    folder: text(
      'config/analysis',
      'Folder of analysis profiles, one YAML file each; `default` is for bots that no other profile names',
    ),
  }),
  call: z.object({
    maximum: whole(1, 10_000, 16, 'Concurrent calls; further callers hear the overflow sentence', { unit: 'calls' }),
    processes: whole(
      0,
      64,
      1,
      'Processes that run the calls, behind one port; 0: one per processor core, 1: everything in one process',
      { unit: 'processes' },
    ),
    refuseLagMs: millis(
      5,
      minute,
      200,
      'Event-loop lag (99th percentile over two seconds) at which new calls are refused with the overflow sentence',
    ),
    acceptLagMs: millis(1, minute, 100, 'Event-loop lag at which new calls are accepted again; not above refuseLagMs'),
    leadLowMs: millis(40, 10_000, 300, 'Send more audio when less than this is queued at the carrier'),
    leadTargetMs: millis(40, 10_000, 400, 'Target for audio queued at the carrier'),
    leadMaxMs: millis(40, 10_000, 500, 'Upper limit for audio queued at the carrier'),
    messageMs: millis(20, 1000, 100, 'Length of one outbound audio message'),
    markEveryMs: millis(100, 5000, 450, 'Audio between two playout marks'),
    endOfTurnModel: z.string().min(1).optional().register(settingFacts, {
      description:
        'The .onnx file of a model that hears when callers have finished (docs/turn-taking.md); absent: the one of `offhook models get end-of-turn`, if installed',
    }),
    hangupAfterMarkMs: millis(0, 10_000, 400, 'Pause between the last playout mark and hanging up'),
    reattachMs: millis(0, 10 * minute, 10_000, 'Time a call waits for a new media socket before it ends'),
    drainMs: millis(
      0,
      24 * hour,
      minute,
      'Time live calls may continue after a stop signal, before they hear the goodbye; new calls are refused',
    ),
    keepFixtures: z.string().min(1).optional().register(settingFacts, {
      description:
        'Bots whose calls are saved for offhook replay, separated by commas, or * for all; the files contain the voices of callers',
    }),
    fixtureDays: whole(1, 90, 7, 'Time after which a call saved for replay is deleted', { unit: 'days' }),
  }),
  dialling: diallingSettings,
  spend: spendSettings,
  store: z.object({
    lockTimeoutMs: millis(0, minute, 30_000, "Time limit for acquiring the embedded store's lock"),
  }),
  recordings: z.object({
    seal: z.enum(['auto', 'always', 'never']).default('auto').register(settingFacts, {
      description:
        "Seal recordings under the call's key after the call and leave no plain file of the conversation; auto: when a carrier secret is set",
    }),
    format: z.enum(['wav', 'flac', 'opus']).default('wav').register(settingFacts, {
      description:
        'Format of recordings after the call, unless the bot sets its own; flac is lossless at about a third of the size, opus about a tenth',
    }),
    s3Endpoint: address('S3-compatible store for sealed recordings; unset: the data folder'),
    s3Bucket: optionalText('Bucket of the S3-compatible store'),
    s3Region: text('us-east-1', 'Region of the S3-compatible store'),
    s3Prefix: optionalText('Prefix of each key in the bucket, for example offhook/'),
  }),
  retention: z.object({
    audioDays: whole(
      0,
      36_500,
      0,
      "Days from a call's end until its recording is erased, unless the bot sets its own; 0: never",
      {
        unit: 'days',
      },
    ),
    textDays: whole(
      0,
      36_500,
      0,
      "Days from a call's end until numbers, words and analyses are erased, unless the bot sets its own; 0: never",
      { unit: 'days' },
    ),
  }),
  webhooks: z.object({
    endpoints: optionalText('YAML file of the webhook endpoints (docs/webhooks.md)'),
    timeoutMs: millis(100, minute, 15_000, 'Time limit for an endpoint to answer one delivery'),
  }),
  alerts: alertSettings,
  audit: auditSettings,
  jobs: z.object({
    concurrency: whole(1, 64, 2, 'Concurrent jobs in one process', { unit: 'jobs' }),
    attempts: whole(1, 50, 8, 'Attempts at a job before it counts as failed', { unit: 'attempts' }),
    firstRetryMs: millis(0, hour, 2000, 'Delay before the first retry; each further delay is four times as long'),
  }),
  telemetry: z.object({
    endpoint: address(
      'OTLP endpoint of a collector for traces over HTTP, to which /v1/traces is added; unset: no traces',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
    ),
    serviceName: text('offhook', 'Name of this service in traces', { aliases: ['OTEL_SERVICE_NAME'] }),
    ratio: z.number().min(0).max(1).default(1).register(settingFacts, { description: 'Share of calls that are traced' }),
    words: flag(false, 'Send what models were told and answered with their spans: words of callers leave the gateway'),
  }),
});

/** Every secret. Values come from the environment or from files named by `<NAME>_FILE`, never from a settings file. */
export const secretsSchema = z.object({
  speech: z.object({
    apiKey: secret('API key of the speech platform; several, separated by commas, to share the load', 'OFFHOOK_API_KEY'),
  }),
  admin: z.object({
    password: secret(
      'Password of the user `admin` for the console and the pages under /admin, 16 characters or more; unset: one signs in to the console by `offhook console`, and there are no pages under /admin',
      'OFFHOOK_ADMIN_PASSWORD',
    ),
  }),
  console: z.object({
    openid: z.object({ clientSecret: secret('Secret of the console at the OpenID Connect issuer; unset: a public client') }),
  }),
  store: z.object({ url: secret('PostgreSQL address; unset: the embedded store in the data folder', 'DATABASE_URL') }),
  privacy: z.object({
    masterKey: secret(
      'Master key that seals the keys of calls, 32 bytes in base64; several, separated by commas, during a rotation (the first one seals). Unset: master-key in the data folder, created at the first start',
      'OFFHOOK_MASTER_KEY',
    ),
  }),
  recordings: z.object({
    s3AccessKeyId: secret('Access key of the S3-compatible store', 'OFFHOOK_S3_ACCESS_KEY_ID'),
    s3SecretAccessKey: secret('Secret key of the S3-compatible store', 'OFFHOOK_S3_SECRET_ACCESS_KEY'),
  }),
  audit: auditSecrets,
  jobs: z.object({
    redisUrl: secret(
      'Redis address: redis://, rediss:// for TLS, redis+sentinel:// or redis+cluster:// with hosts separated by commas; unset: the queue is in the store',
      'REDIS_URL',
    ),
  }),
  telemetry: z.object({
    headers: secret(
      'Headers sent with traces, as name=value, several separated by commas; values are percent-encoded',
      'OTEL_EXPORTER_OTLP_HEADERS',
    ),
  }),
});

/** Checked settings of one process; `publicUrl` is as given, with or without a trailing slash. */
export type Settings = z.infer<typeof settingsSchema>;

const general = settingsOf(settingsSchema);
const behindHttp = general.findLastIndex(({ path }) => path[0] === 'http') + 1;

/** All settings, then all secrets, in the order of the example file. */
export const catalogue: readonly Setting[] = [
  ...general.slice(0, behindHttp),
  ...carriers.flatMap(({ name, settings }) => settingsOf(settings, [name])),
  ...vendors.flatMap(({ name, settings }) => settingsOf(settings, [name])),
  ...general.slice(behindHttp),
  ...carriers.flatMap(({ name, secrets }) => settingsOf(secrets, [name])),
  ...vendors.flatMap(({ name, secrets }) => settingsOf(secrets, [name])),
  ...settingsOf(secretsSchema),
];

/**
 * Environment names that are not settings: OFFHOOK_CONFIG (the settings file that replaces `config/local.yaml`), OFFHOOK_MCP_COMMANDS (what bots'
 * files may start, so that it cannot be changed where bots are edited), and OFFHOOK_TEST_ names and OFFHOOK_ASTERISK, which only tests read.
 */
export function isOutsideSchema(envName: string): boolean {
  return ['OFFHOOK_CONFIG', 'OFFHOOK_MCP_COMMANDS', 'OFFHOOK_ASTERISK'].includes(envName) || envName.startsWith('OFFHOOK_TEST_');
}

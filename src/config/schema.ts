import { z } from 'zod';
import { type Setting, type SettingFacts, settingFacts, settingsOf } from './setting.ts';

type More = Pick<SettingFacts, 'unit' | 'aliases'>;

const whole = (least: number, most: number, byDefault: number, description: string, more: More = {}) =>
  z
    .int()
    .min(least)
    .max(most)
    .default(byDefault)
    .register(settingFacts, { description, ...more });
const millis = (least: number, most: number, byDefault: number, description: string) =>
  whole(least, most, byDefault, description, { unit: 'ms' });
const flag = (byDefault: boolean, description: string) => z.boolean().default(byDefault).register(settingFacts, { description });
const text = (byDefault: string, description: string, more: More = {}) =>
  z
    .string()
    .min(1)
    .default(byDefault)
    .register(settingFacts, { description, ...more });
const address = (description: string, ...aliases: string[]) =>
  z
    .url({ protocol: /^https?$/ })
    .optional()
    .register(settingFacts, { description, aliases });
const optionalText = (description: string) => z.string().min(1).optional().register(settingFacts, { description });
const secret = (description: string, ...aliases: string[]) =>
  z.string().min(1).optional().register(settingFacts, { description, aliases, secret: true });

const minute = 60_000;
const hour = 60 * minute;

/** Every setting that is not a secret: the only place where names, limits, defaults, units and descriptions live. */
export const settingsSchema = z.object({
  dataDir: text('data', 'Folder for everything that is kept: store, recordings, outbox, calls, platform', {
    aliases: ['OFFHOOK_DATA_DIR'],
  }),
  publicUrl: address(
    'How carriers reach this gateway from outside, without a trailing path; unset: the loopback address it listens on',
    'OFFHOOK_PUBLIC_URL',
  ),
  log: z.object({
    level: z
      .enum(['debug', 'info', 'warn', 'error'])
      .default('info')
      .register(settingFacts, { description: 'Least severe log line that is written' }),
    personal: flag(false, 'Write personal values (numbers, words) to the log instead of removing them'),
  }),
  http: z.object({
    host: text('127.0.0.1', 'Address to listen on; 0.0.0.0 for every interface, as in a container'),
    port: whole(0, 65_535, 8080, 'Port to listen on; 0 takes a free one', { aliases: ['OFFHOOK_PORT'] }),
    bodyLimitBytes: whole(1024, 10_485_760, 32_768, 'Largest form of a carrier that is read', { unit: 'bytes' }),
    uploadLimitBytes: whole(1, 4_294_967_295, 524_288_000, 'Largest recording that the API takes', { unit: 'bytes' }),
    uploadTimeoutMs: millis(1000, hour, 10 * minute, 'Time a client may take to upload one recording'),
    requestTimeoutMs: millis(100, 10 * minute, 10_000, 'Time a client may take to send one request in full'),
    headersTimeoutMs: millis(100, 10 * minute, 5000, 'Time a client may take to send the headers of one request'),
    keepAliveTimeoutMs: millis(100, 10 * minute, 65_000, "Time an idle connection is kept; longer than the load balancer's"),
    closeGraceMs: millis(0, hour, 30_000, 'Time that goodbyes and closing everything may take once a process ends'),
    pendingStreamsPerAddress: whole(1, 100_000, 64, 'Media sockets from one address that have not started yet', {
      unit: 'sockets',
    }),
  }),
  twilio: z.object({
    accountSid: z
      .string()
      .regex(/^AC[0-9a-fA-F]{32}$/, 'AC and 32 hexadecimal digits')
      .optional()
      .register(settingFacts, { description: 'Account of the carrier', aliases: ['OFFHOOK_TWILIO_ACCOUNT_SID'] }),
    apiUrl: text('https://api.twilio.com', "Base address of the carrier's REST interface", {
      aliases: ['OFFHOOK_TWILIO_API_URL'],
    }),
    streamTokenMs: millis(1000, 10 * minute, 60_000, "Life of the single-use token in a media stream's address"),
    startTimeoutMs: millis(100, minute, 5000, 'Time between the upgrade of a media socket and its start message'),
    requireUpgradeSignature: flag(false, 'Refuse a media socket whose upgrade is not signed (its token is always required)'),
  }),
  jwt: z.object({
    jwksUri: address('Where the keys are that sign the tokens of the API, a JWKS document; unset: API keys alone'),
    issuer: optionalText('Who issues the tokens (iss); needed with jwksUri'),
    audience: optionalText('Whom the tokens are for (aud); needed with jwksUri'),
    tenantClaim: text('tenant', 'Claim that names the tenant'),
    scopesClaim: text('scope', 'Claim that holds the scopes, a list or a text with spaces between'),
    toleranceSeconds: whole(0, 300, 5, "How far the issuer's clock may be off", { unit: 'seconds' }),
  }),
  speech: z.object({
    authUrl: address('Token service of the speech platform', 'OFFHOOK_AUTH_URL'),
    asrUrl: address('Recognition service', 'OFFHOOK_ASR_URL'),
    asrAltUrl: address('Recognition service, Variant B', 'OFFHOOK_ASR_ALT_URL'),
    medUrl: address('Medical batch transcription service', 'OFFHOOK_MED_URL'),
    ttsUrl: address('Synthesis service', 'OFFHOOK_TTS_URL'),
    connectTimeoutMs: millis(100, minute, 5000, 'Time to open a socket to the platform, up to its ready message'),
    requestTimeoutMs: millis(1000, hour, 2 * minute, 'Time limit of a batch request (ASR doc, limits: at least 120 seconds)'),
    tokenLifeSeconds: whole(60, 86_400, 900, 'Lifetime asked of access tokens', { unit: 'seconds' }),
    slotsPerKey: whole(1, 10_000, 16, 'Concurrent requests the platform allows for each service and key', { unit: 'requests' }),
  }),
  platform: z.object({
    port: whole(
      0,
      65_531,
      7100,
      'First of five ports of the embedded platform: auth, ASR, Variant B, medical, TTS; 0 takes free ones',
      {
        aliases: ['OFFHOOK_PLATFORM_PORT'],
      },
    ),
    profile: z
      .enum(['plain', 'hosted-like'])
      .default('plain')
      .register(settingFacts, { description: 'How the embedded platform behaves; hosted-like is slower and less tidy' }),
    vocabularyFolder: text('config/platform', "Folder of the recogniser's vocabulary.<language>.yaml files"),
    modelsFolder: z.string().min(1).optional().register(settingFacts, {
      description: 'Folder of your own speech models, recognition/<language>/, voices/<language>/ and speakers/ below it',
    }),
    audioHosts: z.string().min(1).optional().register(settingFacts, {
      description: 'Hosts, name or name:port with commas between, that a transcription url may name on this machine or over http',
    }),
    faults: z.string().min(1).optional().register(settingFacts, {
      description: 'Faults of the embedded platform for testing, as in latency=100-800,errors=0.1 (docs/platform-faults.md)',
    }),
    startTimeoutMs: millis(1000, 10 * minute, 5 * minute, 'Time the embedded platform gets to come up; the first start learns'),
  }),
  bots: z.object({
    folder: text('config/bots', 'Folder of bot files, one YAML file a bot'),
  }),
  analysis: z.object({
    folder: text('config/analysis', 'Folder of analysis profiles, one YAML file each; `default` is for bots that none names'),
  }),
  call: z.object({
    maximum: whole(1, 10_000, 16, 'Live calls at once; further ones hear the overflow sentence', { unit: 'calls' }),
    processes: whole(
      0,
      64,
      1,
      'Processes that have the calls, behind one port; 0 for one for each processor core, 1 for everything in one process',
      { unit: 'processes' },
    ),
    refuseLagMs: millis(
      5,
      minute,
      200,
      'Lag of the event loop (99th percentile of two seconds) from which new calls hear the overflow sentence',
    ),
    acceptLagMs: millis(1, minute, 100, 'Lag of the event loop from which calls are taken again; not above refuseLagMs'),
    leadLowMs: millis(40, 10_000, 300, 'Audio queued at the carrier below which more is sent'),
    leadTargetMs: millis(40, 10_000, 400, 'Audio queued at the carrier that sending aims at'),
    leadMaxMs: millis(40, 10_000, 500, 'Audio queued at the carrier that is never exceeded'),
    messageMs: millis(20, 1000, 100, 'Length of one outbound audio message'),
    markEveryMs: millis(100, 5000, 450, 'Audio between two playout marks'),
    hangupAfterMarkMs: millis(0, 10_000, 400, 'Pause between the last mark and hanging up'),
    reattachMs: millis(0, 10 * minute, 10_000, 'Time a call without a media socket waits for a new one before it ends'),
    drainMs: millis(
      0,
      24 * hour,
      minute,
      'Time live calls may go on after the process is told to stop, before they hear the goodbye; no new ones are taken meanwhile',
    ),
    keepFixtures: z.string().min(1).optional().register(settingFacts, {
      description:
        'Bots whose calls are kept to be run again (offhook replay), with commas between, or * for all; the files hold the voices of callers',
    }),
    fixtureDays: whole(1, 90, 7, 'Time after which a call that was kept to be run again is deleted', { unit: 'days' }),
  }),
  store: z.object({
    lockTimeoutMs: millis(0, minute, 30_000, "Time to wait for the embedded store's lock"),
  }),
  recordings: z.object({
    seal: z.enum(['auto', 'always', 'never']).default('auto').register(settingFacts, {
      description:
        "Whether a recording is sealed under its call's key after the call, and no plain file of what was said stays; auto: as soon as a carrier's secret is set",
    }),
    format: z.enum(['wav', 'flac', 'opus']).default('wav').register(settingFacts, {
      description:
        'What a recording is turned into after its call, where its bot says nothing; flac loses nothing and takes about a third, opus about a tenth',
    }),
    s3Endpoint: address('S3-compatible store that sealed recordings go to; unset: recordings in the data folder'),
    s3Bucket: optionalText('Bucket of the S3-compatible store'),
    s3Region: text('us-east-1', 'Region of the S3-compatible store'),
    s3Prefix: optionalText('What stands before each key in the bucket, for example offhook/'),
  }),
  retention: z.object({
    audioDays: whole(
      0,
      36_500,
      0,
      "Days after a call's end at which its recording is erased, where its bot says nothing; 0 for never",
      {
        unit: 'days',
      },
    ),
    textDays: whole(
      0,
      36_500,
      0,
      "Days after a call's end at which numbers, words and analyses are erased, where its bot says nothing; 0 for never",
      { unit: 'days' },
    ),
  }),
  webhooks: z.object({
    endpoints: optionalText('YAML file of the endpoints that events are sent to (docs/webhooks.md)'),
    timeoutMs: millis(100, minute, 15_000, 'Time an endpoint has to answer one delivery'),
  }),
  jobs: z.object({
    concurrency: whole(1, 64, 2, 'Jobs that one process runs at once', { unit: 'jobs' }),
    attempts: whole(1, 50, 8, 'Attempts at a job before it is given up', { unit: 'attempts' }),
    firstRetryMs: millis(0, hour, 2000, 'Delay before the first retry; four times as long with each'),
  }),
});

/** Every secret. Values come from the environment or from files named by `<NAME>_FILE`, never from a settings file. */
export const secretsSchema = z.object({
  twilio: z.object({
    authToken: secret(
      "Auth token of the carrier's account; several, separated by commas, during a rotation",
      'OFFHOOK_TWILIO_AUTH_TOKEN',
    ),
  }),
  speech: z.object({
    apiKey: secret('API key of the speech platform; several, separated by commas, to share the load', 'OFFHOOK_API_KEY'),
  }),
  admin: z.object({
    password: secret(
      'Password of the user `admin` for the pages under /admin, 16 characters or more; unset: there are none',
      'OFFHOOK_ADMIN_PASSWORD',
    ),
  }),
  store: z.object({ url: secret('Postgres address; unset: the embedded store in the data folder', 'DATABASE_URL') }),
  privacy: z.object({
    masterKey: secret(
      'Key that the keys of calls are sealed under, 32 bytes in base64; several, separated by commas, during a rotation: the first seals. Unset: master-key in the data folder, made at the first start',
      'OFFHOOK_MASTER_KEY',
    ),
  }),
  recordings: z.object({
    s3AccessKeyId: secret('Access key of the S3-compatible store', 'OFFHOOK_S3_ACCESS_KEY_ID'),
    s3SecretAccessKey: secret('Secret key of the S3-compatible store', 'OFFHOOK_S3_SECRET_ACCESS_KEY'),
  }),
  jobs: z.object({
    redisUrl: secret(
      'Redis address, rediss:// for TLS, redis+sentinel:// or redis+cluster:// with hosts separated by commas; unset: the queue lives in the store',
      'REDIS_URL',
    ),
  }),
});

/** What one process was told to do. Values are checked; `publicUrl` has no trailing slash added or removed. */
export type Settings = z.infer<typeof settingsSchema>;

/** All settings, then all secrets, in the order of the example file. */
export const catalogue: readonly Setting[] = [...settingsOf(settingsSchema), ...settingsOf(secretsSchema)];

/**
 * Environment names that belong to the program without being settings: the settings file to read in place of
 * `config/local.yaml`, and everything that only tests look at.
 */
export function isOutsideSchema(envName: string): boolean {
  return envName === 'OFFHOOK_CONFIG' || envName.startsWith('OFFHOOK_TEST_');
}

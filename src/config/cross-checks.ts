import { readCallerIds } from './caller-ids.ts';
import { readRoleMap, ROLES } from './console-roles.ts';
import { type Problem, shown } from './problem.ts';
import type { Settings } from './schema.ts';
import type { Secrets } from './secrets.ts';

/** What the rules between settings are checked on. */
interface CheckedSettings {
  readonly settings: Settings;
  readonly secrets: Secrets;
  /** Where each setting that is not at its default comes from. */
  readonly origins: ReadonlyMap<string, string>;
  /** Names of all carriers. */
  readonly carriers: readonly string[];
  /** Whether the process runs its own speech platform. */
  readonly embedsPlatform: boolean;
}

type Check = (checked: CheckedSettings) => readonly Problem[];

/** Least length of the admin password, since the admin pages may be public. */
const LEAST_PASSWORD_CHARACTERS = 16;
/** Addresses that no one on the way can read or change. */
const PROTECTED = /^https:|^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::|\/|$)/u;

/** Rules between settings. @returns what breaks them */
export function crossChecks(checked: CheckedSettings): Problem[] {
  return CHECKS.flatMap((check) => check(checked));
}

const platform: Check = ({ settings, secrets, origins, embedsPlatform }) => {
  if (embedsPlatform) return [];
  const { authUrl, asrUrl, ttsUrl } = settings.speech;
  const needed = [
    ['speech.authUrl', 'OFFHOOK_AUTH_URL', authUrl !== undefined],
    ['speech.asrUrl', 'OFFHOOK_ASR_URL', asrUrl !== undefined],
    ['speech.ttsUrl', 'OFFHOOK_TTS_URL', ttsUrl !== undefined],
    ['speech.apiKey', 'OFFHOOK_API_KEY', secrets.speechApiKeys.length > 0],
  ] as const;
  const given = [...origins.keys()].find((key) => /^speech\.(.*Url|apiKey)$/.test(key)) ?? 'a speech setting';
  const message = `required because ${given} is set; unset all of them for the embedded platform`;
  return needed.flatMap(([key, where, present]) => (present ? [] : [{ key, where, message }]));
};

/** A group of settings of which all or none are given. */
function allOrNone(where: string, parts: Readonly<Record<string, unknown>>, message: string): Problem[] {
  const missing = Object.keys(parts).filter((name) => parts[name] === undefined);
  if (missing.length === Object.keys(parts).length) return [];
  return missing.map((name) => ({ key: `${where}.${name}`, where, message }));
}

const buckets: Check = ({ settings: { recordings, audit }, secrets }) => {
  const message = 'an S3-compatible store needs an endpoint, a bucket and both keys';
  const { s3AccessKeyId, s3SecretAccessKey, auditS3AccessKeyId, auditS3SecretAccessKey } = secrets;
  const ofRecordings = { s3Endpoint: recordings.s3Endpoint, s3Bucket: recordings.s3Bucket, s3AccessKeyId, s3SecretAccessKey };
  const ofAudit = {
    s3Endpoint: audit.s3Endpoint,
    s3Bucket: audit.s3Bucket,
    s3AccessKeyId: auditS3AccessKeyId,
    s3SecretAccessKey: auditS3SecretAccessKey,
  };
  return [...allOrNone('recordings', ofRecordings, message), ...allOrNone('audit', ofAudit, message)];
};

const tokens: Check = ({ settings: { jwt } }) => {
  const { jwksUri, issuer, audience } = jwt;
  return allOrNone('jwt', { jwksUri, issuer, audience }, 'tokens need a jwksUri, an issuer and an audience');
};

const signIn: Check = ({ settings, secrets: { adminPassword }, origins }) => {
  const problems: Problem[] = [];
  const { openid } = settings.console;
  for (const [key, value] of [
    ['jwt.jwksUri', settings.jwt.jwksUri],
    ['console.openid.issuer', openid.issuer],
  ] as const) {
    if (value === undefined || PROTECTED.test(value)) continue;
    problems.push({ key, where: origins.get(key) ?? key, value, message: 'only https, or an address of this machine' });
  }
  for (const name of ['clientId', 'roles'] as const) {
    if (openid.issuer === undefined || openid[name] !== undefined) continue;
    const key = `console.openid.${name}`;
    const where = origins.get('console.openid.issuer') ?? key;
    problems.push({ key, where, message: 'required because console.openid.issuer is set' });
  }
  for (const entry of readRoleMap(openid.roles).wrong) {
    const message = `allowed is <value of the claim>=<role>, separated by commas; roles are ${ROLES.join(', ')}`;
    const where = origins.get('console.openid.roles') ?? 'console';
    problems.push({ key: 'console.openid.roles', where, value: shown(entry), message });
  }
  if (adminPassword !== undefined && adminPassword.reveal().length < LEAST_PASSWORD_CHARACTERS) {
    const where = origins.get('admin.password') ?? 'admin';
    problems.push({ key: 'admin.password', where, message: `needs ${LEAST_PASSWORD_CHARACTERS} characters or more` });
  }
  return problems;
};

const dialling: Check = ({ settings, origins, carriers: names }) => {
  const { callerIds: text, carrier: chosen } = settings.dialling;
  const { callerIds, wrong } = readCallerIds(text);
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
};

/** Problems of the settings for several machines. */
const machines: Check = ({ settings, secrets: { redisUrl, databaseUrl, masterKeys }, origins }) => {
  const { address } = settings.cluster;
  if (address === undefined) return [];
  const where = origins.get('cluster.address') ?? 'cluster.address';
  const because = 'required because cluster.address is set';
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
};

const load: Check = ({ settings: { call }, origins }) => {
  const problems: Problem[] = [];
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
};

const CHECKS: readonly Check[] = [platform, buckets, tokens, signIn, dialling, machines, load];

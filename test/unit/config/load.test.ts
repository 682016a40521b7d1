import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { exampleFile } from '../../../src/config/example-file.ts';
import { explainConfig, explainTable } from '../../../src/config/explain.ts';
import { loadConfig, usesEmbeddedPlatform } from '../../../src/config/load.ts';
import { problemText } from '../../../src/config/problem.ts';
import { catalogue } from '../../../src/config/schema.ts';

const file = (text: string, path = 'config/local.yaml') => ({ path, text });
const load = (env: Record<string, string> = {}, ...files: { path: string; text: string }[]) => loadConfig({ env, files });
const hosted = { OFFHOOK_AUTH_URL: 'https://a.test', OFFHOOK_ASR_URL: 'https://b.test', OFFHOOK_TTS_URL: 'https://c.test' };

describe('loadConfig', () => {
  it('gives every default when nothing is set', () => {
    const config = load();
    expect(config.problems).toEqual([]);
    expect(config.settings).toMatchObject({
      dataDir: 'data',
      http: { port: 8080 },
      platform: { port: 7100 },
      call: { leadMaxMs: 500 },
    });
    expect(config.settings.publicUrl).toBeUndefined();
    expect(usesEmbeddedPlatform(config)).toBe(true);
    expect(config.origins.size).toBe(0);
  });

  it('ships an example file that is made from the schema and changes nothing', () => {
    const shipped = readFileSync('config/default.yaml', 'utf8');
    expect(shipped).toBe(exampleFile());
    const config = load({}, file(shipped, 'config/default.yaml'));
    expect(config.problems).toEqual([]);
    expect(config.settings).toEqual(load().settings);
    for (const { envName, aliases = [] } of catalogue) for (const name of [envName, ...aliases]) expect(shipped).toContain(name);
  });

  it('puts the environment over the last file over the first', () => {
    const files = [
      file('http: { port: 1 }\ncall: { maximum: 1 }\njobs: { attempts: 1 }', 'a.yaml'),
      file('http: { port: 2 }\ncall:\n  maximum: 2', 'b.yaml'),
    ];
    const { settings, origins, problems } = load({ OFFHOOK_PORT: '3' }, ...files);
    expect(problems).toEqual([]);
    expect([settings.http.port, settings.call.maximum, settings.jobs.attempts]).toEqual([3, 2, 1]);
    expect([origins.get('http.port'), origins.get('call.maximum')]).toEqual(['OFFHOOK_PORT', 'b.yaml:3']);
  });

  test.each([
    ['OFFHOOK_HTTP__KEEP_ALIVE_TIMEOUT_MS', '1234', (s: ReturnType<typeof load>['settings']) => s.http.keepAliveTimeoutMs, 1234],
    ['OFFHOOK_LOG__PERSONAL', 'yes', (s: ReturnType<typeof load>['settings']) => s.log.personal, true],
    ['OFFHOOK_PUBLIC_URL', 'https://voice.test', (s: ReturnType<typeof load>['settings']) => s.publicUrl, 'https://voice.test'],
    ['OFFHOOK_PLATFORM_PORT', ' 0 ', (s: ReturnType<typeof load>['settings']) => s.platform.port, 0],
  ] as const)('%s=%s is read', (name, text, pick, expected) => {
    const { settings, problems } = load({ [name]: text });
    expect(problems).toEqual([]);
    expect(pick(settings)).toBe(expected);
  });

  it('reports all problems at once, each with key, value, what is allowed, place and nearest known key', () => {
    const text = 'http:\n  port: eighty\n  prot: 1\nlog:\n  level: loud\nnonsense: 1\ntwilio:\n  authToken: abc\ncall: 7';
    const { problems, settings } = load({ OFFHOOK_PROT: '1', OFFHOOK_JOBS__ATTEMPTS: '0', OFFHOOK_DATA_DIR: '' }, file(text));
    expect(settings.http.port).toBe(8080);
    const lines = problems.map(problemText);
    expect(lines).toHaveLength(8);
    const has = (...parts: string[]) =>
      expect(
        lines.some((line) => parts.every((part) => line.includes(part))),
        parts.join(),
      ).toBe(true);
    has('http.port', 'config/local.yaml:2', '"eighty"', 'a whole number, 0 to 65535');
    has('http.prot', 'config/local.yaml:3', 'no such setting', 'http.port');
    has('log.level', 'local.yaml:5', '"loud"', 'debug, info, warn, error');
    has('nonsense', 'local.yaml:6', 'no such setting');
    has('twilio.authToken', 'local.yaml:8', 'OFFHOOK_TWILIO__AUTH_TOKEN_FILE');
    has('call', 'group of settings');
    has('OFFHOOK_PROT', 'OFFHOOK_PORT');
    has('jobs.attempts', 'OFFHOOK_JOBS__ATTEMPTS', '0', '1 to 50');
    expect(lines.join()).not.toContain('abc');
  });

  it('reports a file that is not YAML with its line', () => {
    expect(load({}, file('http:\n  port: [1')).problems[0]).toMatchObject({
      where: expect.stringMatching(/^config\/local.yaml:\d/),
    });
    expect(load({}, file('- 1\n- 2')).problems).toHaveLength(1);
  });

  it('reports two names of one setting that disagree', () => {
    const { problems } = load({ OFFHOOK_PORT: '1', OFFHOOK_HTTP__PORT: '2' });
    expect(problems).toEqual([expect.objectContaining({ key: 'http.port', where: 'OFFHOOK_PORT' })]);
    expect(load({ OFFHOOK_PORT: '1', OFFHOOK_HTTP__PORT: '1' }).problems).toEqual([]);
  });

  it('refuses a lead that falls', () => {
    expect(load({ OFFHOOK_CALL__LEAD_MAX_MS: '100' }).problems).toEqual([expect.objectContaining({ key: 'call.leadTargetMs' })]);
  });

  it('leaves the names of tests and of the settings file alone', () => {
    expect(load({ OFFHOOK_TEST_REQUIRE_ALL: '1', OFFHOOK_CONFIG: 'x.yaml' }).problems).toEqual([]);
  });

  it('never throws, whatever the file holds', () => {
    const loads = (...asked: Parameters<typeof load>): void => {
      expect(load(...asked).settings).toBeDefined();
    };
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => loads({}, file(text))));
    fc.assert(fc.property(fc.string(), (text) => loads({ OFFHOOK_PORT: text, OFFHOOK_LOG__PERSONAL: text })));
  });
});

describe('the speech platform', () => {
  it('is the hosted one when everything it needs is set', () => {
    const config = load({ ...hosted, OFFHOOK_API_KEY: 'k1, k2' });
    expect(config.problems).toEqual([]);
    expect(usesEmbeddedPlatform(config)).toBe(false);
    expect(config.secrets.speechApiKeys.map((key) => key.reveal())).toEqual(['k1', 'k2']);
  });

  it('asks for what is missing when a part is set', () => {
    expect(load({ OFFHOOK_API_KEY: 'k' }).problems.map(({ where }) => where)).toEqual([
      'OFFHOOK_AUTH_URL',
      'OFFHOOK_ASR_URL',
      'OFFHOOK_TTS_URL',
    ]);
    expect(load(hosted).problems.map(({ where }) => where)).toEqual(['OFFHOOK_API_KEY']);
    expect(load({ OFFHOOK_MED_URL: 'https://m.test' }).problems).toHaveLength(4);
  });
});

describe('secrets', () => {
  it('come from files too', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'offhook-config-')), 'token');
    writeFileSync(path, 's3cret-token\n');
    const config = load({ OFFHOOK_TWILIO_AUTH_TOKEN_FILE: path });
    expect(config.problems).toEqual([]);
    expect(config.carriers.get('twilio')?.secrets['authToken']?.map((token) => token.reveal())).toEqual(['s3cret-token']);
    expect(load({ OFFHOOK_API_KEY_FILE: '/does/not/exist' }).problems[0]).toMatchObject({ where: 'OFFHOOK_API_KEY_FILE' });
  });

  it('never print', () => {
    const config = load({
      OFFHOOK_TWILIO_AUTH_TOKEN: 'hunter2',
      DATABASE_URL: 'postgres://u:hunter2@h/d',
      REDIS_URL: 'redis://:hunter2@h',
    });
    const printed = [
      JSON.stringify(config.secrets),
      inspect(config, { depth: 9, showHidden: true }),
      explainTable(config),
      JSON.stringify(explainConfig(config)),
      String(config.secrets.redisUrl),
    ];
    for (const text of printed) {
      expect(text).not.toContain('hunter2');
      expect(text).toContain('[secret]');
    }
    expect(config.secrets.databaseUrl?.reveal()).toBe('postgres://u:hunter2@h/d');
  });

  it('wants an admin password that is not guessed soon, and does not repeat it', () => {
    const { problems } = load({ OFFHOOK_ADMIN_PASSWORD: 'fifteen-letters' });
    expect(problems).toEqual([
      { key: 'admin.password', where: 'OFFHOOK_ADMIN_PASSWORD', message: 'needs 16 characters or more' },
    ]);
    const { secrets, problems: none } = load({ OFFHOOK_ADMIN_PASSWORD: 'sixteen-letters!' });
    expect([none, secrets.adminPassword?.reveal()]).toEqual([[], 'sixteen-letters!']);
  });

  it('wants address, issuer and audience of tokens together, and keys over a safe connection', () => {
    const keys = (env: Record<string, string>) => load(env).problems.map(({ key }) => key);
    expect(keys({ OFFHOOK_JWT__ISSUER: 'https://login.example.com/' })).toEqual(['jwt.jwksUri', 'jwt.audience']);
    const rest = { OFFHOOK_JWT__ISSUER: 'i', OFFHOOK_JWT__AUDIENCE: 'a' };
    expect(keys({ ...rest, OFFHOOK_JWT__JWKS_URI: 'http://login.example.com/keys' })).toEqual(['jwt.jwksUri']);
    for (const uri of ['https://login.example.com/keys', 'http://127.0.0.1:8081/keys'])
      expect(keys({ ...rest, OFFHOOK_JWT__JWKS_URI: uri })).toEqual([]);
  });

  it('says what one of several machines needs and why, and which addresses they reach it by', () => {
    const problems = (env: Record<string, string>) => load(env).problems.map(({ key, message }) => `${key}: ${message}`);
    expect(problems({ OFFHOOK_CLUSTER__ADDRESS: 'http://10.0.0.5:8090' })).toEqual([
      'REDIS_URL: required because cluster.address is set: the machines find each other and their calls in Redis',
      'DATABASE_URL: required because cluster.address is set: the embedded store belongs to one machine',
      expect.stringMatching(/^OFFHOOK_MASTER_KEY: required because cluster\.address is set: each machine would make/u),
    ]);
    const rest = { REDIS_URL: 'redis://r', DATABASE_URL: 'postgres://p', OFFHOOK_MASTER_KEY: 'k' };
    for (const address of ['http://10.0.0.5:8090', 'http://gateway-2:8090/', 'http://[fd00::5]:8090'])
      expect(problems({ ...rest, OFFHOOK_CLUSTER__ADDRESS: address })).toEqual([]);
    for (const address of ['10.0.0.5:8090', 'https://10.0.0.5', 'http://0.0.0.0:8090', 'http://h:1/path', 'http://u@h:1'])
      expect(problems({ ...rest, OFFHOOK_CLUSTER__ADDRESS: address })).toEqual([
        'cluster.address: allowed is http://<host>:<port>, as the other machines reach this one',
      ]);
  });
});

describe('explainConfig', () => {
  it('says of every setting what it is and where it comes from', () => {
    const shipped = file(readFileSync('config/default.yaml', 'utf8'), 'config/default.yaml');
    const rows = new Map(explainConfig(load({ OFFHOOK_PORT: '9' }, shipped, file('dataDir: x'))).map((row) => [row.key, row]));
    expect(rows.size).toBe(catalogue.length);
    expect(rows.get('http.port')).toMatchObject({ value: '9', from: 'OFFHOOK_PORT', allowed: 'a whole number, 0 to 65535' });
    expect(rows.get('dataDir')).toMatchObject({ value: 'x', from: 'config/local.yaml:1' });
    expect(rows.get('platform.port')).toMatchObject({ value: '7100', from: 'default' });
    expect(rows.get('store.url')).toMatchObject({ value: undefined, from: 'default' });
  });
});

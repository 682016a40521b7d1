import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it, test, vi } from 'vitest';
import { readConfiguration, readGatewayConfiguration, readWholeConfiguration } from '../../../../src/cli/setup/configuration.ts';
import { problemText } from '../../../../src/config/problem.ts';

const folder = mkdtempSync(join(tmpdir(), 'offhook-configuration-'));
const problemsWith = async (env: Record<string, string>): Promise<string[]> =>
  (await readWholeConfiguration(env)).problems.map(problemText);

describe('readConfiguration', () => {
  it('reports an unreadable settings file, and finds one in the working folder', () => {
    const messages = (named: string) => readConfiguration({ OFFHOOK_CONFIG: named }).problems.map(problemText);
    expect(messages(folder)).toEqual([expect.stringContaining('OFFHOOK_CONFIG')]);
    const own = join(folder, 'own.settings');
    writeFileSync(own, 'http: { port: eighty }');
    expect(messages(relative(process.cwd(), own))).toEqual([expect.stringContaining('"eighty"')]);
  });

  it('resolves a relative folder in the working folder, or else in the package', () => {
    const own = mkdtempSync(join(tmpdir(), 'offhook-own-'));
    const before = process.cwd();
    mkdirSync(join(own, 'bots'));
    writeFileSync(join(own, 'bots/mine.yaml'), 'name: mine\nvoice: v\ndialog: { kind: module, file: a.js }\n');
    process.chdir(own);
    try {
      const { bots, config, problems } = readConfiguration({ OFFHOOK_BOTS__FOLDER: 'bots' });
      expect([bots.map(({ name }) => name), problems]).toEqual([['mine'], []]);
      expect(config.settings.analysis.folder).toBe(join(before, 'config/analysis'));
      const misnamed = readConfiguration({ OFFHOOK_BOTS__FOLDER: 'bot' }).botProblems.map(problemText);
      expect(misnamed).toEqual([expect.stringContaining(join(process.cwd(), 'bot'))]);
    } finally {
      process.chdir(before);
    }
  });

  it("lets a command's value replace every name of its setting in the environment", () => {
    vi.stubEnv('OFFHOOK_PLATFORM__PORT', '7200');
    vi.stubEnv('OFFHOOK_PORT', '8081');
    try {
      const { config, problems } = readConfiguration({ OFFHOOK_PLATFORM_PORT: '0', OFFHOOK_HTTP__PORT: '0' });
      expect(problems).toEqual([]);
      expect(config.settings).toMatchObject({ platform: { port: 0 }, http: { port: 0 } });
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe('readWholeConfiguration', () => {
  it('reports a dialling profile with a mistake, one that there is not, and a country that there is not', async () => {
    const dialling = mkdtempSync(join(tmpdir(), 'offhook-dialling-'));
    const named = { OFFHOOK_DIALLING__PROFILE: 'inn', OFFHOOK_DIALLING__DEFAULT_REGION: 'XX' };
    expect(await problemsWith({ OFFHOOK_DIALLING__FOLDER: dialling, ...named })).toEqual([
      expect.stringMatching(/dialling.profile .*"inn": there is no such profile.*Did you mean in\?/u),
      expect.stringContaining('"XX": is not the code of a country'),
    ]);
    writeFileSync(join(dialling, 'ours.yaml'), 'name: ours\nhours: 9\n');
    const problems = await problemsWith({ OFFHOOK_DIALLING__FOLDER: dialling });
    expect(problems).toContainEqual(expect.stringMatching(/^hours \(.*ours\.yaml:2\)/u));
  });

  it('finds the shipped configuration sound', async () => {
    expect(await problemsWith({})).toEqual([]);
  });

  writeFileSync(join(folder, 'sales.yaml'), 'name: sales\nscoring: 5\n');
  const noFolder = join(folder, 'none');
  test.each([
    { name: 'OFFHOOK_MASTER_KEY', value: 'too-short', text: /OFFHOOK_MASTER_KEY\): a master key is 32 bytes in base64/u },
    { name: 'REDIS_URL', value: 'nowhere', text: /REDIS_URL\): REDIS_URL is no redis:/u },
    { name: 'OFFHOOK_PLATFORM__FAULTS', value: 'bogus=1', text: /is "bogus=1": There is no fault named "bogus"/u },
    { name: 'OFFHOOK_ANALYSIS__FOLDER', value: noFolder, text: /none: cannot be read/u },
    { name: 'OFFHOOK_ANALYSIS__FOLDER', value: folder, text: /scoring \(.*sales\.yaml:2\): no such key/u },
  ])('reports what a gateway does not start with: $name=$value', async ({ name, value, text }) => {
    const problems = await problemsWith({ [name]: value });
    expect(problems).toContainEqual(expect.stringMatching(text));
  });

  it('reports all of it at once, and no secret', async () => {
    const secrets = { OFFHOOK_MASTER_KEY: 'too-short', REDIS_URL: 'nowhere:at-all' };
    const problems = await problemsWith({ ...secrets, OFFHOOK_PORT: 'eighty', OFFHOOK_PLATFORM__FAULTS: 'bogus=1' });
    expect(problems).toHaveLength(4);
    for (const secret of Object.values(secrets)) expect(problems.join('\n')).not.toContain(secret);
  });
});

it('warns of unknown bots in settings and profiles', async () => {
  const profiles = join(folder, 'profiles');
  mkdirSync(profiles);
  writeFileSync(join(profiles, 'own.yaml'), 'name: own\nbots: [clinik]\nchannels: { roles: [caller, bot] }\n');
  const problems = await problemsWith({ OFFHOOK_ANALYSIS__FOLDER: profiles, OFFHOOK_CALL__KEEP_FIXTURES: 'clinc, clinic-hi' });
  expect(problems).toEqual([
    'warning: bots (profile own) is "clinik": there is no bot of this name. Did you mean clinic?',
    'warning: call.keepFixtures (OFFHOOK_CALL__KEEP_FIXTURES) is "clinc": there is no bot of this name. Did you mean clinic?',
  ]);
});

describe('readGatewayConfiguration', () => {
  const bots = join(folder, 'bots');
  mkdirSync(bots);
  writeFileSync(join(bots, 'a.yaml'), 'name: a\nvoice: v\ndialog: { kind: module, file: away.js }\n');
  writeFileSync(join(bots, 'b.yaml'), 'name: b\nvoice: v\ndialog: { kind: flow, file: b.flow }\n');
  writeFileSync(join(bots, 'b.flow'), 'start: nowhere\nstates:\n  welcome: { say: Hello., hangup: done }\n');

  it('reports invalid flows and missing modules, which a worker does not need', async () => {
    const env = { OFFHOOK_BOTS__FOLDER: bots };
    const problems = (await readGatewayConfiguration(env)).botProblems.map(problemText);
    expect(problems).toContainEqual(expect.stringMatching(/^dialog\.file \(.*a\.yaml:3\): cannot be read: .*away\.js/u));
    expect(problems).toContainEqual(expect.stringMatching(/^start \(.*b\.flow:1\) is "nowhere"/u));
    expect(problems).toContainEqual(expect.stringMatching(/^voice \(.*b\.yaml:2\) is "v": .*no voice of this name/u));
    expect((await readWholeConfiguration(env)).botProblems).toEqual([]);
  });

  it('finds the shipped bots sound', async () => {
    const { problems, botProblems } = await readGatewayConfiguration();

    expect([...problems, ...botProblems]).toEqual([]);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../src/config/load.ts';
import { catalogue, isOutsideSchema } from '../../src/config/schema.ts';
import { lowMemoryEnvironment } from '../../src/kernel/process-tuning.ts';

// No container engine is needed: what a build or a start would trip over is looked for in the files themselves.

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const service = z.looseObject({
  image: z.string(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), scalar).default({}),
  secrets: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  tmpfs: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  user: z.string().optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z.looseObject({ test: z.array(z.string()).min(2) }).optional(),
});
const compose = z
  .looseObject({
    services: z.record(z.string(), service),
    volumes: z.record(z.string(), z.unknown()),
    secrets: z.record(z.string(), z.object({ file: z.string() })),
  })
  .parse(parse(read('docker/compose.yaml'), { merge: true }));

/** Instructions of the Dockerfile, continued lines joined, by stage. */
const stages = read('Dockerfile')
  .replaceAll(/\\\n\s*/g, ' ')
  .split('\n')
  .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  .reduce<string[][]>((found, line) => {
    if (line.startsWith('FROM ')) found.push([]);
    found.at(-1)?.push(line);
    return found;
  }, []);
const [build = [], final = []] = stages;

function copied(stage: readonly string[]): { readonly sources: string[]; readonly from: string | undefined }[] {
  return stage
    .filter((line) => line.startsWith('COPY '))
    .map((line) => {
      const words = line.split(/\s+/).slice(1);
      const from = words.find((word) => word.startsWith('--from='));
      return { sources: words.filter((word) => !word.startsWith('--')).slice(0, -1), from: from?.slice('--from='.length) };
    });
}

/** Names that the configuration knows; secrets also as `<NAME>_FILE`. */
const knownNames = new Set(
  catalogue.flatMap(({ envName, aliases = [], secret }) =>
    [envName, ...aliases].flatMap((name) => (secret === true ? [name, `${name}_FILE`] : [name])),
  ),
);

describe('the Dockerfile', () => {
  it('copies only what is there, or what the first stage made', () => {
    const wanted = [...copied(build), ...copied(final)]
      .filter(({ from }) => from === undefined)
      .flatMap(({ sources }) => sources);
    expect(wanted).toContain('src');
    expect(wanted.filter((source) => !existsSync(join(root, source)))).toEqual([]);
    expect(copied(final).filter(({ from }) => from !== undefined)).toEqual([{ sources: ['/app/dist'], from: 'build' }]);
  });

  it('finds everything it copies in the build context', () => {
    const kept = read('.dockerignore').split('\n');
    expect(kept).toContain('*');
    const wanted = [...copied(build), ...copied(final)]
      .filter(({ from }) => from === undefined)
      .flatMap(({ sources }) => sources);
    expect(wanted.filter((source) => !kept.includes(`!${source}`))).toEqual([]);
  });

  it('leaves the sources and the compiler out of the image', () => {
    const inImage = copied(final).flatMap(({ sources }) => sources);
    expect(inImage).not.toContain('src');
    expect(inImage).toEqual(expect.arrayContaining(['package.json', '/app/dist', 'bin', 'config']));
    expect(final.filter((line) => line.startsWith('RUN npm install'))).toEqual([expect.stringContaining('--omit=dev')]);
  });

  it('never runs packages’ own scripts', () => {
    const installs = stages.flat().filter((line) => /npm (install|ci)/.test(line));
    expect(installs).toHaveLength(2);
    expect(installs.filter((line) => !line.includes('--ignore-scripts'))).toEqual([]);
  });

  it('brings ffmpeg, without which M4A, MP4 and Windows Media are refused', () => {
    expect(final).toContain('ARG PROGRAMS=ffmpeg');
    expect(final.filter((line) => line.includes('apt-get install'))).toEqual([
      expect.stringContaining('--no-install-recommends $PROGRAMS'),
    ]);
    expect(final.findIndex((line) => line.includes('apt-get'))).toBeLessThan(final.indexOf('USER node'));
  });

  it('runs on one Node that the package supports, in both stages', () => {
    const bases = stages.map(([from = '']) => /^FROM node:(\d+)-/.exec(from)?.[1]);
    const { engines } = z.object({ engines: z.object({ node: z.string() }) }).parse(JSON.parse(read('package.json')));
    const least = Number(/^>=(\d+)/.exec(engines.node)?.[1]);
    expect(new Set(bases).size).toBe(1);
    expect(Number(bases[0])).toBeGreaterThan(least);
  });

  it('runs as nobody special, keeps data in a volume and asks after its own health', () => {
    const user = final.findIndex((line) => line.startsWith('USER '));
    expect(final[user]).toBe('USER node');
    expect(final.findIndex((line) => line.startsWith('CMD '))).toBeGreaterThan(user);
    expect(final).toContain('VOLUME /data');
    expect(final.filter((line) => line.startsWith('HEALTHCHECK '))).toEqual([expect.stringContaining('/healthz')]);
    expect(final).toContain('CMD ["node", "bin/offhook.js", "start"]');
  });

  it('sets only settings that exist', () => {
    const names = final.flatMap((line) => [...line.matchAll(/\b(OFFHOOK_\w+)=/g)].map(([, name = '']) => name));
    expect(names).toEqual(['OFFHOOK_HTTP__HOST', 'OFFHOOK_DATA_DIR']);
    expect(names.filter((name) => !knownNames.has(name))).toEqual([]);
  });

  it('tells the C library the same about memory as the gateway tells its media processes', () => {
    const environment = final.find((line) => line.startsWith('ENV ')) ?? '';
    for (const [name, value] of Object.entries(lowMemoryEnvironment({}))) expect(environment).toContain(` ${name}=${value} `);
  });
});

describe('docker/compose.yaml', () => {
  const { services, volumes, secrets } = compose;
  const ours = Object.entries(services).filter(([, { image }]) => image === 'offhook');

  it('has a gateway, haproxy, a worker, redis and postgres, each with a health check', () => {
    expect(Object.keys(services).sort()).toEqual(['gateway', 'haproxy', 'postgres', 'redis', 'worker']);
    expect(Object.entries(services).filter(([, { healthcheck }]) => healthcheck === undefined)).toEqual([]);
    expect(services['gateway']?.healthcheck?.test.join(' ')).toContain('/healthz');
  });

  it('starts our two services from one image, with the jobs in the worker alone', () => {
    expect(ours.map(([name]) => name)).toEqual(['gateway', 'worker']);
    // The shell gives way to it, and signals reach it.
    expect(services['gateway']?.command?.join(' ')).toMatch(
      /^sh -c OFFHOOK_\w+="\S+" exec node bin\/offhook.js start --no-worker$/u,
    );
    expect(services['worker']?.command).toEqual(['node', 'bin/offhook.js', 'worker']);
  });

  it('names only settings that exist', () => {
    const named = ours.flatMap(([, { environment, command = [] }]) => [
      ...Object.keys(environment),
      ...[...command.join(' ').matchAll(/\b(OFFHOOK_\w+)=/gu)].map(([, name = '']) => name),
    ]);
    expect(named).toContain('OFFHOOK_CLUSTER__ADDRESS');
    expect(named.filter((name) => !knownNames.has(name) || isOutsideSchema(name))).toEqual([]);
  });

  it('gives values that the configuration takes', () => {
    for (const [, { environment }] of ours) {
      const entries = Object.entries(environment)
        .filter(([name]) => !name.endsWith('_FILE'))
        .map(([name, value]) => [name, String(value).startsWith('${') ? 'https://voice.example.com' : String(value)]);
      expect(loadConfig({ env: Object.fromEntries(entries), files: [] }).problems).toEqual([]);
    }
  });

  it('gives every secret by file, from one that is declared and mounted', () => {
    const secretNames = new Set(
      catalogue.filter(({ secret }) => secret === true).flatMap(({ envName, aliases = [] }) => [envName, ...aliases]),
    );
    for (const { environment, secrets: mounted } of Object.values(services)) {
      const names = Object.keys(environment);
      expect(names.filter((name) => secretNames.has(name) || /(PASSWORD|TOKEN|KEY)$/.test(name))).toEqual([]);
      const files = Object.entries(environment).filter(([name]) => name.endsWith('_FILE'));
      const reached = mounted.map((name) => `/run/secrets/${name}`);
      expect(files.filter(([, path]) => !reached.includes(String(path)))).toEqual([]);
      expect(mounted.filter((name) => !(name in secrets))).toEqual([]);
    }
    const used = Object.values(services).flatMap(({ secrets: mounted }) => mounted);
    expect(Object.keys(secrets).filter((name) => !used.includes(name))).toEqual([]);
  });

  it('waits for services that are there and can be healthy', () => {
    const awaited = Object.values(services).flatMap(({ depends_on: needs }) => Object.entries(needs));
    expect(awaited.length).toBeGreaterThan(0);
    expect(awaited.filter(([name, { condition }]) => !(name in services) || condition !== 'service_healthy')).toEqual([]);
  });

  it('gives gateway and worker one data folder and one master key', () => {
    for (const [, { volumes: mounts, environment }] of ours) {
      expect(mounts).toEqual(['data:/data']);
      expect(environment['OFFHOOK_MASTER_KEY_FILE']).toBe('/run/secrets/master_key');
    }
    const mounted = Object.values(services).flatMap(({ volumes: all }) => all.map((mount) => mount.split(':')[0] ?? ''));
    const named = mounted.filter((source) => !source.startsWith('./'));
    expect(mounted.filter((source) => source.startsWith('./') && !existsSync(join(root, 'docker', source)))).toEqual([]);
    expect([...new Set(named)].filter((name) => !(name in volumes))).toEqual([]);
    expect(Object.keys(volumes).filter((name) => !named.includes(name))).toEqual([]);
  });

  it('lets no service have capabilities, new privileges, a root that can be written, or root itself', () => {
    const rights = Object.values(services).map(({ cap_drop, security_opt, read_only }) => ({
      cap_drop,
      security_opt,
      read_only,
    }));
    const none = { cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'], read_only: true };
    expect(rights).toEqual(rights.map(() => none));
    for (const { cap_add, privileged } of Object.values(services)) expect([cap_add, privileged]).toEqual([undefined, undefined]);
    for (const [name, { image, user }] of Object.entries(services))
      expect([name, image === 'offhook' ? 'node' : user]).toEqual([name, image === 'offhook' ? 'node' : name]);
    for (const { tmpfs } of Object.values(services)) expect(tmpfs).toContain('/tmp');
  });

  it('publishes the port of haproxy alone, so that a second gateway finds its own free', () => {
    expect(Object.entries(services).flatMap(([name, { ports }]) => (ports.length === 0 ? [] : [[name, ports]]))).toEqual([
      ['haproxy', ['127.0.0.1:8080:8080']],
    ]);
  });

  it('stops no service before live calls have ended or heard their goodbye', () => {
    const { settings } = loadConfig({ env: {}, files: [] });
    const leastMs = settings.call.drainMs + settings.http.closeGraceMs;
    for (const [, { stop_grace_period: grace }] of ours)
      expect(Number.parseInt(String(grace), 10) * 1_000).toBeGreaterThan(leastMs);
  });
});

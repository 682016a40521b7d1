import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  type LearningProgress,
  PlatformStartError,
  type PlatformProcessOptions,
  startPlatformProcess,
} from '../../../src/cli/setup/platform-process.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { runPlatform } from '../../../src/platform/main.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestPlatform } from './setup.ts';
import { nodeArguments } from '../../support/program.ts';

const program = fileURLToPath(new URL('./tone-platform.ts', import.meta.url));
const command = [process.execPath, ...(await nodeArguments(program))] as const;

const options: PlatformProcessOptions = {
  port: 0,
  profile: 'plain',
  dataDir: '/nonexistent',
  vocabularyFolder: '/nonexistent',
  clock: systemClock,
  logger: silentLogger,
  startTimeoutMs: 60_000,
  command: [...command],
  backoff: { firstMs: 1, factor: 1, maxMs: 1, jitter: 0 },
};

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function mintStatus(urls: { authUrl: string }, apiKey: string): Promise<number> {
  try {
    const response = await fetch(`${urls.authUrl}/api/auth/token`, { method: 'POST', headers: { 'api-key': apiKey } });
    return response.status;
  } catch {
    return 0;
  }
}

// Most of it is waiting for processes to start and to end.
describe.concurrent('the platform process', () => {
  it('gives addresses and a key, comes back with the same after being killed, and ends with its owner', async () => {
    let lastPid: number;
    {
      await using running = await startPlatformProcess(options);
      const { urls, apiKey, pid } = running;
      expect(Object.keys(urls).sort()).toEqual(['asrAltUrl', 'asrUrl', 'authUrl', 'medUrl', 'ttsUrl']);
      expect(await mintStatus(urls, apiKey)).toBe(200);
      process.kill(pid!, 'SIGKILL');
      await eventually('the platform to be up again', () => running.restarts === 1);
      expect(running.pid).not.toBe(pid);
      expect([running.urls, running.apiKey]).toEqual([urls, apiKey]);
      expect(await mintStatus(urls, apiKey)).toBe(200);
      lastPid = running.pid!;
    }
    expect(alive(lastPid)).toBe(false);
  });

  it('says so when the platform ends before it is up, or is not up in time', async () => {
    const dying: PlatformProcessOptions = { ...options, command: [process.execPath, '-e', 'process.exit(3)'] };
    await expect(startPlatformProcess(dying)).rejects.toThrow(
      new PlatformStartError('the speech platform ended with exit code 3 before it was up'),
    );
    const silent: PlatformProcessOptions = {
      ...options,
      startTimeoutMs: 300,
      command: [process.execPath, '-e', 'process.stdin.resume()'],
    };
    await expect(startPlatformProcess(silent)).rejects.toThrow('not up within 300 ms');
    const missing: PlatformProcessOptions = { ...options, command: ['/nonexistent/program'] };
    await expect(startPlatformProcess(missing)).rejects.toThrow('could not be run');
  });

  const addresses = ['authUrl', 'asrUrl', 'asrAltUrl', 'medUrl', 'ttsUrl'].map((name, index) => [
    name,
    `http://127.0.0.1:${index + 1}`,
  ]);
  /** A program that says it is up, and lives on as this code says. */
  const standIn = (living: string): readonly [string, ...string[]] => {
    const text = JSON.stringify({ ...Object.fromEntries(addresses), apiKey: 'k' });
    return [process.execPath, '-e', `${living}; console.log(${JSON.stringify(text)})`];
  };

  it('has the vocabulary of the bots learnt, tells of it, and has it learnt again by a platform that was restarted', async () => {
    const living = `
      process.stdin.on('data', (data) => {
        for (const line of String(data).split('\\n').filter(Boolean)) {
          const { vocabulary } = JSON.parse(line);
          if (vocabulary) console.log(JSON.stringify({ learning: { of: vocabulary.en.length, learnt: 1, failed: 0, leftMs: process.pid } }));
        }
      })`;
    const told: LearningProgress[] = [];
    const onLearning = (progress: LearningProgress): void => void told.push(progress);
    await using running = await startPlatformProcess({ ...options, onLearning, command: standIn(living) });
    const first = running.pid!;
    running.teach({ en: ['see the doctor', 'lost my password'] });
    await eventually('the learning to be told', () => told.length === 1);
    process.kill(first, 'SIGKILL');
    await eventually('the learning to be told again', () => told.length === 2);
    expect(told).toEqual([first, running.pid].map((leftMs) => ({ of: 2, learnt: 1, failed: 0, leftMs })));
  });

  it('stops when its signal aborts', async () => {
    const stop = new AbortController();
    const command = standIn('process.stdin.resume()');
    const running = await startPlatformProcess({ ...options, signal: stop.signal, command, stopTimeoutMs: 30_000 });
    const pid = running.pid!;
    stop.abort(new Error('over'));
    await eventually('the platform to end', () => !alive(pid));
    await running[Symbol.asyncDispose]();
    expect(running.restarts).toBe(0);
  });

  it('kills a platform that does not stop by itself', async () => {
    const command = standIn("process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)");
    const running = await startPlatformProcess({ ...options, stopTimeoutMs: 50, command });
    const pid = running.pid!;
    await running[Symbol.asyncDispose]();
    expect(alive(pid)).toBe(false);
  });
});

describe.concurrent('the platform run by itself', () => {
  const parts = {
    createEngines: () => Promise.reject(new Error('engines were made')),
    clock: systemClock,
    logger: silentLogger,
    process,
  };
  const start = (...args: string[]): ChildProcess =>
    spawn(command[0], [...command.slice(1), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const firstLine = async (child: ChildProcess): Promise<string> => {
    const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
    return line;
  };

  it('prints one JSON document and exits 0 on SIGTERM', async () => {
    const child = start('--alone');
    const addresses = JSON.parse(await firstLine(child)) as { authUrl: string; apiKey: string };
    expect(Object.keys(addresses)).toEqual(['authUrl', 'asrUrl', 'asrAltUrl', 'medUrl', 'ttsUrl', 'apiKey']);
    expect(await mintStatus(addresses, addresses.apiKey)).toBe(200);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('shows its faults with the seed that was drawn for them, and exits 0 on SIGINT', async () => {
    const child = start('--alone', '--faults=lost-finals=0.5');
    expect(JSON.parse(await firstLine(child))).toMatchObject({ faults: expect.stringMatching(/^lost-finals=0\.5,seed=\d+$/) });
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('does not start with an unknown fault, and suggests the nearest one', async () => {
    const asked = runPlatform({
      port: 0,
      profile: 'plain',
      json: true,
      dataDir: '/nonexistent',
      faults: 'lost-final=1',
      ...parts,
    });
    await expect(asked).rejects.toThrow('did you mean lost-finals?');
  });

  it('stops when the parent lets go of the pipe, and uses the key and the ports it was handed', async () => {
    const probe = await startTestPlatform();
    const port = (url: string): number => Number(new URL(url).port);
    const { authUrl, asrUrl, asrAltUrl, medUrl, ttsUrl } = probe.platform;
    const ports = { auth: port(authUrl), asr: port(asrUrl), asrAlt: port(asrAltUrl), med: port(medUrl), tts: port(ttsUrl) };
    await probe[Symbol.asyncDispose]();
    const child = start();
    child.stdin!.write(`${JSON.stringify({ apiKey: 'kept-key', ports })}\n`);
    expect(JSON.parse(await firstLine(child))).toEqual({ authUrl, asrUrl, asrAltUrl, medUrl, ttsUrl, apiKey: 'kept-key' });
    child.stdin!.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('ends when its parent is killed', async () => {
    const script = `
      const { spawn } = require('node:child_process');
      const child = spawn(process.execPath, ${JSON.stringify(command.slice(1))}, { stdio: ['pipe', 'pipe', 'inherit'] });
      child.stdin.write('{}\\n');
      child.stdout.once('data', () => console.log(child.pid));
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const pid = Number(await firstLine(parent));
    expect(alive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await eventually('the platform to end', () => !alive(pid));
  });
});

describe('a taken port', () => {
  it('is an error that names it, and leaves nothing listening', async () => {
    await using first = await startTestPlatform();
    const taken = Number(new URL(first.platform.medUrl).port);
    const ports = { auth: 0, asr: 0, asrAlt: 0, med: taken, tts: 0 };
    await expect(startTestPlatform({ ports })).rejects.toMatchObject({
      code: 'OFFHOOK_PLATFORM_PORT',
      message: expect.stringContaining(`port ${taken} `),
    });
  });

  it('takes five ports in a row from the base port', async () => {
    const { portsFrom } = await import('../../../src/platform/server/listener/listen.ts');
    expect(portsFrom(7100)).toEqual({ auth: 7100, asr: 7101, asrAlt: 7102, med: 7103, tts: 7104 });
    expect(new Set(Object.values(portsFrom(0)))).toEqual(new Set([0]));
  });
});

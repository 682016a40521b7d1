import { createServer, type Server } from 'node:http';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wavFile } from '../../../src/audio/wav.ts';
import { startTestPlatform, type TestPlatform } from './setup.ts';
import { sayTones } from './tone-engines.ts';
import { onLoopback } from '../../support/loopback.ts';

const file = wavFile(sayTones(['alpha', 'bravo'], 16_000), 16_000);

/** A web server on loopback: what it was asked for, and answers by path. */
async function startWeb() {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    if (path === '/a.wav') response.end(file);
    else if (path === '/page') response.end('<html>no sound</html>');
    else if (path.startsWith('/to?')) response.writeHead(302, { location: decodeURIComponent(path.slice(4)) }).end();
    else if (path === '/endless') {
      const block = Buffer.alloc(64 * 1024);
      const more = (): void => void (response.destroyed || response.write(block, more));
      more();
    } else if (path === '/large') response.writeHead(200, { 'content-length': '999999999' }).flushHeaders();
    else if (path === '/torn')
      response.writeHead(200, { 'content-length': '50000' }).write(file.slice(0, 1000), () => response.destroy());
    else response.writeHead(404).end();
  });
  const loopback = await onLoopback(server);
  return { ...loopback, host: `127.0.0.1:${loopback.port}`, asked };
}

describe('audio by its address', () => {
  let web: Awaited<ReturnType<typeof startWeb>>;
  let inner: Awaited<ReturnType<typeof startWeb>>;
  let test: TestPlatform;
  beforeAll(async () => {
    web = await startWeb();
    inner = await startWeb();
    test = await startTestPlatform({ audioHosts: [web.host], limits: { audioBytes: 1024 * 1024 } });
  });
  afterAll(async () => {
    await test[Symbol.asyncDispose]();
    await web[Symbol.asyncDispose]();
    await inner[Symbol.asyncDispose]();
  });

  const transcribe = async (fields: Record<string, string | Uint8Array>) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) {
      form.append(name, typeof value === 'string' ? value : new Blob([Buffer.from(value)]));
    }
    const response = await test.post(`${test.platform.asrUrl}/v1/audio/transcriptions`, form);
    return { status: response.status, body: (await response.json()) as { text?: string; detail?: string } };
  };

  it('each source works by itself; none and any two are a 400 [52]', async () => {
    const sources = { file, audio_base64: Buffer.from(file).toString('base64'), url: `http://${web.host}/a.wav` };
    for (const [name, value] of Object.entries(sources)) {
      expect((await transcribe({ [name]: value })).body).toEqual({ text: 'alpha bravo' });
    }
    const { audio_base64, url } = sources;
    const before = web.asked.length;
    for (const fields of [{}, { file, audio_base64 }, { file, url }, { audio_base64, url }, { file, audio_base64, url }]) {
      expect((await transcribe(fields)).status).toBe(400);
    }
    expect(web.asked).toHaveLength(before);
  });

  it.each([
    ['plain http', 'http://198.51.100.1/a.wav'],
    ['another scheme', 'file:///etc/passwd'],
    ['no address', 'a.wav'],
    ['nothing', ''],
    ['credentials', 'https://user:secret@192.0.2.1/a.wav'],
  ])('refuses %s with 400 [57]', async (_what, url) => {
    const { status, body } = await transcribe({ url });
    expect([status, body.detail]).toEqual([400, expect.stringContaining('url: ')]);
  });

  it.each([
    ['loopback', 'https://127.0.0.1/a.wav'],
    ['loopback in one number', 'https://2130706433/a.wav'],
    ['loopback by name', 'https://localhost/a.wav'],
    ['loopback of IPv6', 'https://[::1]/a.wav'],
    ['loopback of IPv4 in IPv6', 'https://[::ffff:127.0.0.1]/a.wav'],
    ['a private network', 'https://10.1.2.3/a.wav'],
    ['a private network', 'https://192.168.0.1/a.wav'],
    ['a link-local address', 'https://169.254.169.254/latest/meta-data'],
    ['a unique local address', 'https://[fd00::1]/a.wav'],
  ])('refuses %s without a try to connect [57]', async (_what, url) => {
    expect(await transcribe({ url })).toEqual({ status: 400, body: { detail: 'url: this address is not public' } });
  });

  it('follows a redirect, and refuses one into our own network [57]', async () => {
    const to = (target: string): string => `http://${web.host}/to?${encodeURIComponent(target)}`;
    expect((await transcribe({ url: to('/a.wav') })).body).toEqual({ text: 'alpha bravo' });
    for (const target of [
      `http://${inner.host}/a.wav`,
      'https://169.254.169.254/',
      'https://localhost/',
      to(to(to(to(to(to('/a.wav')))))),
    ]) {
      const { status, body } = await transcribe({ url: to(target) });
      expect([status, body.detail]).toEqual([400, expect.stringMatching(/only https|not public|redirects/)]);
    }
    expect(inner.asked).toEqual([]);
  });

  it('answers 413 above the byte limit, with and without content-length [58]', async () => {
    expect((await transcribe({ url: `http://${web.host}/large` })).status).toBe(413);
    expect((await transcribe({ url: `http://${web.host}/endless` })).status).toBe(413);
  });

  it('refuses what is no audio with 415 [58]', async () => {
    expect((await transcribe({ url: `http://${web.host}/page` })).status).toBe(415);
  });

  it('refuses what cannot be fetched with 400', async () => {
    expect((await transcribe({ url: `http://${web.host}/missing` })).status).toBe(400);
    expect((await transcribe({ url: `http://${web.host}/torn` })).status).toBe(400);
  });

  it('keeps nothing of what was fetched', () => {
    expect(readdirSync(join(test.dataDir, 'uploads'))).toEqual([]);
  });
});

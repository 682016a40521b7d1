import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { resample } from '../../../src/audio/resample.ts';
import { wavFile } from '../../../src/audio/wav.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createEngines } from '../../../src/platform/engines/engines.ts';
import { CallerVoice } from '../../../src/sim/caller/voice.ts';
import { type GatewayBench, startGatewayBench } from '../../integration/hosts/gateway-bench.ts';
import { chromiumProgram, type ConsoleBrowser, startConsoleBrowser } from '../../support/console.ts';
import { HANGS_MS } from '../../support/patience.ts';

/** What the bot greets with is in the recogniser's vocabulary, so that the page's own sound can be recognised. */
const GREETING = 'Tuesday at half past ten.';
const ASKED = 'when are you open';
const BOOKED = 'I would like to book an appointment';
const LONG = `We are open from Monday to Saturday, from eight in the morning until six in the evening, and we are closed on
 Sundays and public holidays. You will find us at twelve Lake Road, on the second floor, right opposite the railway station,
 and there is free parking behind the building, which you reach from the other side of the road.`.replaceAll(/\s+/gu, ' ');
const BOT = `
export async function* respond({ input }) {
  if (input.kind === 'start') yield { type: 'say', text: '${GREETING}' };
  else if (input.kind === 'keyed') yield { type: 'say', text: 'You pressed ' + input.digits + '.' };
  else if (input.kind === 'spoken' && input.text.includes('appointment')) yield { type: 'say', text: 'Which day would you like?' };
  else if (input.kind === 'spoken') yield { type: 'say', text: '${LONG}' };
}
`;
const MIC_HZ = 48_000;
/** The caller asks, talks over the answer, and does both again should the machine have been late. */
const SCRIPT = [
  { atS: 9, text: ASKED },
  { atS: 17, text: BOOKED },
] as const;
const LOOP_S = 28;

/** Keeps what a page plays, and where in it each `clear` came. To be run before the page's scripts. */
function tapSound(): void {
  const heard: number[] = [];
  const clears: number[] = [];
  Object.assign(globalThis, { heard, clears });
  const connect = Reflect.get(AudioNode.prototype, 'connect') as (this: AudioNode, ...to: unknown[]) => AudioNode;
  Object.defineProperty(AudioNode.prototype, 'connect', {
    value(this: AudioNode, ...to: unknown[]) {
      const { context } = this;
      // The speaker's own graph, and not the tones of keys.
      if (to[0] === context.destination && this instanceof AudioWorkletNode) {
        const tap = (context as AudioContext).createScriptProcessor(1024, 1, 1);
        tap.onaudioprocess = ({ inputBuffer }) => heard.push(...inputBuffer.getChannelData(0));
        connect.call(this, tap);
        connect.call(tap, context.destination);
        Object.assign(globalThis, { tap, heardHz: context.sampleRate });
      }
      return connect.apply(this, to);
    },
  });
  const Socket = globalThis.WebSocket;
  globalThis.WebSocket = class extends Socket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols);
      this.addEventListener('message', ({ data }) => {
        if (data === '{"type":"clear"}') clears.push(heard.length);
      });
    }
  };
}

async function soundOf(page: Page): Promise<{ readonly pcm: Int16Array; readonly clears: readonly number[] }> {
  const base64 = await page.evaluate(() => {
    const samples = Int16Array.from(Reflect.get(globalThis, 'heard') as number[], (value) => value * 32_767);
    let text = '';
    for (const byte of new Uint8Array(samples.buffer)) text += String.fromCodePoint(byte);
    return btoa(text);
  });
  const bytes = Buffer.from(base64, 'base64');
  const clears = await page.evaluate(() => Reflect.get(globalThis, 'clears') as number[]);
  return { pcm: new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2).slice(), clears };
}

/** What sounds first, up to a silence between two sentences. */
function firstSpell(pcm: Int16Array, rateHz: number): Int16Array {
  const isSound = (sample: number): boolean => Math.abs(sample) > 200;
  const from = pcm.findIndex(isSound);
  let last = from;
  for (let at = from; at < pcm.length && at - last < rateHz * 0.8; at += 1) if (isSound(pcm[at] ?? 0)) last = at;
  const margin = rateHz / 5;
  return pcm.slice(Math.max(0, from - margin), last + margin);
}

/** A customer's site, whose policy allows nothing but itself and what a gateway's button needs. */
async function startSite() {
  const parts = { gateway: '' };
  const server = createServer((_request, response) => {
    const { gateway } = parts;
    const policy = `default-src 'none'; script-src ${gateway}; connect-src ${gateway} ${gateway.replace('http', 'ws')}`;
    response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy });
    response.end(
      `<!doctype html><title>Shop</title><h1>Shop</h1><script src="${gateway}/embed.js" data-label="Ask us" async></script>`,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    parts,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe.runIf(chromiumProgram !== undefined)('the Talk page', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-talk-'));
  let engines: Awaited<ReturnType<typeof createEngines>>;
  let bench: GatewayBench;
  let browser: ConsoleBrowser;
  let site: Awaited<ReturnType<typeof startSite>>;

  beforeAll(async () => {
    site = await startSite();
    const microphone = join(folder, 'caller.wav');
    await using voice = new CallerVoice();
    const sound = new Int16Array(LOOP_S * MIC_HZ);
    for (const { atS, text } of SCRIPT)
      sound.set(resample(await voice.say(text, { language: 'en' }), 8_000, MIC_HZ), atS * MIC_HZ);
    writeFileSync(microphone, wavFile(sound, MIC_HZ));
    engines = await createEngines({
      cacheFolder: join(tmpdir(), 'offhook-recogniser-models'),
      vocabularyFolder: fileURLToPath(new URL('../../../config/platform', import.meta.url)),
      clock: systemClock,
    });
    const args = [
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${microphone}`,
    ];
    [bench, browser] = await Promise.all([
      startGatewayBench({
        clock: systemClock,
        platform: { engines },
        botModule: BOT,
        env: { OFFHOOK_CONSOLE__EMBED__ORIGINS: site.url },
      }),
      startConsoleBrowser({ args }),
    ]);
  });

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
    await bench?.[Symbol.asyncDispose]();
    await engines?.recognition[Symbol.asyncDispose]();
    await engines?.synthesis[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Recognised as a recording. */
  const recognised = async (pcm: Int16Array, rateHz: number): Promise<string> => {
    const form = new FormData();
    form.append('file', new Blob([Buffer.from(wavFile(pcm, rateHz))]), 'page.wav');
    form.append('language_code', 'en');
    const response = await fetch(`${bench.speech.platform.asrUrl}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await bench.speech.token()}` },
      body: form,
    });
    return ((await response.json()) as { text: string }).text;
  };

  it(
    'calls a bot with the microphone, is heard, talked over and keyed into, and leads to the stored call',
    { timeout: 180_000 },
    async () => {
      const target = { url: bench.gateway.url, dataDir: bench.dataDir };
      await using opened = await browser.open(target, 'operator');
      const { page } = opened;
      page.setDefaultTimeout(HANGS_MS);
      await page.addInitScript(tapSound);
      await page.goto(`${target.url}/console/talk`);
      await page.getByRole('button', { name: 'Call', exact: true }).click();

      const conversation = page.getByRole('log', { name: 'Conversation' });
      const told = async (cause: unknown): Promise<never> => {
        throw new Error(`the conversation is: ${await conversation.innerText()}`, { cause });
      };
      await conversation.getByText(GREETING).waitFor().catch(told);
      await conversation.getByText(ASKED, { exact: true }).first().waitFor().catch(told);
      const { pcm: untilAsked } = await soundOf(page);
      const heardHz = await page.evaluate(() => Reflect.get(globalThis, 'heardHz') as number);
      const greeting = firstSpell(untilAsked, heardHz);
      expect(rmsLevelDb(greeting)).toBeGreaterThan(-45);
      expect(await recognised(greeting, heardHz)).toBe('Tuesday at half past ten');

      // Talked over: the rest is struck through, and nothing of it sounds.
      await conversation.getByText(BOOKED, { exact: true }).first().waitFor().catch(told);
      await conversation.locator('s').first().waitFor();
      await conversation.getByText('stopped').first().waitFor();
      const { pcm, clears } = await soundOf(page);
      const cleared = clears[0] ?? Number.NaN;
      const [fromMs, toMs] = [200, 450];
      const after = pcm.subarray(cleared + (fromMs * heardHz) / 1000, cleared + (toMs * heardHz) / 1000);
      expect(after.length).toBeGreaterThan(0);
      expect(Math.max(...after.map(Math.abs))).toBeLessThan(40);

      await conversation.getByText('Which day would you like?').first().waitFor();
      await page.keyboard.press('5');
      await page.getByRole('button', { name: 'Key Star' }).click();
      await expect
        .poll(() => bench.news.flatMap((news) => (news.type === 'digit' ? [news.digit] : [])).join(''), { timeout: HANGS_MS })
        .toBe('5*');
      await opened.lookOver('talk-live');
      await page.getByRole('button', { name: 'Mute' }).click();
      await page.getByRole('button', { name: 'Unmute' }).waitFor();
      await page.getByRole('button', { name: 'Hang up' }).click();
      await page.getByText('You hung up.').first().waitFor();
      const link = page.getByRole('link', { name: 'Open this call' });
      const callId = (await link.getAttribute('href'))?.split('/').at(-1) ?? '';
      await expect
        .poll(async () => (await bench.gateway.backlog.store.calls.get('default', callId))?.endReason, { timeout: HANGS_MS })
        .toBe('caller-hangup');
      expect(opened.complaints).toEqual([]);
      expect(opened.foreign).toEqual([]);
    },
  );

  it('says what to do where the microphone is not allowed, and needs the role for it', async () => {
    const target = { url: bench.gateway.url, dataDir: bench.dataDir };
    await using opened = await browser.open(target, 'operator');
    const { page } = opened;
    await page.addInitScript(() => {
      Object.defineProperty(navigator.mediaDevices, 'getUserMedia', {
        value: () => Promise.reject(new DOMException('no', 'NotAllowedError')),
      });
    });
    await page.goto(`${target.url}/console/talk`);
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByText('The microphone is not allowed for this page').waitFor();
    await opened.lookOver('talk-denied');
    expect(bench.gateway.calls.calls).toEqual([]);
    await using viewer = await browser.open(target, 'viewer', '/talk');
    await viewer.page.getByText('There is no such page').waitFor();
  });

  it(
    'talks from a button on a site of another origin, within its policy, and from no site that is not allowed',
    { timeout: 90_000 },
    async () => {
      site.parts.gateway = bench.gateway.url;
      await using context = await browser.browser.newContext();
      context.setDefaultTimeout(HANGS_MS);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()));
      await page.addInitScript(tapSound);
      await page.goto(site.url);
      await page.getByRole('button', { name: 'Ask us' }).click();
      await page.getByRole('button', { name: 'Hang up' }).waitFor();
      await page.waitForFunction(() => (Reflect.get(globalThis, 'heard') as number[]).some((sample) => Math.abs(sample) > 0.05));
      await page.getByRole('button', { name: '7', exact: true }).click();
      await expect
        .poll(() => bench.news.some((news) => news.type === 'digit' && news.digit === '7'), { timeout: HANGS_MS })
        .toBe(true);
      await page.getByRole('button', { name: 'Hang up' }).click();
      await page.getByText('The call is over.').waitFor();
      expect(complaints).toEqual([]);
      // The same pages by another name are another origin.
      await page.goto(site.url.replace('127.0.0.1', 'localhost'));
      await page.getByRole('button', { name: 'Ask us' }).click();
      await page.getByText('This did not work.').waitFor();
    },
  );
});

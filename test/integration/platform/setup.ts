import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RawData, WebSocket } from 'ws';
import { encodeAudio } from '../../../src/audio/codec.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { newSigningKeys, type SigningKeys } from '../../../src/platform/keys/tokens.ts';
import { type PlatformOptions, type RunningPlatform, startPlatform } from '../../../src/platform/server/start.ts';
import { HANGS_MS } from '../../support/patience.ts';
import { shared } from '../../support/shared.ts';
import { ToneRecogniser, ToneSynthesizer } from './tone-engines.ts';

export interface TestPlatform extends AsyncDisposable {
  readonly platform: RunningPlatform;
  readonly dataDir: string;
  readonly recognition: ToneRecogniser;
  readonly synthesis: ToneSynthesizer;
  /** A token minted over HTTP, the same one at each call. */
  token(): Promise<string>;
  /** Posts with that token: a form as it is, anything else as JSON. */
  post(url: string, body: unknown): Promise<Response>;
}

let signingKeys: Promise<SigningKeys> | undefined;

/** A platform on free loopback ports over the tone engines. @param voiceHz rate of its voices */
export async function startTestPlatform(options: Partial<PlatformOptions> = {}, voiceHz?: number): Promise<TestPlatform> {
  const recognition = new ToneRecogniser();
  const synthesis = new ToneSynthesizer(voiceHz);
  let minted: string | undefined;
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-platform-'));
  const platform = await startPlatform({
    basePort: 0,
    engines: { recognition, synthesis },
    clock: systemClock,
    // Making a pair costs more than a whole test.
    signingKeys: await (signingKeys ??= newSigningKeys()),
    dataDir,
    ...options,
  });
  const token = async (): Promise<string> => {
    // Minted once: a test file makes more requests than the 60 mints of a minute.
    if (minted !== undefined) return minted;
    const response = await fetch(`${platform.authUrl}/api/auth/token`, {
      method: 'POST',
      headers: { 'api-key': platform.apiKey },
    });
    const body = (await response.json()) as { token: string };
    minted = body.token;
    return minted;
  };
  return {
    platform,
    dataDir: options.dataDir ?? dataDir,
    recognition,
    synthesis,
    token,
    async post(url, body) {
      const authorization = `Bearer ${await token()}`;
      if (body instanceof FormData) return fetch(url, { method: 'POST', headers: { authorization }, body });
      const headers = { authorization, 'content-type': 'application/json' };
      return fetch(url, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
    },
    async [Symbol.asyncDispose]() {
      await platform.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A platform that the tests of a block share. */
export const testPlatform = (...options: Parameters<typeof startTestPlatform>): TestPlatform =>
  shared(() => startTestPlatform(...options));

export type Json = Record<string, unknown>;

/** A WebSocket client written from the documents alone: keeps what arrives and waits for more, up to a deadline. */
export class TestSocket implements AsyncDisposable {
  readonly socket: WebSocket;
  readonly events: Json[] = [];
  /** Binary frames, each with the number of events before it. */
  readonly audio: { after: number; bytes: Buffer }[] = [];
  closed: { code: number; reason: string } | undefined;
  readonly #wake = new Set<() => void>();

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: RawData, isBinary: boolean) => {
      const bytes = Buffer.isBuffer(data) ? data : Buffer.from(data as ArrayBuffer);
      if (isBinary) this.audio.push({ after: this.events.length, bytes });
      else this.events.push(JSON.parse(bytes.toString('utf8')) as Json);
      this.#woken();
    });
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString('utf8') };
      this.#woken();
    });
    socket.on('error', () => undefined);
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<TestSocket> {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
    const wrapped = new TestSocket(socket);
    await once(socket, 'open');
    return wrapped;
  }

  /** A recognition socket after `ready`. */
  static async ready(test: TestPlatform, init: Json = {}): Promise<TestSocket> {
    const wrapped = await TestSocket.open(`${test.platform.asrUrl}/v1/realtime`);
    wrapped.json({ token: await test.token(), language_code: 'en', sample_rate: 8000, ...init });
    await wrapped.until(() => wrapped.of('ready').length === 1);
    return wrapped;
  }

  json(message: unknown): void {
    this.socket.send(JSON.stringify(message));
  }

  text(message: string): void {
    this.socket.send(message);
  }

  pcm(samples: Int16Array): void {
    this.socket.send(encodeAudio('pcm16', samples));
  }

  of(type: string): Json[] {
    return this.events.filter((event) => event['type'] === type);
  }

  /** Resolves when the condition holds; rejects with what has arrived when this hangs. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        if (!condition()) return;
        clearTimeout(timer);
        this.#wake.delete(check);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#wake.delete(check);
        reject(new Error(`nothing came of it; closed: ${JSON.stringify(this.closed)}, events: ${JSON.stringify(this.events)}`));
      }, HANGS_MS);
      this.#wake.add(check);
      check();
    });
  }

  async untilClosed(): Promise<{ code: number; reason: string }> {
    await this.until(() => this.closed !== undefined);
    return this.closed!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.closed !== undefined) return;
    this.socket.terminate();
    await this.until(() => this.closed !== undefined);
  }

  #woken(): void {
    for (const check of this.#wake) check();
  }
}

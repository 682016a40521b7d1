import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { atMost } from '../../kernel/bounded-reading.ts';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { errorText, hasCode, OffhookError, rootCause } from '../../kernel/errors.ts';
import { readFileParts } from '../../kernel/file-streams.ts';
import { parseJson } from '../../kernel/json.ts';
import { unlessMissing, writeFileAtomic } from '../../kernel/temporary.ts';
import { sleep } from '../../kernel/waiting.ts';
import { ModelContentError, ModelDownloadError } from './errors.ts';

const MOST_REDIRECTS = 5;
/** A server that sends nothing for this long has cut the connection. */
const SILENT_MS = 60_000;
/** Tries in a row that bring nothing. */
const MOST_TRIES = 4;
/** For a file without a published size. */
const LARGEST_BYTES = 8 * 1024 ** 3;

export interface Source {
  readonly url: string;
  /** A copy of the internet's files that is asked in its place: `<mirror>/<host>/<path>`. */
  readonly mirror?: string | undefined;
  /** Hosts that the address may be redirected to; `*.` begins any subdomain. */
  readonly redirects: readonly string[];
  readonly bytes?: number | undefined;
}

export interface DownloadOptions {
  readonly clock: Clock;
  /** Pause before a second try in a row, which doubles. */
  readonly pauseMs?: number;
  readonly onBytes?: (done: number, all: number | undefined) => void;
  readonly signal?: AbortSignal | undefined;
}

/** State of a partial download, from which a later run continues. */
const remembered = z.object({ url: z.string(), validator: z.string().optional() });

/**
 * Downloads an address into a file, continuing a partial one, also of a killed process.
 * @param path of the growing file; after a failure it stays, beside a note of its source
 * @throws ModelDownloadError, ModelContentError for a file larger than published; errors of the disk; the signal's reason
 */
export async function download(source: Source, path: string, options: DownloadOptions): Promise<void> {
  const { clock, pauseMs = 1_000, signal } = options;
  const url = addressToAsk(source);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const first = await sizeOf(path);
  for (let tries = 0; ;) {
    const before = await sizeOf(path);
    try {
      await fetchRest(url, source, path, options);
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ModelDownloadError)) throw error;
      const now = await sizeOf(path);
      // A machine without a network fails at once.
      const isHopeless = error.facts['final'] === true || (error.facts['away'] === true && now <= first);
      tries = now > before ? 0 : tries + 1;
      if (isHopeless || tries >= MOST_TRIES) throw error;
      await sleep(clock, pauseMs * 2 ** tries, signal);
    }
  }
}

/** SHA-256 of a file, in hexadecimal. */
export async function hashOfFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of readFileParts(path, { partBytes: 1_048_576, signal })) hash.update(part);
  return hash.digest('hex');
}

/** Whether one address may send a download on to another. */
export function mayRedirect(from: URL, to: URL, redirects: readonly string[]): boolean {
  if (to.protocol !== 'https:' && to.origin !== from.origin) return false;
  if (to.host === from.host) return true;
  return redirects.some((host) => (host.startsWith('*.') ? to.hostname.endsWith(host.slice(1)) : to.hostname === host));
}

function addressToAsk({ url, mirror }: Source): URL {
  if (mirror === undefined) return new URL(url);
  const { host, pathname } = new URL(url);
  return new URL(`${mirror.replace(/\/+$/u, '')}/${host}${pathname}`);
}

async function fetchRest(url: URL, source: Source, path: string, { clock, signal, onBytes }: DownloadOptions): Promise<void> {
  const note = `${path}.json`;
  const before = remembered.safeParse(parseJson(await readFile(note, 'utf8').catch(unlessMissing('')))).data;
  const there = await sizeOf(path);
  const known = before?.url === url.href ? before : undefined;
  if (known !== undefined && there > 0 && there === source.bytes) return;
  // Without a mark of the version, the rest could be that of another file.
  const rest = there === 0 || known?.validator === undefined ? undefined : { from: there, validator: known.validator };
  using silence = new Silence(clock, signal);
  const response = await silence.heed(url, ask(url, source.redirects, rest, silence.signal));
  if (response.status === 416) {
    await response.body?.cancel();
    if (response.headers.get('content-range') === `bytes */${there}`) return;
    await forgetDownload(path);
    throw new ModelDownloadError(`${url.host} no longer has the file whose beginning is here: the download starts anew`);
  }
  const start = rest !== undefined && response.status === 206 && startOfRange(response) === rest.from ? rest.from : 0;
  const length = response.headers.get('content-length');
  const all = length === null ? source.bytes : start + Number(length);
  if (source.bytes !== undefined && all !== source.bytes) {
    await response.body?.cancel();
    throw new ModelContentError(`${url.href} has ${all} bytes, where ${source.bytes} are published`);
  }
  const file = await open(path, start === 0 ? 'w' : 'r+', 0o600);
  try {
    if (start === 0) {
      const validator = response.headers.get('etag') ?? response.headers.get('last-modified');
      // A weak mark does not vouch for each byte.
      const isStrong = validator !== null && !validator.startsWith('W/');
      await writeFileAtomic(note, JSON.stringify({ url: url.href, ...(isStrong ? { validator } : {}) }));
    }
    const most = all ?? LARGEST_BYTES;
    const tooLarge = (): ModelContentError => new ModelContentError(`${url.href} sends more than ${most} bytes`);
    let at = start;
    for await (const part of atMost(silence.listen(url, response), most - start, tooLarge)) {
      await file.write(part, 0, part.length, at);
      at += part.length;
      onBytes?.(at, all);
    }
    await file.sync();
    if (all !== undefined && at < all)
      throw new ModelDownloadError(`the connection to ${url.host} was cut at ${at} of ${all} bytes`);
  } finally {
    await file.close();
  }
}

/** Ends a request when its server is silent for too long, and says what broke it. */
class Silence implements Disposable {
  readonly signal: AbortSignal;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #timer: Timer;

  constructor(clock: Clock, signal: AbortSignal | undefined) {
    this.#clock = clock;
    this.signal = signal === undefined ? this.#controller.signal : AbortSignal.any([signal, this.#controller.signal]);
    this.#timer = this.#wait();
  }

  async heed(url: URL, answer: Promise<Response>): Promise<Response> {
    try {
      return await answer;
    } catch (error) {
      throw this.#told(url, error);
    }
  }

  async *listen(url: URL, { body }: Response): AsyncIterable<Uint8Array> {
    if (body === null) return;
    try {
      for await (const part of body) {
        this.#timer.cancel();
        this.#timer = this.#wait();
        yield part;
      }
    } catch (error) {
      throw this.#told(url, error);
    }
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
  }

  #wait(): Timer {
    const late = new Error(`nothing came for ${SILENT_MS / 1_000} s`);
    return this.#clock.after(SILENT_MS, () => this.#controller.abort(late));
  }

  #told(url: URL, error: unknown): unknown {
    if (error instanceof OffhookError) return error;
    const cause = rootCause(this.#controller.signal.aborted ? this.#controller.signal.reason : error);
    const isAway = hasCode(cause, 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ECONNREFUSED');
    const what = isAway ? `${url.host} cannot be reached` : `the connection to ${url.host} was cut`;
    return new ModelDownloadError(`${what} (${errorText(cause)})`, { cause: error, facts: { away: isAway } });
  }
}

async function ask(
  url: URL,
  redirects: readonly string[],
  rest: { readonly from: number; readonly validator: string } | undefined,
  signal: AbortSignal,
): Promise<Response> {
  let at = url;
  for (let hops = 0; hops <= MOST_REDIRECTS; hops += 1) {
    const response = await fetch(at, {
      redirect: 'manual',
      signal,
      headers: {
        'accept-encoding': 'identity',
        'user-agent': 'offhook',
        ...(rest === undefined ? {} : { range: `bytes=${rest.from}-`, 'if-range': rest.validator }),
      },
    });
    const { status } = response;
    const location = response.headers.get('location');
    if (status === 200 || status === 206 || (status === 416 && rest !== undefined)) return response;
    await response.body?.cancel();
    if (status < 300 || status >= 400 || location === null) throw refused(at, status);
    if (!URL.canParse(location, at.href)) throw final(`${at.host} redirects to what is no address`);
    const to = new URL(location, at);
    if (!mayRedirect(at, to, redirects)) {
      throw final(`${at.host} redirects to ${to.protocol}//${to.host}, which is not among the hosts of this download`);
    }
    at = to;
  }
  throw final(`${url.host} redirects more than ${MOST_REDIRECTS} times`);
}

function startOfRange(response: Response): number {
  return Number(/^bytes (\d+)-/u.exec(response.headers.get('content-range') ?? '')?.[1] ?? Number.NaN);
}

function refused(url: URL, status: number): ModelDownloadError {
  const passes = status === 429 || status >= 500;
  return passes
    ? new ModelDownloadError(`${url.host} answers with status ${status}: try again later`)
    : final(`${url.href} answers with status ${status}${status === 404 ? ': the file is not there' : ''}`);
}

/** For what another try would not change. */
function final(message: string): ModelDownloadError {
  return new ModelDownloadError(message, { facts: { final: true } });
}

async function sizeOf(path: string): Promise<number> {
  const facts = await stat(path).catch(unlessMissing(undefined));
  return facts?.size ?? 0;
}

/** Deletes a partial download. */
export async function forgetDownload(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(`${path}.json`, { force: true });
}

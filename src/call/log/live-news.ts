import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { isRunning } from '../../kernel/process-identity.ts';
import { parseJson } from '../../kernel/json.ts';
import { type CallNews, callNews } from './call-news.ts';

/** One socket for each process with calls: `calls.<pid>`. */
const NAME = /^calls\.(\d+)$/u;
/** A follower that does not read is disconnected. */
const MOST_WAITING_BYTES = 1024 * 1024;
const MOST_FOLLOWERS = 50;
const MOST_REQUEST_BYTES = 1_000;

const followRequest = z.object({ follow: z.string().min(1).max(200) });

/**
 * Serves a call's news to other processes of the same user, over a Unix socket in a private folder (0700), which is the access control, as for the
 * store. A call without followers costs nothing.
 */
export class LiveNews implements AsyncDisposable {
  readonly #followers = new Map<Socket, string>();
  readonly #carrierCallIds = new Map<string, string>();
  readonly #server = createServer((socket) => this.#greet(socket));

  /** Removes the sockets of dead processes. @throws the file system's error */
  async listen(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    for (const name of readdirSync(folder)) {
      const pid = Number(NAME.exec(name)?.[1] ?? Number.NaN);
      if (!Number.isNaN(pid) && (pid === process.pid || !isRunning(pid))) rmSync(join(folder, name), { force: true });
    }
    const path = join(folder, `calls.${process.pid}`);
    this.#server.listen(path);
    await once(this.#server, 'listening');
    // Later errors belong to a single follower.
    this.#server.on('error', () => undefined).unref();
    await chmod(path, 0o600);
  }

  /** Partials are left out: no follower shows them, and a half-spoken card number in them could not be hidden. */
  tell(news: CallNews): void {
    if (news.type === 'partial') return;
    if (news.type === 'started') this.#carrierCallIds.set(news.callId, news.carrierCallId);
    const carrierCallId = this.#carrierCallIds.get(news.callId);
    if (news.type === 'ended') this.#carrierCallIds.delete(news.callId);
    for (const [socket, followed] of this.#followers) {
      if (followed !== carrierCallId) continue;
      if (socket.writableLength > MOST_WAITING_BYTES) socket.destroy();
      else socket.write(`${JSON.stringify(news)}\n`);
    }
  }

  #greet(socket: Socket): void {
    let request = '';
    if (this.#followers.size >= MOST_FOLLOWERS) return void socket.destroy();
    this.#followers.set(socket, '');
    socket.unref();
    socket.on('error', () => undefined).once('close', () => this.#followers.delete(socket));
    socket.setEncoding('utf8').on('data', (part: string) => {
      request += part;
      if (request.length > MOST_REQUEST_BYTES) return void socket.destroy();
      if (!request.includes('\n') || this.#followers.get(socket) !== '') return undefined;
      const parsed = followRequest.safeParse(parseJson(request));
      if (!parsed.success) return void socket.destroy();
      this.#followers.set(socket, parsed.data.follow);
      return void socket.write('\n');
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, 'close') : undefined;
    this.#server.close();
    for (const socket of this.#followers.keys()) socket.end();
    await closed;
  }
}

/**
 * Follows a call, which may not have begun, in any process of this folder.
 * @param onNews called in order; never, where no gateway of this user uses the folder
 * @returns stops following, once the news so far has been read
 */
export async function followCall(
  folder: string,
  carrierCallId: string,
  onNews: (news: CallNews) => void,
): Promise<{ readonly followed: boolean; readonly close: () => void }> {
  const sockets = await Promise.all(namesIn(folder).map((name) => follow(join(folder, name), carrierCallId, onNews)));
  const open = sockets.filter((socket) => socket !== undefined);
  return {
    followed: open.length > 0,
    close: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

/** @returns the followed socket; undefined where no process listens at it */
async function follow(path: string, carrierCallId: string, onNews: (news: CallNews) => void): Promise<Socket | undefined> {
  const socket = connect(path);
  const lines = createInterface({ input: socket });
  const ready = new Promise<boolean>((resolve) => {
    lines.once('line', () => resolve(true));
    socket.once('error', () => resolve(false)).once('close', () => resolve(false));
  });
  // The readline interface repeats the socket's errors.
  lines.on('error', () => undefined);
  lines.on('line', (line) => {
    const { data: news } = callNews.safeParse(parseJson(line));
    if (news !== undefined) onNews(news);
  });
  socket.write(`${JSON.stringify({ follow: carrierCallId })}\n`);
  return (await ready) ? socket : undefined;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => NAME.test(name));
  } catch {
    return [];
  }
}

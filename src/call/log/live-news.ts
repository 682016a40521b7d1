import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { ANSWERED_BY, type AnsweredBy } from '../../config/answered-by.ts';
import { isRunning } from '../../kernel/process-identity.ts';
import { parseJson } from '../../kernel/json.ts';

/** What someone watching a call sees as it goes; texts are the callers' and bots' own words. */
export type CallNews =
  | { readonly type: 'started'; readonly callId: string; readonly carrierCallId: string; readonly botName: string }
  | { readonly type: 'partial'; readonly callId: string; readonly text: string }
  | { readonly type: 'turn'; readonly callId: string; readonly turn: number; readonly kind: string; readonly callerText: string }
  | { readonly type: 'reply'; readonly callId: string; readonly turn: number; readonly totalMs: number | undefined }
  /** A sentence of the bot's begins to be heard. */
  | { readonly type: 'saying'; readonly callId: string; readonly turn: number; readonly text: string }
  | { readonly type: 'heard'; readonly callId: string; readonly turn: number; readonly text: string; readonly heard: string }
  | {
      readonly type: 'floor';
      readonly callId: string;
      readonly what: 'hold' | 'resume' | 'clear' | 'restore';
      readonly by: string;
    }
  /** Who answered a call that we placed, as it is seen now. */
  | { readonly type: 'answered-by'; readonly callId: string; readonly by: AnsweredBy; readonly confidence: number }
  | { readonly type: 'digit'; readonly callId: string; readonly digit: string }
  | { readonly type: 'ended'; readonly callId: string; readonly reason: string };

/** One socket a process that has calls: `calls.<pid>`. */
const NAME = /^calls\.(\d+)$/u;
/** A follower that does not read is let go. */
const MOST_WAITING_BYTES = 1024 * 1024;
const MOST_FOLLOWERS = 50;
const MOST_REQUEST_BYTES = 1_000;

const followRequest = z.object({ follow: z.string().min(1).max(200) });
const callNews = z.discriminatedUnion('type', [
  z.object({ type: z.literal('started'), callId: z.string(), carrierCallId: z.string(), botName: z.string() }),
  z.object({ type: z.literal('partial'), callId: z.string(), text: z.string() }),
  z.object({ type: z.literal('turn'), callId: z.string(), turn: z.number(), kind: z.string(), callerText: z.string() }),
  z.object({ type: z.literal('reply'), callId: z.string(), turn: z.number(), totalMs: z.number().optional() }),
  z.object({ type: z.literal('saying'), callId: z.string(), turn: z.number(), text: z.string() }),
  z.object({ type: z.literal('heard'), callId: z.string(), turn: z.number(), text: z.string(), heard: z.string() }),
  z.object({
    type: z.literal('floor'),
    callId: z.string(),
    what: z.enum(['hold', 'resume', 'clear', 'restore']),
    by: z.string(),
  }),
  z.object({ type: z.literal('answered-by'), callId: z.string(), by: z.enum(ANSWERED_BY), confidence: z.number() }),
  z.object({ type: z.literal('digit'), callId: z.string(), digit: z.string() }),
  z.object({ type: z.literal('ended'), callId: z.string(), reason: z.string() }),
]);

/**
 * Tells other processes of the same user what happens in a call whose carrier id they know, over a Unix socket in a private
 * folder (0700): that folder is the key, as it is of the store. Nothing is done for a call that nobody follows.
 */
export class LiveNews implements AsyncDisposable {
  readonly #followers = new Map<Socket, string>();
  readonly #carrierCallIds = new Map<string, string>();
  readonly #server = createServer((socket) => this.#greet(socket));

  /** Sockets of processes that are gone are removed. @throws what the disk says */
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
    // What goes wrong later concerns one follower.
    this.#server.on('error', () => undefined).unref();
    await chmod(path, 0o600);
  }

  tell(news: CallNews): void {
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
 * Follows a call, which may be yet to begin, in whichever process of this folder has it.
 * @param onNews told in order; nothing comes where no gateway of this user has the folder
 * @returns ends it, once what was told so far has been read
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

/** @returns the socket once it is followed; undefined for one that nobody listens at */
async function follow(path: string, carrierCallId: string, onNews: (news: CallNews) => void): Promise<Socket | undefined> {
  const socket = connect(path);
  const lines = createInterface({ input: socket });
  const ready = new Promise<boolean>((resolve) => {
    lines.once('line', () => resolve(true));
    socket.once('error', () => resolve(false)).once('close', () => resolve(false));
  });
  // Its interface hears the socket's errors again.
  lines.on('error', () => undefined);
  lines.on('line', (line) => {
    const { data: news } = callNews.safeParse(parseJson(line));
    if (news !== undefined) onNews(news.type === 'reply' ? { ...news, totalMs: news.totalMs } : news);
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

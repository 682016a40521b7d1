import { once } from 'node:events';
import { Socket, createConnection } from 'node:net';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { abortable, sleep } from '../../kernel/waiting.ts';
import { type Clock, stayAwake } from '../../kernel/clock.ts';
import { type DatabaseConnection, openPool } from '../postgres/connection.ts';
import { SOCKET_NAME } from './socket-server.ts';

/** The embedded store, opened by this process or reached through another one. */
export interface EmbeddedDatabase {
  readonly place: 'embedded' | 'peer';
  readonly pool: Pool;
  readonly connection: DatabaseConnection;
  close(): Promise<void>;
}

/** Another process that has the store open. */
export interface StoreOwner {
  readonly pid: number;
  readonly socketDir: string;
  readonly lasting: boolean;
}

/** Opens the store as its owner, or returns its current owner. */
type TryOwning = () => Promise<EmbeddedDatabase | StoreOwner>;

export interface PeerOptions {
  readonly clock: Clock;
  readonly onProblem: (error: Error) => void;
  /** Sessions that queries may use at once. */
  readonly maxSessions: number;
  /** Absent for one that leaves the store to others. */
  readonly tryOwning?: TryOwning | undefined;
}

/** How long to wait for an owner that is neither gone nor there, and after a store that could not be opened. */
const RETRY_MS = 100;
const FAILED_MS = 1_000;

/**
 * A store owned by another process, reached through its socket. When that process dies, the first other one takes the store over and the rest connect
 * to it; queries fail in between, and their retries succeed.
 */
export class Peer implements EmbeddedDatabase {
  readonly place = 'peer';
  readonly connection: DatabaseConnection;
  readonly pool: Pool;
  readonly #options: PeerOptions;
  readonly #closing = new AbortController();
  #socketDir: string;
  #owned: EmbeddedDatabase | undefined;
  #search: Promise<void> | undefined;
  #joined = false;

  private constructor(socketDir: string, options: PeerOptions) {
    this.#socketDir = socketDir;
    this.#options = options;
    const stream = (): ReturnType<NonNullable<DatabaseConnection['stream']>> =>
      this.#owned?.connection.stream?.() ?? this.#dial();
    this.connection = { stream, user: 'postgres', ssl: false, keepAlive: true, connectionTimeoutMillis: 5_000 };
    this.pool = openPool({ ...this.connection, max: options.maxSessions }, options.onProblem);
  }

  /** @returns undefined when the socket does not answer */
  static async join(socketDir: string, options: PeerOptions): Promise<Peer | undefined> {
    const peer = new Peer(socketDir, options);
    try {
      await peer.pool.query('SELECT 1');
      peer.#joined = true;
      return peer;
    } catch {
      await peer.pool.end();
      return undefined;
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the store is closing'));
    await this.#search;
    await this.pool.end();
    await this.#owned?.close();
  }

  /** The Postgres client connects it, to an address that it believes to be a server's. */
  #dial(): Socket {
    const { tryOwning } = this.#options;
    const socket = new Socket();
    const connect = socket.connect.bind(socket);
    socket.once('close', () => {
      if (this.#joined && tryOwning !== undefined) this.#search ??= this.#find(tryOwning);
    });
    return Object.assign(socket, { connect: () => connect(join(this.#socketDir, SOCKET_NAME)) });
  }

  /** Looks for the owner after a connection was closed, as idle ones are too, until there is one, which may be this process. */
  async #find(tryOwning: TryOwning): Promise<void> {
    const { clock, onProblem } = this.#options;
    const { signal } = this.#closing;
    while (this.#owned === undefined && !signal.aborted) {
      const waitMs = await this.#look(tryOwning).catch((error: Error) => {
        onProblem(error);
        return FAILED_MS;
      });
      if (waitMs === undefined) break;
      await stayAwake(sleep(clock, waitMs, signal)).catch(() => {});
    }
    this.#search = undefined;
  }

  /** @returns how long to wait before the next look; undefined when there is an owner */
  async #look(tryOwning: TryOwning): Promise<number | undefined> {
    const found = await tryOwning();
    if ('pool' in found) this.#owned = found;
    else if (found.lasting && (await answers(found.socketDir, this.#closing.signal))) this.#socketDir = found.socketDir;
    else return RETRY_MS;
    return undefined;
  }
}

async function answers(socketDir: string, signal: AbortSignal): Promise<boolean> {
  const socket = createConnection(join(socketDir, SOCKET_NAME));
  try {
    await abortable(once(socket, 'connect'), signal);
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

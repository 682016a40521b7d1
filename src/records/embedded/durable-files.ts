import { closeSync, fsyncSync, openSync } from 'node:fs';
import { join, relative } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

/** What Emscripten passes for an open file. `nfd` is Node's descriptor; a folder has none. */
interface OpenStream {
  readonly path: string;
  readonly nfd?: number;
}

/** `fdatasync`, the default on Linux, is a stub in WebAssembly that does nothing. */
export const DURABLE_START = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'fsync=on',
  '-c',
  'wal_sync_method=fsync',
];

/**
 * Files that are synced to disk when Postgres asks for it. PGlite runs with `-F` (no fsync), and its file system passes none on: a commit would
 * survive `kill -9`, where the kernel still holds the data, but not a power loss. The outbox, however, forgets an entry once the store has it.
 */
export class DurableFiles extends NodeFS {
  readonly #flushFile: (descriptor: number) => void;

  /** @param flushFile an argument so that a test can count */
  constructor(dataDir: string, flushFile: (descriptor: number) => void = fsyncSync) {
    super(dataDir);
    this.#flushFile = flushFile;
  }

  override async init(...given: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(...given);
    const { preRun = [] } = emscriptenOpts;
    const flushing: typeof preRun = [
      (module) => {
        // `fd_sync` asks for one among the operations, and takes a missing one for success (emscripten, `_fd_sync`).
        Object.assign(module.FS.filesystems.NODEFS.stream_ops, { fsync: (stream: OpenStream) => this.#flush(stream) });
      },
    ];
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...preRun, ...flushing] } };
  }

  #flush({ path, nfd }: OpenStream): number {
    // Not thrown on as one of Postgres's own errors: the engine ends, and its log makes the cluster whole, as after its panic.
    if (nfd !== undefined) this.#flushFile(nfd);
    else flushFolder(join(this.rootDir, relative(PGlite.paths.PGDATA, path)));
    return 0;
  }
}

function flushFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

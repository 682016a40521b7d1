import { Socket } from 'node:net';
import { Client, type PoolConfig } from 'pg';

type ClientClass = NonNullable<PoolConfig['Client']>;

/**
 * The clients of a pool whose server can be lost without a word, as when its machine or the way to it is gone: one that waits
 * and hears nothing for so long loses its connection, and with it fails what waits. Otherwise that would last as long as the
 * system believes in the connection, which is hours, and a pool is empty after as many queries as it has connections. A pool
 * closes those that nobody uses long before.
 * @param silenceMs longer than any query takes
 */
export function impatientClient(silenceMs: number): ClientClass {
  return class extends Client {
    constructor(config?: ConstructorParameters<typeof Client>[0]) {
      super(config);
      this.once('connect', () => {
        const { stream } = this.connection;
        if (stream instanceof Socket)
          stream.setTimeout(silenceMs, () => stream.destroy(new Error(`the database said nothing for ${silenceMs} ms`)));
      });
    }
  };
}

interface Directed {
  /** Which bytes are meant: those to the server (`up`, when absent) or those of the server. */
  readonly direction?: 'up' | 'down';
}

/** What goes wrong with one connection. */
export type ConnectionFault = Directed &
  (
    | {
        /** After so many bytes the connection is ended, or reset, or nothing more arrives that way. */
        readonly kind: 'drop' | 'reset' | 'stall';
        readonly afterBytes: number;
      }
    | {
        /** Every byte arrives, in pieces of at most this size with a pause after each. */
        readonly kind: 'slow';
        readonly pieceBytes: number;
        readonly everyMs: number;
      }
    | {
        /** This WebSocket frame, counted from 0, loses the second half of its payload, or comes twice. */
        readonly kind: 'truncated-frame' | 'duplicated-frame';
        readonly frame: number;
      }
    | {
        /** The length in the header of this WebSocket frame is off by so much. */
        readonly kind: 'wrong-frame-length';
        readonly frame: number;
        readonly by: number;
      }
    | {
        /** The length of the first body is off by so much: its Content-Length, or that of its first chunk. */
        readonly kind: 'wrong-content-length';
        readonly by: number;
      }
  );

/** What is known of the traffic that a fault has to hit. */
export interface Traffic {
  readonly over: 'socket' | 'http';
  readonly direction: 'up' | 'down';
  /** About so many bytes pass in that direction, or more. */
  readonly bytes: number;
  /** About so many frames pass in that direction, on a socket. */
  readonly frames: number;
}

/** Any of the faults that this traffic can have. @param random numbers in [0, 1) */
export function chooseFault(random: () => number, { over, direction, bytes, frames }: Traffic): ConnectionFault {
  const below = (count: number): number => Math.floor(random() * count);
  const by = (1 + below(20)) * (random() < 0.5 ? -1 : 1);
  const kinds = [
    { kind: 'drop', afterBytes: below(bytes) },
    { kind: 'reset', afterBytes: below(bytes) },
    { kind: 'stall', afterBytes: below(bytes) },
    { kind: 'slow', pieceBytes: Math.ceil(bytes / (2 + below(20))), everyMs: 1 + below(8) },
    ...(over === 'http'
      ? ([{ kind: 'wrong-content-length', by }] as const)
      : ([
          { kind: 'truncated-frame', frame: below(frames) },
          { kind: 'duplicated-frame', frame: below(frames) },
          { kind: 'wrong-frame-length', frame: below(frames), by },
        ] as const)),
  ] as const;
  return { ...kinds[below(kinds.length)]!, direction };
}

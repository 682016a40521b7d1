import type { Clock } from '../../../src/kernel/clock.ts';
import type { ConnectionFault } from './connection-fault.ts';
import { frameHeader, type WirePart, wireParts, withFrameLength } from './wire-parts.ts';

export interface DamageOptions {
  readonly clock: Clock;
  /** Called when the fault has happened. */
  readonly broke: () => void;
  /** Ends the connection in both directions. */
  readonly cut: (how: 'drop' | 'reset') => void;
}

/** The bytes of one direction as the other end gets them. */
export async function* damaged(
  chunks: AsyncIterable<Buffer>,
  fault: ConnectionFault | undefined,
  options: DamageOptions,
): AsyncGenerator<Buffer, void, undefined> {
  switch (fault?.kind) {
    case undefined:
      yield* chunks;
      return;
    case 'drop':
    case 'reset':
    case 'stall':
      yield* swallowed(chunks, fault.afterBytes, () => {
        options.broke();
        if (fault.kind !== 'stall') options.cut(fault.kind);
      });
      return;
    case 'slow':
      options.broke();
      for await (const chunk of chunks) {
        for (let from = 0; from < chunk.length; from += fault.pieceBytes) {
          yield chunk.subarray(from, from + fault.pieceBytes);
          await new Promise<void>((resolve) => void options.clock.after(fault.everyMs, resolve));
        }
      }
      return;
    case 'truncated-frame':
    case 'duplicated-frame':
    case 'wrong-frame-length':
    case 'wrong-content-length':
      yield* mangled(chunks, fault, options.broke);
  }
}

/** The first bytes; what follows is read and dropped, so that the end of the connection is still seen. */
async function* swallowed(
  chunks: AsyncIterable<Buffer>,
  mostBytes: number,
  onLimit: () => void,
): AsyncGenerator<Buffer, void, undefined> {
  let passed = 0;
  for await (const chunk of chunks) {
    const room = mostBytes - passed;
    passed += chunk.length;
    if (room > 0) yield chunk.subarray(0, room);
    if (room >= 0 && passed > mostBytes) onLimit();
  }
}

async function* mangled(
  chunks: AsyncIterable<Buffer>,
  fault: ConnectionFault,
  broke: () => void,
): AsyncGenerator<Buffer, void, undefined> {
  let frames = 0;
  let isDone = false;
  for await (const part of wireParts(chunks)) {
    const bytes = isDone ? undefined : mangle(part, fault, frames);
    if (part.kind === 'frame') frames += 1;
    if (bytes !== undefined) {
      isDone = true;
      broke();
    }
    yield bytes ?? part.bytes;
  }
}

/** @returns undefined where the fault has nothing to do with this part */
function mangle({ kind, bytes }: WirePart, fault: ConnectionFault, frame: number): Buffer | undefined {
  if (kind !== 'frame') return fault.kind === 'wrong-content-length' ? withWrongLength(bytes, kind, fault.by) : undefined;
  if (!('frame' in fault) || fault.frame !== frame) return undefined;
  const header = frameHeader(bytes);
  if (header === undefined) return undefined;
  if (fault.kind === 'duplicated-frame') return Buffer.concat([bytes, bytes]);
  if (fault.kind === 'wrong-frame-length') return withFrameLength(bytes, fault.by);
  return bytes.subarray(0, header.bytes + Math.floor(header.payloadBytes / 2));
}

function withWrongLength(bytes: Buffer, kind: WirePart['kind'], by: number): Buffer | undefined {
  const text = bytes.toString('latin1');
  const changed =
    kind === 'head'
      ? text.replace(/^(content-length: *)(\d+)/imu, (_, name: string, length: string) => name + off(Number(length), by))
      : text.replace(/^[\da-f]+(?=\r\n)/iu, (length) => off(Number.parseInt(length, 16), by).toString(16));
  return changed === text ? undefined : Buffer.from(changed, 'latin1');
}

function off(length: number, by: number): number {
  return Math.max(0, length + by);
}

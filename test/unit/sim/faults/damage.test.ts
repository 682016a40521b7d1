import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/kernel/clock.ts';
import { chooseFault, type ConnectionFault } from '../../../support/faults/connection-fault.ts';
import { damaged } from '../../../support/faults/damage.ts';
import { wireParts } from '../../../support/faults/wire-parts.ts';

const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n';
const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const chunkedAnswer = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1a\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n';

/** A frame as a server sends it, or masked as a client does (RFC 6455, section 5.2). */
function frame(payload: string, isMasked = false): Buffer {
  const bytes = Buffer.from(payload, 'latin1');
  const masked = isMasked ? 0x80 : 0;
  const length =
    bytes.length < 126
      ? Buffer.from([masked | bytes.length])
      : Buffer.from([masked | 126, bytes.length >> 8, bytes.length & 0xff]);
  return Buffer.concat([Buffer.from([0x81]), length, isMasked ? Buffer.alloc(4) : Buffer.alloc(0), bytes]);
}

async function* inChunks(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer, void, undefined> {
  let from = 0;
  for (const size of sizes) {
    if (from < bytes.length) yield bytes.subarray(from, from + size);
    from += size;
  }
  if (from < bytes.length) yield bytes.subarray(from);
}

async function through(bytes: Buffer, fault: ConnectionFault | undefined, sizes: readonly number[] = []): Promise<string[]> {
  const told: string[] = [];
  const options = { clock: systemClock, broke: () => told.push('broke'), cut: (how: string) => told.push(how) };
  const out: Buffer[] = [];
  for await (const piece of damaged(inChunks(bytes, sizes), fault, options)) out.push(Buffer.from(piece));
  return [Buffer.concat(out).toString('latin1'), ...told];
}

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 40 });

describe('the parts of a connection', () => {
  it('are every byte once, and whole frames, whatever the chunking', async () => {
    const payloads = fc.array(fc.string({ maxLength: 300 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(payloads, fc.boolean(), sizes, async (texts, isMasked, chunks) => {
        const frames = texts.map((text) => frame(text, isMasked));
        const parts = [];
        for await (const { kind, bytes } of wireParts(inChunks(Buffer.concat([Buffer.from(upgrade), ...frames]), chunks)))
          parts.push([kind, bytes.toString('latin1')]);
        expect(parts).toEqual([['head', upgrade], ...frames.map((each) => ['frame', each.toString('latin1')])]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('a damaged connection', () => {
  const two = Buffer.concat([Buffer.from(upgrade), frame('alpha'), frame('bravo')]);

  it('passes every byte when nothing is wrong with it', async () => {
    expect(await through(two, undefined, [3, 70])).toEqual([two.toString('latin1')]);
  });

  it.each(['drop', 'reset'] as const)('is cut after so many bytes, wherever the chunks end (%s)', async (kind) => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 0, max: two.length - 1 }), async (chunks, afterBytes) => {
        const head = two.subarray(0, afterBytes).toString('latin1');
        expect(await through(two, { kind, afterBytes }, chunks)).toEqual([head, 'broke', kind]);
      }),
      { numRuns: 50 },
    );
  });

  it('says nothing more, and is not cut, when it stalls', async () => {
    expect(await through(two, { kind: 'stall', afterBytes: 20 }, [15, 15])).toEqual([upgrade.slice(0, 20), 'broke']);
  });

  it('loses nothing when it is slow', async () => {
    expect(await through(two, { kind: 'slow', pieceBytes: 20, everyMs: 0 })).toEqual([two.toString('latin1'), 'broke']);
  });

  it.each([
    { kind: 'duplicated-frame', frame: 1, becomes: ['\x81\x05alpha', '\x81\x05bravo', '\x81\x05bravo'] },
    { kind: 'truncated-frame', frame: 0, becomes: ['\x81\x05al', '\x81\x05bravo'] },
    { kind: 'wrong-frame-length', frame: 0, by: 3, becomes: ['\x81\x08alpha', '\x81\x05bravo'] },
    { kind: 'wrong-frame-length', frame: 1, by: -9, becomes: ['\x81\x05alpha', '\x81\x00bravo'] },
  ] as const)('has frames that are $kind', async ({ becomes, ...fault }) => {
    expect(await through(two, fault, [60])).toEqual([upgrade + becomes.join(''), 'broke']);
  });

  it('tells a wrong length of a body', async () => {
    const wrong = { kind: 'wrong-content-length', by: 4 } as const;
    expect(await through(Buffer.from(answer), wrong)).toEqual([answer.replace('5', '9'), 'broke']);
    expect(await through(Buffer.from(chunkedAnswer), wrong, [10])).toEqual([chunkedAnswer.replace('1a', '1e'), 'broke']);
  });

  it('is what the seed says', () => {
    let next = 0;
    const random = (): number => (next = (next + 0.37) % 1);
    const traffic = { over: 'socket', direction: 'down', bytes: 1_000, frames: 10 } as const;
    const faults = Array.from({ length: 40 }, () => chooseFault(random, traffic));
    expect(new Set(faults.map(({ kind }) => kind)).size).toBeGreaterThan(4);
    expect(faults.every(({ direction }) => direction === 'down')).toBe(true);
  });
});

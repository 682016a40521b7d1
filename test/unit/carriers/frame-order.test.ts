import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameOrder } from '../../../src/carriers/frame-order.ts';

const FRAME_BYTES = 160;
const order = (): FrameOrder => new FrameOrder((bytes) => bytes / 8);
/** A frame whose bytes say its number. */
const frame = (number: number): Uint8Array => new Uint8Array(FRAME_BYTES).fill(number);

/** What comes out of frames in this order: the numbers of each piece of audio, or why there is none. */
function taken(frames: FrameOrder, numbers: readonly number[]) {
  return numbers.map((number) => {
    const result = frames.take(number, frame(number % 251), number * 20);
    if (typeof result === 'string') return result;
    const { payload, timestampMs } = result;
    const found = Array.from({ length: payload.length / FRAME_BYTES }, (_, index) => payload[index * FRAME_BYTES] ?? -1);
    expect(timestampMs).toBe((found[0] ?? 0) * 20);
    return found;
  });
}

describe('FrameOrder', () => {
  it.each([
    ['passes frames on that come in order', [1, 2, 3], [[1], [2], [3]]],
    ['puts two frames back in order', [1, 3, 2, 4], [[1], 'held', [2, 3], [4]]],
    ['puts three frames back in order', [1, 4, 3, 2, 5], [[1], 'held', 'held', [2, 3, 4], [5]]],
    ['goes on without a frame that is lost, once 60 ms wait', [1, 3, 4, 5, 6], [[1], 'held', 'held', [3, 4, 5], [6]]],
    ['goes on in two steps where two frames are lost', [1, 3, 5, 6, 7], [[1], 'held', 'held', [3], [5, 6, 7]]],
    [
      'drops a frame that came twice, or after it was given up',
      [1, 1, 3, 3, 4, 5, 2, 6],
      [[1], 'late', 'held', 'late', 'held', [3, 4, 5], 'late', [6]],
    ],
    ['begins anew where the carrier does', [200, 201, 1, 2], [[200], [201], [1], [2]]],
  ])('%s', (_, numbers, expected) => {
    expect(taken(order(), numbers)).toEqual(expected);
  });

  it('passes a frame without a number on as it came', () => {
    const frames = order();
    taken(frames, [5, 7]);
    expect(frames.take(undefined, frame(9), undefined)).toEqual({ payload: frame(9), timestampMs: undefined });
    expect(taken(frames, [6])).toEqual([[6, 7]]);
  });

  it('keeps what it holds apart from memory that is used again', () => {
    const frames = order();
    const lent = frame(1);
    frames.take(1, lent, 0);
    frames.take(3, lent.fill(3), 0);
    expect(frames.take(2, lent.fill(2), 0)).toMatchObject({ payload: Buffer.concat([frame(2), frame(3)]) });
  });

  it('gives every frame out once and in order, and holds no more than 60 ms, whatever is swapped within its window', () => {
    const shuffled = fc
      .array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 100 })
      .map((moves) => moves.map((late, index) => ({ number: index, at: index + late })).sort((one, other) => one.at - other.at));
    fc.assert(
      fc.property(shuffled, (arrivals) => {
        const frames = order();
        const given = arrivals.flatMap(({ number }) => {
          const result = frames.take(number + 1, frame(number % 251), number);
          return typeof result === 'string'
            ? []
            : Array.from({ length: result.payload.length / FRAME_BYTES }, (_, at) => result.payload[at * FRAME_BYTES]);
        });
        const first = arrivals[0]?.number ?? 0;
        // Whatever came before the first that arrived is late; the rest comes in order, but for what may still be held.
        const expected = Array.from({ length: given.length }, (_, index) => (first + index) % 251);
        expect(given).toEqual(expected);
        expect(arrivals.length - first - given.length).toBeLessThan(3);
      }),
    );
  });
});

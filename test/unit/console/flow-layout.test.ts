import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type LaidOut, layOut } from '../../../src/console/pages/bots/layout.ts';

const SIZE = { width: 100, height: 40 };

function overlaps({ boxes }: LaidOut): string[] {
  const all = [...boxes];
  return all.flatMap(([one, a], index) =>
    all
      .slice(index + 1)
      .filter(([, b]) => Math.abs(a.x - b.x) < SIZE.width && Math.abs(a.y - b.y) < SIZE.height)
      .map(([other]) => `${one} ${other}`),
  );
}

it('puts the start on top, and each step below what leads to it', () => {
  const ways = [
    { from: 'a', to: 'b' },
    { from: 'a', to: 'c' },
    { from: 'b', to: 'd' },
    { from: 'c', to: 'd' },
    { from: 'd', to: 'a' },
  ];
  const { boxes, ways: drawn } = layOut(['a', 'b', 'c', 'd'], ways, SIZE);
  const y = (id: string): number => boxes.get(id)?.y ?? Number.NaN;
  expect(y('a')).toBeLessThan(y('b'));
  expect(y('b')).toBe(y('c'));
  expect(y('c')).toBeLessThan(y('d'));
  expect(drawn.filter(({ isBack }) => isBack).map(({ from, to }) => `${from} ${to}`)).toEqual(['d a']);
});

it('leaves a way that passes a layer room between the boxes there', () => {
  const ways = [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
    { from: 'a', to: 'c' },
  ];
  const { boxes, ways: drawn } = layOut(['a', 'b', 'c'], ways, SIZE);
  const passing = drawn.find(({ from, to }) => from === 'a' && to === 'c')?.points[1];
  const b = boxes.get('b');
  expect(passing?.y).toBe(b?.y);
  expect(Math.abs((passing?.x ?? 0) - ((b?.x ?? 0) + SIZE.width / 2))).toBeGreaterThan(SIZE.width / 2);
});

it('overlaps no boxes, stays on the drawing, and draws the same flow the same way', () => {
  const graph = fc.integer({ min: 1, max: 25 }).chain((count) =>
    fc.record({
      ids: fc.constant(Array.from({ length: count }, (_, index) => `s${index}`)),
      ways: fc.array(
        fc.record({ from: fc.nat(count - 1), to: fc.nat(count) }).map(({ from, to }) => ({ from: `s${from}`, to: `s${to}` })),
        { maxLength: 60 },
      ),
    }),
  );
  fc.assert(
    fc.property(graph, ({ ids, ways }) => {
      const drawn = layOut(ids, ways, SIZE);
      expect([...drawn.boxes.keys()]).toEqual(ids);
      expect(overlaps(drawn)).toEqual([]);
      for (const { x, y } of [...drawn.boxes.values(), ...drawn.ways.flatMap(({ points }) => points)]) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x).toBeLessThanOrEqual(drawn.width);
        expect(y).toBeGreaterThanOrEqual(0);
        expect(y).toBeLessThanOrEqual(drawn.height);
      }
      expect(layOut(ids, ways, SIZE)).toEqual(drawn);
    }),
  );
});

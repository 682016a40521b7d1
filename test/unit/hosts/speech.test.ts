import { expect, it } from 'vitest';
import { SpareSlots } from '../../../src/hosts/speech.ts';

it('gives no slot above a share that became smaller, and those of a share that became greater', () => {
  const spare = new SpareSlots({ acme: 2 });
  const [first, second] = [spare.take('acme'), spare.take('acme')];
  expect([spare.take('acme'), spare.take('zeta')]).toEqual([undefined, undefined]);
  spare.share({ acme: 1, zeta: 1 });
  first?.release();
  first?.release();
  expect([spare.take('acme'), spare.take('zeta') === undefined]).toEqual([undefined, false]);
  second?.release();
  expect(spare.take('acme')).toBeDefined();
});

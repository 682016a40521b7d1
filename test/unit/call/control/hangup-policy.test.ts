import { expect, it } from 'vitest';
import { HangupPolicy } from '../../../../src/call/control/hangup-policy.ts';
import { ManualClock } from '../../../../src/sim/manual-clock.ts';

function setUp() {
  const clock = new ManualClock();
  const floor = { taken: true, left: [] as string[] };
  const farewell = new HangupPolicy(clock, 400, { isTaken: () => floor.taken, hangUp: (reason) => void floor.left.push(reason) });
  farewell.afterThis('done');
  farewell.heardOut();
  return { clock, floor };
}

it('hangs up once a caller who made a sound after the goodbye has said nothing', () => {
  const { clock, floor } = setUp();
  clock.advance(2_000);
  expect(floor.left).toEqual([]);
  floor.taken = false;
  clock.advance(400);
  expect(floor.left).toEqual(['done']);
});

it('waits no longer than ten seconds for a room that never falls silent', () => {
  const { clock, floor } = setUp();
  clock.advance(9_900);
  expect(floor.left).toEqual([]);
  clock.advance(500);
  expect(floor.left).toEqual(['done']);
});

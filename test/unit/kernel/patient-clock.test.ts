import { expect, it } from 'vitest';
import { startPatientClock } from '../../../src/kernel/patient-clock.ts';
import { eventually } from '../../support/eventually.ts';

it('goes on by steps of a few milliseconds, from the wall time that it is given', async () => {
  using patient = startPatientClock({ times: 50, mostStepMs: 5, wallMs: 1_000_000 });
  const { clock } = patient;
  const moves: number[] = [];
  const look = (): void => {
    moves.push(clock.nowMs());
    if (moves.length < 20) clock.after(1, look);
  };
  clock.after(0, look);
  await eventually('twenty moves', () => moves.length === 20);
  expect(moves.every((atMs, index) => index === 0 || atMs - (moves[index - 1] ?? 0) <= 5)).toBe(true);
  expect(clock.wallMs()).toBe(Math.floor(1_000_000 + clock.nowMs()));
});

it('stands still while work outside of the event loop goes on', async () => {
  using patient = startPatientClock({ times: 50 });
  const { clock } = patient;
  let finish: (value: string) => void = () => undefined;
  const held = patient.hold(new Promise<string>((resolve) => (finish = resolve)));
  const atMs = clock.nowMs();
  // Turns of the event loop in which a clock that goes would have moved.
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(clock.nowMs()).toBe(atMs);
  finish('done');
  expect(await held).toBe('done');
  await eventually('a move', () => clock.nowMs() > atMs);
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/audio/tone.ts';
import { tablesOf } from '../../../bench/scale/arithmetic.ts';
import { ASSUMED, placesFor, refusedShare, workOut } from '../../../bench/scale/load.ts';
import { type Choices, choose, lagOf, type Scenario, simulate } from '../../../bench/scale/simulation.ts';

/** Without what the formatter changes. */
const plain = (table: string): string => table.replaceAll(/[ \t]+/g, ' ').replaceAll(/-{3,}/g, '---');

describe('the arithmetic of scale', () => {
  it('has in docs/scale.md the tables that the script prints', () => {
    const document = plain(readFileSync('docs/scale.md', 'utf8'));
    for (const table of tablesOf(ASSUMED).split('\n\n')) expect(document).toContain(plain(table));
  });

  it("finds places by Erlang's B formula", () => {
    expect(refusedShare(100, 117)).toBeCloseTo(0.01, 3);
    expect(placesFor(100, 0.01)).toBe(117);
    expect(placesFor(0, 0.01)).toBe(1);
  });

  it('grows in proportion to the calls', () => {
    const [once, twice] = [workOut(ASSUMED), workOut({ ...ASSUMED, callsPerDay: 2 * ASSUMED.callsPerDay })];
    expect(twice.callsAtOnce).toBeCloseTo(2 * once.callsAtOnce);
    expect(twice.walGbPerDay).toBeCloseTo(2 * once.walGbPerDay);
    // Larger groups need less to spare.
    expect(twice.places).toBeLessThan(2 * once.places);
  });
});

describe('the simulated fleet', () => {
  const small: Scenario = {
    seed: 7,
    gateways: [2, 2, 2],
    maximumPerProcess: 12,
    peakPerSecond: 1,
    meanCallSeconds: 30,
    seconds: 300,
  };
  const today: Choices = { balancer: 'round-robin', front: 'fewest', asksPeers: 2, streams: 'balanced' };

  it.each([
    { policy: 'least' as const, chosen: [1, 1, 1, 1] },
    { policy: 'two' as const, chosen: [1, 3, 1, 1] },
    { policy: 'random' as const, chosen: [2, 0, 3, 1] },
  ])('chooses by $policy', ({ policy, chosen }) => {
    const loads = [5, 1, 9, 3];
    const draws = { two: [0.3, 0.6, 0.9, 0.6, 0.3, 0.3, 0.9, 0.4], random: [0.6, 0.1, 0.9, 0.3], least: [] }[policy].values();
    const random = (): number => draws.next().value ?? 0;
    const picked = chosen.map(() => choose(policy, [0, 1, 2, 3], (index) => loads[index] ?? 0, random));
    expect(picked).toEqual(chosen);
    expect(choose(policy, [], () => 0, seededRandom(1))).toBeUndefined();
  });

  it('is late as a process fills', () => {
    expect(lagOf(0)).toBe(0);
    expect(lagOf(201)).toBeGreaterThan(9);
    expect(lagOf(201)).toBeLessThan(11);
    expect(lagOf(400)).toBeGreaterThan(1_000);
  });

  it('gives the same outcome for the same seed, and relays nothing where streams come to their own gateway', () => {
    expect(simulate(small, today)).toEqual(simulate(small, today));
    expect(simulate(small, today).relayedShare).toBeGreaterThan(0.4);
    expect(simulate(small, { ...today, streams: 'own-address' }).relayedShare).toBe(0);
  });

  it('moves the calls of a gateway that dies while others have room, and loses those for which there is none', () => {
    const roomy = simulate({ ...small, deathAtSeconds: 150 }, today);
    expect(roomy.moved).toBeGreaterThan(0);
    expect(roomy.lost).toBe(0);
    const full = simulate({ ...small, maximumPerProcess: 5, deathAtSeconds: 150 }, today);
    expect(full.lost).toBeGreaterThan(0);
    expect(full.refused).toBeGreaterThan(roomy.refused);
  });

  it('cuts no call of a rolling restart that waits for the last one', () => {
    const restart = { fromSeconds: 10, drainSeconds: 3_600, bootSeconds: 5 };
    const patient = simulate({ ...small, seconds: 1_200, restart }, today);
    expect(patient.cut).toBe(0);
    expect(patient.restartSeconds).toBeGreaterThan(60);
    const hasty = simulate({ ...small, seconds: 1_200, restart: { ...restart, drainSeconds: 5 } }, today);
    expect(hasty.cut).toBeGreaterThan(0);
    expect(hasty.restartSeconds).toBeLessThan(40);
  });
});

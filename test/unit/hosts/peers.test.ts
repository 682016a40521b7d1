import { describe, expect, it } from 'vitest';
import { CutOff, cutOffBy } from '../../../src/hosts/peers.ts';
import { PeerError } from '../../../src/hosts/errors.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const NEITHER = 'cut off: neither Redis nor any of 2 other machines answers';
const OTHERS = 'cut off: Redis answers other machines, and not this one';

describe('cutOffBy', () => {
  it.each([
    [[], undefined],
    [['silent', 'silent'], NEITHER],
    [['silent'], 'cut off: neither Redis nor the other machine answers'],
    [['away', 'silent'], undefined],
    [['away', 'away'], undefined],
    [['away', 'there'], OTHERS],
    [['silent', 'there'], OTHERS],
    [['gone', 'gone'], undefined],
    [['gone', 'silent', 'silent'], NEITHER],
  ] as const)('judges by the others: %j', (answers, problem) => {
    expect(cutOffBy(answers)).toBe(problem);
  });
});

type Answer = 'there' | 'away' | 'fails' | 'never';

/** A machine whose Redis is away, and two others that answer so. */
function machine(...answers: Answer[]) {
  const clock = new ManualClock();
  const shared = { isAway: true };
  let asked = 0;
  const peers = answers.map((_, at) => ({
    isLeaving: false,
    isRefused: false,
    async ask(): Promise<never> {
      asked += 1;
      const answer = answers[at];
      if (answer === 'never') return await new Promise(() => undefined);
      if (answer === 'fails') throw new PeerError('the machine cannot be reached');
      return { isAway: answer === 'away' } as never;
    },
  }));
  const cutOff = new CutOff({ shared, peers: async () => peers, clock, logger: silentLogger });
  return {
    clock,
    shared,
    peers,
    answers,
    get asked() {
      return asked;
    },
    /** What it says after so long. */
    async after(ms: number): Promise<string | undefined> {
      const problem = cutOff.problem();
      for (let passedMs = 0; passedMs < ms; passedMs += 100) {
        for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
        clock.advance(100);
      }
      return await problem;
    },
  };
}

describe('CutOff', () => {
  it('says so while neither Redis nor any other machine answers, within a second and a half', async () => {
    expect(await machine('fails', 'fails').after(500)).toBe(NEITHER);
    expect(await machine('never', 'never').after(1_500)).toBe(NEITHER);
  });

  it('asks nobody while Redis is there, and each machine once a second while it is away', async () => {
    const there = machine('fails', 'fails');
    there.shared.isAway = false;
    expect(await there.after(0)).toBeUndefined();
    expect(there.asked).toBe(0);
    const away = machine('away', 'away');
    for (let times = 0; times < 5; times += 1) expect(await away.after(0)).toBeUndefined();
    expect(away.asked).toBe(2);
    away.clock.advance(1_000);
    expect(await away.after(0)).toBeUndefined();
    expect(away.asked).toBe(4);
  });

  it('is over as soon as Redis answers, and within a second when another machine does that has no Redis either', async () => {
    const own = machine('fails', 'fails');
    expect(await own.after(500)).toBe(NEITHER);
    own.shared.isAway = false;
    expect(await own.after(0)).toBeUndefined();
    own.shared.isAway = true;
    expect(await own.after(500)).toBe(NEITHER);
    own.answers[1] = 'away';
    own.clock.advance(1_000);
    expect(await own.after(0)).toBeUndefined();
  });

  it('says nothing of a Redis that is silent for a moment', async () => {
    const own = machine('there', 'there');
    own.clock.after(300, () => (own.shared.isAway = false));
    expect(await own.after(500)).toBeUndefined();
  });

  it('does not count on machines that are dead or leave', async () => {
    const own = machine('fails', 'there');
    for (const peer of own.peers) peer.isRefused = true;
    expect(await own.after(500)).toBeUndefined();
    const [first, second] = own.peers;
    if (first === undefined || second === undefined) throw new Error('no peers');
    first.isRefused = false;
    second.isLeaving = true;
    own.clock.advance(1_000);
    expect(await own.after(500)).toBe('cut off: neither Redis nor the other machine answers');
  });
});

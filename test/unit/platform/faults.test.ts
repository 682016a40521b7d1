import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FaultDice, noFaults, type Faults, FaultSettingError, readFaults } from '../../../src/platform/server/faults/faults.ts';
import { FinalQueue } from '../../../src/platform/server/asr/recognition-session.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('faults as people write them', () => {
  it.each<[string, Faults]>([
    ['', {}],
    ['latency=300', { latency: { leastMs: 300, mostMs: 300 } }],
    [' latency=100-800 , seed=7 ', { latency: { leastMs: 100, mostMs: 800 }, seed: 7 }],
    ['errors=0.25', { errors: { share: 0.25, status: 500 } }],
    ['errors=1:503', { errors: { share: 1, status: 503 } }],
    ['failed-turns=0.5', { failedTurns: 0.5 }],
    ['dropped-sockets=1', { droppedSockets: { share: 1, leastMs: 200, mostMs: 5000 } }],
    ['dropped-sockets=1:30', { droppedSockets: { share: 1, leastMs: 30, mostMs: 30 } }],
    ['late-finals=0.1:10-20', { lateFinals: { share: 0.1, leastMs: 10, mostMs: 20 } }],
    ['repeated-finals=0.1,lost-finals=0', { repeatedFinals: 0.1, lostFinals: 0 }],
  ])('are read: %s', (text, faults) => expect(readFaults(text)).toEqual(faults));

  it.each([
    ['latencey=300', 'did you mean latency?'],
    ['=3', 'there are seed, latency, errors'],
    ['constructor=1', 'There is no fault named "constructor"'],
    ['latency', 'The fault latency must be milliseconds'],
    ['latency=', 'got "latency="'],
    ['latency=fast', 'milliseconds up to 600000'],
    ['latency=800-100', 'milliseconds'],
    ['latency=600001', 'milliseconds'],
    ['errors=1.1', 'a share from 0 to 1'],
    ['errors=-0.1', 'a share from 0 to 1'],
    ['errors=NaN', 'a share from 0 to 1'],
    ['errors=0.1:404', '429, 500, 502, 503, 504'],
    ['errors=0.1:503:1', 'a share'],
    ['lost-finals=0.1,lost-finals=0.2', 'given twice'],
    ['dropped-sockets=0.1:x', '0.1 or 0.1:500-3000'],
    ['seed=4294967296', 'a whole number below 4294967296'],
  ])('are refused: %s', (text, told) => {
    expect(() => readFaults(text)).toThrow(FaultSettingError);
    expect(() => readFaults(text)).toThrow(told);
  });

  it('are read or refused, whatever is written', () => {
    const pair = fc
      .tuple(fc.constantFrom('latency', 'errors', 'late-finals', 'seed', 'x'), fc.string())
      .map((two) => two.join('='));
    fc.assert(
      fc.property(fc.oneof(fc.string(), pair), (text) => {
        try {
          for (const dice of [new FaultDice(readFaults(text), 1)]) {
            expect(dice.latencyMs()).toBeGreaterThanOrEqual(0);
            expect(dice.finalDelayMs()).toBeGreaterThanOrEqual(0);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(FaultSettingError);
        }
      }),
    );
  });
});

describe('the dice', () => {
  const draws = (faults: Faults, seed: number): unknown[] => {
    const dice = new FaultDice(faults, seed);
    return Array.from({ length: 200 }, () => [dice.errorStatus(), dice.failsTurn(), dice.finalCopies(), dice.latencyMs()]);
  };
  const some = readFaults('errors=0.3:503,failed-turns=0.2,lost-finals=0.1,repeated-finals=0.1,latency=1-50');

  it('fall the same for the same seed, and otherwise for another', () => {
    expect(draws(some, 5)).toEqual(draws(some, 5));
    expect(draws(some, 5)).not.toEqual(draws(some, 6));
  });

  it('do not let one knob change what another hits', () => {
    const alone = new FaultDice({ lostFinals: 0.3 }, 9);
    const among = new FaultDice({ ...some, lostFinals: 0.3, repeatedFinals: 0 }, 9);
    for (let turn = 0; turn < 100; turn += 1) {
      among.failsTurn();
      among.latencyMs();
      expect(among.finalCopies()).toBe(alone.finalCopies());
    }
  });

  it('hit about the given share, within the given range', () => {
    const dice = new FaultDice(readFaults('errors=0.3,dropped-sockets=0.5:20-30'), 3);
    const failed = Array.from({ length: 2000 }, () => dice.errorStatus()).filter((status) => status !== undefined);
    expect(failed.length / 2000).toBeCloseTo(0.3, 1);
    const lives = Array.from({ length: 2000 }, () => dice.dropAfterMs()).filter((life) => life !== undefined);
    expect(lives.length / 2000).toBeCloseTo(0.5, 1);
    expect([Math.min(...lives), Math.max(...lives)]).toEqual([20, 30]);
  });

  it('hit nothing when no knob is turned, and all at a share of 1', () => {
    expect([noFaults.latencyMs(), noFaults.errorStatus(), noFaults.failsTurn(), noFaults.dropAfterMs()]).toEqual([
      0,
      undefined,
      false,
      undefined,
    ]);
    expect([noFaults.finalDelayMs(), noFaults.finalCopies()]).toEqual([0, 1]);
    const all = new FaultDice(readFaults('failed-turns=1,repeated-finals=1,late-finals=1:70'), 1);
    expect([all.failsTurn(), all.finalCopies(), all.finalDelayMs()]).toEqual([true, 2, 70]);
    expect(new FaultDice({ lostFinals: 1 }, 1).finalCopies()).toBe(0);
  });
});

it('the line of finals keeps the order for any delays, and sends nothing after its end', async () => {
  const clock = new ManualClock();
  const over = new AbortController();
  const line = new FinalQueue(clock, over.signal, 8);
  const sent: number[] = [];
  for (const [index, delayMs] of [50, 0, 20].entries()) line.add(delayMs, () => sent.push(index));
  clock.advance(49);
  expect(sent).toEqual([]);
  clock.advance(1);
  await line.sent;
  expect(sent).toEqual([0, 1, 2]);
  line.add(10, () => sent.push(3));
  over.abort(new Error('over'));
  await line.sent;
  expect(sent).toEqual([0, 1, 2]);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InboundAudio, LineGaps } from '../../../../src/call/inbound/inbound-audio.ts';
import { EchoGuard } from '../../../../src/call/inbound/echo/echo-guard.ts';

/** What is missing before each of these, which are 20 ms long. */
function missing(...timestampsMs: (number | undefined)[]): number[] {
  const gaps = new LineGaps();
  let nowMs = 1_000;
  return timestampsMs.map((timestampMs) => gaps.before(timestampMs, 20, (nowMs += 20)));
}

it.each([
  ['nothing of a line without gaps', [40, 60, 80], [0, 0, 0]],
  ['frames that were lost', [0, 20, 100, 120], [0, 0, 60, 0]],
  ['nothing where timestamps are rounded', [0, 25, 35, 64, 79, 100], [0, 0, 0, 0, 0, 0]],
  ['nothing where the carrier gives no timestamps', [undefined, undefined], [0, 0]],
  ['nothing of what came late, or of a stream that began anew', [5_000, 4_980, 5_020, 0, 20], [0, 0, 0, 0, 0]],
  ['two seconds at most', [0, 60_000, 60_020], [0, 2_000, 0]],
  ['no more than the time that passes where timestamps go to and fro', [0, 5_000, 0, 5_000, 0, 5_000], [0, 2_000, 0, 0, 0, 0]],
])('finds %s', (_, timestampsMs, expected) => {
  expect(missing(...timestampsMs)).toEqual(expected);
});

it('has the recogniser hear silence for what was lost', () => {
  const ear = new InboundAudio(
    { process: () => ({ voiced: false, speechLike: 0 }), close: () => undefined },
    new EchoGuard(),
    () => undefined,
  );
  const sent: Int16Array[] = [];
  const recogniser = { send: (pcm: Int16Array) => void sent.push(pcm.slice()) };
  for (const timestampMs of [0, 60])
    ear.hear(new Int16Array(160), timestampMs, { nowMs: timestampMs, wallMs: 0, silent: false }, recogniser);
  expect(sent.map(({ length }) => length)).toEqual([160, 320, 160]);
  expect(sent[1]!.every((sample) => sample === 0)).toBe(true);
});

/** Where a carrier's clock may begin: at its stream, anywhere, and as the time of day in ms. */
const CLOCKS_MS = [0, 20, 86_399_990, 1_764_000_000_123];
const MESSAGES_MS = [20, 40, 60, 100, 200];
const LINES = [8_000, 16_000] as const;

/** An ear whose recogniser and turns are written down. */
function listen(rateHz: number) {
  const recognised: number[] = [];
  const dates: number[] = [];
  const sound: number[] = [];
  const ear = new InboundAudio(
    { process: (frame) => ({ voiced: frame.some((sample) => sample !== 0), speechLike: 0 }), close: () => undefined },
    new EchoGuard(),
    (event) => event.type === 'frame' && dates.push(event.frame.atMs),
    { watch: (pcm) => void sound.push(...pcm), rateHz },
  );
  const recogniser = { send: (pcm: Int16Array) => void recognised.push(...pcm) };
  return {
    recognised,
    dates,
    sound,
    hear: (pcm: Int16Array, timestampMs: number | undefined, nowMs: number) =>
      ear.hear(pcm, timestampMs, { nowMs, wallMs: 0, silent: false }, recogniser),
  };
}

describe.each(LINES)('a line of %d Hz that loses messages', (rateHz) => {
  it('has every sample where its timestamp says, with silence between, whatever its messages and its clock are', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...MESSAGES_MS),
        fc.constantFrom(...CLOCKS_MS),
        // What is lost at once stays below two seconds.
        fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 2, maxLength: 20 }),
        fc.nat(60),
        (messageMs, clockMs, losses, jitterMs) => {
          const line = listen(rateHz);
          const samples = (messageMs * rateHz) / 1000;
          const expected: number[] = [];
          let atMs = 0;
          for (const [index, lost] of losses.entries()) {
            const lostMs = index === 0 ? 0 : lost * messageMs;
            expected.push(...new Int16Array((lostMs * rateHz) / 1000));
            atMs += lostMs;
            const pcm = new Int16Array(samples).fill(index + 1);
            expected.push(...pcm);
            line.hear(pcm, clockMs + atMs, 5_000 + atMs + messageMs + (index % 2) * jitterMs);
            atMs += messageMs;
          }
          expect(line.recognised).toEqual(expected);
          // Turns hear as much, and in order.
          expect(line.dates).toHaveLength(atMs / 20);
          expect(line.sound).toHaveLength(8 * atMs);
          expect(line.dates.every((date, index) => index === 0 || date >= (line.dates[index - 1] ?? 0))).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('makes up no more than the time that passes and two seconds, whatever its timestamps say', () => {
    const stamp = fc.oneof(
      fc.constant(undefined),
      fc.integer({ min: 0, max: 120_000 }),
      fc.double({ min: 0, max: 1e15, noNaN: true }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.record({ stamp, waitMs: fc.nat(3_000), messageMs: fc.constantFrom(...MESSAGES_MS) }), { maxLength: 30 }),
        (messages) => {
          const line = listen(rateHz);
          let nowMs = 5_000;
          let cameMs = 0;
          for (const { stamp: timestampMs, waitMs, messageMs } of messages) {
            nowMs += waitMs;
            cameMs += messageMs;
            line.hear(new Int16Array((messageMs * rateHz) / 1000), timestampMs, nowMs);
          }
          const mostMs = Math.max(cameMs, nowMs - 5_000 + (messages[0]?.messageMs ?? 0) + 2_000 + cameMs);
          expect((line.recognised.length * 1000) / rateHz).toBeLessThanOrEqual(mostMs);
          expect(line.dates.length * 20).toBeLessThanOrEqual(mostMs);
          expect(line.dates.every((date, index) => date <= nowMs && date >= (line.dates[index - 1] ?? 0))).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });
});

it('tells the turns of a hole as it tells them of silence: they end by it', () => {
  const line = listen(8_000);
  line.hear(new Int16Array(160).fill(9), 1_000, 5_000);
  line.hear(new Int16Array(160).fill(9), 1_120, 5_120);
  expect(line.dates).toEqual([5_000, 5_020, 5_040, 5_060, 5_080, 5_100, 5_120]);
  expect(line.sound.filter((sample) => sample !== 0)).toHaveLength(320);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameTime } from '../../../../src/call/inbound/inbound-audio.ts';

interface Message {
  readonly timestampMs: number | undefined;
  readonly cameMs: number;
  readonly durationMs?: number;
}

/** The dates of these messages, which are 20 ms long unless they say otherwise. */
function dates(messages: readonly Message[]): number[] {
  const time = new FrameTime();
  return messages.map(({ timestampMs, cameMs, durationMs = 20 }) => time.endOf(timestampMs, durationMs, cameMs));
}

/** What the carrier sent every 20 ms, and when it came. */
function line(count: number, cameMs: (sentMs: number) => number): Message[] {
  return Array.from({ length: count }, (_, index) => {
    const sentMs = 1_000 + index * 20;
    return { timestampMs: index * 20, cameMs: cameMs(sentMs) };
  });
}

const arrivals = (messages: readonly Message[]): number[] => messages.map(({ cameMs }) => cameMs);
const between = (min: number, max: number) => fc.double({ min, max, noNaN: true });

describe('the date of what the caller said', () => {
  it('is its arrival on a line that is in time, if a little uneven', () => {
    const uneven = fc.array(between(0, 40), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(uneven, (delaysMs) => {
        let before = 0;
        const messages = line(delaysMs.length, (sentMs) => {
          before = Math.max(before, sentMs + delaysMs[(sentMs - 1_000) / 20]!);
          return before;
        });
        expect(dates(messages)).toEqual(arrivals(messages));
      }),
    );
  });

  it.each([100, 200, 400])('is when it was said, where a stall of %i ms kept it back', (stallMs) => {
    const messages = line(60, (sentMs) => (sentMs > 1_200 && sentMs < 1_200 + stallMs ? 1_200 + stallMs : sentMs));
    for (const [index, date] of dates(messages).entries()) expect(Math.abs(date - (1_000 + index * 20))).toBeLessThanOrEqual(2);
  });

  it('is when it was said, whenever stalls keep it back', () => {
    const stall = fc.record({ inTimeMs: between(300, 1_000), ms: between(0, 480) });
    fc.assert(
      fc.property(fc.array(stall, { maxLength: 5 }), between(0, 30), (stalls, delayMs) => {
        let endMs = 1_000;
        const spans = stalls.map(({ inTimeMs, ms }) => ({ fromMs: endMs + inTimeMs, toMs: (endMs += inTimeMs + ms) }));
        const messages = line(400, (sentMs) => {
          const cameMs = sentMs + delayMs;
          return spans.find(({ fromMs, toMs }) => cameMs > fromMs && cameMs < toMs)?.toMs ?? cameMs;
        });
        const errorsMs = dates(messages).map((date, index) => date - (1_000 + index * 20 + delayMs));
        expect(Math.min(...errorsMs)).toBeGreaterThan(-0.001);
        // A stall that is shorter than what makes a line late is not taken back.
        expect(Math.max(...errorsMs)).toBeLessThanOrEqual(62);
      }),
    );
  });

  it('is the arrival again, a few seconds after a line has come to be behind for good', () => {
    fc.assert(
      fc.property(between(0, 2_000), (behindMs) => {
        const messages = line(400, (sentMs) => (sentMs > 1_400 ? Math.max(1_420 + behindMs, sentMs + behindMs) : sentMs));
        const said = dates(messages);
        expect(said.slice(280)).toEqual(arrivals(messages).slice(280));
        // It gets there without a jump that could be taken for silence.
        const steps = said.slice(1).map((date, index) => date - said[index]!);
        if (behindMs < 480) expect(Math.max(...steps)).toBeLessThanOrEqual(80);
      }),
    );
  });

  it('is the arrival after a line was away for so long that it was taken for silent', () => {
    const messages = line(20, (sentMs) => (sentMs > 1_100 ? 1_700 : sentMs));
    expect(dates(messages)).toEqual(arrivals(messages));
  });

  it.each([
    ['no timestamps', [undefined, undefined, undefined, undefined]],
    ['timestamps that begin anew', [5_000, 0, undefined, 20]],
    ['timestamps that jump ahead', [0, 60_000, 120_000, 180_000]],
  ])('is the arrival with %s', (_, timestampsMs) => {
    const messages = timestampsMs.map((timestampMs, index) => ({ timestampMs, cameMs: 1_000 + Math.min(index, 1) * 200 }));
    expect(dates(messages)).toEqual(arrivals(messages));
  });

  it('goes by how long the audio is where timestamps stand still', () => {
    const messages = line(10, (sentMs) => (sentMs > 1_000 ? 1_200 : sentMs)).map(({ cameMs }) => ({ timestampMs: 0, cameMs }));
    expect(dates(messages)).toEqual([1_000, 1_022, 1_042, 1_062, 1_082, 1_102, 1_122, 1_142, 1_162, 1_182]);
  });

  it('is the end of the audio, however long it is', () => {
    expect(
      dates([
        { timestampMs: 0, cameMs: 1_000 },
        { timestampMs: 20, durationMs: 100, cameMs: 1_400 },
        { timestampMs: 120, durationMs: 40, cameMs: 1_400 },
        { timestampMs: 160, durationMs: 100, cameMs: 1_400 },
      ]),
    ).toEqual([1_000, 1_110, 1_150, 1_250]);
  });

  it('never goes back and is never in the future, whatever comes', () => {
    const message = fc.record({
      timestampMs: fc.option(between(-1_000, 100_000), { nil: undefined }),
      afterMs: fc.oneof(fc.constant(0), between(0, 50), between(0, 1_000)),
      durationMs: fc.constantFrom(0, 20, 30, 100),
      goesOn: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 100 }), (messages) => {
        const time = new FrameTime();
        let [nowMs, stampMs, lastMs] = [0, 0, 0];
        for (const { timestampMs, afterMs, durationMs, goesOn } of messages) {
          nowMs += afterMs;
          const date = time.endOf(goesOn ? stampMs : timestampMs, durationMs, nowMs);
          stampMs = (goesOn ? stampMs : (timestampMs ?? stampMs)) + durationMs;
          expect(date).toBeGreaterThanOrEqual(lastMs);
          expect(date).toBeLessThanOrEqual(nowMs);
          lastMs = date;
        }
      }),
    );
  });
});

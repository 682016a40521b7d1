import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { measureTalk, type Talker, union } from '../../../../src/records/analysis/measures.ts';

const settings = { silenceMs: 3000, overlapMs: 200, interruptionMs: 500 };
const at = (...pairs: readonly (readonly [number, number])[]) => pairs.map(([startS, endS]) => ({ startS, endS }));

describe('measureTalk', () => {
  it('tells who spoke, who cut in, who waited, and where it was silent', () => {
    const talkers: Talker[] = [
      // Greets, is cut short at 7, explains from 14 to 24 with a "mm-hm" in between.
      { role: 'agent', stretches: at([1, 3], [5, 7.5], [14, 18], [18.5, 24]) },
      { role: 'customer', stretches: at([3.4, 4.2], [7, 9], [18.2, 18.7], [30, 31]) },
    ];
    const measured = measureTalk(talkers, 40, settings);
    expect(measured).toMatchObject({ totalS: 40, speechS: 17.6, overlapS: 0.7, longestSilenceS: 9 });
    expect(measured.overlaps).toEqual(at([7, 7.5], [18.5, 18.7]));
    expect(measured.silences).toEqual(at([9, 14], [24, 30], [31, 40]));
    expect(measured.interruptions).toEqual([{ atS: 7, by: 'customer', of: 'agent' }]);
    const [agent, customer] = measured.roles;
    expect(agent).toMatchObject({ speechS: 14, talkRatio: 0.765, longestMonologueS: 10, interruptions: 0, replyGapP50S: 0.8 });
    expect(customer).toMatchObject({ speechS: 4.3, interruptions: 1, turns: 3, replyGapP50S: 0.4, replyGapP95S: 6 });
  });

  it('is all zeros without speech', () => {
    const measured = measureTalk([{ role: 'agent', stretches: [] }], 7200, settings);
    expect(measured).toMatchObject({ speechS: 0, overlaps: [], longestSilenceS: 7200, interruptions: [] });
    expect(measured.roles[0]).toMatchObject({ talkRatio: 0, turns: 0, replyGapP50S: undefined });
  });

  it('takes no answer within an overlap for a gap, and no assent for an interruption', () => {
    const { interruptions, roles } = measureTalk(
      [
        { role: 'a', stretches: at([0, 10]) },
        { role: 'b', stretches: at([4, 4.3], [9, 9.8]) },
      ],
      10,
      settings,
    );
    expect(interruptions).toEqual([]);
    expect(roles.map(({ replyGapP50S }) => replyGapP50S)).toEqual([undefined, undefined]);
  });

  const stretches = fc
    .array(fc.tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 300 })), { maxLength: 12 })
    .map((steps) => {
      let now = 0;
      return steps.map(([gap, length]) => {
        const startS = (now += gap) / 100;
        return { startS, endS: (now += length) / 100 };
      });
    });

  it('adds up: speech and quiet are the whole, shares are one, and who is named first makes no difference', () => {
    fc.assert(
      fc.property(stretches, stretches, (left, right) => {
        const talkers = [
          { role: 'a', stretches: left },
          { role: 'b', stretches: right },
        ];
        const totalS = Math.max(10, left.at(-1)?.endS ?? 0, right.at(-1)?.endS ?? 0);
        const all = measureTalk(talkers, totalS, { silenceMs: 1, overlapMs: 1, interruptionMs: 500 });
        expect(all.speechS + all.silenceS).toBeCloseTo(totalS, 1);
        const [a, b] = all.roles;
        expect(a!.speechS + b!.speechS - all.overlapS).toBeCloseTo(all.speechS, 1);
        expect(a!.talkRatio + b!.talkRatio).toBeCloseTo(left.length + right.length === 0 ? 0 : 1, 2);
        const turned = measureTalk(talkers.toReversed(), totalS, { silenceMs: 1, overlapMs: 1, interruptionMs: 500 });
        expect(turned.overlaps).toEqual(all.overlaps);
        expect(turned.interruptions.length).toBe(all.interruptions.length);
        expect(union([...left, ...right]).every(({ startS }, index, list) => index === 0 || startS > list[index - 1]!.endS)).toBe(
          true,
        );
      }),
    );
  });
});

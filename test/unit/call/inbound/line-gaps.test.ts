import { expect, it } from 'vitest';
import { InboundAudio } from '../../../../src/call/inbound/inbound-audio.ts';
import { EchoGuard } from '../../../../src/call/inbound/echo/echo-guard.ts';
import { LineGaps } from '../../../../src/call/inbound/timestamps.ts';

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
    undefined,
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

import { expect, it, test } from 'vitest';
import { addEvidence, type Evidence, NO_EVIDENCE } from '../../../../src/call/turn/evidence.ts';
import { DEFAULT_INTERRUPTION } from '../../../../src/call/turn/turn-settings.ts';
import { DEFAULT_TURN_SETTINGS } from '../../../../src/call/turn/turn-settings.ts';
import { initialTurn } from '../../../../src/call/turn/turn-state.ts';
import { stepTurn } from '../../../../src/call/turn/turn.ts';
import type { TurnEffect, TurnState } from '../../../../src/call/turn/turn-state.ts';

const VOWEL = 0.9;
const HISS = 0.1;

function evidenceOf(...speechLike: readonly number[]): Evidence {
  return speechLike.reduce(
    (evidence, like, at) => addEvidence(DEFAULT_INTERRUPTION, evidence, { atMs: 20 * at, voiced: true, speechLike: like }),
    NO_EVIDENCE,
  );
}

test.each([
  { note: 'a vowel counts whole', frames: [VOWEL, VOWEL], evidenceMs: 40 },
  { note: 'a hiss counts half', frames: [HISS, HISS], evidenceMs: 20 },
  { note: 'what nearly has a pitch counts for more than a hiss', frames: [0.375], evidenceMs: 15 },
  { note: 'an s behind a vowel counts as the vowel does', frames: [VOWEL, VOWEL, HISS, HISS], evidenceMs: 80 },
  { note: 'one pitched frame is no vowel yet', frames: [VOWEL, HISS], evidenceMs: 30 },
  { note: 'a burst before a voice, as in a cough, counts half', frames: [HISS, HISS, VOWEL, VOWEL], evidenceMs: 60 },
  { note: 'hissing alone is never enough', frames: Array.from({ length: 30 }, () => HISS), evidenceMs: 60 },
  { note: 'nor is hissing behind one vowel', frames: [VOWEL, VOWEL, ...Array.from({ length: 30 }, () => HISS)], evidenceMs: 100 },
])('$note', ({ frames, evidenceMs }) => {
  expect(evidenceOf(...frames).evidenceMs).toBeCloseTo(evidenceMs, 6);
});

/** Ms from the first of these frames to the hold, or undefined. */
function holdAfter(frames: readonly { readonly atMs: number; readonly voiced: boolean }[]): number | undefined {
  let state: TurnState = { ...initialTurn(), phase: { name: 'bot-speaking', policy: 'always', contest: undefined } };
  for (const { atMs, voiced } of frames) {
    const step = stepTurn(DEFAULT_TURN_SETTINGS, state, { type: 'frame', frame: { atMs, voiced, speechLike: VOWEL } });
    state = step.state;
    const isHold = ({ type }: TurnEffect): boolean => type === 'hold';
    if (step.effects.some(isHold)) return atMs - frames[0]!.atMs;
  }
  return undefined;
}

it('holds at the second voiced frame, even if it comes a little early', () => {
  for (const apartMs of [18.7, 20, 21.3]) {
    const frames = [0, 1, 2].map((at) => ({ atMs: 100 + at * apartMs, voiced: true }));
    expect(holdAfter(frames)).toBeCloseTo(apartMs, 6);
  }
});

it('does not hold for one voiced frame, or for two that are far apart', () => {
  const at = (voiced: readonly boolean[]) => voiced.map((is, index) => ({ atMs: 100 + 20 * index, voiced: is }));
  expect(holdAfter(at([true, false, false, false, false]))).toBeUndefined();
  expect(holdAfter(at([true, false, false, false, true]))).toBeUndefined();
  expect(holdAfter(at([true, false, false, true]))).toBe(60);
});

import { expect, test } from 'vitest';
import { isInTrouble } from '../../../../src/console/live/trouble.ts';

const WELL = { holesMs: 0, lateMs: 20, lastReplyMs: 700 };

test.each([
  { what: 'nothing', health: WELL, inTrouble: false },
  { what: 'no reply yet', health: { ...WELL, lastReplyMs: null }, inTrouble: false },
  { what: 'a slow reply', health: { ...WELL, lastReplyMs: 1_500 }, inTrouble: true },
  { what: 'holes in the sound', health: { ...WELL, holesMs: 200 }, inTrouble: true },
  { what: 'late sound', health: { ...WELL, lateMs: 150 }, inTrouble: true },
])('$what puts a call in trouble: $inTrouble', ({ health, inTrouble }) => {
  expect(isInTrouble(health)).toBe(inTrouble);
});

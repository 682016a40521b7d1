import { describe, expect, it } from 'vitest';
import { InboundAudio } from '../../../../src/call/inbound/inbound-audio.ts';
import { EchoGuard } from '../../../../src/call/inbound/echo/echo-guard.ts';

interface Message {
  readonly timestampMs: number | undefined;
  readonly nowMs: number;
  readonly durationMs: number;
}

/** The dates of the frames that an ear makes of these messages. */
function frameDates(messages: readonly Message[]): number[] {
  const dates: number[] = [];
  const detector = { process: () => ({ voiced: false, speechLike: 0 }), close: () => undefined };
  const ear = new InboundAudio(detector, new EchoGuard(), (event) => {
    if (event.type === 'frame') dates.push(event.frame.atMs);
  });
  const recogniser = { send: () => undefined };
  for (const { timestampMs, nowMs, durationMs } of messages)
    ear.hear(new Int16Array(durationMs * 8), timestampMs, { nowMs, wallMs: 0, silent: false }, recogniser);
  return dates;
}

describe('the frames of messages of another length', () => {
  it('are dated one after the other, the last with its message', () => {
    expect(frameDates([{ timestampMs: 0, nowMs: 1_000, durationMs: 60 }])).toEqual([960, 980, 1_000]);
  });

  it('are dated by when they were said, where the messages had to wait', () => {
    const messages = [0, 60, 120].map((timestampMs) => ({
      timestampMs,
      nowMs: timestampMs === 0 ? 1_000 : 1_300,
      durationMs: 60,
    }));
    expect(frameDates(messages)).toEqual([960, 980, 1_000, 1_026, 1_046, 1_066, 1_086, 1_106, 1_126]);
  });

  it('are never dated before those of an earlier message', () => {
    const messages = [1_000, 1_010, 1_020].map((nowMs) => ({ timestampMs: undefined, nowMs, durationMs: 60 }));
    expect(frameDates(messages)).toEqual([960, 980, 1_000, 1_000, 1_000, 1_010, 1_010, 1_010, 1_020]);
  });

  it('are dated once they are whole', () => {
    const messages = [0, 30].map((timestampMs) => ({ timestampMs, nowMs: 1_000 + timestampMs, durationMs: 30 }));
    expect(frameDates(messages)).toEqual([1_000, 1_010, 1_030]);
  });
});

it('takes the end of a text that is longer than anybody speaks', () => {
  const texts: string[] = [];
  const detector = { process: () => ({ voiced: false, speechLike: 0 }), close: () => undefined };
  const ear = new InboundAudio(detector, new EchoGuard(), (event) => {
    if (event.type === 'partial' || event.type === 'final') texts.push(event.text);
  });
  const text = `${'blah '.repeat(800_000)}at ten`;
  ear.words({ type: 'partial', seg: 1, text }, 0);
  ear.words({ type: 'final', seg: 1, text, endOfUtterance: true, language: undefined }, 0);
  ear.words({ type: 'final-refined', seg: 1, text }, 0);
  expect(texts.map((each) => [each.length <= 2_000, each.startsWith('blah '), each.endsWith('blah at ten')])).toEqual(
    Array.from({ length: 3 }, () => [true, true, true]),
  );
});

it.each([
  ['♪♪♪', ''],
  ['…', ''],
  ['♪ at ten, please', 'at ten, please'],
  ['#2', '#2'],
  ['हाँ', 'हाँ'],
])('reads %o of a recogniser as %o: signs for noise are no words', (text, said) => {
  const texts: string[] = [];
  const detector = { process: () => ({ voiced: false, speechLike: 0 }), close: () => undefined };
  const ear = new InboundAudio(detector, new EchoGuard(), (event) => event.type === 'partial' && texts.push(event.text));
  ear.words({ type: 'partial', seg: 1, text }, 0);
  expect(texts).toEqual([said]);
});

it('takes noise out of what the recogniser hears, lost audio included, and leaves the recording and the detector alone', () => {
  const [recorded, detected, heard]: [number[], number[], number[]] = [[], [], []];
  let isClosed = false;
  const detector = {
    process(frame: Int16Array) {
      detected.push(frame[0] ?? 0);
      return { voiced: false, speechLike: 0 };
    },
    close: () => undefined,
  };
  const ear = new InboundAudio(detector, new EchoGuard(), () => undefined, {
    sound: { caller: (pcm) => void recorded.push(pcm[0] ?? 0) },
    suppressed: { process: (pcm) => pcm.map((sample) => sample - 1), close: () => (isClosed = true) },
  });
  const recogniser = { send: (pcm: Int16Array) => void heard.push(pcm[0] ?? 0) };
  for (const timestampMs of [0, 20, 80])
    ear.hear(new Int16Array(160).fill(9), timestampMs, { nowMs: 1_000 + timestampMs, wallMs: 0, silent: false }, recogniser);
  ear.close();
  expect([recorded, detected, heard, isClosed]).toEqual([[9, 9, 9], [9, 9, 9], [8, 8, -1, 8], true]);
});

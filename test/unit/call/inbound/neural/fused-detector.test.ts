import { describe, expect, it } from 'vitest';
import { FusedDetector } from '../../../../../src/call/inbound/neural/fused-detector.ts';
import { initialTurn } from '../../../../../src/call/turn/turn-state.ts';
import { DEFAULT_TURN_SETTINGS } from '../../../../../src/call/turn/turn-settings.ts';
import { stepTurn } from '../../../../../src/call/turn/turn.ts';
import type { TurnEffect, TurnState } from '../../../../../src/call/turn/turn-state.ts';

/** A line 20 ms at a time: what the built-in detector says of each frame, and how likely the judge finds it speech. */
interface Heard {
  readonly voiced: boolean;
  readonly likely: number;
}

const frames = (count: number, voiced: boolean, likely: number): Heard[] =>
  Array.from({ length: count }, () => ({ voiced, likely }));
const QUIET = frames(20, false, 0);

interface Judging {
  /** Frames after which an answer comes. */
  readonly lateFrames?: number;
  /** From this frame on the judge takes nothing and says nothing. */
  readonly diesAt?: number;
}

/** Runs a line through the detector. @returns what it says of each frame, the frames it gave the judge, and whether all was closed */
function hear(line: readonly Heard[], { lateFrames = 1, diesAt = Number.POSITIVE_INFINITY }: Judging = {}) {
  let now = -1;
  let closed = 0;
  const asked: number[] = [];
  const answers: { readonly atFrame: number; readonly likely: number }[] = [];
  const builtIn = {
    process: (frame: Int16Array) => ({ voiced: line[frame[0]!]!.voiced, speechLike: 0.9 }),
    close: () => void (closed += 1),
  };
  const judge = {
    write: (frame: Int16Array) => {
      if (now >= diesAt) return false;
      asked.push(frame[0]!);
      answers.push({ atFrame: now + lateFrames, likely: line[frame[0]!]!.likely });
      return true;
    },
    read: () => (now < diesAt && answers[0] !== undefined && answers[0].atFrame <= now ? answers.shift()!.likely : undefined),
    close: () => void (closed += 1),
  };
  const detector = new FusedDetector(builtIn, judge);
  const memory = new Int16Array(160);
  const verdicts = line.map((_, number) => {
    now = number;
    // The ear uses the memory of a frame again.
    return detector.process(memory.fill(number));
  });
  detector.close();
  return { verdicts, voiced: verdicts.map(({ voiced }) => voiced), asked, closed };
}

/** What the turn machine makes of it, the bot speaking or the caller expected. */
function decide(
  line: readonly Heard[],
  phase: 'bot-speaking' | 'listening',
  judging?: Judging,
): (TurnEffect & { frame: number })[] {
  let state: TurnState = {
    ...initialTurn(),
    phase: phase === 'listening' ? { name: phase, sinceMs: 0 } : { name: phase, policy: 'always', contest: undefined },
  };
  return hear(line, judging).verdicts.flatMap((verdict, frame) => {
    const step = stepTurn(DEFAULT_TURN_SETTINGS, state, { type: 'frame', frame: { atMs: 20 * (frame + 1), ...verdict } });
    state = step.state;
    return step.effects.map((effect) => ({ ...effect, frame }));
  });
}

const names = (effects: readonly TurnEffect[]): string[] => effects.map(({ type }) => type);

describe('a detector with a late judge', () => {
  it('says at once what the built-in one says, and is over as much later as an answer takes, three frames at most', () => {
    const line = [...QUIET, ...frames(30, true, 0.9), ...QUIET];
    for (const [lateFrames, after] of [
      [1, 1],
      [3, 3],
      [4, 0],
    ] as const) {
      expect(hear(line, { lateFrames }).voiced).toEqual(line.map((_, frame) => frame >= 20 && frame < 50 + after));
    }
  });

  it('hears a word to its end where the built-in one lost it in the noise, but no evidence in it, and not for ever', () => {
    const line = [...QUIET, ...frames(10, true, 0.9), ...frames(6, false, 0.9), ...frames(4, false, 0.1)];
    const { verdicts } = hear(line);
    expect(verdicts.slice(30).map(({ voiced }) => voiced)).toEqual([...Array(7).fill(true), ...Array(3).fill(false)]);
    expect(verdicts.slice(30, 37).map(({ speechLike }) => speechLike)).toEqual(Array(7).fill(0));
    const endless = hear([...QUIET, ...frames(10, true, 0.9), ...frames(40, false, 0.9)]).voiced;
    expect(endless.slice(30)).toEqual([...Array(10).fill(true), ...Array(30).fill(false)]);
  });

  it('does not go on with a sound that was short, or that they do not agree about', () => {
    const short = hear([...QUIET, ...frames(9, true, 0.9), ...frames(10, false, 0.9)]).voiced;
    expect(short.slice(29).some(Boolean)).toBe(false);
    const unlike = hear([...QUIET, ...frames(9, true, 0.9), ...frames(9, true, 0.4), ...frames(10, false, 0.9)]).voiced;
    expect(unlike.slice(38).some(Boolean)).toBe(false);
    const knocks = [frames(4, true, 0.9), frames(12, false, 0.6)].flat();
    const { voiced } = hear([...QUIET, ...knocks, ...knocks, ...knocks, ...knocks]);
    expect(voiced.filter(Boolean)).toHaveLength(16);
  });

  it('begins nothing that the built-in one did not begin', () => {
    expect(hear([...QUIET, ...frames(50, false, 0.9)]).voiced.some(Boolean)).toBe(false);
  });

  it('takes a sound back that the judge denies three times in a row', () => {
    const { voiced } = hear([...QUIET, ...frames(20, true, 0.05)], { lateFrames: 2 });
    expect(voiced.indexOf(true)).toBe(20);
    expect(voiced.indexOf(false, 20)).toBe(24);
    expect(voiced.slice(24)).toEqual(Array(16).fill(false));
  });

  it('does not take the quiet before a sound for a denial of it', () => {
    const { voiced } = hear([...QUIET, ...frames(2, true, 0.1), ...frames(20, true, 0.8)]);
    expect(voiced.slice(20)).toEqual(Array(22).fill(true));
  });

  it('gives speech its voice back in the frame in which the judge sees it in the noise', () => {
    const { voiced } = hear([...QUIET, ...frames(60, true, 0.05), ...frames(10, true, 0.9), ...frames(30, true, 0.05)]);
    expect(voiced.slice(30, 80)).toEqual(Array(50).fill(false));
    expect(voiced.slice(81, 90)).toEqual(Array(9).fill(true));
  });

  it('bears with a longer doubt in the middle of what it has confirmed', () => {
    const weak = [...QUIET, ...frames(10, true, 0.9), ...frames(7, true, 0.1), ...frames(10, true, 0.9)];
    expect(hear(weak).voiced.slice(20)).toEqual(Array(27).fill(true));
    const noise = [...QUIET, ...frames(10, true, 0.9), ...frames(20, true, 0.1)];
    expect(hear(noise).voiced.slice(38)).toEqual(Array(12).fill(false));
  });

  it('keeps its doubt over the holes of a noise, and gives it up after a second of quiet', () => {
    const rattle = Array.from({ length: 12 }, () => [...frames(5, true, 0.1), ...frames(10, false, 0)]).flat();
    const { voiced } = hear([...QUIET, ...rattle, ...frames(60, false, 0), ...frames(5, true, 0.4)]);
    expect(voiced.slice(25, 20 + rattle.length).some(Boolean)).toBe(false);
    expect(voiced.slice(-5)).toEqual(Array(5).fill(true));
  });

  it('asks the judge about sounds, what came just before them and a second after, and about no frame twice', () => {
    const { asked } = hear([...frames(100, false, 0), ...frames(3, true, 0.9), ...frames(200, false, 0)]);
    expect(asked).toEqual(Array.from({ length: 63 }, (_, index) => 90 + index));
  });

  it('closes both', () => {
    expect(hear(QUIET).closed).toBe(2);
  });
});

describe('a judge that is gone', () => {
  const cough = frames(40, true, 0.05);

  it('leaves the built-in detector alone: at once when it was never there, and 200 ms after its last answer', () => {
    expect(hear([...QUIET, ...cough], { diesAt: 0 }).voiced.slice(20)).toEqual(Array(40).fill(true));
    const { voiced } = hear([...QUIET, ...cough], { diesAt: 35 });
    expect(voiced.slice(24, 40).some(Boolean)).toBe(false);
    expect(voiced.slice(46)).toEqual(Array(14).fill(true));
  });

  it('is not believed when its answers come too late', () => {
    expect(hear([...QUIET, ...cough], { lateFrames: 15 }).voiced.slice(20)).toEqual(Array(40).fill(true));
  });
});

describe('the floor with a late judge', () => {
  it('holds for a cough with a voice in it, and resumes instead of clearing', () => {
    const cough = [...QUIET, ...frames(20, true, 0.1), ...frames(20, false, 0)];
    expect(names(decide(cough, 'bot-speaking', { lateFrames: 2 }))).toEqual(['hold', 'resume']);
    expect(names(decide(cough, 'bot-speaking', { diesAt: 0 }))).toContain('clear');
  });

  it('holds for speech as soon as without it, and clears as soon', () => {
    const speech = [...QUIET, ...frames(30, true, 0.9)];
    const alone = decide(speech, 'bot-speaking', { diesAt: 0 }).map(({ type, frame }) => ({ type, frame }));
    expect(decide(speech, 'bot-speaking').map(({ type, frame }) => ({ type, frame }))).toEqual(alone);
    expect(alone.map(({ type }) => type)).toEqual(['hold', 'clear']);
  });

  it('ends a turn in a noise that never falls silent', () => {
    const line = [...QUIET, ...frames(60, true, 0.9), ...frames(150, true, 0.05)];
    const commit = decide(line, 'listening').find(({ type }) => type === 'commit');
    expect(commit?.frame).toBeGreaterThan(80 + 30);
    expect(commit?.frame).toBeLessThan(80 + 45);
    expect(names(decide(line, 'listening', { diesAt: 0 }))).not.toContain('commit');
  });
});

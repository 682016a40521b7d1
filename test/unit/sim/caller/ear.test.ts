import { describe, expect, it } from 'vitest';
import { sine } from '../../../../src/audio/tone.ts';
import { CallerEar, silentFromMs } from '../../../../src/sim/caller/ear.ts';

/** A line of `lengthMs` with a tone in each of these stretches. */
function heard(lengthMs: number, ...tones: [fromMs: number, toMs: number][]): Int16Array {
  const line = new Int16Array(lengthMs * 8);
  for (const [fromMs, toMs] of tones) line.set(sine(300, toMs - fromMs, 8000, 0.2), Math.round(fromMs * 8));
  return line;
}

describe('the ear', () => {
  it('takes short pauses for parts of one spell, and tells the phrases in it apart', () => {
    const ear = new CallerEar();
    ear.listen(heard(3000, [200, 600], [900, 1400]));
    expect(ear.spells).toEqual([{ fromMs: 200, toMs: 1400 }]);
    expect(ear.phrases).toEqual([
      { fromMs: 200, toMs: 600 },
      { fromMs: 900, toMs: 1400 },
    ]);
    expect(ear.finished).toBe(true);
  });

  it('does not take the bot to have finished before 700 ms of silence', () => {
    const ear = new CallerEar();
    const line = heard(3000, [200, 600]);
    ear.listen(line.subarray(0, 1300 * 8));
    expect(ear.finished).toBe(false);
    expect(ear.spells).toEqual([{ fromMs: 200, toMs: undefined }]);
    ear.listen(line.subarray(0, 1320 * 8));
    expect(ear.finished).toBe(true);
    expect(ear.lastSoundMs).toBe(600);
  });

  it('hears the same, however the sound is cut', () => {
    const line = heard(3000, [210, 600], [1500, 1900]);
    const whole = new CallerEar();
    whole.listen(line);
    const pieces = new CallerEar();
    for (let at = 0; at <= line.length; at += 37) pieces.listen(line.subarray(0, at));
    pieces.listen(line);
    expect(pieces.spells).toEqual(whole.spells);
  });
});

describe('silentFromMs', () => {
  it('finds the end of the sound to 5 ms', () => {
    expect(silentFromMs(heard(3000, [0, 1234]), 1000, 2000, 2000)).toBe(1235);
  });

  it('is the start where the bot was silent already', () => {
    expect(silentFromMs(heard(3000, [0, 900]), 1000, 2000, 2000)).toBe(1000);
  });

  it('does not take a pause for the end, while the caller still speaks', () => {
    expect(silentFromMs(heard(3000, [0, 1100], [1500, 1600]), 1000, 2000, 2000)).toBe(1600);
  });

  it('does not count an answer that begins when the caller has finished', () => {
    expect(silentFromMs(heard(3000, [0, 1200], [1700, 2000]), 1000, 1400, 2000)).toBe(1200);
  });

  it('has no answer where the bot went on', () => {
    expect(silentFromMs(heard(3000, [0, 3000]), 1000, 1400, 2000)).toBeUndefined();
  });
});

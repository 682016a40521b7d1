import { afterAll, describe, expect, it } from 'vitest';
import { RecordedCaller, recordedCall } from '../../../../src/rehearsal/evals/recorded-caller.ts';
import { keptCall, keptCallsFolder } from '../replay/kept-calls.ts';
import { DESK, EvalFolder, unmetOf } from './eval-folder.ts';

const folder = new EvalFolder({ 'bots/desk.yaml': DESK });
afterAll(() => folder[Symbol.dispose]());

describe('a kept call as a caller', () => {
  it('has the turns, the sound and the keys of the call', async () => {
    const fixture = await keptCall('keys');
    const { acts, pcm, rateHz, keys, endsMs } = recordedCall(fixture);
    expect(acts.some(({ kind }) => kind === 'press')).toBe(true);
    expect(keys.length).toBeGreaterThan(0);
    expect(keys.every(({ atMs }, index) => atMs >= (keys[index - 1]?.atMs ?? 0) && atMs <= endsMs)).toBe(true);
    // All that the caller sent, in real time.
    expect(pcm.length).toBeGreaterThanOrEqual(fixture.callerAudio.length / 2);
    expect(Math.abs(endsMs - (pcm.length / rateHz) * 1000)).toBeLessThan(2_000);
  });

  it('does in text what they did, in order, and hangs up', async () => {
    const recording = recordedCall(await keptCall('appointment'));
    const caller = new RecordedCaller(recording);
    const moment = { said: '', step: undefined, asked: [], variables: {} };
    for (const act of recording.acts) expect(await caller.next(moment)).toEqual({ act });
    expect(await caller.next(moment)).toEqual({ act: { kind: 'hang-up' } });
  });

  it('plays a scenario, and names one that is not there, is none, or is too old', async () => {
    const suite = (recorded: string): string =>
      `scenarios: [{ name: one, caller: { recorded: ${JSON.stringify(recorded)} }, expect: { turns: { least: 1 } } }]`;
    expect(unmetOf(await folder.run(suite(`${keptCallsFolder}/appointment.fixture.gz`)))).toEqual([]);
    expect(await folder.problemsOf(suite('calls/none.fixture.gz'))).toEqual([
      "scenarios.0.caller.recorded (evals/desk.yaml:1): there is no kept call calls/none.fixture.gz; the path begins at the suite's folder.",
    ]);
    folder.write('evals/calls/bad.fixture.gz', 'no gzip');
    expect(unmetOf(await folder.run(suite('calls/bad.fixture.gz')))).toEqual([
      expect.stringMatching(
        /^one: expected the call to be played to its end, got the kept call cannot be played: the file is no fixture/u,
      ),
    ]);
  });

  it('stands in place of turns and a persona', async () => {
    expect(
      await folder.problemsOf('scenarios: [{ name: one, caller: { turns: [hi], recorded: x }, expect: { end: done } }]'),
    ).toEqual([expect.stringContaining('exactly one of turns, persona and recorded is expected')]);
  });
});

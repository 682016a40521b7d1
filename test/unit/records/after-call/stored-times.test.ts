import { expect, it } from 'vitest';
import { storedCall } from '../../../../src/records/after-call/stored-call.ts';
import { CallBench } from '../../call/call-bench.ts';

const echo = (): CallBench =>
  new CallBench(async function* ({ input }) {
    yield { type: 'say', text: input.kind === 'start' ? 'Hello.' : 'You said something, and this is a long answer to it.' };
  });

it('puts every time of the timeline on one clock, which starts with the call', async () => {
  using bench = echo();
  // The socket comes a while after the call began.
  await bench.wait(1_000);
  await bench.start(2_000);
  await bench.says(0, 'good morning', 1_500, 600, 700);
  await bench.voice(600);
  const stored = storedCall(await bench.hangUp('done'), 1);
  const callMs = (stored.endedAtMs ?? 0) - stored.startedAtMs;
  const times = stored.timeline.flatMap((event) => [event.atMs, event['lastVoicedMs'], event['onsetMs']]);
  const given = times.filter((time): time is number => typeof time === 'number');
  expect(stored.timeline.map(({ type }) => type)).toEqual(expect.arrayContaining(['attached', 'caller-committed', 'clear']));
  expect(given.filter((time) => time < 0 || time > callMs)).toEqual([]);
  expect(stored.timeline[0]).toMatchObject({ type: 'attached', atMs: 1_000 });
  expect(stored.recordingStartedAtMs).toBeGreaterThanOrEqual(stored.startedAtMs + 1_000 - 20);
  for (const { botStartedAtMs = 0, startedAtMs } of stored.turns) expect(botStartedAtMs).toBeGreaterThanOrEqual(startedAtMs);
});

import { describe, expect, it } from 'vitest';
import { realtimeBench, says } from './realtime-bench.ts';

const OPENING = 'We are open from eight in the morning to six in the evening, and on Saturdays until noon.';

describe('a bot whose dialog is a speech-to-speech model', () => {
  it('answers the audio of the caller with the audio of the model, and has the words of both', async () => {
    const { bench, sim } = realtimeBench({ replies: [{ say: OPENING }] });
    using _ = bench;
    await bench.start();
    await bench.quiet(2_500);
    await says(bench, 0, 'when are you open');
    await bench.quiet(7_000);
    bench.session.hangUp('done');
    const { turns } = await bench.session.ended;
    console.log(
      JSON.stringify(turns),
      sim.complaints,
      JSON.stringify(sim.conversation),
      bench.warnings,
      JSON.stringify(bench.news.filter((n) => n.type !== 'floor').map((n) => n.type)),
    );
    expect(sim.complaints).toEqual([]);
  });
});

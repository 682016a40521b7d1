import { expect, it } from 'vitest';
import { encodeMulaw } from '../../../src/audio/g711.ts';
import { resample } from '../../../src/audio/resample.ts';
import { joinSamples } from '../../../src/audio/samples.ts';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { startSynthesizer } from '../../../src/platform/engines/synth/synthesizer.ts';
import { CallBench } from '../../unit/call/call-bench.ts';
import { largestStep } from '../../support/largest-step.ts';
import { hangs } from '../../support/patience.ts';

const MS = 8;
const SENTENCES = ['We are open from eight to five.', 'On Saturday we close at noon.', 'Which day would you like?'];

async function* openingHours({ input }: DialogTurn): AsyncIterable<DialogAction> {
  if (input.kind === 'start') yield { type: 'say', text: SENTENCES.join(' ') };
}

it('plays one sentence of the embedded voice after another without a click or a gap', async () => {
  await using synthesizer = await startSynthesizer({ clock: systemClock, logger: silentLogger });
  const voices = new Map<string, Uint8Array>();
  for (const text of SENTENCES) {
    const parts: Int16Array[] = [];
    const asked = { text, voice: 'Nisha', language: 'en', speed: 1 };
    for await (const { pcm, rateHz } of synthesizer.synthesize(asked, hangs())) parts.push(resample(pcm, rateHz, 8_000));
    voices.set(text, encodeMulaw(joinSamples(parts)));
  }
  using bench = new CallBench(openingHours);
  bench.voiceOf = (text) => voices.get(text) ?? new Uint8Array();
  await bench.start(8_000);
  const { heard, markedAt, gaps } = bench.attachment;
  const ends = [...markedAt].flatMap(([name, sample]) => (name.endsWith('.end') ? [sample] : []));
  expect([ends.length, gaps]).toEqual([SENTENCES.length, 0]);
  for (const end of ends) {
    const join = heard.subarray(end - 5 * MS, end + 5 * MS);
    const around = heard.subarray(Math.max(0, end - 600 * MS), end + 600 * MS);
    expect(largestStep(join)).toBeLessThanOrEqual(largestStep(around) * 0.5);
  }
});

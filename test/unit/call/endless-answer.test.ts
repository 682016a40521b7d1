import { expect, it } from 'vitest';
import { CallBench } from './call-bench.ts';

it('asks a dialog that talks without end for no more than can soon be said', async () => {
  let said = 0;
  using bench = new CallBench(async function* () {
    for (; said < 100_000; said += 1) yield { type: 'say', text: `Sentence ${said}.` };
  });
  await bench.start(1_000);
  expect(said).toBeLessThan(100);
  await bench.quiet(10_000);
  expect(said).toBeGreaterThan(20);
  await bench.hangUp('enough');
  const before = said;
  await bench.wait(1_000);
  expect(said - before).toBeLessThan(2);
});

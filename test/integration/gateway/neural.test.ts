import { expect, it } from 'vitest';
import { ScriptedCaller } from '../../../src/sim/caller.ts';
import { sayTones } from '../platform/tone-engines.ts';
import { startGatewayBench } from './gateway-bench.ts';

it('talks with a caller whose bot asks for the neural detector, and counts what it was asked', async () => {
  await using bench = await startGatewayBench({ bot: 'detector: neural\n' });
  const say = (word: 'alpha' | 'charlie') => ({ kind: 'say', text: word, pcm: sayTones([word], 8_000).subarray(1_600) }) as const;
  const call = await bench.dial();
  const session = bench.sessionOf(call);
  await new ScriptedCaller(call.stream).run([say('alpha'), say('charlie'), { kind: 'wait-for-end' }]);
  const record = await session.ended;
  expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha', 'charlie']);
  const metrics = await (await fetch(`${bench.gateway.url}/metrics`)).text();
  expect(metrics).toContain('offhook_neural_calls_total{outcome="taken"} 1\n');
  expect(Number(/^offhook_neural_frames_total\{result="judged"\} (\d+)$/mu.exec(metrics)?.[1])).toBeGreaterThan(20);
});

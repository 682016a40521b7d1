import { expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { startGatewayBench } from './gateway-bench.ts';

it('greets with the platform’s default voice where the bot’s is misspelt, and the call goes on', async () => {
  await using bench = await startGatewayBench({ voice: 'Nihsa' });
  const call = await bench.dial();
  await eventually('the greeting', () =>
    bench.news.some((news) => news.type === 'heard' && news.heard.startsWith('Hello there')),
  );
  expect(call.stream.open).toBe(true);
  await call.hangUp();
});

import { expect, it } from 'vitest';
import { CallRefused } from '../../../src/sim/twilio-carrier.ts';
import { startGatewayBench } from './gateway-bench.ts';

it('takes no call while it says goodbye to the others, and says so to whoever spreads them', async () => {
  await using bench = await startGatewayBench();
  const call = await bench.dial();
  const session = bench.sessionOf(call);
  const closing = bench.gateway.close();
  const [ready, second] = await Promise.allSettled([fetch(`${bench.gateway.url}/readyz`), bench.dial()]);
  expect(ready).toMatchObject({ status: 'fulfilled', value: { status: 503 } });
  expect(second).toMatchObject({ status: 'rejected', reason: expect.any(CallRefused) as unknown });
  expect((await session.ended).endReason).toBe('shutdown');
  await closing;
});

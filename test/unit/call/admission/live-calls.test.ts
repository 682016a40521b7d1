import { expect, it } from 'vitest';
import { liveCallsOf } from '../../../../src/call/admission/live-calls.ts';
import { FollowedNews } from '../../../../src/call/log/followed-news.ts';
import { CallBench } from '../call-bench.ts';

it('shows a call as it was while the lag of the loop stays in the same step of 50 ms', async () => {
  using bench = new CallBench(async function* () {
    yield { type: 'say', text: 'Hello.' };
  });
  await bench.start();
  const load = { lagMs: 3 };
  const registry = {
    calls: [bench.session],
    dialled: [],
    order: () => Promise.resolve(),
    orderDialled: () => undefined,
  };
  const calls = liveCallsOf({ registry, load, followed: new FollowedNews(bench.clock) });
  const before = await calls.list();
  load.lagMs = 49;
  expect(await calls.list()).toEqual(before);
  load.lagMs = 51;
  expect(await calls.list()).toMatchObject([{ id: 'call_bench', botText: 'Hello.', health: { lateMs: 50 } }]);
});

import { expect, it } from 'vitest';
import { CallBench } from '../call-bench.ts';

it('tells a sentence once to somebody who follows the call from any moment on', async () => {
  const sentences = ['Hello, this is the clinic.', 'We are open all day.', 'How can I help?'];
  using bench = new CallBench(async function* () {
    for (const text of sentences) yield { type: 'say', text };
  });
  await bench.start();
  const begins = new Set<number>();
  for (let step = 0; step < 60; step += 1) {
    const saidSoFar = bench.session.soFar.flatMap(({ news }) => (news.type === 'saying' ? [news.text] : [])).join(' ');
    const saidBefore = bench.news.flatMap((news) => (news.type === 'saying' ? [news.text] : []));
    expect(saidSoFar).toBe(saidBefore.join(' '));
    begins.add(saidBefore.length);
    await bench.quiet(100);
  }
  // Looked at before the first sentence, between them and after the last.
  expect([...begins]).toEqual(expect.arrayContaining([1, 2, 3]));
});

// Speaks a sentence over the socket and has it recognised over the socket, as a call does.
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { withPlatform } from './embedded.ts';

const signal = AbortSignal.timeout(120_000);
const rateHz = 8_000;

await withPlatform(async (speech) => {
  const request = { text: 'what are your opening hours', voice: 'Nisha', language: 'en', sampleRateHz: rateHz };
  const bytes = await buffer(speech.stream({ ...request, format: 'pcm' }, signal));
  const pcm = Int16Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(index * 2));
  assert.ok(pcm.length > rateHz / 2, 'half a second of speech at least');

  const finals: string[] = [];
  const session = speech.recogniser.open({ language: 'en', sampleRateHz: rateHz }, (event) => {
    if (event.type === 'final' && event.text !== '') finals.push(event.text);
    if (event.type === 'closed' && event.error !== undefined) throw event.error;
  });
  session.send(pcm);
  session.send(new Int16Array(rateHz / 2));
  session.commit();
  await session.end();
  assert.equal(finals.join(' '), 'what are your opening hours');
  process.stdout.write(`said and heard: ${finals.join(' ')}\n`);
});

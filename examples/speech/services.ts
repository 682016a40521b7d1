// Registers a speaker and knows the voice again; transcribes for doctors; asks what languages there are.
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { withPlatform } from './embedded.ts';

const signal = AbortSignal.timeout(120_000);
const LONG_ENOUGH = 'what are your opening hours and when can I come to see the doctor on tuesday morning';

await withPlatform(async (speech) => {
  const { languages } = await speech.languages(signal);
  assert.equal(languages.length, 145);
  assert.ok(languages.some(({ code, name }) => code === 'hi' && name === 'Hindi'));

  const say = async (voice: string, text: string) => {
    const { audio } = await speech.synthesize({ text, voice, language: 'en', format: 'wav' }, signal);
    return { bytes: await buffer(audio), name: `${voice}.wav` };
  };

  const named = { name: 'Nisha', project: 'clinic' };
  await speech.speakers.register({ ...named }, await say('Nisha', LONG_ENOUGH), signal);
  assert.deepEqual(
    (await speech.speakers.list('clinic', signal)).map(({ name }) => name),
    ['Nisha'],
  );
  const match = await speech.speakers.identify(await say('Nisha', LONG_ENOUGH), 'clinic', signal);
  assert.equal(match.speaker, 'Nisha');
  await speech.speakers.delete(named, signal);
  assert.deepEqual(await speech.speakers.list('clinic', signal), []);

  const medical = await speech.transcribeMedical(await say('Nisha', 'what are your opening hours'), {}, signal);
  assert.equal(medical.text, 'what are your opening hours');
  process.stdout.write(`said and heard: ${medical.text}\n`);
});

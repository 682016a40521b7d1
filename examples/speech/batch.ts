// Speaks a sentence into a WAV and has it transcribed: batch synthesis and batch transcription.
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { withPlatform } from './embedded.ts';

const signal = AbortSignal.timeout(120_000);

await withPlatform(async (speech) => {
  const { synthesis } = await speech.health(signal);
  assert.ok(synthesis?.voices.includes('Nisha'), 'the voices are told at run time');

  const spoken = await speech.synthesize(
    { text: 'what are your opening hours', voice: 'Nisha', language: 'en', format: 'wav' },
    signal,
  );
  assert.equal(spoken.contentType, 'audio/wav');
  assert.ok((spoken.sampleRateHz ?? 0) >= 8_000, 'the rate is told by the answer');
  const bytes = await buffer(spoken.audio);

  const heard = await speech.transcribe({ bytes, name: 'question.wav' }, { language: 'en', verbose: true }, signal);
  assert.equal(heard.text, 'what are your opening hours');
  assert.ok(heard.words.length === 5 && heard.requestId !== undefined);
  process.stdout.write(`said and heard: ${heard.text}\n`);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TELEPHONE_FORMAT } from '../../../../../src/audio/format.ts';
import { SpeechError } from '../../../../../src/speech/client/errors.ts';
import {
  isoCode,
  RECOGNISED_LANGUAGES,
  recognisedCode,
  SPOKEN_LANGUAGES,
  spokenCode,
} from '../../../../../src/speech/vendors/sarvam/languages.ts';
import { listenDialect } from '../../../../../src/speech/vendors/sarvam/recognition.ts';
import { SpeakReader } from '../../../../../src/speech/vendors/sarvam/synthesizer.ts';

const socket = () =>
  listenDialect({ model: 'saaras:v3-realtime', streamType: 'fast', mode: 'transcribe', keyAdvice: '' }).connect({
    language: 'hi',
    sampleRateHz: 8_000,
  });

const events = fc.constantFrom('session.begin', 'transcript.partial', 'transcript.final', 'error', 'pong');
const anyEvent = fc.record(
  {
    event: fc.oneof(events, fc.string()),
    text: fc.jsonValue(),
    utterance_idx: fc.jsonValue(),
    language: fc.jsonValue(),
    code: fc.jsonValue(),
    is_fatal: fc.jsonValue(),
    status_code: fc.jsonValue(),
    message: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

describe('recognition messages', () => {
  it('are read without a throw, whatever they hold', () => {
    fc.assert(
      fc.property(fc.oneof(anyEvent, fc.jsonValue()), (event) => {
        expect(socket().read(JSON.stringify(event))).toBeDefined();
      }),
    );
    expect(socket().read('{')).toBeUndefined();
  });

  it('answer a commit only when an utterance was ended here', () => {
    const wire = socket();
    const final = JSON.stringify({ event: 'transcript.final', utterance_idx: 0, text: 'x' });
    wire.audio(new Uint8Array(160));
    expect(wire.read(final)).toMatchObject({ isAnswer: false });
    expect(wire.commit()).toEqual(['{"event":"speech_end"}', '{"event":"ping"}']);
    expect(wire.read(final)).toMatchObject({ isAnswer: true });
    expect(wire.commit()).toEqual(['{"event":"ping"}']);
  });

  it.each([
    [
      { code: 'x', is_fatal: false, message: 'careful' },
      { type: 'warning', text: 'careful' },
    ],
    [
      { code: 'quota', is_fatal: true, message: 'no credits', status_code: 402 },
      { type: 'error', kind: 'auth' },
    ],
    [
      { code: 'limit', is_fatal: true, message: 'slow', status_code: 429 },
      { type: 'error', kind: 'busy' },
    ],
    [
      { code: 'model_unavailable', is_fatal: true, message: 'later' },
      { type: 'error', kind: 'unavailable' },
    ],
    [
      { code: 'bad', is_fatal: true, message: 'what', status_code: 400 },
      { type: 'error', kind: 'request' },
    ],
  ])('tell of the error %j', (error, read) => {
    expect(socket().read(JSON.stringify({ event: 'error', ...error }))).toMatchObject(read);
  });
});

it('reads speech messages, or fails with a typed error', () => {
  const data = fc.record({ audio: fc.jsonValue(), event_type: fc.jsonValue(), message: fc.jsonValue(), code: fc.jsonValue() });
  const type = fc.oneof(fc.constantFrom('audio', 'event', 'error'), fc.string());
  fc.assert(
    fc.property(fc.oneof(fc.record({ type, data: fc.oneof(data, fc.jsonValue()) }), fc.jsonValue()), (message) => {
      const reader = new SpeakReader(TELEPHONE_FORMAT, TELEPHONE_FORMAT, (text) => text);
      try {
        expect(reader.text(JSON.stringify(message))).toHaveProperty('done');
      } catch (error) {
        expect(error).toBeInstanceOf(SpeechError);
      }
    }),
  );
});

it('has a code for each language, and the language for each code', () => {
  for (const language of RECOGNISED_LANGUAGES) expect(isoCode(recognisedCode(language))).toBe(language);
  for (const language of SPOKEN_LANGUAGES) expect(isoCode(spokenCode(language))).toBe(language);
  expect(spokenCode('or')).toBe('od-IN');
  expect(recognisedCode('auto')).toBe('auto');
});

import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { keytermsOf, ScribeSocket, scribeDialect } from '../../../../src/speech/vendors/elevenlabs/recognition.ts';
import { longestTextOf } from '../../../../src/speech/vendors/elevenlabs/vendor.ts';
import { ProtocolDriver, voice } from '../asr/protocol-driver.ts';

const socket = (language = 'en'): ScribeSocket => new ScribeSocket({ language, sampleRateHz: 8_000 });
const final = { type: 'final', seg: undefined, endS: undefined };

describe('messages of a Scribe session', () => {
  test.each([
    { wire: { message_type: 'session_started', session_id: 'x', config: {} }, ours: { type: 'ready', warnings: [] } },
    { wire: { message_type: 'partial_transcript', text: 'hel' }, ours: { type: 'partial', seg: undefined, text: 'hel' } },
    {
      wire: { message_type: 'committed_transcript', text: 'hi' },
      ours: { ...final, text: 'hi', endOfUtterance: false, isAnswer: false },
    },
    { wire: { message_type: 'commit_throttled', error: 'too little' }, ours: { ...final, text: '', isAnswer: false } },
    { wire: { message_type: 'auth_error', error: 'no' }, ours: { type: 'error', error: 'no', code: 'auth_error', kind: 'auth' } },
    { wire: { message_type: 'rate_limited' }, ours: { type: 'error', error: 'rate_limited', kind: 'busy' } },
    { wire: { message_type: 'committed_transcript_with_timestamps', text: 'hi' }, ours: { type: 'unknown' } },
    { wire: { message_type: 'news' }, ours: { type: 'unknown', name: 'news' } },
    { wire: { type: 'news' }, ours: { type: 'unknown', name: 'no message type' } },
  ])('reads $wire.message_type', ({ wire, ours }) => {
    expect(socket().read(JSON.stringify(wire))).toMatchObject(ours);
  });

  it('takes one message for each commit where two come', () => {
    const scribe = socket('auto');
    scribe.commit();
    expect(scribe.read('{"message_type":"committed_transcript","text":"hi"}')).toMatchObject({ type: 'unknown' });
    const dated = '{"message_type":"committed_transcript_with_timestamps","text":"hi","language_code":"en"}';
    expect(scribe.read(dated)).toMatchObject({ ...final, text: 'hi', language: 'en', endOfUtterance: true, isAnswer: true });
    expect(scribe.read(dated)).toMatchObject({ isAnswer: false });
  });

  it('never throws, whatever comes', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), fc.constantFrom('committed_transcript', 'error', 'x'), (text, value, type) => {
        socket().read(text);
        expect(socket().read(JSON.stringify(value))).toBeDefined();
        expect(socket().read(JSON.stringify({ message_type: type, text: value, error: value }))).toBeDefined();
      }),
    );
  });
});

describe('a Scribe session', () => {
  it('sends chunks as base64, and a commit as an empty chunk', () => {
    const scribe = socket();
    expect(JSON.parse(scribe.audio(Uint8Array.of(1, 2, 3, 4).subarray(2)))).toEqual({
      message_type: 'input_audio_chunk',
      audio_base_64: 'AwQ=',
      commit: false,
      sample_rate: 8_000,
    });
    expect(JSON.parse(scribe.commit())).toMatchObject({ audio_base_64: '', commit: true });
  });

  it('is ready when the session has started, and waits for the words of a commit that it has seen', () => {
    const settings = { model: 'scribe_v2_realtime', keyterms: true, logging: true };
    const driver = new ProtocolDriver({ dialect: scribeDialect(settings, 'check it') });
    driver.open('the-key');
    expect(driver.of('ready')).toEqual([]);
    driver.hear({ message_type: 'session_started' });
    driver.speak(voice(400));
    driver.hear({ message_type: 'partial_transcript', text: 'hel' });
    driver.commit();
    driver.advance(4_000);
    expect(driver.of('final')).toEqual([]);
    driver.hear({ message_type: 'committed_transcript', text: 'hello' });
    expect(driver.of('final')).toMatchObject([{ seg: 0, text: 'hello', endOfUtterance: true }]);
  });
});

it('sends phrases as keyterms that are short enough, once each', () => {
  expect(keytermsOf(['room', ' room ', '', 'a name of twenty-one c', 'a b c d e f', 'a b c d e'])).toEqual(['room', 'a b c d e']);
  expect(keytermsOf(Array.from({ length: 80 }, (_, index) => `w${index}`))).toHaveLength(50);
});

test.each([
  { model: 'eleven_v3', longest: 5_000 },
  { model: 'eleven_flash_v2_5', longest: 40_000 },
  { model: 'eleven_multilingual_v2', longest: 10_000 },
])('$model takes $longest characters', ({ model, longest }) => {
  expect(longestTextOf(model)).toBe(longest);
});

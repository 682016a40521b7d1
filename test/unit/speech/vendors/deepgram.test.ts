import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  keytermsOf,
  listenDialect,
  MOST_KEYTERMS,
  readListenMessage,
} from '../../../../src/speech/vendors/deepgram/recognition.ts';
import { ProtocolDriver, silence, voice } from '../asr/protocol-driver.ts';

const channel = (transcript: string, languages?: string[]): object => ({ alternatives: [{ transcript, languages, words: [] }] });
const final = { type: 'final', seg: undefined, language: undefined };

describe('messages of a Deepgram stream', () => {
  test.each([
    {
      note: 'an interim text',
      wire: { type: 'Results', start: 0, duration: 0.5, is_final: false, channel: channel('hel') },
      ours: { type: 'partial', seg: undefined, text: 'hel' },
    },
    {
      note: 'a final in the middle of an utterance',
      wire: { type: 'Results', start: 1, duration: 2.5, is_final: true, speech_final: false, channel: channel('hello') },
      ours: { ...final, text: 'hello', endOfUtterance: false, endS: 3.5, isAnswer: false },
    },
    {
      note: 'the last final of an utterance',
      wire: { type: 'Results', start: 1, duration: 1, is_final: true, speech_final: true, channel: channel('bye', ['hi', 'en']) },
      ours: { ...final, text: 'bye', endOfUtterance: true, endS: 2, isAnswer: false, language: 'hi' },
    },
    {
      note: 'the answer to Finalize',
      wire: { type: 'Results', is_final: true, from_finalize: true, channel: channel('') },
      ours: { ...final, text: '', endOfUtterance: true, endS: undefined, isAnswer: true },
    },
    { note: 'the summary at the end', wire: { type: 'Metadata', duration: 3 }, ours: { type: 'done' } },
    {
      note: 'a refused change, after which the stream goes on',
      wire: { type: 'Error', code: 'KeytermsNotSupported', description: 'not with this model' },
      ours: { type: 'warning', text: 'not with this model' },
    },
    { note: 'results without a transcript', wire: { type: 'Results', channel: 7 }, ours: { type: 'unknown' } },
    { note: 'an unknown type', wire: { type: 'SpeechStarted' }, ours: { type: 'unknown', name: 'SpeechStarted' } },
    { note: 'no type', wire: [], ours: { type: 'unknown', name: 'no type' } },
  ])('reads $note', ({ wire, ours }) => {
    expect(readListenMessage(JSON.stringify(wire))).toMatchObject(ours);
  });

  it('calls a frame that is no JSON unreadable', () => {
    expect(readListenMessage('<html>')).toBeUndefined();
  });

  it('never throws, whatever comes', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => readListenMessage(JSON.stringify(value)) !== undefined));
    fc.assert(
      fc.property(
        fc.string(),
        fc.record({ start: fc.jsonValue(), is_final: fc.jsonValue(), channel: fc.jsonValue() }),
        (text, fields) => {
          readListenMessage(text);
          expect(readListenMessage(JSON.stringify({ type: 'Results', ...fields }))).toBeDefined();
        },
      ),
    );
  });
});

describe('keyterms', () => {
  it('are at most a hundred, each once, and none is empty', () => {
    expect(keytermsOf(['room', ' room ', '', 'suite'])).toEqual(['room', 'suite']);
    expect(keytermsOf(Array.from({ length: 200 }, (_, index) => `w${index}`))).toHaveLength(MOST_KEYTERMS);
  });

  it('stay below 500 tokens, which a stream does not survive', () => {
    const phrases = Array.from({ length: 100 }, (_, index) => `एक लंबा वाक्यांश ${index}`);
    const bytes = Buffer.byteLength(keytermsOf(phrases).join(''));
    expect(bytes).toBeGreaterThan(1_400);
    expect(bytes).toBeLessThanOrEqual(1_500);
  });
});

describe('a Deepgram session', () => {
  const settings = { model: 'nova-3', endpointingMs: 300, smartFormat: false, mipOptOut: false, changesHints: true };

  it('listens for other keyterms while it is open', () => {
    const driver = new ProtocolDriver({ dialect: listenDialect(settings, 'check it') });
    driver.open('the-key');
    driver.run(driver.protocol.listenFor(['suite']));
    expect(driver.socket.init).toEqual({ type: 'Configure', keyterms: ['suite'] });
  });

  it('listens for keyterms that were told while its socket opened, before any audio, and again on the next socket', () => {
    const driver = new ProtocolDriver({ dialect: listenDialect(settings, 'check it') });
    driver.run(driver.protocol.listenFor(['suite']));
    driver.say(voice(400));
    driver.open('the-key');
    expect(driver.sent.slice(0, 2)).toEqual([JSON.stringify({ type: 'Configure', keyterms: ['suite'] }), expect.any(Uint8Array)]);
    driver.close(1011);
    driver.advance(2_000);
    driver.run(driver.protocol.listenFor([]));
    driver.open('the-key');
    expect(driver.socket.init).toEqual({ type: 'Configure', keyterms: [] });
  });

  it('is not told its keyterms again that are in the address', () => {
    const driver = new ProtocolDriver({ dialect: listenDialect(settings, 'check it'), boostPhrases: ['suite'] });
    driver.open('the-key');
    expect(driver.sent).toEqual([]);
  });

  it('has no keyterms with older models, and no end of utterances where that is off', () => {
    const older = listenDialect({ ...settings, model: 'nova-2', endpointingMs: 0 }, 'check it');
    const asked = older.query?.({ language: 'en', sampleRateHz: 8_000, boostPhrases: ['suite'] });
    expect(asked).toMatchObject({ model: 'nova-2', endpointing: 'false' });
    expect(asked).not.toHaveProperty('keyterm');
  });

  it('is not ended by the end of an utterance before the one that was committed', () => {
    const driver = new ProtocolDriver({ dialect: listenDialect(settings, 'check it') });
    driver.open('the-key');
    driver.speak(voice(400));
    driver.speak(silence(400));
    driver.speak(voice(400, 800));
    driver.commit();
    const results = { type: 'Results', is_final: true };
    driver.hear({ ...results, start: 0, duration: 0.7, speech_final: true, channel: channel('first') });
    driver.hear({ ...results, start: 0.7, duration: 0.5, from_finalize: true, channel: channel('second') });
    expect(driver.of('final').map(({ text, endOfUtterance }) => [text, endOfUtterance])).toEqual([
      ['first', false],
      ['second', true],
    ]);
  });
});

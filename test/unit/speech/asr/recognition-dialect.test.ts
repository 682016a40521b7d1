import { describe, expect, it } from 'vitest';
import { altDialect } from '../../../../src/speech/asr/recognition-dialect.ts';
import { ProtocolDriver, silence, voice } from './protocol-driver.ts';

function ready(): ProtocolDriver {
  const driver = new ProtocolDriver({ dialect: altDialect }).ready();
  return driver;
}

describe('a realtime session of Variant B', () => {
  it('sends its key in the header, and no key or token in its handshake', () => {
    const driver = new ProtocolDriver({ dialect: altDialect });
    driver.open('the-key');
    expect(altDialect.headers('the-key')).toEqual({ authorization: 'Bearer the-key' });
    expect(driver.socket.init).toEqual({ language: 'en', sample_rate: 8_000, dtype: 'int16', silence_threshold_sec: 0.7 });
  });

  it('ends a turn with silence, and the session with END', () => {
    const driver = ready();
    driver.speak(voice(400));
    driver.commit();
    driver.advance(200);
    expect(driver.socket.samples).toEqual([...voice(400), ...silence(1_000)]);
    driver.hear({ type: 'final_segment', segment_id: 0, text: 'alpha' });
    driver.end();
    expect(driver.socket.commands).toMatchObject([{ text: 'END' }]);
    driver.hear({ type: 'final', text: 'alpha', connection_duration_sec: 2 });
    driver.hear({ type: 'end_of_transcript' });
    driver.hear({ type: 'done', total_segments: 1 });
    driver.close(1000);
    expect(driver.of('final')).toMatchObject([{ seg: 0, text: 'alpha' }]);
    expect(driver.of('audio-lost')).toEqual([]);
    expect(driver.of('closed')).toEqual([{ type: 'closed', error: undefined }]);
  });

  it('answers a commit after silence itself, and keeps counting', () => {
    const driver = ready();
    driver.hear({ type: 'final_segment', segment_id: 0, text: 'alpha' });
    driver.speak(silence(300));
    driver.commit();
    driver.advance(200);
    driver.speak(voice(400, 300));
    driver.hear({ type: 'final_segment', segment_id: 1, text: 'bravo' });
    expect(driver.of('final')).toMatchObject([
      { seg: 0, text: 'alpha' },
      { seg: 1, text: '', endOfUtterance: true },
      { seg: 2, text: 'bravo' },
    ]);
  });

  it('does not try a refused key twice, and says what is wrong with it', () => {
    const driver = new ProtocolDriver({ dialect: altDialect });
    driver.open('the-key');
    driver.hear({ type: 'error', code: 'AUTH_FAILED', message: 'An active API key is required' });
    driver.close(4001);
    expect(driver.connects).toHaveLength(1);
    expect(driver.of('closed')).toMatchObject([{ error: { code: 'OFFHOOK_SPEECH_AUTH', platformCode: 'AUTH_FAILED' } }]);
  });
});

import { describe, expect, it, test } from 'vitest';
import { altDialect } from '../../../../src/speech/asr/recognition-dialect.ts';
import { ProtocolDriver, silence, voice } from './protocol-driver.ts';

function committed(): ProtocolDriver {
  const driver = new ProtocolDriver().ready();
  driver.speak(voice(600));
  driver.commit();
  return driver;
}

describe('a commit that is never answered on a socket that lives', () => {
  it('has its audio and itself sent again on another socket after five seconds', () => {
    const driver = committed();
    driver.advance(4_999);
    expect(driver.connects).toHaveLength(1);
    driver.advance(1);
    expect(driver.connects).toHaveLength(2);
    expect(driver.of('reconnecting')).toHaveLength(1);
    driver.ready();
    driver.advance(1_000);
    expect(driver.socket.samples).toEqual([...voice(600)]);
    expect(driver.socket.commands).toEqual([{ text: 'commit', afterSamples: 4_800 }]);
    driver.hear({ type: 'final', seg: 0, text: 'alpha', end_of_utterance: true });
    driver.advance(20_000);
    expect(driver.connects).toHaveLength(2);
    expect(driver.of('final').map(({ text }) => text)).toEqual(['alpha']);
    expect(driver.of('audio-lost')).toEqual([]);
  });

  it('is given up after the second socket, with its interval reported once, and the session goes on', () => {
    const driver = committed();
    driver.advance(5_000);
    driver.ready();
    driver.advance(6_000);
    expect(driver.of('audio-lost')).toMatchObject([{ fromMs: 0, lostMs: 600 }]);
    expect(driver.connects).toHaveLength(3);
    driver.ready();
    driver.speak(voice(300, 600));
    driver.commit();
    driver.advance(1_000);
    expect(driver.socket.samples).toEqual([...voice(300, 600)]);
    driver.hear({ type: 'final', seg: 0, text: 'bravo', end_of_utterance: true });
    driver.advance(20_000);
    expect(driver.connects).toHaveLength(3);
    expect(driver.of('audio-lost')).toHaveLength(1);
  });

  it('need not be answered after silence', () => {
    const driver = new ProtocolDriver().ready();
    driver.speak(silence(600));
    driver.commit();
    driver.advance(20_000);
    expect(driver.connects).toHaveLength(1);
    expect(driver.events).toEqual([{ type: 'ready' }]);
  });
});

describe('a turn with a pause in it', () => {
  /** Two words with a breath between them, committed. */
  function speakTurn(driver: ProtocolDriver): void {
    for (const part of [voice(500), silence(600), voice(500, 1_100), silence(500)]) driver.speak(part);
    driver.commit();
  }

  test.each([
    { note: 'the primary recogniser', options: {}, type: 'final' },
    { note: 'Variant B', options: { dialect: altDialect }, type: 'final_segment' },
  ])('may come back as one final without a mark: the socket stays and no word is heard again ($note)', ({ options, type }) => {
    const driver = new ProtocolDriver(options).ready();
    speakTurn(driver);
    driver.hear({ type, text: 'one two' });
    driver.advance(20_000);
    expect(driver.connects).toHaveLength(1);
    driver.reopened(1006, 5_000);
    expect(driver.socket.samples).toEqual([]);
    expect(driver.of('audio-lost')).toEqual([]);
  });

  it('may be followed by another one at once', () => {
    const driver = new ProtocolDriver().ready();
    speakTurn(driver);
    speakTurn(driver);
    driver.hear({ type: 'final', seg: 0, text: 'one two' });
    driver.hear({ type: 'final', seg: 1, text: 'three four' });
    driver.advance(20_000);
    expect(driver.connects).toHaveLength(1);
  });

  it('leaves a commit sent late in its wait the time for an answer', () => {
    const driver = new ProtocolDriver().ready();
    speakTurn(driver);
    driver.hear({ type: 'final', seg: 0, text: 'one two' });
    driver.advance(2_700);
    speakTurn(driver);
    driver.advance(600);
    driver.hear({ type: 'final', seg: 1, text: 'three four' });
    driver.advance(20_000);
    expect(driver.connects).toHaveLength(1);
  });

  it('leaves the next commit its wait for an answer', () => {
    const driver = new ProtocolDriver().ready();
    speakTurn(driver);
    driver.hear({ type: 'final', seg: 0, text: 'one two' });
    driver.advance(5_000);
    driver.speak(voice(600));
    driver.commit();
    driver.advance(5_000);
    expect(driver.connects).toHaveLength(2);
    driver.ready();
    driver.advance(1_000);
    expect(driver.socket.samples).toEqual([...voice(600)]);
  });
});

import { describe, expect, it } from 'vitest';
import { ProtocolDriver, silence, voice } from './protocol-driver.ts';

function committed(): ProtocolDriver {
  const driver = new ProtocolDriver();
  driver.ready();
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

  it('is given up after the second socket, its interval told once, and the session goes on', () => {
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
    const driver = new ProtocolDriver();
    driver.ready();
    driver.speak(silence(600));
    driver.commit();
    driver.advance(20_000);
    expect(driver.connects).toHaveLength(1);
    expect(driver.events).toEqual([{ type: 'ready' }]);
  });
});

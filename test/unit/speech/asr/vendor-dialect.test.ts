import { describe, expect, it } from 'vitest';
import type { RecognitionDialect } from '../../../../src/speech/asr/recognition-dialect.ts';
import { readRealtimeEvent } from '../../../../src/speech/asr/realtime-events.ts';
import { ProtocolDriver, silence, voice } from './protocol-driver.ts';

/** A vendor that listens at once, marks its answers to commits, says nothing about silence, and needs keep-alive messages. */
function dialectOf({ end }: { readonly end: string | undefined }): RecognitionDialect {
  return {
    title: 'Acme',
    path: '/listen',
    canRenew: false,
    answersSilence: false,
    silentCommitMs: 1_000,
    headers: () => ({}),
    connect: () => ({
      isReadyAtOnce: true,
      opening: () => undefined,
      audio: (pcm) => pcm,
      commit: () => 'finalize',
      end,
      keepAlive: { everyMs: 4_000, message: 'alive' },
      read(frame) {
        const event = readRealtimeEvent(frame);
        return event?.type === 'final' ? { ...event, isAnswer: frame.includes('"answer":true') } : event;
      },
      closeError: () => undefined,
    }),
  };
}

function ready(service: { readonly end: string | undefined } = { end: 'close' }): ProtocolDriver {
  const driver = new ProtocolDriver({ dialect: dialectOf(service) });
  driver.open('the-key');
  return driver;
}

/** Number and text, and `end` where one ends an utterance. */
const finals = (driver: ProtocolDriver): string[] =>
  driver.of('final').map(({ seg, text, endOfUtterance }) => `${seg} ${text}${endOfUtterance === true ? ' end' : ''}`);

describe('a session of a vendor with marked answers', () => {
  it('is ready as soon as its socket is open', () => {
    const driver = ready();
    expect(driver.events).toEqual([{ type: 'ready' }]);
    expect(driver.socket.commands).toEqual([]);
  });

  it('ends the utterance of a commit with the marked final alone', () => {
    const driver = ready();
    driver.speak(voice(800));
    driver.commit();
    driver.hear({ type: 'final', text: 'alpha', end: 0.4, end_of_utterance: true });
    driver.hear({ type: 'final', text: 'bravo', end: 0.8, answer: true });
    expect(finals(driver)).toEqual(['0 alpha', '1 bravo end']);
  });

  it('takes an end of the utterance after the last voice as the answer, and drops the empty answer that follows', () => {
    const driver = ready();
    driver.speak(voice(400));
    driver.speak(silence(400));
    driver.commit();
    driver.hear({ type: 'final', text: 'alpha', end: 0.5, end_of_utterance: true });
    driver.hear({ type: 'final', text: '', end: 0.8, answer: true });
    driver.advance(10_000);
    expect(finals(driver)).toEqual(['0 alpha end']);
    expect(driver.connects).toHaveLength(1);
  });

  it('does not take a late answer to one commit for the answer to the next', () => {
    const driver = ready();
    driver.speak(voice(400));
    driver.commit();
    driver.hear({ type: 'final', text: 'alpha', end: 0.4, end_of_utterance: true });
    driver.speak(voice(400, 400));
    driver.commit();
    driver.hear({ type: 'final', text: '', end: 0.4, answer: true });
    driver.hear({ type: 'final', text: 'bravo', end: 0.8, answer: true });
    expect(finals(driver)).toEqual(['0 alpha end', '1 bravo end']);
  });

  it('answers a commit at once where everything said is in finals already', () => {
    const driver = ready();
    driver.speak(voice(400));
    driver.speak(silence(300));
    driver.hear({ type: 'final', text: 'alpha', end: 0.5, end_of_utterance: true });
    driver.commit();
    expect(finals(driver)).toEqual(['0 alpha end', '1  end']);
  });

  it('answers a commit after noise in which the vendor heard nothing', () => {
    const driver = ready();
    driver.speak(voice(400));
    driver.commit();
    driver.advance(999);
    expect(finals(driver)).toEqual([]);
    driver.advance(1);
    expect(finals(driver)).toEqual(['0  end']);
    driver.advance(20_000);
    expect(driver.connects).toHaveLength(1);
  });

  it('takes no silence from a socket that gives no sign of life, and asks on another one', () => {
    const driver = ready();
    driver.speak(voice(400));
    driver.heardMs = driver.clock.nowMs() - 1;
    driver.commit();
    expect(driver.pings).toBe(1);
    driver.advance(4_999);
    expect(finals(driver)).toEqual([]);
    driver.advance(1);
    expect(driver.of('reconnecting')).toHaveLength(1);
    expect(finals(driver)).toEqual([]);
  });

  it('waits longer for words that it has seen, and asks on another socket', () => {
    const driver = ready();
    driver.speak(voice(400));
    driver.hear({ type: 'partial', text: 'alp' });
    driver.commit();
    driver.advance(4_999);
    expect(finals(driver)).toEqual([]);
    driver.advance(1);
    expect(driver.of('reconnecting')).toMatchObject([{ reason: 'Acme recognition: no final in time after a commit' }]);
    driver.open('the-key');
    driver.advance(500);
    expect(driver.socket.commands).toEqual([{ text: 'finalize', afterSamples: 3_200 }]);
  });

  it('takes the late answer to a commit that it answered itself for no other', () => {
    const driver = ready();
    driver.speak(silence(400));
    driver.commit();
    driver.speak(voice(400, 400));
    driver.commit();
    driver.hear({ type: 'final', text: '', answer: true });
    driver.hear({ type: 'final', text: 'alpha', answer: true });
    expect(finals(driver)).toEqual(['0  end', '1 alpha end']);
  });

  it('answers each of two commits that one final covers', () => {
    const driver = ready();
    driver.speak(voice(400));
    driver.commit();
    driver.speak(silence(100));
    driver.commit();
    driver.hear({ type: 'final', text: 'alpha', end: 0.5, answer: true });
    expect(finals(driver)).toEqual(['0 alpha end', '1  end']);
  });

  it('drops empty finals that answer nothing', () => {
    const driver = ready();
    driver.speak(silence(3_000));
    driver.hear({ type: 'final', text: '', end: 3 });
    expect(finals(driver)).toEqual([]);
  });

  it('sends a keep-alive message only when nothing else was sent for four seconds', () => {
    const driver = ready();
    driver.advance(3_999);
    expect(driver.socket.commands).toEqual([]);
    driver.advance(1);
    expect(driver.socket.commands).toHaveLength(1);
    driver.advance(2_000);
    driver.speak(silence(100));
    driver.advance(3_800);
    expect(driver.socket.commands).toHaveLength(1);
    driver.advance(200);
    expect(driver.socket.commands).toHaveLength(2);
  });

  it('gives up with the typed error of a refusal, and reconnects after a failure that may pass', () => {
    const driver = ready();
    driver.close(1011, 'timed out');
    expect(driver.of('reconnecting')).toMatchObject([{ reason: 'Acme recognition: timed out' }]);
    driver.open('the-key');
    driver.advance(6_000);
    driver.close(1008, 'the-key is bad');
    expect(driver.of('closed')).toMatchObject([{ error: { code: 'OFFHOOK_SPEECH_FAILED' } }]);
  });
});

describe('a session of a vendor without an end message', () => {
  it('ends with a commit, and closes when that is answered', () => {
    const driver = ready({ end: undefined });
    driver.speak(voice(400));
    driver.end();
    expect(driver.socket.commands).toEqual([{ text: 'finalize', afterSamples: 3_200 }]);
    expect(driver.of('closed')).toEqual([]);
    driver.hear({ type: 'final', text: 'alpha', end: 0.4, answer: true });
    expect(driver.of('closed')).toEqual([{ type: 'closed', error: undefined }]);
    expect(driver.of('audio-lost')).toEqual([]);
    expect(driver.disconnects).toBe(1);
  });

  it('closes at once without speech', () => {
    const driver = ready({ end: undefined });
    driver.speak(silence(400));
    driver.end();
    expect(driver.of('closed')).toEqual([{ type: 'closed', error: undefined }]);
  });
});

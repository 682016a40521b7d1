import { describe, expect, it, test } from 'vitest';
import { SpeechUnavailableError } from '../../../../src/speech/client/errors.ts';
import { ProtocolDriver, silence, voice } from './protocol-driver.ts';
import { wordSound } from './word-model.ts';

describe('recognition session: opening and audio', () => {
  it('opens with the frame of the documents, the first ten phrases among it', () => {
    const driver = new ProtocolDriver({ language: 'hi', boostPhrases: Array.from({ length: 12 }, (_, index) => `p${index}`) });
    driver.open('the-token');
    expect(driver.socket.init).toEqual({
      token: 'the-token',
      language_code: 'hi',
      sample_rate: 8_000,
      boost_phrases: 'p0||p1||p2||p3||p4||p5||p6||p7||p8||p9',
    });
  });

  it('holds audio until ready, then sends all of it in order [124]', () => {
    const driver = new ProtocolDriver();
    driver.say(voice(300));
    driver.open();
    driver.say(voice(300, 300));
    expect(driver.socket.samples).toHaveLength(0);
    driver.hear({ type: 'ready' });
    driver.advance(1_000);
    driver.commit();
    expect(driver.socket.samples).toEqual([...voice(600)]);
    expect(driver.events).toEqual([{ type: 'ready' }]);
  });

  it('holds ten seconds at most and reports once how much it dropped [124]', () => {
    const driver = new ProtocolDriver({ readyTimeoutMs: 60_000 });
    driver.open();
    for (let second = 0; second < 12; second += 1) driver.speak(voice(1_000, second * 1_000));
    driver.hear({ type: 'ready' });
    driver.advance(20_000);
    driver.commit();
    expect(driver.socket.samples).toEqual([...voice(10_000, 2_000)]);
    expect(driver.of('audio-lost')).toMatchObject([{ lostMs: 2_000 }]);
  });

  it('sends batches of 60 to 100 ms, and the rest at a commit [125]', () => {
    const driver = new ProtocolDriver().ready();
    driver.speak(voice(1_010));
    driver.commit();
    const { batches, commands } = driver.socket;
    for (const { samples } of batches.slice(0, -1)) expect(samples / 8).toBe(100);
    expect(batches.at(-1)!.samples / 8).toBe(10);
    expect(commands).toEqual([{ text: 'commit', afterSamples: 8_080 }]);
  });

  it('puts commit and end after their audio, as bare words [125]', () => {
    const driver = new ProtocolDriver();
    driver.say(voice(30));
    driver.commit();
    driver.say(voice(50, 30));
    driver.commit();
    driver.say(voice(10, 80));
    driver.end();
    driver.ready();
    expect(driver.socket.commands).toEqual([
      { text: 'commit', afterSamples: 240 },
      { text: 'commit', afterSamples: 640 },
      { text: 'end', afterSamples: 720 },
    ]);
  });

  it('refuses the bytes of G.711, which would be heard as noise [135]', () => {
    const driver = new ProtocolDriver().ready();
    for (const bytes of [new Uint8Array(160), Buffer.alloc(160)])
      expect(() => driver.protocol.send(driver.at(), bytes as unknown as Int16Array)).toThrow(TypeError);
    driver.commit();
    expect(driver.socket.samples).toHaveLength(0);
  });

  it('sends nothing while the socket is slow, and loses nothing within the limit [137]', () => {
    const driver = new ProtocolDriver().ready();
    driver.bufferedBytes = 1_000_000;
    driver.speak(voice(4_000));
    expect(driver.socket.samples).toHaveLength(0);
    driver.bufferedBytes = 0;
    driver.advance(200);
    driver.commit();
    driver.advance(5_000);
    expect(driver.socket.samples).toEqual([...voice(4_000)]);
    expect(driver.of('audio-lost')).toHaveLength(0);
  });

  it('gives up when ready does not come, after one fresh token', () => {
    const driver = new ProtocolDriver();
    driver.open();
    driver.advance(5_000);
    expect(driver.connects).toEqual([false, true]);
    driver.open();
    driver.advance(5_000);
    expect(driver.of('closed')[0]!.error).toMatchObject({ code: 'OFFHOOK_SPEECH_UNAVAILABLE' });
  });
});

describe('recognition session: events', () => {
  it('passes partials and finals on under rising numbers, empty ones too [126]', () => {
    const driver = new ProtocolDriver().ready();
    driver.hear({ type: 'partial', seg: 0, text: 'hel' });
    driver.hear({ type: 'final', seg: 0, text: 'hello', end_of_utterance: false, language: 'en' });
    driver.hear({ type: 'final', seg: 1, text: '', end_of_utterance: true, extra: { a: 1 } });
    expect(driver.events.slice(1)).toEqual([
      { type: 'partial', seg: 0, text: 'hel' },
      { type: 'final', seg: 0, text: 'hello', endOfUtterance: false, language: 'en' },
      { type: 'final', seg: 1, text: '', endOfUtterance: true, language: undefined },
    ]);
  });

  it('corrects the final a refinement belongs to, however late, and appends none [127]', () => {
    const driver = new ProtocolDriver().ready();
    driver.hear({ type: 'final', seg: 0, text: 'one' });
    driver.hear({ type: 'final', seg: 1, text: 'two' });
    driver.hear({ type: 'partial', seg: 2, text: 'thr' });
    driver.hear({ type: 'final_refined', seg: 0, text: '1' });
    driver.hear({ type: 'final_refined', text: '2' });
    driver.hear({ type: 'final_refined', seg: 9, text: 'nine' });
    expect(driver.of('final-refined')).toEqual([
      { type: 'final-refined', seg: 0, text: '1' },
      { type: 'final-refined', seg: 1, text: '2' },
    ]);
    expect(driver.unknown).toHaveLength(1);
  });

  it('accepts a repeated final once, and a second text of one number as another part', () => {
    const driver = new ProtocolDriver().ready();
    for (const text of ['one', 'one', 'and more']) driver.hear({ type: 'final', seg: 0, text });
    driver.hear({ type: 'final', seg: 1, text: 'two' });
    expect(driver.of('final').map(({ seg, text }) => [seg, text])).toEqual([
      [0, 'one'],
      [1, 'and more'],
      [2, 'two'],
    ]);
  });

  it('drops events and fields it does not know [136]', () => {
    const driver = new ProtocolDriver().ready();
    for (const event of [{ type: 'utterance_end', seg: 0 }, { type: 'speech_start' }, { no: 'type' }, [1], null, 7])
      driver.hear(event);
    driver.hear({ type: 'final', seg: 'zero', text: 'kept', end_of_utterance: 'yes', language: 4 });
    expect(driver.of('final')).toMatchObject([{ seg: 0, text: 'kept', endOfUtterance: undefined }]);
    expect(driver.protocol.isOver).toBe(false);
  });

  it('takes a text frame that is not JSON for a lost connection, and the third in a row for an error [136]', () => {
    const driver = new ProtocolDriver();
    for (let garbled = 0; garbled < 3; garbled += 1) {
      expect(driver.of('reconnecting')).toHaveLength(garbled);
      driver.advance(6_000);
      driver.ready();
      if (garbled === 0) driver.say(voice(400));
      driver.advance(8_000);
      driver.run(driver.protocol.text(driver.at(), '{"type":"final","te'));
    }
    expect(driver.of('audio-lost')).toMatchObject([{ fromMs: 0, lostMs: 400 }]);
    expect(driver.of('closed')).toMatchObject([{ error: { code: 'OFFHOOK_SPEECH_PROTOCOL' } }]);
  });

  it('reads the events of the older generation [139]', () => {
    const driver = new ProtocolDriver().ready();
    driver.hear({ type: 'final_segment', segment_id: 3, text: 'old' });
    driver.hear({ type: 'done' });
    driver.hear({ type: 'error', message: 'too old', code: 'TIMEOUT' });
    expect(driver.of('final')).toMatchObject([{ seg: 3, text: 'old' }]);
    expect(driver.of('closed')[0]!.error!.message).toContain('too old');
  });
});

describe('recognition session: its end', () => {
  it('is over when the platform has closed, not at the first final [129]', () => {
    const driver = new ProtocolDriver().ready();
    driver.end();
    driver.hear({ type: 'final', seg: 0, text: 'a' });
    driver.hear({ type: 'final', seg: 1, text: 'b' });
    expect(driver.protocol.isOver).toBe(false);
    driver.close(1000);
    expect(driver.of('closed')).toEqual([{ type: 'closed', error: undefined }]);
  });

  it('is cut after five seconds when the platform says nothing [129]', () => {
    const driver = new ProtocolDriver().ready();
    driver.end();
    driver.advance(4_999);
    expect(driver.protocol.isOver).toBe(false);
    driver.advance(1);
    expect(driver.of('closed')).toEqual([{ type: 'closed', error: undefined }]);
    expect(driver.protocol.dueMs).toBeUndefined();
  });

  it('is one error with the text of the error event, whatever the close says [130]', () => {
    const driver = new ProtocolDriver().ready();
    driver.hear({ type: 'error', error: 'the session was too long' });
    driver.close(1008, 'the session was');
    expect(driver.of('closed')).toHaveLength(1);
    expect(driver.of('closed')[0]!.error!.message).toContain('the session was too long');
    expect(driver.connects).toHaveLength(1);
  });

  it('is one error made of the close reason when the event was lost [130]', () => {
    const driver = new ProtocolDriver().ready();
    driver.close(1008, 'inactive for 300 s');
    expect(driver.of('closed')).toHaveLength(1);
    expect(driver.of('closed')[0]!.error!.message).toContain('inactive for 300 s');
  });

  it('says nothing after an abort [138]', () => {
    const driver = new ProtocolDriver().ready();
    driver.run(driver.protocol.abort());
    driver.hear({ type: 'final', seg: 0, text: 'late' });
    driver.say(voice(100));
    driver.commit();
    driver.close(1000);
    expect(driver.events).toEqual([{ type: 'ready' }]);
    expect(driver.disconnects).toBe(1);
  });
});

describe('recognition session: failures before ready', () => {
  test.each([
    { note: 'an error event', fail: (driver: ProtocolDriver) => driver.hear({ type: 'error', error: 'bad token' }) },
    { note: 'a close with 1008', fail: (driver: ProtocolDriver) => driver.close(1008, 'bad token') },
    { note: 'a close with 1000', fail: (driver: ProtocolDriver) => driver.close(1000, 'bad token') },
    { note: 'a lost socket', fail: (driver: ProtocolDriver) => driver.close(1006, 'bad token') },
  ])('tries one fresh token and one new socket after $note, a second failure is final [131]', ({ fail }) => {
    const driver = new ProtocolDriver();
    driver.open();
    fail(driver);
    expect(driver.connects).toEqual([false, true]);
    driver.open('fresh');
    expect(driver.socket.init).toMatchObject({ token: 'fresh' });
    fail(driver);
    driver.advance(60_000);
    expect(driver.connects).toHaveLength(2);
    expect(driver.of('closed')).toHaveLength(1);
    expect(driver.of('closed')[0]!.error!.message).toContain('bad token');
  });

  it('asks for the token again only once it was ready in between [131]', () => {
    const driver = new ProtocolDriver();
    driver.open();
    driver.reopened(1008, 10_000);
    driver.close(1006);
    driver.open();
    driver.close(1008);
    expect(driver.connects).toEqual([false, true, false, true]);
  });
});

describe('recognition session: a lost socket', () => {
  test.each([1001, 1005, 1006, 1011, 1012, 1013])('opens another one after %i [132]', (code) => {
    const driver = new ProtocolDriver().ready();
    driver.advance(10_000);
    driver.close(code);
    expect(driver.connects).toEqual([false, false]);
    expect(driver.of('reconnecting')).toHaveLength(1);
  });

  test.each([1000, 1002, 1003, 1007, 1008, 1009])('ends after %i [132]', (code) => {
    const driver = new ProtocolDriver().ready();
    driver.advance(10_000);
    driver.close(code);
    expect(driver.connects).toEqual([false]);
    expect(driver.of('closed')).toHaveLength(1);
  });

  it('goes on above every number it has told, and sends again what is in no final [133]', () => {
    const driver = new ProtocolDriver().ready();
    driver.speak(voice(500));
    driver.speak(silence(300));
    driver.commit();
    driver.hear({ type: 'final', seg: 0, text: 'one', end_of_utterance: true });
    driver.speak(voice(1_000, 800));
    driver.hear({ type: 'partial', seg: 1, text: 'tw' });
    driver.reopened(1006, 2_000);
    driver.commit();
    expect(driver.socket.samples).toEqual([...voice(1_000, 800)]);
    driver.hear({ type: 'partial', seg: 0, text: 'two' });
    driver.hear({ type: 'final', seg: 0, text: 'two', end_of_utterance: true });
    const [partial] = driver.of('partial').slice(-1);
    expect(driver.of('final').map(({ text }) => text)).toEqual(['one', 'two']);
    expect(driver.of('final')[1]!.seg).toBeGreaterThan(1);
    expect(driver.of('final')[1]!.seg).toBe(partial!.seg);
    expect(driver.of('audio-lost')).toHaveLength(0);
  });

  it('sends old audio no faster than one and a half times real time, but for a first burst', () => {
    const driver = new ProtocolDriver().ready();
    driver.speak(voice(6_000));
    driver.close(1006);
    driver.ready();
    const startMs = driver.clock.nowMs();
    driver.advance(8_000);
    let sent = 0;
    for (const { atMs, samples } of driver.socket.batches) {
      sent += samples;
      expect(sent / 8).toBeLessThanOrEqual(1.5 * (atMs - startMs) + 320);
    }
    expect(driver.socket.samples).toEqual([...voice(6_000)]);
  });

  it('sends an outstanding commit again, after the audio before it', () => {
    const driver = new ProtocolDriver().ready();
    driver.speak(voice(400));
    driver.commit();
    driver.speak(voice(200, 400));
    driver.reopened(1006, 2_000);
    expect(driver.socket.commands).toEqual([{ text: 'commit', afterSamples: 3_200 }]);
    expect(driver.socket.samples).toEqual([...voice(600)]);
  });

  it('sends no answered commit again, when finals carry no mark', () => {
    const driver = new ProtocolDriver().ready();
    driver.speak(voice(400));
    driver.speak(silence(500));
    driver.commit();
    driver.hear({ type: 'final', seg: 0, text: 'yes', end: 0.4 });
    driver.reopened(1006, 2_000);
    driver.end();
    expect(driver.socket.commands).toEqual([{ text: 'end', afterSamples: 0 }]);
  });

  it('keeps a commit outstanding when a late final of the words before it comes first', () => {
    const driver = new ProtocolDriver().ready();
    driver.speak(voice(400));
    driver.speak(silence(700));
    driver.speak(voice(300, 1_100));
    driver.speak(silence(500));
    driver.commit();
    driver.hear({ type: 'final', seg: 0, text: 'first words', end: 0.4 });
    driver.reopened(1006, 4_000);
    expect(driver.socket.commands).toEqual([{ text: 'commit', afterSamples: 12_000 }]);
    expect(driver.socket.samples.slice(700 * 8, 1_000 * 8)).toEqual([...voice(300, 1_100)]);
  });

  it('finds the pause where the platform does not say how far its final goes', () => {
    const driver = new ProtocolDriver().ready();
    driver.speak(voice(400));
    driver.speak(silence(700));
    driver.speak(voice(500, 1_100));
    driver.hear({ type: 'final', seg: 0, text: 'first words' });
    driver.reopened(1006, 4_000);
    driver.commit();
    expect(driver.socket.samples).toEqual([...voice(500, 1_100)]);
  });

  it('counts places in the audio anew on each socket', () => {
    const driver = new ProtocolDriver().ready();
    driver.speak(voice(400));
    driver.speak(silence(600));
    driver.hear({ type: 'final', seg: 0, text: 'one', end: 0.4 });
    for (let round = 0; round < 2; round += 1) {
      driver.advance(6_000);
      driver.reopened(1006, 2_000);
      driver.speak(voice(400, 1_000));
      driver.speak(silence(600));
      // On the new socket the words follow 600 ms of silence that are in no final.
      driver.hear({ type: 'final', seg: 0, text: `more ${round}`, end: 1 });
    }
    driver.advance(6_000);
    driver.reopened(1006, 2_000);
    driver.end();
    expect(driver.socket.samples).toEqual([...silence(600)]);
    expect(driver.of('audio-lost')).toHaveLength(0);
  });

  it('reports speech that is in no final and no longer kept', () => {
    const driver = new ProtocolDriver().ready();
    for (let second = 0; second < 13; second += 1) driver.speak(voice(1_000, second * 1_000));
    expect(driver.of('audio-lost')).toHaveLength(0);
    driver.close(1006);
    driver.ready();
    expect(driver.of('audio-lost')).toMatchObject([{ lostMs: 3_000 }]);
  });

  it('names the interval that is in no final when a session ends with an error', () => {
    const driver = new ProtocolDriver().ready();
    driver.speak(voice(400));
    driver.speak(silence(600));
    driver.hear({ type: 'final', seg: 0, text: 'alpha', end: 0.4 });
    driver.speak(voice(500, 1_000));
    driver.hear({ type: 'error', error: 'out of order' });
    expect(driver.of('audio-lost')).toMatchObject([{ fromMs: 400, lostMs: 1_100 }]);
    expect(driver.events.at(-1)).toMatchObject({ type: 'closed', error: { code: 'OFFHOOK_SPEECH_FAILED' } });
  });

  it.each([
    { note: 'nothing came for the end', final: undefined, lost: [{ fromMs: 0, lostMs: 400 }] },
    { note: 'a final came for it', final: { type: 'final', seg: 0, text: 'alpha' }, lost: [] },
  ])('knows after a clean close whether $note', ({ final, lost }) => {
    const driver = new ProtocolDriver().ready();
    driver.speak(voice(400));
    driver.end();
    driver.advance(100);
    if (final !== undefined) driver.hear(final);
    driver.close(1000);
    expect(driver.of('audio-lost')).toMatchObject(lost);
    expect(driver.of('closed')).toEqual([{ type: 'closed', error: undefined }]);
  });

  it('names a turn that was not answered before the time for the end was over, though another was', () => {
    const driver = new ProtocolDriver().ready();
    for (const from of [0, 400]) {
      driver.speak(voice(400, from));
      driver.commit();
    }
    driver.end();
    driver.hear({ type: 'final', seg: 0, text: 'alpha', end_of_utterance: true, end: 0.4 });
    driver.advance(5_000);
    expect(driver.of('audio-lost')).toMatchObject([{ fromMs: 400, lostMs: 400 }]);
    expect(driver.of('closed')).toEqual([{ type: 'closed', error: undefined }]);
  });

  it('accepts the end mark as the answer, without a close', () => {
    const driver = new ProtocolDriver().ready();
    driver.speak(voice(400));
    driver.end();
    driver.advance(100);
    driver.hear({ type: 'final', seg: 0, text: 'alpha', end_of_utterance: true });
    driver.advance(5_000);
    expect(driver.of('audio-lost')).toEqual([]);
  });

  it('loses nothing when the line was silent for long', () => {
    const driver = new ProtocolDriver().ready();
    for (let second = 0; second < 30; second += 1) driver.speak(silence(1_000));
    driver.close(1006);
    driver.ready();
    expect(driver.of('audio-lost')).toHaveLength(0);
  });

  it('stops after three sessions that each died within five seconds [134]', () => {
    const driver = new ProtocolDriver();
    for (let session = 0; session < 3; session += 1) {
      driver.ready();
      driver.advance(4_000);
      driver.close(1006);
      driver.advance(1_000);
    }
    expect(driver.connects).toHaveLength(3);
    expect(driver.of('closed')).toMatchObject([{ error: { retryable: true } }]);
  });

  it('goes on as long as sessions live longer [134]', () => {
    const driver = new ProtocolDriver();
    for (let session = 0; session < 20; session += 1) {
      driver.ready();
      driver.advance(5_000);
      driver.close(1006);
    }
    expect(driver.of('closed')).toHaveLength(0);
  });

  it('waits with growing pauses for an unreachable platform, for ten seconds at most', () => {
    const driver = new ProtocolDriver().ready();
    driver.advance(10_000);
    driver.close(1006);
    const startMs = driver.clock.nowMs();
    const asked: number[] = [];
    while (!driver.protocol.isOver) {
      asked.push(driver.clock.nowMs() - startMs);
      driver.run(driver.protocol.openFailed(driver.at(), new SpeechUnavailableError('gone')));
      driver.advance((driver.protocol.dueMs ?? driver.clock.nowMs()) - driver.clock.nowMs());
    }
    expect(asked).toEqual([0, 200, 600, 1_400, 3_000, 6_200]);
    expect(driver.of('closed')).toHaveLength(1);
  });

  it('gives up a connection that is neither made nor refused within ten seconds', () => {
    const driver = new ProtocolDriver();
    driver.speak(voice(9_980));
    driver.advance(19);
    expect(driver.protocol.isOver).toBe(false);
    driver.advance(1);
    expect(driver.of('closed')[0]!.error).toMatchObject({ code: 'OFFHOOK_SPEECH_UNAVAILABLE' });
    // So that the token or socket that is still awaited is let go.
    expect(driver.disconnects).toBe(1);
    expect(driver.connects).toHaveLength(1);
  });

  it('opens again when the socket dies while the end is awaited, and ends there', () => {
    const driver = new ProtocolDriver().ready();
    driver.speak(voice(300));
    driver.end();
    driver.reopened(1006, 1_000);
    expect(driver.socket.commands).toEqual([{ text: 'end', afterSamples: 2_400 }]);
  });
});

describe('a final that says neither where it ends nor whether more follows', () => {
  const replayed = (driver: ProtocolDriver): number => driver.socket.samples.filter((sample) => sample !== 0).length;

  it('is not repeated by the next socket, though it holds two phrases', () => {
    const driver = new ProtocolDriver().ready();
    for (const index of [0, 1]) driver.speak(Int16Array.from([...wordSound(index), ...silence(600)]));
    driver.speak(silence(600));
    driver.hear({ type: 'final', text: 'zero one' });
    driver.reopened(1006, 5_000);
    expect(replayed(driver)).toBe(0);
  });

  it('is not repeated when noise leaves no pause', () => {
    const driver = new ProtocolDriver().ready();
    driver.speak(new Int16Array(16_000).fill(3_000));
    driver.hear({ type: 'final', text: 'zero one' });
    driver.speak(new Int16Array(1_600).fill(3_000));
    driver.reopened(1006, 5_000);
    expect(replayed(driver)).toBe(1_600);
  });

  it('leaves the next phrase to its own final', () => {
    const driver = new ProtocolDriver().ready();
    for (const index of [0, 1]) driver.speak(Int16Array.from([...wordSound(index), ...silence(600)]));
    driver.hear({ type: 'final', text: 'zero' });
    driver.reopened(1006, 5_000);
    expect(replayed(driver)).toBe(wordSound(1).length);
  });
});

import { describe, expect, it } from 'vitest';
import { wavFile } from '../../../src/audio/wav.ts';
import { startTestPlatform, testPlatform, TestSocket } from './setup.ts';
import { sayTones } from './tone-engines.ts';

// What the platform vendor's newer clients send and expect (reference, 1.2, generation 2).
describe('compat mode', () => {
  const test = testPlatform({ compat: true });

  const open = async (url: string) => TestSocket.open(`${url}/v1/realtime`, { authorization: `Bearer ${await test.token()}` });

  describe('realtime synthesis', () => {
    const ready = async (settings: object = {}): Promise<TestSocket> => {
      const socket = await open(test.platform.ttsUrl);
      socket.json({ voice: 'Rajesh', language: 'en', model: 'zero-indic', ...settings });
      await socket.until(() => socket.of('ready').length === 1);
      return socket;
    };
    const spoken = (): string[] => test.synthesis.requests.map(({ text }) => text);

    it('answers settings without a text with ready and the rate', async () => {
      await using socket = await ready();
      expect(socket.events).toEqual([{ type: 'ready', sample_rate: 24_000 }]);
    });

    it('speaks each sentence when it is complete, the rest on flush, and keeps the socket', async () => {
      await using socket = await ready();
      const before = spoken().length;
      for (const text of ['Good mor', 'ning. How', ' are you', ' today']) socket.json({ type: 'text', text });
      await socket.until(() => socket.audio.length > 0);
      expect(spoken().slice(before)).toEqual([expect.stringMatching(/^Good morning\.\s*$/)]);
      socket.json({ type: 'flush' });
      await socket.until(() => socket.of('done').length === 1);
      expect(
        spoken()
          .slice(before)
          .map((text) => text.trim()),
      ).toEqual(['Good morning.', 'How are you today']);
      expect(socket.of('speaking')).toHaveLength(2);
      socket.json({ type: 'text', text: 'again' });
      socket.json({ type: 'flush' });
      await socket.until(() => socket.of('done').length === 2);
      expect(socket.closed).toBeUndefined();
    });

    it('speaks the rest on end, sends done, and closes with 1000', async () => {
      await using socket = await ready();
      socket.json({ type: 'text', text: 'Good bye' });
      socket.text('end');
      expect((await socket.untilClosed()).code).toBe(1000);
      expect(socket.events.map(({ type }) => type)).toEqual(['ready', 'speaking', 'done']);
      expect(socket.audio.length).toBeGreaterThan(1);
    });

    it('drops current and waiting speech on cancel, and goes on', async () => {
      await using own = await startTestPlatform({ compat: true });
      own.synthesis.hangAfter = 3;
      await using socket = await TestSocket.open(`${own.platform.ttsUrl}/v1/realtime?token=${await own.token()}`);
      socket.json({ voice: 'Rajesh', language: 'en' });
      socket.json({ type: 'text', text: 'One long sentence. And another. ' });
      socket.json({ type: 'flush' });
      await socket.until(() => socket.audio.length > 0);
      socket.json({ type: 'cancel' });
      await socket.until(() => socket.of('cancelled').length === 1);
      await expect.poll(() => own.synthesis.running).toBe(0);
      own.synthesis.hangAfter = undefined;
      socket.json({ type: 'text', text: 'New words' });
      socket.json({ type: 'flush' });
      await socket.until(() => socket.of('done').length === 1);
      expect(own.synthesis.requests.map(({ text }) => text.trim())).toEqual(['One long sentence. And another.', 'New words']);
      expect(socket.closed).toBeUndefined();
    });

    it.each([
      ['another type', JSON.stringify({ type: 'ping' }), /type text, flush or cancel/],
      ['text of another language', JSON.stringify({ type: 'text', text: 'Добрый день. x' }), /streaming serves the Indic/],
      ['more text than may wait', JSON.stringify({ type: 'text', text: 'x'.repeat(10_001) }), /10000 characters/],
    ])('answers %s with an error, and closes', async (_name, message, told) => {
      await using socket = await ready();
      socket.text(message);
      expect((await socket.untilClosed()).code).toBe(1008);
      expect(socket.of('error')[0]!['error']).toMatch(told);
    });

    it.each([{ voice: 'Nobody' }, { language: 'fr' }])('refuses %j in place of ready', async (settings) => {
      await using socket = await open(test.platform.ttsUrl);
      socket.json({ voice: 'Rajesh', language: 'en', ...settings });
      expect((await socket.untilClosed()).code).toBe(1008);
      expect(socket.events.map(({ type }) => type)).toEqual(['error']);
    });

    it('still speaks the protocol of the documents', async () => {
      await using socket = await open(test.platform.ttsUrl);
      socket.json({ type: 'config', model: 'zero-indic', voice: 'Rajesh' });
      socket.json({ input: 'Hello' });
      await socket.until(() => socket.of('completion').length === 1);
      expect(socket.audio).not.toEqual([]);
    });
  });

  describe('batch transcription', () => {
    const transcribe = async (fields: Record<string, string>, platform = test) => {
      const form = new FormData();
      form.append('file', new Blob([Buffer.from(wavFile(sayTones(['alpha', 'bravo'], 16_000), 16_000))]), 'a.wav');
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      const response = await fetch(`${platform.platform.asrUrl}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${await platform.token()}` },
        body: form,
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };

    it('gives the long answer to flags without a response_format, intent and sentiment as objects', async () => {
      const { body } = await transcribe({
        enable_diarization: 'true',
        enable_sentiment_analysis: 'true',
        word_timestamps: 'false',
      });
      expect(body).toMatchObject({
        success: true,
        text: 'alpha bravo',
        speakers: ['SPEAKER_00'],
        nlp_analysis: { sentiment: { label: expect.any(String) } },
      });
    });

    it('follows the documents when a response_format is sent, or no feature is requested', async () => {
      const fields = { enable_sentiment_analysis: 'true', response_format: 'verbose_json' };
      expect((await transcribe(fields)).body['nlp_analysis']).toEqual({ sentiment: expect.any(String) });
      expect((await transcribe({ enable_diarization: 'false' })).body).toEqual({ text: 'alpha bravo' });
    });

    it('refuses a flag of another value, in the words of the documents', async () => {
      const { status, body } = await transcribe({ enable_diarization: 'maybe' });
      expect([status, body['detail']]).toEqual([
        422,
        [{ loc: ['body', 'enable_diarization'], msg: 'must be true or false', type: 'invalid_type' }],
      ]);
    });

    it('ignores them without compat mode', async () => {
      await using plain = await startTestPlatform();
      expect((await transcribe({ enable_diarization: 'true' }, plain)).body).toEqual({ text: 'alpha bravo' });
    });
  });

  describe('realtime recognition', () => {
    const ready = async (init: object = {}): Promise<TestSocket> => {
      const socket = await open(test.platform.asrUrl);
      socket.json({ language: 'en', sample_rate: 8000, ...init });
      await socket.until(() => socket.of('ready').length === 1);
      return socket;
    };

    it.each(['{"type":"commit"}', 'COMMIT'])('takes %s for commit, and says when the turn is over [116]', async (commit) => {
      await using socket = await ready();
      socket.pcm(sayTones(['alpha'], 8000));
      socket.text(commit);
      await socket.until(() => socket.of('utterance_end').length === 1);
      expect(socket.events.slice(-2)).toEqual([
        expect.objectContaining({ type: 'final', seg: 0, text: 'alpha', end_of_utterance: true }),
        { type: 'utterance_end', seg: 0 },
      ]);
    });

    it.each(['{"type":"end"}', 'END'])('takes %s for end [116]', async (end) => {
      await using socket = await ready();
      socket.text(end);
      expect((await socket.untilClosed()).code).toBe(1000);
    });

    it.each([
      { asked: 300, applied: 300 },
      { asked: 50, applied: 200 },
    ])('ends a turn at $asked ms of silence when it is asked to, and tells what it applies', async ({ asked, applied }) => {
      await using socket = await ready({ endpoint_silence_ms: asked });
      expect(socket.of('ready')[0]).toMatchObject({ endpoint_silence_ms: applied });
      socket.pcm(sayTones(['alpha'], 8000));
      socket.pcm(new Int16Array(4000));
      await socket.until(() => socket.of('utterance_end').length === 1);
      expect(socket.of('final')[0]).toMatchObject({ text: 'alpha', end_of_utterance: true });
    });

    it('puts the text of an error where newer clients look for it', async () => {
      await using socket = await open(test.platform.asrUrl);
      socket.json({ language: 'klingon' });
      await socket.untilClosed();
      const { error, message } = socket.of('error')[0]!;
      expect(message).toBe(error);
    });
  });
});

import { describe, expect, it, test } from 'vitest';
import { type StreamedSpeechOptions, wireRequest } from '../../../../src/speech/tts/realtime-request.ts';

const request: StreamedSpeechOptions = { text: 'नमस्ते', voice: 'Sunita', language: 'hi', speed: 1.5, trimSilence: true };
const settings = { voice: 'Sunita', language: 'hi', speed: 1.5, trim_silence: true };
const start = { model: 'zero-indic', input: 'नमस्ते', voice: 'Sunita' };

describe('a synthesis on the socket', () => {
  it('is asked for in one message', () => {
    const { messages, query } = wireRequest(request);
    expect(messages).toEqual([{ ...start, ...settings, response_format: 'pcm' }]);
    expect(query).toBeUndefined();
  });

  it('is asked for by a config message and then a text', () => {
    const { messages } = wireRequest({ ...request, style: 'config' });
    expect(messages).toEqual([{ type: 'config', model: 'zero-indic', ...settings, response_format: 'pcm' }, start]);
  });

  it('is requested with settings in the address, never with the text', () => {
    const pcm = wireRequest({ ...request, style: 'query' });
    const base = { model: 'zero-indic', voice: 'Sunita', language: 'hi', speed: '1.5', trim_silence: 'true' };
    expect(pcm.query).toEqual({ ...base, encoding: 'pcm' });
    expect(pcm.messages).toEqual([start]);
    expect(wireRequest({ ...request, style: 'query', format: 'alaw' }).query).toEqual({ ...base, response_format: 'alaw' });
  });

  test.each(['wav', 'mp3', 'ogg_opus', 'flac'] as const)('is refused as %s, before anything is sent [202]', (format) => {
    expect(() => wireRequest({ ...request, format })).toThrow(
      expect.objectContaining({ code: 'OFFHOOK_SPEECH_REQUEST', message: expect.stringContaining(format) as string }),
    );
  });

  test.each([
    { format: 'pcm', wanted: { encoding: 'pcm16', rateHz: 24_000 } },
    { format: 'mulaw', wanted: { encoding: 'mulaw', rateHz: 8_000 } },
    { format: 'alaw', wanted: { encoding: 'alaw', rateHz: 8_000 } },
  ] as const)('is taken as $format [202]', ({ format, wanted }) => {
    expect(wireRequest({ ...request, format }).wanted).toEqual(wanted);
  });

  test.each([{ text: '' }, { speed: 0.2 }, { speed: 4.1 }, { sampleRateHz: 44_100.5 }, { sampleRateHz: 1 }])(
    'is refused with %j',
    (wrong) => {
      expect(() => wireRequest({ ...request, ...wrong })).toThrow(expect.objectContaining({ code: 'OFFHOOK_SPEECH_REQUEST' }));
    },
  );
});

import { describe, expect, it, test } from 'vitest';
import { wavFile } from '../../../../src/audio/wav.ts';
import { FixedToken } from '../../../../src/speech/client/credentials.ts';
import { SpeechError } from '../../../../src/speech/client/errors.ts';
import { SpeechHttp } from '../../../../src/speech/client/requests.ts';
import { synthesize } from '../../../../src/speech/tts/batch.ts';
import { SPEECH_FORMATS, type SpeechFormat } from '../../../../src/speech/tts/speech-fields.ts';
import { SynthesisProtocol } from '../../../../src/speech/tts/synthesis-protocol.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { FakeFetch } from '../fake-platform.ts';

const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.c2VjcmV0.s1gnature';
const HTML = `<!doctype html><title>Gateway login</title><p>Bearer ${TOKEN} is not known here</p>`;
const JSON_BODY = JSON.stringify({ detail: 'voice model is loading' });

async function answered(
  format: SpeechFormat,
  type: string | undefined,
  parts: readonly (string | Uint8Array)[],
): Promise<Buffer> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(typeof part === 'string' ? new TextEncoder().encode(part) : part);
      controller.close();
    },
  });
  const fake = new FakeFetch(() => new Response(body, type === undefined ? {} : { headers: { 'content-type': type } }));
  const http = new SpeechHttp({ tokens: new FixedToken(TOKEN), clock: new ManualClock(), fetch: fake.fetch, timeoutMs: 1_000 });
  const options = { text: 'Hello.', voice: 'Nisha', format };
  const spoken = await synthesize(http, 'https://tts.example', options, new AbortController().signal);
  const heard: Uint8Array[] = [];
  for await (const part of spoken.audio) heard.push(part);
  return Buffer.concat(heard);
}

async function refusal(
  format: SpeechFormat,
  type: string | undefined,
  parts: readonly (string | Uint8Array)[],
): Promise<SpeechError> {
  const told = await answered(format, type, parts).catch((error: unknown) => error);
  if (!(told instanceof SpeechError)) throw new Error(`it was taken for ${format}`);
  return told;
}

const tone = Buffer.from(Int16Array.from({ length: 400 }, (_, index) => Math.round(9_000 * Math.sin(index / 3))).buffer);
const FILES: Readonly<Record<SpeechFormat, Uint8Array>> = {
  pcm: tone,
  mulaw: tone.map((byte) => byte | 0x80),
  alaw: Buffer.alloc(300, 0xd5),
  wav: wavFile(new Int16Array(400), 8_000),
  mp3: Buffer.concat([Buffer.from([0xff, 0xf3, 0x44, 0xc4]), Buffer.alloc(200)]),
  ogg_opus: Buffer.concat([Buffer.from('OggS'), Buffer.alloc(200)]),
  flac: Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(200)]),
};

describe.each(SPEECH_FORMATS)('an answer to a request for %s', (format) => {
  test.each([
    { note: 'a page', type: 'text/html; charset=utf-8', body: HTML, begins: '<!doctype html>' },
    { note: 'a page that says it is audio', type: 'audio/mpeg', body: HTML, begins: '<!doctype html>' },
    { note: 'a page without a content type', type: undefined, body: `\uFEFF\n ${HTML}`, begins: '<!doctype html>' },
    { note: 'JSON', type: 'application/json', body: JSON_BODY, begins: 'voice model is loading' },
    { note: 'JSON that says it is bytes', type: 'application/octet-stream', body: JSON_BODY, begins: 'voice model is loading' },
    { note: 'a sentence', type: 'application/octet-stream', body: 'upstream connect error', begins: 'upstream connect error' },
  ])('is refused when it is $note, before any of it counts as audio', async ({ type, body, begins }) => {
    for (const parts of [[body], Array.from(body)]) {
      const { message, code, status } = await refusal(format, type, parts);
      expect({ code, status }).toEqual({ code: 'OFFHOOK_SPEECH_PROTOCOL', status: 200 });
      expect(message).toContain(`asked for ${format} and got text`);
      expect(message).toContain(type ?? 'no content type');
      expect(message).toContain(begins);
    }
  });

  it('shows no token that the page repeats', async () => {
    const { message, body, stack } = await refusal(format, 'text/html', [HTML]);
    expect(`${message} ${body} ${stack}`).not.toContain('s1gnature');
    expect(message).toContain('[token]');
  });

  it('is passed on as it is when it is one', async () => {
    const file = Buffer.from(FILES[format]);
    for (const parts of [[file], Array.from(file, (byte) => Uint8Array.of(byte))])
      expect(await answered(format, 'application/octet-stream', parts)).toEqual(file);
  });

  it('is refused when it is another kind of file', async () => {
    const [other, name] = format === 'wav' ? [FILES.flac, 'a FLAC file'] : [FILES.wav, 'a WAV file'];
    expect((await refusal(format, 'audio/x', [other])).message).toContain(`asked for ${format} and got ${name}`);
  });
});

it('speaks no JSON that arrives in place of audio', () => {
  const protocol = new SynthesisProtocol();
  protocol.text('{"type":"chunk","chunk_index":0,"format":"mulaw","sample_rate":8000}');
  expect(() => protocol.binary(Buffer.from(JSON_BODY))).toThrow(/text where audio was due.*voice model is loading/u);
});

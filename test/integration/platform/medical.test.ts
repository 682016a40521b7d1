import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wavFile } from '../../../src/audio/wav.ts';
import { requireTool } from '../../support/requires.ts';
import { thorough } from '../../support/thorough.ts';
import { testPlatform } from './setup.ts';
import { sayTones } from './tone-engines.ts';

const fixture = (name: string): Buffer => readFileSync(join(import.meta.dirname, '../../fixtures/audio', name));
const file = wavFile(sayTones(['alpha', 'bravo'], 16_000), 16_000);
const hasFfmpeg = requireTool('ffmpeg') !== undefined;

describe('the medical batch service', () => {
  const test = testPlatform();

  const transcribe = async (bytes: Uint8Array | undefined, name: string, fields: Record<string, string> = {}) => {
    const form = new FormData();
    form.append('language_code', 'med-en');
    for (const [field, value] of Object.entries(fields)) form.set(field, value);
    if (bytes !== undefined) form.append('file', new Blob([Buffer.from(bytes)]), name);
    const response = await fetch(`${test.platform.medUrl}/transcribe`, {
      method: 'POST',
      headers: { 'x-api-key': test.platform.apiKey },
      body: form,
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  it('answers with the whole text and the name of the file, and no segments [152] [153]', async () => {
    expect(await transcribe(file, 'visit 7.wav')).toEqual({
      status: 200,
      body: { success: true, text: 'alpha bravo', total_segments: 0, filename: 'visit 7.wav', unique_speakers: [] },
    });
    expect(test.recognition.opened.at(-1)!.language).toBe('en');
  });

  it('adds segments, speakers and their count with enable_diarization [152]', async () => {
    const { body } = await transcribe(file, 'a.wav', { enable_diarization: 'true' });
    const segments = body['segments'] as Record<string, unknown>[];
    expect(segments[0]).toEqual({
      start: expect.any(Number),
      end: expect.any(Number),
      text: expect.any(String),
      speaker: expect.stringMatching(/^SPEAKER_\d\d$/),
    });
    expect(body['total_segments']).toBe(segments.length);
    expect(new Set(body['unique_speakers'] as string[])).toEqual(new Set(segments.map(({ speaker }) => speaker)));
    const without = await transcribe(file, 'a.wav', { enable_diarization: 'false' });
    expect(Object.keys(without.body)).not.toContain('segments');
  });

  it('needs a file, of a kind it names, that can be decoded [151]', async () => {
    expect((await transcribe(undefined, '')).status).toBe(400);
    expect((await transcribe(file, 'a.docx')).status).toBe(415);
    expect((await transcribe(Buffer.from('no sound'), 'a.mp3')).status).toBe(415);
    for (const ending of 'WAV MP3 M4A FLAC OGG AAC WMA MP4 MKV MOV AVI WebM'.split(' ')) {
      expect((await transcribe(file, `a.${ending}`)).status).toBe(200);
    }
  });

  // Each of our decoders is tested by itself (`unit/audio/media`).
  const [others, byFfmpeg] = [['tones.flac', 'tones-vorbis.ogg', 'tones.webm'], hasFfmpeg ? ['tones.m4a', 'tones.aac'] : []];
  it.each(['tones.mp3', ...thorough(byFfmpeg.slice(0, 1), [...others, ...byFfmpeg])])('reads %s [151]', async (name) => {
    expect((await transcribe(fixture(name), name)).body['text']).toBe('alpha charlie');
  });

  it('takes 30 MiB and refuses a byte more with 413 [151]', async () => {
    const limit = 30 * 1024 * 1024;
    const padded = (bytes: number): Uint8Array => {
      const whole = new Uint8Array(bytes);
      whole.set(file);
      return whole;
    };
    expect((await transcribe(padded(limit), 'a.wav')).status).toBe(200);
    expect((await transcribe(padded(limit + 1), 'a.wav')).status).toBe(413);
  });

  it.each(['maybe', 'yes', '2', ''])('refuses enable_diarization=%j with a 400 that says what is accepted', async (flag) => {
    const { status, body } = await transcribe(file, 'a.wav', { enable_diarization: flag });
    expect([status, body]).toEqual([400, { detail: 'enable_diarization: must be true or false' }]);
  });

  it('takes enable_diarization as 1 and in any case', async () => {
    for (const flag of ['1', 'TRUE']) {
      expect((await transcribe(file, 'a.wav', { enable_diarization: flag })).body).toHaveProperty('segments');
    }
  });

  it('refuses another language than it has with 400', async () => {
    expect((await transcribe(file, 'a.wav', { language_code: 'med-xx' })).status).toBe(400);
  });
});

import { describe, expect, it } from 'vitest';
import { voices } from '../../../../../src/platform/engines/synth/voices.ts';
import { speechRequestOf } from '../../../../../src/platform/server/tts/speech-request.ts';

describe('the language of a streamed text', () => {
  const fields = { model: 'zero-indic', input: 'Buenos días', voice: 'Dora' };
  const ofModel = { name: 'Dora', language: 'es', gender: 'female' } as const;
  const surface = (more: readonly (typeof ofModel)[]) =>
    ({ kind: 'stream', compat: false, voices: [...voices, ...more] }) as const;

  it('may be that of a voice model', () => {
    const request = speechRequestOf({ ...fields, language: 'es' }, surface([ofModel]));
    expect(request).toMatchObject({ voice: ofModel, language: { code: 'es' } });
  });

  it('is refused without a model for it', () => {
    const refused = (): unknown => speechRequestOf({ ...fields, voice: 'Nisha', language: 'es' }, surface([]));
    expect(refused).toThrow(/language: streaming serves the Indic languages and English only .*, and those of voice models/);
  });
});

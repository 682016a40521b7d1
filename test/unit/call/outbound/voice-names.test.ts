import { expect, it, vi } from 'vitest';
import { VoiceNames } from '../../../../src/call/outbound/voice-names.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import type { SynthesisRequest } from '../../../../src/speech/port.ts';

const request = (voice: string): SynthesisRequest => ({ text: 'Hello.', voice, language: 'en' });

it('speaks with the default voice where a bot’s voice is misspelt, and says so once', () => {
  const warn = vi.fn();
  const names = new VoiceNames(() => ({ voices: ['Nisha', 'Rajesh'], defaultVoice: 'Rajesh' }), { ...silentLogger, warn });
  expect(names.request(request('Nihsa')).voice).toBe('Rajesh');
  expect(names.request(request('Nihsa')).voice).toBe('Rajesh');
  expect(warn.mock.calls).toEqual([[{ voice: 'Nihsa', used: 'Rajesh', nearest: 'Nisha' }, expect.stringContaining('no voice')]]);
});

it('leaves a known voice as it is, in any case of its letters, and every voice while none is known', () => {
  const names = (voices: readonly string[]): VoiceNames =>
    new VoiceNames(() => ({ voices, defaultVoice: 'Rajesh' }), silentLogger);
  expect(names(['Nisha', 'Rajesh']).request(request('Nisha')).voice).toBe('Nisha');
  expect(names(['Nisha', 'Rajesh']).request(request('nisha')).voice).toBe('Nisha');
  expect(names([]).request(request('Nihsa')).voice).toBe('Nihsa');
  expect(new VoiceNames(() => undefined, silentLogger).request(request('Nihsa')).voice).toBe('Nihsa');
});

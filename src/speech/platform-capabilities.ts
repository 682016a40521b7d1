import { TELEPHONE_FORMAT } from '../audio/format.ts';
import type { RecogniserCapabilities, SynthesizerCapabilities } from './port.ts';

/** What the speech platform's documents promise of recognition (ASR doc, "Streaming" and limits of the default tier). */
export const PLATFORM_RECOGNITION: RecogniserCapabilities = {
  partials: true,
  endMarks: true,
  mostHints: 10,
  languages: 'any',
  detectsLanguage: true,
  ratesHz: [8_000, 16_000],
  sessionsPerKey: 16,
};

/** What they promise of synthesis (TTS doc, "Speech request" and limits); voices are in its health answer. */
export const PLATFORM_SYNTHESIS: SynthesizerCapabilities = {
  formats: [TELEPHONE_FORMAT, { encoding: 'alaw', rateHz: 8_000 }, { encoding: 'pcm16', rateHz: 8_000 }],
  languages: 'any',
  voices: undefined,
  defaultVoice: undefined,
  streams: true,
  longestText: 10_000,
  requestsPerKey: 16,
};

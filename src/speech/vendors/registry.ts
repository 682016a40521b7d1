import { azure } from './azure/vendor.ts';
import { deepgram } from './deepgram/vendor.ts';
import { elevenlabs } from './elevenlabs/vendor.ts';
import { google } from './google/vendor.ts';
import { openai } from './openai/vendor.ts';
import { sarvam } from './sarvam/vendor.ts';
import type { SpeechVendor } from './vendor.ts';

/** Every vendor of speech beside the speech platform: one line each, and nothing else names any. */
export const vendors: readonly SpeechVendor[] = [deepgram, elevenlabs, openai, sarvam, azure, google];

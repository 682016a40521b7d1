import type { RealtimeVendorName } from '../../config/realtime-vendors.ts';
import type { RealtimeVendor } from './vendor.ts';
import { gemini } from './vendors/gemini.ts';
import { azure, openai } from './vendors/openai.ts';

/** Every vendor of speech-to-speech models: nothing else names any. */
export const realtimeVendors: Readonly<Record<RealtimeVendorName, RealtimeVendor>> = { openai, azure, gemini };

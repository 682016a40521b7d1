/** Vendors of speech-to-speech models, as bot files name them. `src/dialog/realtime/registry.ts` describes each. */
export const REALTIME_VENDORS = ['openai', 'azure', 'gemini'] as const;

export type RealtimeVendorName = (typeof REALTIME_VENDORS)[number];

import { SimulatedAzure } from './azure.ts';
import { startDeepgram } from './deepgram.ts';
import { startElevenLabs } from './elevenlabs.ts';
import type { VendorEngines } from './engines.ts';
import { SimulatedGoogle } from './google.ts';
import { startOpenAi } from './openai.ts';
import { startSarvam } from './sarvam.ts';

/** A vendor's simulator as the conversation suite runs it. */
export interface SimulatedVendor {
  /** The vendor's name in settings. */
  readonly vendor: string;
  /** What is special about it, where a vendor has several rows. */
  readonly mode?: string;
  readonly services: readonly ('recognition' | 'synthesis')[];
  /** A name of one of its voices, where it has no default of its own. */
  readonly voice?: string;
  /**
   * Starts the vendor's server.
   * @param through gives an address of the server by way of a cable that the test can cut
   * @returns what configures the vendor, by environment names
   */
  readonly start: (
    engines: VendorEngines,
    through: (url: string) => Promise<string>,
  ) => Promise<{ readonly env: Readonly<Record<string, string>> } & AsyncDisposable>;
}

const BOTH = ['recognition', 'synthesis'] as const;
const KEY = 'simulated-key-0123456789';

const openAi = (mode: 'realtime' | 'segments'): SimulatedVendor => ({
  vendor: 'openai',
  mode,
  services: BOTH,
  async start(engines, through) {
    // A compatible server takes more than OpenAI's own.
    const server = await startOpenAi({ engines, isStrict: false });
    return {
      env: {
        OFFHOOK_OPENAI__BASE_URL: await through(server.url),
        OFFHOOK_OPENAI__RECOGNITION: mode,
        OFFHOOK_OPENAI__RECOGNITION_MODEL: 'a-model',
        OFFHOOK_OPENAI__SYNTHESIS_MODEL: 'kokoro',
      },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
});

const deepgram: SimulatedVendor = {
  vendor: 'deepgram',
  services: BOTH,
  voice: 'aura-2-thalia-en',
  async start(engines, through) {
    const server = await startDeepgram({ engines, apiKey: KEY });
    return {
      env: { OFFHOOK_DEEPGRAM__BASE_URL: await through(server.url), DEEPGRAM_API_KEY: KEY },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
};

const azure: SimulatedVendor = {
  vendor: 'azure',
  services: BOTH,
  voice: 'en-IN-NeerjaNeural',
  async start(engines, through) {
    const server = await SimulatedAzure.start(engines, KEY);
    const url = await through(`http://127.0.0.1:${server.port}`);
    return {
      env: {
        OFFHOOK_AZURE__RECOGNITION_URL: url.replace('http', 'ws'),
        OFFHOOK_AZURE__SYNTHESIS_URL: url,
        AZURE_SPEECH_KEY: KEY,
      },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
};

const google: SimulatedVendor = {
  vendor: 'google',
  services: BOTH,
  voice: 'en-IN-Chirp3-HD-Kore',
  async start(engines, through) {
    const server = await SimulatedGoogle.start(engines);
    const url = await through(`http://127.0.0.1:${server.port}`);
    return {
      env: {
        OFFHOOK_GOOGLE__RECOGNITION_ENDPOINT: url.replace('http://', ''),
        OFFHOOK_GOOGLE__SYNTHESIS_ENDPOINT: url.replace('http://', ''),
      },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
};

const elevenlabs: SimulatedVendor = {
  vendor: 'elevenlabs',
  services: BOTH,
  voice: 'JBFqnCBsd6RMkjVDRZzb',
  async start(engines, through) {
    const server = await startElevenLabs({ engines, apiKey: KEY });
    return {
      env: { OFFHOOK_ELEVENLABS__BASE_URL: await through(server.url), ELEVENLABS_API_KEY: KEY },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
};

const sarvam: SimulatedVendor = {
  vendor: 'sarvam',
  services: BOTH,
  voice: 'shubh',
  async start(engines, through) {
    const server = await startSarvam({ engines, apiKey: KEY });
    return {
      env: { OFFHOOK_SARVAM__BASE_URL: await through(server.url), SARVAM_API_KEY: KEY },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
};

/** Every vendor's simulator: one row for each way of recognising or speaking. Each holds a conversation, and breaks off in one. */
export const simulatedVendors: readonly SimulatedVendor[] = [
  openAi('realtime'),
  openAi('segments'),
  deepgram,
  elevenlabs,
  sarvam,
  azure,
  google,
];

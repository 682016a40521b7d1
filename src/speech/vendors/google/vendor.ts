import { z } from 'zod';
import { optionalText, secret, text, whole } from '../../../config/setting.ts';
import { ifInstalled } from '../if-installed.ts';
import type { OpenVendor, SpeechVendor, VendorParts } from '../vendor.ts';
import { GoogleRecogniser } from './recognition.ts';
import { GoogleSynthesizer } from './synthesis.ts';

const settings = z.object({
  recognitionEndpoint: optionalText(
    "Host, or host:port, of a regional endpoint in place of Google's, for example eu-speech.googleapis.com",
  ),
  synthesisEndpoint: optionalText(
    "Host, or host:port, of a regional endpoint in place of Google's, for example eu-texttospeech.googleapis.com",
  ),
  model: optionalText("Recognition model, for example telephony or latest_short; unset: the language's default"),
  voice: text('en-IN-Chirp3-HD-Kore', 'Voice of bots that name none'),
  recognitionSessions: whole(1, 10_000, 100, "Streams that the project's quota allows at once", { unit: 'streams' }),
  synthesisRequests: whole(1, 10_000, 100, "Sentences that the project's quota allows at once", { unit: 'requests' }),
});

const secrets = z.object({
  credentials: secret('JSON key of a Google Cloud service account; GOOGLE__CREDENTIALS_FILE names a file of it'),
});

/** Google Cloud Speech-to-Text and Text-to-Speech, each through Google's own package beside Offhook. */
export const google: SpeechVendor = {
  name: 'google',
  title: 'Google Cloud Speech',
  settings,
  secrets,
  services: ['recognition', 'synthesis'],
  prices: [],
  needs: 'OFFHOOK_GOOGLE__CREDENTIALS, and the packages @google-cloud/speech@7 and @google-cloud/text-to-speech@6',
  open(config, parts) {
    const [credentials] = config.secrets['credentials'] ?? [];
    const values = settings.parse(config.settings);
    const hasEndpoint = values.recognitionEndpoint !== undefined || values.synthesisEndpoint !== undefined;
    return credentials === undefined && !hasEndpoint ? undefined : new Google(credentials?.reveal(), values, parts);
  },
};

class Google implements OpenVendor {
  readonly recogniser: GoogleRecogniser | undefined;
  readonly synthesizer: GoogleSynthesizer | undefined;

  constructor(credentials: string | undefined, values: z.output<typeof settings>, { clock, logger }: VendorParts) {
    const { recognitionEndpoint, synthesisEndpoint, model, voice, recognitionSessions, synthesisRequests } = values;
    const recognition = { model, sessions: recognitionSessions, clock };
    const synthesis = { voice, requests: synthesisRequests, clock };
    this.recogniser = ifInstalled(
      () => new GoogleRecogniser({ credentials, endpoint: recognitionEndpoint }, recognition),
      logger,
    );
    this.synthesizer = ifInstalled(() => new GoogleSynthesizer({ credentials, endpoint: synthesisEndpoint }, synthesis), logger);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.recogniser?.[Symbol.asyncDispose]();
    await this.synthesizer?.[Symbol.asyncDispose]();
  }
}

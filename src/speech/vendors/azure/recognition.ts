import type * as Sdk from 'microsoft-cognitiveservices-speech-sdk';
import { createRequire } from 'node:module';
import type { Clock } from '../../../kernel/clock.ts';
import { errorText } from '../../../kernel/errors.ts';
import { maskSecret } from '../../../kernel/mask-secret.ts';
import {
  SpeechAuthError,
  SpeechBusyError,
  type SpeechError,
  SpeechRequestError,
  SpeechUnavailableError,
} from '../../client/errors.ts';
import type { RecogniserCapabilities, RecognitionOptions } from '../../port.ts';
import { type TurnStream, type TurnStreamListener, TurnStreamRecogniser } from '../turn-streams.ts';
import { localeOf } from '../vendor.ts';

/** Phrases of a phrase list. @see https://learn.microsoft.com/azure/ai-services/speech-service/improve-accuracy-phrase-list */
const MOST_PHRASES = 500;

const CAPABILITIES: RecogniserCapabilities = {
  partials: true,
  endMarks: false,
  mostHints: MOST_PHRASES,
  languages: 'any',
  detectsLanguage: false,
  // Raw PCM of 8 or 16 kHz: https://learn.microsoft.com/azure/ai-services/speech-service/how-to-use-audio-input-streams
  ratesHz: [8_000, 16_000],
  // Concurrent real-time requests of the standard tier; more on request:
  // https://learn.microsoft.com/azure/ai-services/speech-service/speech-services-quotas-and-limits
  sessionsPerKey: 100,
};

export interface AzureAccount {
  readonly key: string;
  /** Such as `centralindia`. */
  readonly region: string;
  /** `wss://…` of a container or a private endpoint, in place of the region's. */
  readonly host: string | undefined;
}

/**
 * Azure's real-time recognition through its Speech SDK. Its protocol has no commit: each turn is a recogniser of its own, and
 * the end of the turn's audio finalises it.
 * @see https://learn.microsoft.com/azure/ai-services/speech-service/how-to-recognize-speech
 */
export class AzureRecogniser extends TurnStreamRecogniser {
  readonly capabilities = CAPABILITIES;
  readonly #sdk: SpeechSdk;
  readonly #account: AzureAccount;

  /** @throws SpeechRequestError when Microsoft's package is not installed */
  constructor(account: AzureAccount, clock: Clock) {
    super(clock);
    this.#sdk = loadSdk();
    this.#account = account;
    // It would report each session's timing to the vendor beside the audio.
    this.#sdk.Recognizer.enableTelemetry(false);
  }

  protected override openStream(
    { language, sampleRateHz }: RecognitionOptions,
    hints: readonly string[],
    listener: TurnStreamListener,
  ): TurnStream {
    const sdk = this.#sdk;
    const { key, region, host } = this.#account;
    const config =
      host === undefined ? sdk.SpeechConfig.fromSubscription(key, region) : sdk.SpeechConfig.fromHost(new URL(host), key);
    config.speechRecognitionLanguage = localeOf(language);
    const audio = sdk.AudioInputStream.createPushStream(sdk.AudioStreamFormat.getWaveFormatPCM(sampleRateHz, 16, 1));
    const recognizer = new sdk.SpeechRecognizer(config, sdk.AudioConfig.fromStreamInput(audio));
    if (hints.length > 0) sdk.PhraseListGrammar.fromRecognizer(recognizer).addPhrases([...hints]);
    let isOver = false;
    const close = (): void => {
      // The SDK throws at a second close, and its first one may come back here.
      if (isOver) return;
      isOver = true;
      recognizer.close();
    };
    const lost = (error: SpeechError): void => {
      if (isOver) return;
      close();
      listener.lost(error);
    };
    const finished = (): void => {
      if (isOver) return;
      close();
      listener.finished();
    };
    const connection = sdk.Connection.fromRecognizer(recognizer);
    connection.connected = () => listener.ready();
    // The SDK connects again by itself and then waits for audio that it has sent already.
    connection.disconnected = () => lost(new SpeechUnavailableError('azure recognition: the connection was lost'));
    recognizer.recognizing = (_from, { result }) => listener.partial(result.text);
    recognizer.recognized = (_from, { result }) => {
      if (result.reason === sdk.ResultReason.RecognizedSpeech) listener.final(result.text, undefined);
    };
    recognizer.canceled = (_from, { reason, errorCode, errorDetails }) => {
      if (reason !== sdk.CancellationReason.Error) finished();
      else lost(errorOf(sdk.CancellationErrorCode[errorCode], errorDetails, maskSecret(key)));
    };
    recognizer.sessionStopped = finished;
    recognizer.startContinuousRecognitionAsync(undefined, (reason) =>
      lost(new SpeechUnavailableError(`azure recognition: ${maskSecret(key)(reason)}`)),
    );
    return {
      send: (pcm) => audio.write(pcm.slice().buffer),
      end: () => audio.close(),
      abort: close,
    };
  }
}

/** The SDK takes a refused upgrade for a lost connection, and names its status in a text alone. */
const REFUSED = /\bserver response: 40[13]\b/u;

function errorOf(code: string, details: string, mask: (text: string) => string): SpeechError {
  const message = `azure recognition: ${mask(details) || code}`;
  if (REFUSED.test(details)) return new SpeechAuthError(`${message}; check OFFHOOK_AZURE__KEY and OFFHOOK_AZURE__REGION`);
  switch (code) {
    case 'AuthenticationFailure':
    case 'Forbidden':
      return new SpeechAuthError(message);
    case 'BadRequestParameters':
      return new SpeechRequestError(message);
    case 'TooManyRequests':
      return new SpeechBusyError(message);
    default:
      return new SpeechUnavailableError(message);
  }
}

const PACKAGE = 'microsoft-cognitiveservices-speech-sdk';

export type SpeechSdk = typeof Sdk;

/**
 * Loads Azure's Speech SDK, which must be installed beside Offhook to use Azure.
 * @throws SpeechRequestError when it is not installed, or cannot be loaded
 */
export function loadSdk(): SpeechSdk {
  try {
    return createRequire(import.meta.url)(PACKAGE) as SpeechSdk;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
    const why = isMissing ? `it is not installed: npm install --ignore-scripts ${PACKAGE}` : errorText(error);
    throw new SpeechRequestError(`azure recognition needs the package ${PACKAGE}: ${why}`, { cause: error });
  }
}

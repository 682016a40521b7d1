import type { SpeechClient } from '@google-cloud/speech';
import { z } from 'zod';
import type { Clock } from '../../../kernel/clock.ts';
import { SpeechProtocolError } from '../../client/errors.ts';
import type { RecogniserCapabilities, RecognitionOptions } from '../../port.ts';
import { localeOf } from '../vendor.ts';
import { type TurnStream, type TurnStreamListener, TurnStreamRecogniser } from '../turn-streams.ts';
import { clientOptions, errorOf, type GoogleAccount, loadClient } from './sdk.ts';

/** Phrases of a request, and characters of one. @see https://cloud.google.com/speech-to-text/quotas */
const MOST_PHRASES = 5_000;
const LONGEST_PHRASE = 100;
/** Most audio in one message; 25 KB are allowed. @see https://docs.cloud.google.com/speech-to-text/docs/quotas */
const MOST_AUDIO_BYTES = 16_000;

/** `StreamingRecognizeResponse`, as far as it is used. */
const responseSchema = z.object({
  error: z.object({ code: z.int().nullish(), message: z.string().nullish() }).nullish(),
  results: z
    .array(
      z.object({
        isFinal: z.boolean().nullish(),
        languageCode: z.string().nullish(),
        alternatives: z.array(z.object({ transcript: z.string().nullish() })).nullish(),
      }),
    )
    .nullish(),
});

/**
 * Google's streaming recognition (Speech-to-Text v1) through its official client. A stream has no commit: each turn is one of its
 * own, and the end of its audio finalises it.
 * @see https://cloud.google.com/speech-to-text/docs/reference/rpc/google.cloud.speech.v1
 */
export class GoogleRecogniser extends TurnStreamRecogniser implements AsyncDisposable {
  readonly capabilities: RecogniserCapabilities;
  readonly #client: SpeechClient;
  readonly #model: string | undefined;

  /** @throws SpeechRequestError when Google's package is not installed */
  constructor(account: GoogleAccount, { model, sessions, clock }: { model: string | undefined; sessions: number; clock: Clock }) {
    super(clock);
    this.capabilities = {
      partials: true,
      endMarks: false,
      mostHints: MOST_PHRASES,
      languages: 'any',
      detectsLanguage: false,
      // LINEAR16 of 8 to 48 kHz: https://cloud.google.com/speech-to-text/docs/reference/rpc/google.cloud.speech.v1
      ratesHz: [8_000, 16_000],
      sessionsPerKey: sessions,
    };
    const { SpeechClient: Client } = loadClient('recognition');
    this.#client = new Client(clientOptions(account, 'recognition'));
    this.#model = model;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abort();
    await this.#client.close();
  }

  protected override openStream(
    { language, sampleRateHz }: RecognitionOptions,
    hints: readonly string[],
    listener: TurnStreamListener,
  ): TurnStream {
    const stream = this.#client._streamingRecognize();
    let isOver = false;
    const over = (tell: () => void): void => {
      if (!isOver) tell();
      isOver = true;
    };
    const lost = (error: unknown): void => over(() => listener.lost(errorOf(error, 'google recognition')));
    stream.on('error', lost);
    stream.on('end', () => over(() => listener.finished()));
    stream.on('data', (raw: unknown) => {
      const read = responseSchema.safeParse(raw);
      if (!read.success) {
        lost(new SpeechProtocolError('google recognition: an answer of another shape', { cause: read.error }));
        return;
      }
      const { error, results } = read.data;
      if (error != null && (error.code ?? 0) !== 0) {
        lost(error);
        return;
      }
      hear(results ?? [], listener);
    });
    const phrases = hints.map((hint) => hint.slice(0, LONGEST_PHRASE));
    stream.write({
      streamingConfig: {
        config: {
          encoding: 'LINEAR16',
          sampleRateHertz: sampleRateHz,
          languageCode: localeOf(language),
          enableAutomaticPunctuation: true,
          ...(this.#model !== undefined && { model: this.#model }),
          ...(phrases.length > 0 && { speechContexts: [{ phrases }] }),
        },
        interimResults: true,
      },
    });
    // The client holds what is written until it is connected, and nothing tells of that.
    queueMicrotask(() => listener.ready());
    return {
      send(pcm) {
        for (let at = 0; at < pcm.length; at += MOST_AUDIO_BYTES)
          stream.write({ audioContent: pcm.subarray(at, at + MOST_AUDIO_BYTES) });
      },
      end: () => void stream.end(),
      abort() {
        isOver = true;
        stream.destroy();
      },
    };
  }
}

type Result = NonNullable<z.infer<typeof responseSchema>['results']>[number];

/** One response holds a final, or the interim texts of consecutive stretches, which together are what has been heard so far. */
function hear(results: readonly Result[], listener: TurnStreamListener): void {
  const textOf = ({ alternatives }: Result): string => alternatives?.[0]?.transcript?.trim() ?? '';
  for (const result of results) {
    if (result.isFinal === true) listener.final(textOf(result), result.languageCode?.split('-')[0]);
  }
  const interim = results
    .filter(({ isFinal }) => isFinal !== true)
    .map(textOf)
    .join(' ')
    .trim();
  if (interim !== '') listener.partial(interim);
}

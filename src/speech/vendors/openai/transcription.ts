import { z } from 'zod';
import { wavFile } from '../../../audio/wav.ts';
import { parseAnswer, type SpeechHttp } from '../../client/requests.ts';
import { serviceUrl } from '../../client/settings.ts';
import type { RecognitionOptions } from '../../port.ts';
import type { Transcribe } from '../segmented-recognition.ts';

/** Phrases of one request. The documentation names no limit; Whisper reads the last 224 tokens of its prompt. */
export const MOST_HINTS = 50;

/**
 * How a model takes phrases that it should expect: `gpt-transcribe` and `gpt-live-transcribe` as keywords, `gpt-realtime-whisper`
 * not at all, and the others, self-hosted Whisper among them, as a prompt.
 * @see https://developers.openai.com/api/reference/resources/realtime (AudioTranscription: keywords, prompt)
 */
export function hintsField(model: string): 'keywords' | 'prompt' | undefined {
  if (/^gpt-(?:live-)?transcribe/u.test(model)) return 'keywords';
  return /^gpt-realtime-whisper|-diarize/u.test(model) ? undefined : 'prompt';
}

/** The phrases that are sent, without blank ones. */
export function hintsOf({ boostPhrases = [] }: RecognitionOptions): readonly string[] {
  return boostPhrases
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== '')
    .slice(0, MOST_HINTS);
}

// `languages` of gpt-transcribe: `[{code}]`, empty where it is not sure. Other servers say `language`, as a code or an English word.
const code = z.string().regex(/^[a-z]{2,3}(?:-|$)/iu);
const answer = z.looseObject({
  text: z.string(),
  language: code.optional().catch(undefined),
  languages: z
    .array(z.union([code, z.looseObject({ code }).transform((language) => language.code)]))
    .optional()
    .catch(undefined),
});

/**
 * `POST {base}/audio/transcriptions` with a WAV file of one utterance, as OpenAI, speaches and vLLM take it.
 * @param baseUrl with its `/v1`
 * @see https://developers.openai.com/api/docs/guides/speech-to-text
 */
export function transcriptionOf(http: SpeechHttp, baseUrl: string, model: string): Transcribe {
  const field = hintsField(model);
  return async ({ pcm, rateHz, options }, signal, onRepeat) => {
    const file = new Blob([Uint8Array.from(wavFile(pcm, rateHz))], { type: 'audio/wav' });
    const hints = hintsOf(options);
    const body = (): FormData => {
      const form = new FormData();
      form.set('file', file, 'turn.wav');
      form.set('model', model);
      form.set('response_format', 'json');
      if (options.language !== 'auto') form.set('language', options.language);
      // Lists in forms are written as the official client writes them (openai-node, internal/uploads).
      if (field === 'keywords') for (const hint of hints) form.append('keywords[]', hint);
      if (field === 'prompt' && hints.length > 0) form.set('prompt', hints.join(', '));
      return form;
    };
    const url = serviceUrl(baseUrl, '/audio/transcriptions');
    const came = await http.send({ what: 'openai transcription', url, method: 'POST', body, onRepeat, priority: 'live' }, signal);
    const { text, language, languages } = parseAnswer(answer, came, 'the transcription');
    const heard = language ?? languages?.[0];
    return { text: text.trim(), language: heard?.split('-')[0]?.toLowerCase() };
  };
}

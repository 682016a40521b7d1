import { z } from 'zod';
import { parseJson } from '../../../kernel/json.ts';
import { chooseLanguage, type LanguageChoice, unsupportedLanguage } from '../../languages.ts';
import { firstProblem, flagRule } from '../listener/fields.ts';
import { splitBoostPhrases } from './language-recognition.ts';
import type { ClientMessage } from './recognition-socket.ts';

/** The settings of a recognition socket (ASR doc, streaming step 2). */
export interface InitFrame {
  readonly token: string | undefined;
  readonly language: LanguageChoice;
  readonly sampleRateHz: number;
  readonly diarize: boolean;
  readonly numSpeakers: number | undefined;
  readonly codeswitch: boolean;
  /** At most ten. */
  readonly boostPhrases: readonly string[];
  readonly boostWeight: number;
  /** Silence after speech that ends a turn; only with `compat`, when the client asks for it. */
  readonly endpointSilenceMs: number | undefined;
}

export type InitResult =
  | { readonly type: 'init'; readonly init: InitFrame }
  /** `reason` is for the client; it contains no token. */
  | { readonly type: 'refused'; readonly reason: string };

/** ASR doc, streaming: at most ten terms of boost_phrases are used. */
const maxBoostPhrases = 10;
const defaultSampleRateHz = 16_000;

const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((word) => word === 'true')], flagRule);

// All other fields are ignored, dtype and inactivity_timeout included.
export const initFrameSchema = z.object({
  token: z.string().nullish(),
  api_key: z.string().nullish(),
  language_code: z.string().nullish(),
  language: z.string().nullish(),
  sample_rate: z.int().min(8000).max(48_000).nullish(),
  model: z.string().nullish(),
  diarize: flag.nullish(),
  num_speakers: z.int().min(1).max(64).nullish(),
  codeswitch: flag.nullish(),
  boost_phrases: z.union([z.string(), z.array(z.string())]).nullish(),
  boost_weight: z.number().nullish(),
});

/** Range that a client's endpoint silence is limited to, in ms (reference, further silent points). */
const endpointSilence = { least: 200, most: 5000 };
const tuningSchema = z.object({ endpoint_silence_ms: z.number().nullish() });

/**
 * @param text the first text frame, as received
 * @param compat reads `endpoint_silence_ms`, which the documents ignore
 */
export function readInitFrame(text: string, compat = false): InitResult {
  const raw = parseJson(text);
  if (raw === undefined) return { type: 'refused', reason: 'The first frame must be JSON' };
  const result = (compat ? initFrameSchema.extend(tuningSchema.shape) : initFrameSchema).safeParse(raw);
  if (!result.success) {
    return { type: 'refused', reason: firstProblem(result.error, 'The first frame must be a JSON object') };
  }
  const frame = result.data;
  const word = frame.language_code ?? frame.language ?? undefined;
  const language = chooseLanguage(word);
  if (language === undefined) return { type: 'refused', reason: unsupportedLanguage(word ?? '') };
  return {
    type: 'init',
    init: {
      // `api_key` is an alias for the token: an API key in it is refused as an invalid token.
      token: frame.token ?? frame.api_key ?? undefined,
      language,
      sampleRateHz: frame.sample_rate ?? defaultSampleRateHz,
      diarize: frame.diarize ?? false,
      numSpeakers: frame.num_speakers ?? undefined,
      codeswitch: frame.codeswitch ?? false,
      boostPhrases: splitBoostPhrases(frame.boost_phrases ?? []).slice(0, maxBoostPhrases),
      boostWeight: frame.boost_weight ?? 10,
      endpointSilenceMs: compat ? endpointSilenceOf(raw) : undefined,
    },
  };
}

function endpointSilenceOf(raw: unknown): number | undefined {
  const asked = tuningSchema.parse(raw).endpoint_silence_ms ?? undefined;
  return asked === undefined ? undefined : Math.max(endpointSilence.least, Math.min(endpointSilence.most, asked));
}

const typeSchema = z.object({ type: z.string() });

/** Reads a text frame after `ready`. @param compat accepts the commands also in any case and as JSON */
export function readRealtimeCommand(text: string, compat: boolean): ClientMessage {
  const word = compat ? (jsonType(text) ?? text.trim().toLowerCase()) : text;
  return word === 'commit' || word === 'end' ? { type: word } : { type: 'refused', reason: unknownText(text) };
}

/** The error for an unknown text frame; of the frame it shows the type only. */
function unknownText(text: string): string {
  const type = jsonType(text);
  if (type === undefined) return 'Text frames after ready must be commit or end';
  return `Unknown message type ${JSON.stringify(type.slice(0, 40))}: text frames after ready are commit or end`;
}

function jsonType(text: string): string | undefined {
  return typeSchema.safeParse(parseJson(text)).data?.type;
}

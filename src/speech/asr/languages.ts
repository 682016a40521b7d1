import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { withDeadline } from '../client/deadline.ts';
import { errorOfAnswer, SpeechUnavailableError, SpeechProtocolError } from '../client/errors.ts';
import { readText } from '../../kernel/bounded-reading.ts';
import { serviceUrl } from '../client/settings.ts';
import type { MaskSecret } from '../../kernel/mask-secret.ts';
import { parseJson } from '../../kernel/json.ts';

const TIMEOUT_MS = 10_000;
const MOST_ANSWER_BYTES = 1024 * 1024;

/**
 * Asks the primary recogniser for its languages: `GET {asr_url}/languages`. Sends no credential (ASR doc, "Authentication").
 * @throws SpeechUnavailableError when it does not answer in time; SpeechError by status; the signal's reason when aborted
 */
export async function askLanguages(
  { fetch: fetcher, clock }: { readonly fetch: typeof fetch; readonly clock: Clock },
  asrUrl: string,
  signal: AbortSignal,
): Promise<PlatformLanguages> {
  let response: Response;
  let text: string;
  try {
    [response, text] = await withDeadline(clock, TIMEOUT_MS, [signal], async (limited) => {
      const given = await fetcher(serviceUrl(asrUrl, '/languages'), { redirect: 'manual', signal: limited });
      return [given, await readText(given, MOST_ANSWER_BYTES)];
    });
  } catch (cause) {
    signal.throwIfAborted();
    throw new SpeechUnavailableError('the recogniser does not tell its languages', { cause });
  }
  if (!response.ok) throw errorOfAnswer('languages', response.status, text, response.headers.get('x-request-id') ?? undefined);
  return readLanguages(text);
}

/** One language that a request may name (ASR doc, "GET {asr_url}/languages"). */
export interface PlatformLanguage {
  /** As `language` takes it. */
  readonly code: string;
  /** The code when the platform gives no name. */
  readonly name: string;
  /** How it is recognised: `closed-vocabulary`, `own-model` or `none` from the embedded platform; a hosted one may omit it. */
  readonly recognition?: string;
}

/** A recogniser's languages, models and features. The body is undocumented: unknown lists are empty. */
export interface PlatformLanguages {
  readonly languages: readonly PlatformLanguage[];
  readonly models: readonly string[];
  readonly features: readonly string[];
  /** The answer as it came. */
  readonly raw: Readonly<Record<string, unknown>>;
}

const entry = z.union([
  z.string().transform((code) => ({ code, name: code })),
  z
    .looseObject({ code: z.string(), name: z.string().nullish(), recognition: z.string().optional().catch(undefined) })
    .transform(({ code, name, recognition }) => ({
      code,
      name: name ?? code,
      ...(recognition === undefined ? {} : { recognition }),
    })),
]);
const named = z.union([z.string(), z.looseObject({ name: z.string() }).transform(({ name }) => name)]);
/** A list of codes or of objects, or a map from a code to its name. */
const list = z
  .union([
    z.array(entry),
    z
      .record(z.string(), named.catch(''))
      .transform((names) => Object.entries(names).map(([code, name]) => ({ code, name: name === '' ? code : name }))),
  ])
  .optional()
  .catch(undefined);
/** A list of names, or a map whose keys are the names. */
const names = z
  .union([z.array(z.string()), z.record(z.string(), z.unknown()).transform((map) => Object.keys(map))])
  .optional()
  .catch(undefined);
const body = z.looseObject({
  languages: list,
  // Older services part what they recognise themselves from what they hand on.
  direct_languages: list,
  proxied_languages: list,
  models: names,
  model_aliases: names,
  features: names,
});

/**
 * Reads `GET /languages` in the shape of either description, a bare list included.
 * @throws SpeechProtocolError when there is not one language in it
 */
export function readLanguages(text: string, mask: MaskSecret = (body) => body): PlatformLanguages {
  const value = parseJson(text);
  const parsed = body.safeParse(Array.isArray(value) ? { languages: value as unknown } : value);
  if (!parsed.success) throw new SpeechProtocolError('the languages cannot be read', { body: mask(text) });
  const { languages, direct_languages: direct = [], proxied_languages: proxied = [], ...rest } = parsed.data;
  const byCode = new Map([...(languages ?? []), ...direct, ...proxied].map((language) => [language.code, language]));
  if (byCode.size === 0) throw new SpeechProtocolError('there is no language in the list', { body: mask(text) });
  return {
    languages: [...byCode.values()],
    models: rest.models ?? rest.model_aliases ?? [],
    features: rest.features ?? [],
    raw: z.record(z.string(), z.unknown()).catch({ languages: value }).parse(value),
  };
}

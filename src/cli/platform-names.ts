import { readdirSync } from 'node:fs';
import { usesEmbeddedPlatform } from '../config/load.ts';
import type { Problem } from '../config/problem.ts';
import { systemClock } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import { voices as embeddedVoices } from '../platform/engines/synth/voices.ts';
import { indicLanguages } from '../platform/languages.ts';
import { serviceHealth } from '../speech/client/health.ts';
import { askLanguages } from '../speech/asr/languages.ts';
import type { Configuration } from './configuration.ts';

/** What bots may name of the speech platform; undefined where it is not known. */
export interface PlatformNames {
  readonly voices: readonly string[] | undefined;
  /** Codes of the languages that are spoken into calls (TTS doc: streaming serves the Indic languages and English). */
  readonly spoken: ReadonlySet<string>;
  /** Codes of the languages that are recognised. */
  readonly recognised: ReadonlySet<string> | undefined;
}

/** Longest time for what a platform is asked. */
const ASK_LIMIT_MS = 5_000;

/**
 * The names that the platform of these settings has: of the embedded one they are known here, a configured one is asked, at
 * addresses that need no credential.
 * @param asks whether one may be asked
 */
export async function platformNames(
  { config, problems }: Pick<Configuration, 'config' | 'problems'>,
  asks: boolean,
): Promise<{ names: PlatformNames; problems: Problem[] }> {
  const unknown: PlatformNames = { voices: undefined, spoken: indicLanguages, recognised: undefined };
  const { speech, platform } = config.settings;
  if (usesEmbeddedPlatform(config)) {
    const voices = embeddedVoices.map(({ name }) => name);
    // Models of the user's own may know any language.
    const recognised = platform.modelsFolder === undefined ? vocabularies(platform.vocabularyFolder) : undefined;
    return { names: { ...unknown, voices, recognised }, problems: [] };
  }
  if (!asks || problems.length > 0 || speech.ttsUrl === undefined) return { names: unknown, problems: [] };
  const signal = AbortSignal.timeout(ASK_LIMIT_MS);
  const deps = { fetch, clock: systemClock };
  const languages = speech.asrUrl === undefined ? undefined : askLanguages(deps, speech.asrUrl, signal);
  // A list that is not there, or in no known form, checks nothing.
  const recognised = languages?.then((known) => new Set(known.languages.map(({ code }) => code))).catch(() => undefined);
  try {
    const { voices } = await serviceHealth(fetch, systemClock, speech.ttsUrl, signal);
    return {
      names: { ...unknown, voices: voices.length === 0 ? undefined : voices, recognised: await recognised },
      problems: [],
    };
  } catch (error) {
    const where = config.origins.get('speech.ttsUrl') ?? 'speech.ttsUrl';
    const message = `the voices of bots could not be checked: ${errorText(error)}`;
    const problem: Problem = { key: 'speech.ttsUrl', where, message, severity: 'warning' };
    return { names: { ...unknown, recognised: await recognised }, problems: [problem] };
  }
}

/** Languages of the embedded recogniser's vocabularies. */
function vocabularies(folder: string): ReadonlySet<string> | undefined {
  try {
    const found = readdirSync(folder).flatMap((name) => /^vocabulary\.([a-z]{2,3})\.ya?ml$/u.exec(name)?.[1] ?? []);
    return new Set(found);
  } catch {
    // The platform says what is wrong with the folder.
    return undefined;
  }
}

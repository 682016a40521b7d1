import { resolve } from 'node:path';
import { parseWav } from '../../audio/wav.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import { asCallerSays, type CallerVoice } from '../../sim/caller/voice.ts';
import { readModels } from '../../speech/models/read-models.ts';
import { SpeechPlatform, type SpeechPlatformSettings } from '../../speech/platform.ts';
import { usedModelsFolder } from '../setup/speech-settings.ts';
import { UsageError } from '../shell/output.ts';

/** A name of the platform's that its voice models answer to. */
const CALLER = 'Rajesh';

/** What speaks a caller's lines. */
export type CallerSpeech = Pick<CallerVoice, 'say' | typeof Symbol.asyncDispose>;

/** The models of a call in which open models speak and hear. */
export interface RealModels {
  readonly folder: string;
  readonly recogniser: string;
  readonly voice: string;
}

/**
 * The models that are used for this language.
 * @throws UsageError that says what to install when one of the two is missing; ModelFolderError
 */
export async function realModels({ settings }: LoadedConfig, language: string): Promise<RealModels> {
  const folder = await usedModelsFolder(settings);
  const advice = `--real needs models that hear and speak ${language}: npx offhook models get ${language}`;
  if (folder === undefined) throw new UsageError(advice);
  const { recognition, voices } = await readModels(folder);
  const recogniser = recognition.find(({ languages }) => languages.includes(language));
  const voice = voices.find(({ languages }) => languages.includes(language));
  if (recogniser === undefined || voice === undefined) throw new UsageError(advice);
  return { folder: resolve(folder), recogniser: recogniser.model.name, voice: voice.model.name };
}

/** A caller who speaks with the platform's voice model. */
export function modelCaller(settings: SpeechPlatformSettings, logger: Logger): CallerSpeech {
  const speech = new SpeechPlatform(settings, { clock: systemClock, logger });
  return {
    async say(text, { language, rate = 1 }) {
      const options = { text, language, voice: CALLER, speed: rate, format: 'wav' as const };
      const { audio } = await speech.synthesize(options, new AbortController().signal);
      const parts: Uint8Array[] = [];
      for await (const part of audio) parts.push(part);
      const { samples, rateHz } = parseWav(Buffer.concat(parts));
      return asCallerSays(samples[0] ?? new Int16Array(), rateHz);
    },
    [Symbol.asyncDispose]: () => speech[Symbol.asyncDispose](),
  };
}

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Bot } from '../../config/bots.ts';
import { type LoadedConfig, usesEmbeddedPlatform } from '../../config/load.ts';
import { vocabularyOf } from '../../dialog/bot-dialog.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import { accepts, phraseWords } from '../../platform/engines/recognise/add-phrases.ts';
import { readGrammar, compileNetwork, shownWord } from '../../platform/engines/recognise/grammar.ts';
import { readFaults } from '../../platform/server/faults/faults.ts';
import { RedisTokenStore } from '../../speech/client/redis-token-store.ts';
import { hasUsedModels, readUsedNames } from '../../speech/models/read-models.ts';
import type { SpeechPlatformSettings } from '../../speech/platform.ts';
import { Progress } from '../shell/progress.ts';
import { type LearningProgress, startPlatformProcess } from './platform-process.ts';

export interface SpeechSource extends AsyncDisposable {
  readonly settings: SpeechPlatformSettings;
  readonly embedded: boolean;
  /** Addresses and key of the embedded platform; undefined for a configured one. */
  readonly running: Readonly<Record<string, string>> | undefined;
  /** Has the embedded platform that was started here learn what callers of these bots can answer; returns at once. */
  teach(bots: readonly Bot[]): void;
}

/**
 * The folder of the models that the embedded platform opens: `platform.modelsFolder`, else `models` in the data folder where models
 * there are used. Undefined when there are none.
 */
export async function usedModelsFolder({ platform, dataDir }: LoadedConfig['settings']): Promise<string | undefined> {
  const folder = resolve(platform.modelsFolder ?? join(dataDir, 'models'));
  if (await hasUsedModels(folder)) return folder;
  // Of a folder that was named and holds nothing, the platform says so; an end-of-turn model alone is not for the platform.
  if (platform.modelsFolder === undefined || (await readUsedNames(folder))['end-of-turn'] !== undefined) return undefined;
  return folder;
}

/** A line for whoever starts a gateway whose callers the embedded recogniser hears with its closed vocabulary; undefined for others. */
export async function modelsHint(config: LoadedConfig): Promise<string | undefined> {
  if (!(await hearsByVocabulary(config))) return undefined;
  return 'Callers are people: npx offhook models get en makes them understood. Until then only a closed vocabulary is (docs/models.md).';
}

async function hearsByVocabulary(config: LoadedConfig): Promise<boolean> {
  const { recogniser } = config.settings.speech;
  const isHeardHere = usesEmbeddedPlatform(config) && recogniser.split(',').some((name) => name.trim() === 'platform');
  return isHeardHere && (await usedModelsFolder(config.settings)) === undefined;
}

/**
 * The configured speech platform, or the embedded one, started and supervised.
 * @param running addresses and key of an embedded platform that another process has started
 */
export async function speechSource(
  config: LoadedConfig,
  logger: Logger,
  signal: AbortSignal,
  running?: Readonly<Record<string, string>>,
): Promise<SpeechSource> {
  const { speech, platform, dataDir } = config.settings;
  const common = {
    slotsPerKey: speech.slotsPerKey,
    connectTimeoutMs: speech.connectTimeoutMs,
    requestTimeoutMs: speech.requestTimeoutMs,
    tokenLifeSeconds: speech.tokenLifeSeconds,
    phraseFolder: join(dataDir, 'phrases'),
  };
  if (!usesEmbeddedPlatform(config)) return configured(config, common, logger);
  if (running !== undefined)
    return {
      settings: { ...common, ...running },
      running,
      embedded: true,
      teach: () => undefined,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  // Checked here, so that the error reaches the user and not the log of a child process.
  readFaults(platform.faults ?? '');
  const child = await startPlatformProcess({
    port: platform.port,
    profile: platform.profile,
    dataDir,
    vocabularyFolder: platform.vocabularyFolder,
    modelsFolder: await usedModelsFolder(config.settings),
    threads: platform.threads,
    audioHosts: platform.audioHosts,
    faults: platform.faults,
    startTimeoutMs: platform.startTimeoutMs,
    clock: systemClock,
    logger,
    signal,
    onLearning: showLearning(logger),
  });
  const addresses = { ...child.urls, apiKey: child.apiKey };
  return {
    settings: { ...common, ...addresses },
    running: addresses,
    embedded: true,
    teach(bots) {
      if (platform.vocabulary === 'files') return;
      vocabularyOf(bots.filter((bot) => usesPlatform(bot, speech.recogniser.split(',')))).then(
        (vocabulary) => child.teach(vocabulary),
        (error: unknown) => logger.warn({ error }, "the bots' flows give no vocabulary"),
      );
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

/** With a Redis, processes share one budget of mints and their tokens. */
function configured({ settings, secrets }: LoadedConfig, common: SpeechPlatformSettings, logger: Logger): SpeechSource {
  const { authUrl, asrUrl, asrAltUrl, medUrl, ttsUrl } = settings.speech;
  const given = Object.entries({ authUrl, asrUrl, asrAltUrl, medUrl, ttsUrl }).filter(([, url]) => url !== undefined);
  const url = secrets.redisUrl?.reveal();
  // Behind a sentinel or in a cluster each process mints its own: the store of tokens knows one server.
  const isOneServer = url !== undefined && /^rediss?:\/\//u.test(url);
  const tokenStore = !isOneServer ? undefined : new RedisTokenStore({ url, clock: systemClock, logger });
  return {
    settings: {
      ...common,
      ...Object.fromEntries(given),
      apiKey: secrets.speechApiKeys.map((key) => key.reveal()),
      ...(tokenStore === undefined ? {} : { tokenStore }),
    },
    running: undefined,
    embedded: false,
    teach: () => undefined,
    [Symbol.asyncDispose]: async () => tokenStore?.[Symbol.asyncDispose](),
  };
}

function usesPlatform(bot: Bot, byDefault: readonly string[]): boolean {
  const languages = Object.values(bot.speech.languages).map(({ recogniser }) => recogniser);
  return [bot.speech.recogniser ?? byDefault, ...languages].some(
    (names) => names?.some((name) => name.trim() === 'platform') === true,
  );
}

/** Shows phrases learnt in the terminal, and logs the beginning; the platform logs nothing of it at this level. */
function showLearning(logger: Logger): (progress: LearningProgress) => void {
  let shown: Progress | undefined;
  return ({ of, learnt, failed, leftMs }) => {
    const done = learnt + failed;
    if (done >= of) {
      shown?.[Symbol.dispose]();
      if (of > 0) logger.info({ learnt, failed }, 'recogniser has learnt the phrases of the bots');
      shown = undefined;
      return;
    }
    if (shown === undefined) {
      logger.info({ phrases: of }, 'recogniser learns the phrases of the bots; calls are taken meanwhile');
      shown = new Progress("learning the bots' phrases");
    }
    shown.update(`${done} of ${of}${leftMs === undefined ? '' : `, ${Math.ceil(leftMs / 1000)} s left`}`, done / of);
  };
}

/**
 * Words of these lines that the embedded recogniser has in no vocabulary, neither in its own nor in those of these bots; none where callers are
 * heard by another recogniser, or by models.
 */
export async function wordsNotHeard(config: LoadedConfig, bots: readonly Bot[], language: string, lines: readonly string[]) {
  if (!(await hearsByVocabulary(config))) return [];
  const { vocabularyFolder, vocabulary: source } = config.settings.platform;
  try {
    const taught = source === 'files' ? {} : await vocabularyOf(bots);
    const file = readFileSync(join(vocabularyFolder, `vocabulary.${language}.yaml`), 'utf8');
    return unknownWords(file, taught[language] ?? [], lines);
  } catch {
    // The gateway says what is wrong with its vocabulary and with its bots.
    return [];
  }
}

const vocabulary = z.looseObject({ rules: z.record(z.string(), z.string()) });
const MOST_EXAMPLES = 14;

/** Example phrases of the embedded recogniser, from its vocabulary file; empty without one. */
export function audibleExamples({ settings }: LoadedConfig, language: string): readonly string[] {
  try {
    const path = join(settings.platform.vocabularyFolder, `vocabulary.${language}.yaml`);
    const { rules } = vocabulary.parse(parse(readFileSync(path, 'utf8')));
    const lines = ['request', 'answer', 'command'].flatMap((rule) => (rules[rule] ?? '').split('\n'));
    return lines
      .map((line) => line.trim())
      .filter((line) => line !== '' && !/[<>()[\]{}|]/u.test(line))
      .map((line) => line.replaceAll('_', ' '))
      .slice(0, MOST_EXAMPLES);
  } catch {
    return [];
  }
}

/**
 * The words of a caller's lines that a recogniser with a closed vocabulary cannot hear, in the order in which they are said, each once.
 * @param vocabulary text of its vocabulary file
 * @param learnt phrases that it knows besides
 * @throws VocabularyError
 */
export function unknownWords(vocabulary: string, learnt: readonly string[], lines: readonly string[]): string[] {
  const network = compileNetwork(readGrammar(vocabulary));
  const known = new Set([...network.words.map(shownWord), ...learnt].flatMap((phrase) => phraseWords(phrase.toLowerCase())));
  const unknown = lines
    .map((line) => phraseWords(line.toLowerCase()))
    .filter((words) => !accepts(network, words))
    .flatMap((words) => words.filter((word) => !known.has(word)));
  return [...new Set(unknown)];
}

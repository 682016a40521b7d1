import { readdirSync } from 'node:fs';
import { controlEnvNames } from '../../carriers/open-carriers.ts';
import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type LoadedConfig, usesEmbeddedPlatform } from '../../config/load.ts';
import { type Problem, shown } from '../../config/problem.ts';
import { systemClock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { voices as embeddedVoices } from '../../platform/engines/synth/voices.ts';
import { indicLanguages, findLanguage } from '../../platform/languages.ts';
import { serviceHealth } from '../../speech/client/health.ts';
import { askLanguages } from '../../speech/asr/languages.ts';
import { findSound } from '../../call/outbound/sounds/sound-place.ts';
import { checkTransfer } from '../../config/allowed-target.ts';
import { type Bot, botsOfTenant } from '../../config/bots.ts';
import type { DestinationsOf } from '../../config/destinations.ts';
import { meant } from '../../config/nearest.ts';
import { flowOf } from '../../dialog/bot-dialog.ts';
import { KnowledgeError, loadKnowledge } from '../../dialog/knowledge/knowledge.ts';
import { FlowInvalidError } from '../../dialog/flow/load.ts';
import { promptsOf } from '../../dialog/flow/flow-parts.ts';
import type { Flow } from '../../dialog/flow/schema.ts';
import { isCallTool } from '../../dialog/llm/tools.ts';
import { isNewFamily } from '../../dialog/llm/model-request.ts';
import { moduleSyntax } from '../../dialog/module-hook.ts';
import { usedModelsFolder } from './speech-settings.ts';

/** What the names in bot files are compared with. */
export interface KnownNames extends PlatformNames {
  /** Whether calls can be transferred and keys pressed: an account of the carrier is configured. */
  readonly hasControl: boolean;
  /** Where the calls of a tenant's bots may go. */
  readonly destinationsOf: DestinationsOf;
  /** Whether the speech platform is the first to do it for a bot in a language; vendors' names are checked elsewhere. */
  readonly isPlatform: (service: 'recogniser' | 'synthesizer', bot: Bot, language: string) => boolean;
}

/** A name in a bot's file or flow, and where it stands. */
interface Named {
  readonly kind:
    | 'voice'
    | 'language'
    | 'phrases'
    | 'sound'
    | 'bot'
    | 'stand-in'
    | 'control'
    | 'transfer'
    | 'warm-transfer'
    | 'tool';
  readonly name: string;
  readonly key: string;
  readonly where: string;
}

type Found = Pick<Problem, 'message'> & Partial<Problem>;

/**
 * What a gateway would refuse of bots whose files are sound by themselves, and what their calls would fail at: a flow that is
 * none, a module that is not there or no JavaScript, and every name of a voice, a language, a sound or another bot that stands
 * for nothing. A module is read and not run: it may do anything when it is loaded.
 */
export async function botProblems(bots: readonly Bot[], known: KnownNames): Promise<Problem[]> {
  const found = await Promise.all(bots.map((bot) => problemsOf(bot, bots, known)));
  return found.flat();
}

async function problemsOf(bot: Bot, bots: readonly Bot[], known: KnownNames): Promise<Problem[]> {
  const read = await readDialog(bot);
  const names = [...namesInFile(bot), ...read.names];
  const checked = await Promise.all(
    names.map(async (named): Promise<Problem[]> => {
      const problem = await problemOf(named, bot, bots, known);
      const { kind, key, where, name } = named;
      return problem === undefined ? [] : [{ key, where, ...(kind === 'control' ? {} : { value: shown(name) }), ...problem }];
    }),
  );
  return [...read.problems, ...checked.flat(), ...modelWarnings(bot)];
}

/** A reasoning model's thoughts are often longer than an answer on the phone. */
const LEAST_THOUGHT_TOKENS = 1_000;

/** What a model may not take, and a bot works without. */
function modelWarnings(bot: Bot): Problem[] {
  const { dialog } = bot;
  if (dialog.kind !== 'llm' || !isNewFamily(dialog.model)) return [];
  const { model, temperature, maxTokens, reasoningEffort } = dialog;
  const warning = (key: string, value: number, message: string): Problem => ({
    key,
    where: whereIn(bot, key),
    value: String(value),
    message,
    severity: 'warning',
  });
  const refused = `${model} may refuse a temperature, which is then left out`;
  const spent = `what ${model} thinks counts, and it may say nothing: raise it, or set reasoningEffort`;
  return [
    ...(temperature === undefined ? [] : [warning('dialog.temperature', temperature, refused)]),
    ...(reasoningEffort === undefined && maxTokens < LEAST_THOUGHT_TOKENS ? [warning('dialog.maxTokens', maxTokens, spent)] : []),
  ];
}

/** The problems of a bot's dialog, and the names in it. */
async function readDialog(bot: Bot): Promise<{ problems: readonly Problem[]; names: readonly Named[] }> {
  const { dialog } = bot;
  const key = 'tools' in dialog ? 'dialog.toolsFile' : 'dialog.file';
  const where = whereIn(bot, key);
  try {
    if (dialog.kind === 'flow') {
      const { flow, whereOf } = await flowOf(bot, dialog);
      return { problems: [], names: namesInFlow(flow, whereOf) };
    }
    if ('knowledge' in dialog && dialog.knowledge !== undefined)
      await loadKnowledge(resolve(bot.folder, dialog.knowledge.folder));
    const file = dialog.kind === 'module' ? dialog.file : 'tools' in dialog ? dialog.toolsFile : undefined;
    if (file !== undefined) {
      const path = resolve(bot.folder, file);
      await access(path);
      const syntax = await moduleSyntax(path);
      return { problems: syntax === undefined ? [] : [{ key, ...syntax }], names: [] };
    }
    return { problems: [], names: [] };
  } catch (error) {
    if (error instanceof FlowInvalidError) return { problems: error.problems, names: [] };
    if (error instanceof KnowledgeError) {
      const problem = { key: 'dialog.knowledge', where: whereIn(bot, 'dialog.knowledge'), message: error.message };
      return { problems: [problem], names: [] };
    }
    return { problems: [{ key, where, message: `cannot be read: ${errorText(error)}` }], names: [] };
  }
}

function whereIn(bot: Bot, key: string): string {
  return bot.whereOf?.(key.split('.')) ?? `bot ${bot.name}`;
}

function namesInFile(bot: Bot): Named[] {
  const { dialog, ambience, noInputTransfer, failureTransfer } = bot;
  const named = (kind: Named['kind'], key: string, name: string): Named => ({ kind, key, name, where: whereIn(bot, key) });
  const names = [named('voice', 'voice', bot.voice), named('language', 'language', bot.language)];
  names.push(...Object.keys(bot.phrases).map((code) => named('phrases', `phrases.${code}`, code)));
  if (ambience?.file !== undefined) names.push(named('sound', 'ambience.file', ambience.file));
  if (bot.transfers.hold !== undefined) names.push(named('sound', 'transfers.hold', bot.transfers.hold));
  if (noInputTransfer !== undefined) names.push(named('control', 'noInputTransfer', noInputTransfer));
  if (failureTransfer !== undefined) names.push(named('control', 'failureTransfer', failureTransfer));
  for (const [at, step] of (bot.whenDown ?? []).entries()) {
    if (step.kind === 'bot') names.push(named('stand-in', `whenDown.${at}.bot`, step.name));
    if (step.kind === 'transfer')
      names.push(...transferNames(named, `whenDown.${at}.transfer`, step.to, step.warm !== undefined));
  }
  if (!('tools' in dialog)) return names;
  for (const [name, { to, warm }] of Object.entries(dialog.transfers))
    names.push(...transferNames(named, `dialog.transfers.${name}`, to, warm));
  names.push(...dialog.tools.map(({ name }, index) => named('tool', `dialog.tools.${index}.name`, name)));
  return names;
}

/** A transfer needs an account, and may need its target in the list of the bot's file. */
function transferNames(
  named: (kind: Named['kind'], key: string, name: string) => Named,
  key: string,
  to: string,
  isWarm: boolean,
): Named[] {
  return [named('control', key, to), named(isWarm ? 'warm-transfer' : 'transfer', key, to)];
}

function namesInFlow(flow: Flow, whereOf: (keys: readonly string[]) => string): Named[] {
  const names: Named[] = [];
  const add = (kind: Named['kind'], key: string, name: string | undefined): void => {
    if (name !== undefined) names.push({ kind, key, name, where: whereOf(key.split('.')) });
  };
  for (const [name, state] of Object.entries(flow.states)) {
    add('voice', `states.${name}.voice`, state.voice);
    add('language', `states.${name}.language`, state.language);
    add('bot', `states.${name}.bot`, state.bot);
    const { transfer } = state;
    const inFlow = (kind: Named['kind'], key: string, to: string): Named => ({
      kind,
      key,
      name: to,
      where: whereOf(key.split('.')),
    });
    if (transfer !== undefined)
      names.push(...transferNames(inFlow, `states.${name}.transfer`, transfer.to, transfer.warm !== undefined));
    add('voice', `states.${name}.transfer.warm.voice`, transfer?.warm?.voice);
    add('language', `states.${name}.transfer.warm.language`, transfer?.warm?.language);
    add('control', `states.${name}.press`, state.press);
  }
  for (const { path, prompt } of promptsOf(flow)) {
    add('voice', `${path}.voice`, prompt.voice);
    add('sound', `${path}.play`, prompt.play);
  }
  return names;
}

/** What is wrong with a name; undefined for one that is known, or cannot be checked. */
async function problemOf(named: Named, bot: Bot, bots: readonly Bot[], known: KnownNames): Promise<Found | undefined> {
  const { kind, name } = named;
  switch (kind) {
    case 'voice': {
      const { voices } = known;
      // A vendor's voices are known when it is asked.
      if (!known.isPlatform('synthesizer', bot, bot.language)) return undefined;
      if (voices === undefined || voices.some((voice) => voice.toLowerCase() === name.toLowerCase())) return undefined;
      return {
        message: 'the speech platform has no voice of this name; `npx offhook voices` lists them',
        ...meant(name, voices),
      };
    }
    case 'language':
      return languageProblem(name, bot, known);
    case 'phrases':
      if (!known.isPlatform('synthesizer', bot, name)) return undefined;
      return findLanguage(name) === undefined ? { message: 'is no language that the speech platform knows' } : undefined;
    case 'sound':
      // What is at an address is known when it is fetched.
      if (URL.canParse(name)) return undefined;
      return findSound(bot.folder, name).then(
        () => undefined,
        (error: unknown) => ({ message: `${errorText(error)} ${bot.folder}` }),
      );
    case 'bot': {
      const names = botsOfTenant(bots, bot.tenant).map((each) => each.name);
      return names.includes(name) ? undefined : { message: 'there is no bot of this name', ...meant(name, names) };
    }
    case 'stand-in': {
      const names = botsOfTenant(bots, bot.tenant)
        .map((each) => each.name)
        .filter((each) => each !== bot.name);
      if (name === bot.name) return { message: 'is this bot itself: another one has to stand in for it' };
      return names.includes(name) ? undefined : { message: 'there is no bot of this name', ...meant(name, names) };
    }
    case 'control':
      if (known.hasControl) return undefined;
      return {
        message: `calls cannot be transferred, nor keys pressed, without ${controlEnvNames()}`,
        severity: 'warning',
      };
    case 'transfer':
    case 'warm-transfer': {
      const isWarm = kind === 'warm-transfer';
      const checked = checkTransfer(name, { bot, isWarm, destinations: known.destinationsOf(bot.tenant), line: bot.numbers[0] });
      if (!('refusal' in checked)) return undefined;
      // Of which country the line is that a caller reaches is known in the call.
      const isOfLine = checked.refusal === 'destination-not-allowed' && bot.numbers.length === 0;
      return { message: checked.detail, ...(isOfLine ? { severity: 'warning' } : {}) };
    }
    case 'tool': {
      if (isCallTool(name)) return { message: 'the tools of every model have this name; choose another' };
      const { dialog } = bot;
      const same = 'tools' in dialog ? dialog.tools.filter((tool) => tool.name === name).length : 1;
      return same > 1 ? { message: 'two tools have this name' } : undefined;
    }
  }
}

function languageProblem(name: string, bot: Bot, { spoken, recognised, isPlatform }: KnownNames): Found | undefined {
  const code = name.split('-')[0] ?? name;
  if (isPlatform('synthesizer', bot, name) && !spoken.has(code))
    return { message: `is not spoken into calls; allowed are ${[...spoken].join(', ')}` };
  if (recognised === undefined || recognised.has(code) || !isPlatform('recogniser', bot, name)) return undefined;
  const message = `the recogniser understands nothing in it, only ${[...recognised].join(', ')}: callers are left to the keypad`;
  return { message, severity: 'warning' };
}

/** Voices and languages of the speech platform, for the check of bots; undefined when unknown. */
export interface PlatformNames {
  readonly voices: readonly string[] | undefined;
  /** Languages of synthesis in calls (TTS doc: streaming has the Indic languages and English). */
  readonly spoken: ReadonlySet<string>;
  /** Languages of recognition. */
  readonly recognised: ReadonlySet<string> | undefined;
}

/** Time limit of the platform's answers. */
const ASK_LIMIT_MS = 5_000;

/**
 * The voices and languages of the configured platform. Those of the embedded platform are known; another one is asked, at addresses
 * without a credential.
 * @param asks whether it may be asked
 */
export async function platformNames(
  { config, problems }: { readonly config: LoadedConfig; readonly problems: readonly Problem[] },
  asks: boolean,
): Promise<{ names: PlatformNames; problems: Problem[] }> {
  const unknown: PlatformNames = { voices: undefined, spoken: indicLanguages, recognised: undefined };
  const { speech, platform } = config.settings;
  if (usesEmbeddedPlatform(config)) {
    const voices = embeddedVoices.map(({ name }) => name);
    // The user's own models may have any language.
    const ownModels = await usedModelsFolder(config.settings);
    const recognised = ownModels === undefined ? vocabularies(platform.vocabularyFolder) : undefined;
    return { names: { ...unknown, voices, recognised }, problems: [] };
  }
  if (!asks || problems.length > 0 || speech.ttsUrl === undefined) return { names: unknown, problems: [] };
  const signal = AbortSignal.timeout(ASK_LIMIT_MS);
  const deps = { fetch, clock: systemClock };
  const languages = speech.asrUrl === undefined ? undefined : askLanguages(deps, speech.asrUrl, signal);
  // Without a readable list, languages are not checked.
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

/** Languages of the embedded recogniser, from its vocabulary files. */
function vocabularies(folder: string): ReadonlySet<string> | undefined {
  try {
    const found = readdirSync(folder).flatMap((name) => /^vocabulary\.([a-z]{2,3})\.ya?ml$/u.exec(name)?.[1] ?? []);
    return new Set(found);
  } catch {
    // The platform itself reports a problem of the folder.
    return undefined;
  }
}

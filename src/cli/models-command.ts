import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { type Command, Option } from 'commander';
import { openSmartTurn } from '../call/inbound/end-of-turn/smart-turn.ts';
import { type LoadedConfig, usesEmbeddedPlatform } from '../config/load.ts';
import { nearest } from '../config/nearest.ts';
import { stayAwake, systemClock } from '../kernel/clock.ts';
import { errorText, errorTextWithCause } from '../kernel/errors.ts';
import { writeFileAtomic } from '../kernel/temporary.ts';
import { tryModel } from '../platform/engines/models/open-models.ts';
import {
  addressOf,
  bytesOf,
  type Catalogue,
  type Download,
  type OfferedModel,
  pinnedCatalogue,
  readCatalogue,
} from '../speech/models/catalogue.ts';
import type { ModelProgress } from '../http/api/settings/settings-orders.ts';
import { ModelContentError, ModelDownloadError } from '../speech/models/errors.ts';
import { type Installation, installModel } from '../speech/models/install.ts';
import {
  type InstalledModel,
  installedModel,
  installedModels,
  lockModels,
  removeModel,
  type UseChange,
  useModel,
  verifyModel,
} from '../speech/models/installed.ts';
import { installedFiles, readUsedNames } from '../speech/models/read-models.ts';
import { hasLibrary, installLibrary, libraryOf, libraryPlaces, type ModelLibrary } from '../speech/models/model-library.ts';
import { requireConfiguration } from './setup/configuration.ts';
import { Parent } from './setup/get-model.ts';
import { usedFor } from './setup/model-facts.ts';
import { fromPackage } from './setup/package-root.ts';
import { printJson, printLine, printNote, tableText, UsageError } from './shell/output.ts';
import { Progress } from './shell/progress.ts';

interface Flags {
  readonly manifest?: string;
  readonly toParent?: boolean;
}

/** `offhook models …`: speech models of others, fetched, checked and used by the embedded platform. */
export function addModelsCommand(program: Command): void {
  const models = program.command('models').description('fetch open speech models, check them, and say which are used');
  const command = (usage: string, description: string): Command =>
    models.command(usage).description(description).option('--manifest <file>', 'another list of models than the package brings');

  command('list', 'show the models there are, and which are installed and used')
    .option('--json', 'print one JSON document')
    .action((flags: Flags & { json?: boolean }) => run(flags, (place) => list(place, flags.json === true)));
  command('get <name...>', 'install models, or what is recommended for a language (en, hi) or for end-of-turn, and use them')
    .option('--yes', 'agree to licence and size without being asked')
    .addOption(new Option('--to-parent', 'tell the process that started this one how far it is').hideHelp())
    .option('--from <path>', 'take the download from this file, or from a folder that holds it, in place of the internet')
    .action((names: string[], flags: GetFlags) => run(flags, (place) => get(place, names, flags)));
  command('use <name>', 'use an installed model, from the next start on')
    .option('--language <code>', 'for this language alone')
    .action((name: string, flags: Flags & { language?: string }) =>
      run(flags, async (place) => {
        const { model } = await requireInstalled(place, name);
        const languages = flags.language === undefined ? undefined : [flags.language];
        await using _lock = await lock(place);
        printLine(`${name}: ${changesText(await useModel(place.folder, model, languages), model)}`);
      }),
    );
  command('remove <name>', 'delete an installed model, and what came of a download').action((name: string, flags: Flags) =>
    run(flags, async (place) => {
      await using _lock = await lock(place);
      const { removed, usedFor } = await removeModel(place.folder, name);
      if (!removed) throw new UsageError(`${name} is not installed in ${place.folder}`);
      printLine(`${name} is removed${usedFor.length === 0 ? '' : `; it was used for ${usedFor.join(', ')}`}`);
    }),
  );
  command('verify [name]', 'compare the files of installed models with their hashes').action(
    (name: string | undefined, flags: Flags) => run(flags, (place) => verify(place, name)),
  );
  command('pin <name>', 'for maintainers: write the hashes of an installed model into the manifest')
    .requiredOption('--source <text>', 'who published the hash, and where it was compared')
    .action((name: string, flags: Flags & { source: string }) => run(flags, (place) => pin(place, name, flags.source)));
}

interface GetFlags extends Flags {
  readonly yes?: boolean;
  readonly from?: string;
}

interface Place {
  readonly config: LoadedConfig;
  readonly folder: string;
  readonly manifestPath: string;
  readonly catalogue: Catalogue;
  readonly signal: AbortSignal;
  /** Hears how far a model is. */
  readonly tell: (news: ModelProgress) => void;
}

const AFTER_DOWNLOAD = `The same command goes on from what has come.
Without internet: set OFFHOOK_MODELS_MIRROR, or fetch the file elsewhere and add --from FILE (docs/models.md).`;

/** Ctrl-C ends the work in order. */
async function run(flags: Flags, work: (place: Place) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort(new Error('stopped before it was done'));
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  const parent = flags.toParent === true ? new Parent(onSignal) : undefined;
  try {
    const { config } = requireConfiguration();
    const { platform, dataDir } = config.settings;
    const manifestPath = flags.manifest ?? fromPackage('config', 'models.yaml');
    const catalogue = readCatalogue(readFileSync(manifestPath, 'utf8'), flags.manifest ?? 'config/models.yaml');
    const folder = resolve(platform.modelsFolder ?? join(dataDir, 'models'));
    const tell = (news: ModelProgress): void => parent?.tell(news);
    await stayAwake(work({ config, folder, manifestPath, catalogue, signal: stop.signal, tell }));
  } catch (error) {
    throw error instanceof ModelDownloadError ? new Error(`${errorTextWithCause(error)}\n${AFTER_DOWNLOAD}`) : error;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    parent?.leave();
  }
}

async function list({ folder, catalogue }: Place, json: boolean): Promise<void> {
  const installed = await installedModels(folder);
  const used = await readUsedNames(folder);
  const byName = new Map(installed.map((each) => [each.model.name, each]));
  if (json) {
    const offered = catalogue.models.map((model) => {
      const { name } = model.description;
      const { description: _description, downloads, elsewhere, ...facts } = model;
      const withUrl = (each: Download): object => ({ ...each, url: addressOf(each) });
      return {
        ...model.description,
        ...facts,
        bytes: bytesOf(model),
        downloads: downloads.map(withUrl),
        elsewhere: elsewhere.map((source) => source.map(withUrl)),
        installed: byName.has(name),
        usedFor: usedFor(name, used),
      };
    });
    const others = installed.filter(({ model }) => !catalogue.models.some((each) => each.description.name === model.name));
    const own = others.map(({ model }) => ({ ...model, installed: true, usedFor: usedFor(model.name, used) }));
    printJson({ folder, models: [...offered, ...own], sets: catalogue.sets });
    return;
  }
  const rows = catalogue.models.map((model) => {
    const { name } = model.description;
    const users = usedFor(name, used);
    return [name, purpose(model), sizeText(bytesOf(model)), stateText(users, byName.has(name))];
  });
  for (const { model } of installed) {
    if (catalogue.models.some((each) => each.description.name === model.name)) continue;
    rows.push([model.name, model.role, '', stateText(usedFor(model.name, used), true)]);
  }
  printLine(tableText([['NAME', 'FOR', 'DOWNLOAD', 'STATE'], ...rows]));
  const sets = Object.entries(catalogue.sets).map(([set, names]) => `${set} (${names.length})`);
  printLine(`\nWhat is recommended: npx offhook models get ${Object.keys(catalogue.sets)[0] ?? 'en'} — ${sets.join(', ')}`);
  printLine(`Models folder: ${folder}`);
}

async function get(place: Place, names: readonly string[], flags: GetFlags): Promise<void> {
  const { catalogue, folder, config } = place;
  const wanted = names.flatMap((name) => chosen(catalogue, name));
  if (flags.from !== undefined && wanted.length > 1) throw new UsageError('--from goes with one model at a time');
  for (const { model } of wanted) describe(model, catalogue, flags.from ?? config.settings.platform.modelsMirror);
  const libraries = new Set(wanted.map(({ model }) => libraryOf(model.description)));
  const missing = [...libraries].filter((library) => !hasLibrary(library, libraryPlaces(folder)));
  for (const { name, version, licence } of missing)
    printLine(`and the library that opens them: ${name} ${version} (${licence}), by npm, without scripts`);
  if (flags.yes !== true && !(await agrees())) return;
  await using _lock = await lock(place);
  const installations: Installation[] = [];
  for (const { model } of wanted) installations.push(await installOne(model, place, flags.from));
  for (const library of missing) await addLibrary(library, place);
  for (const [index, { model, language }] of wanted.entries()) {
    const { state = 'there', unvouched = [] } = installations[index] ?? {};
    const { name } = model.description;
    for (const { url, sha256, isFirst } of unvouched) {
      printLine(`nobody was found to publish the hash of ${url}; what came has SHA-256 ${sha256}`);
      printLine(isFirst ? 'it is kept, and every later copy is compared with it' : 'it is that of the copy that came first');
    }
    await openOnce(model, place);
    const changes = await useModel(folder, model.description, language === undefined ? undefined : [language]);
    const where = state === 'there' ? 'is installed already, and whole' : `is installed in ${join(folder, name)}`;
    printLine(`${name} ${where}; ${changesText(changes, model.description)}`);
  }
  printLine('The next start uses them: npm start, or npx offhook start.');
  const isForTurns = ({ model }: (typeof wanted)[number]): boolean => model.description.role === 'end-of-turn';
  if (!usesEmbeddedPlatform(config) && !wanted.every(isForTurns)) {
    printNote(
      'Note: a hosted speech platform is configured. Models serve the embedded one, which starts where none is configured.',
    );
  }
  const { endOfTurnModel } = config.settings.call;
  if (endOfTurnModel !== undefined && wanted.some(isForTurns))
    printNote(`Note: call.endOfTurnModel names ${endOfTurnModel}, which is used until the setting is removed.`);
}

async function addLibrary(library: ModelLibrary, { folder, signal, tell }: Place): Promise<void> {
  const title = `${library.name} ${library.version}`;
  using progress = new Progress(title);
  progress.update('npm install');
  tell({ step: 'library', done: 0, all: undefined });
  await installLibrary(library, folder, signal);
  printLine(`${title} is installed in ${join(folder, 'node_modules')}`);
}

/** One second of silence at 8 kHz. */
const TRIED_SAMPLES = 8_000;

/** @throws ModelContentError when the library does not open it as what the manifest says it is; it is removed then */
async function openOnce({ description }: OfferedModel, { folder, signal, tell }: Place): Promise<void> {
  using progress = new Progress(description.name);
  progress.update('opening it once');
  tell({ step: 'open', done: 0, all: undefined });
  try {
    if (description.role === 'end-of-turn') {
      const { files } = await installedFiles(folder, description.name, description.role);
      await (await openSmartTurn(files.model)).judge(new Int16Array(TRIED_SAMPLES));
    } else await tryModel(folder, description, systemClock);
  } catch (error) {
    signal.throwIfAborted();
    // Otherwise it is the library that cannot be loaded.
    if (!errorText(error).includes(description.name)) throw error;
    await removeModel(folder, description.name);
    const why = `${errorText(error)}; it is removed again, and nothing uses it`;
    throw new ModelContentError(`${description.name} is no ${description.role} model of the kind ${description.kind}: ${why}`, {
      cause: error,
    });
  }
}

/** The models that a name stands for; those of a language are used for it alone. @throws UsageError */
function chosen(catalogue: Catalogue, name: string): { readonly model: OfferedModel; readonly language: string | undefined }[] {
  const find = (each: string): OfferedModel | undefined => catalogue.models.find(({ description }) => description.name === each);
  const members = Object.hasOwn(catalogue.sets, name) ? (catalogue.sets[name] ?? []) : undefined;
  const models = (members ?? [name]).map(find).filter((model) => model !== undefined);
  const languageOf = ({ description }: OfferedModel): string | undefined =>
    members !== undefined && 'languages' in description ? name : undefined;
  if (models.length > 0) return models.map((model) => ({ model, language: languageOf(model) }));
  const known = [...catalogue.models.map(({ description }) => description.name), ...Object.keys(catalogue.sets)];
  const meant = known.find((each) => each.toLowerCase().includes(name.toLowerCase())) ?? nearest(name, known);
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  throw new UsageError(`there is no model ${name}.${hint} npx offhook models list shows all`);
}

function describe(model: OfferedModel, catalogue: Catalogue, from: string | undefined): void {
  printLine(`${model.description.name}: ${model.title}`);
  printLine(`  licence  ${model.licence} (${model.licenceFrom})`);
  printLine(`  size     ${sizeText(bytesOf(model))}`);
  if (model.description.role === 'recognition') printLine(`  errors   ${wordErrorsText(model)}`);
  printLine(`  cost     ${model.measured ?? 'memory and processor time not measured'}`);
  if (model.note !== undefined) printLine(`  note     ${model.note}`);
  for (const each of model.downloads) {
    printLine(`  from     ${addressOf(each)}`);
    const source = catalogue.hashSources[each.hashFrom ?? ''] ?? each.hashFrom ?? 'in the manifest';
    printLine(`  SHA-256  ${each.sha256 === undefined ? 'nobody was found to publish it' : `${each.sha256} (${source})`}`);
  }
  for (const each of model.elsewhere) printLine(`  or from  ${each.map(addressOf).join(', ')}`);
  if (from !== undefined) printLine(`  taken from ${from}`);
}

function wordErrorsText({ wordErrors }: OfferedModel): string {
  if (wordErrors === undefined) return 'not measured';
  const { batchPercent, realtimePercent, recordings, words, on } = wordErrors;
  return `${batchPercent} % of the words in files, ${realtimePercent} % in streams: ${recordings} recordings of people at 8 kHz, ${words} words, ${on}`;
}

async function agrees(): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new Error('Nothing was done: there is no terminal to ask at. Add --yes to agree to the licences and sizes above.');
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question('Install? [y/N] ');
    if (/^\s*y(?:es)?\s*$/iu.test(answer)) return true;
  } finally {
    prompt.close();
  }
  printNote('Nothing was done.');
  return false;
}

async function installOne(
  model: OfferedModel,
  { folder, catalogue, config, signal, tell }: Place,
  from: string | undefined,
): ReturnType<typeof installModel> {
  using progress = new Progress(model.description.name);
  let tenths = 0;
  return await installModel(model, {
    modelsFolder: folder,
    redirects: catalogue.redirects,
    mirror: config.settings.platform.modelsMirror,
    from,
    clock: systemClock,
    signal,
    onElsewhere: (reason) => printNote(`${model.description.name}: ${reason}; trying where it is as well`),
    onProgress(step, done, all) {
      const share = all === undefined ? undefined : done / all;
      tell({ step, done, all });
      progress.update(`${step} ${sizeText(done)}${all === undefined ? '' : ` of ${sizeText(all)}`}`, share);
      // A log has no bar: a line for every tenth.
      if (process.stderr.isTTY || step !== 'download' || share === undefined || share * 10 < tenths + 1) return;
      tenths = Math.floor(share * 10);
      printNote(`${model.description.name}: ${tenths * 10} % of ${sizeText(all)}`);
    },
  });
}

async function verify({ folder, signal }: Place, name: string | undefined): Promise<void> {
  const names = name === undefined ? (await installedModels(folder)).map(({ model }) => model.name) : [name];
  if (names.length === 0) throw new UsageError(`no model is installed in ${folder}`);
  let broken = 0;
  for (const each of names) {
    for (const { file, state } of await verifyModel(folder, each, signal)) {
      printLine(`${state.padEnd(9)}  ${join(each, file)}`);
      if (state !== 'unchanged') broken += 1;
    }
  }
  if (broken === 0) return;
  throw new Error(`${broken} of these files are not as they were installed; models get installs the model again`);
}

async function pin({ folder, catalogue, manifestPath, signal }: Place, name: string, source: string): Promise<void> {
  const { receipt } = await requireInstalled({ folder }, name);
  const damaged = (await verifyModel(folder, name, signal)).filter(({ state }) => state !== 'unchanged');
  if (receipt === undefined || damaged.length > 0)
    throw new UsageError(`${name} is not as it was installed: models verify ${name}`);
  if (!catalogue.models.some(({ description }) => description.name === name))
    throw new UsageError(`${name} is not in ${manifestPath}`);
  let text = await readFile(manifestPath, 'utf8');
  for (const { url, sha256, bytes } of receipt.downloads) text = pinnedCatalogue(text, url, { sha256, bytes, hashFrom: source });
  await writeFileAtomic(manifestPath, text);
  printLine(`${name}: ${receipt.downloads.length} hashes are in ${relative(process.cwd(), manifestPath) || manifestPath}`);
}

async function requireInstalled({ folder }: Pick<Place, 'folder'>, name: string): Promise<InstalledModel> {
  const installed = await installedModel(folder, name);
  if (installed !== undefined) return installed;
  throw new UsageError(`${name} is not installed in ${folder}: npx offhook models get ${name}`);
}

function lock({ folder, signal }: Place): ReturnType<typeof lockModels> {
  const onWait = (pid: number): void =>
    printNote(`another offhook models (process ${pid}) is at work in ${folder}; waiting for it`);
  return lockModels(folder, systemClock, { onWait, signal });
}

function stateText(users: readonly string[], isInstalled: boolean): string {
  return users.length > 0 ? `used for ${someOf(users)}` : isInstalled ? 'installed' : '';
}

function changesText(changes: readonly UseChange[], model: OfferedModel['description']): string {
  if (changes.length === 0) return `used for ${'languages' in model ? someOf(model.languages) : model.role} already`;
  const replaced = changes.filter(({ before }) => before !== undefined);
  const instead = replaced.length === 0 ? '' : `, in place of ${[...new Set(replaced.map(({ before }) => before))].join(', ')}`;
  return `used for ${someOf(changes.map(({ of }) => of))}${instead}`;
}

function purpose({ description }: OfferedModel): string {
  if ('languages' in description) return `${description.role} ${someOf(description.languages)}`;
  return description.role === 'speakers' ? `speakers (${description.kind})` : description.role;
}

/** The first few, for models of a hundred languages. */
function someOf(languages: readonly string[]): string {
  return languages.length <= 6 ? languages.join(', ') : `${languages.slice(0, 5).join(', ')} and ${languages.length - 5} more`;
}

function sizeText(bytes: number | undefined): string {
  if (bytes === undefined) return 'unknown';
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${Math.round(bytes / 1e6)} MB`;
}

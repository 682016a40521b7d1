import { readdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorText, hasCode } from '../../kernel/errors.ts';
import { parseJson } from '../../kernel/json.ts';
import { ModelFolderError } from './errors.ts';
import {
  modelDescription,
  modelName,
  type ModelDescription,
  type RecognitionModel,
  type Used,
  type UsedModels,
  type VoiceModel,
} from './model.ts';

const usedByLanguage = z.record(z.string().regex(/^(?:auto|[a-z]{2,3})$/u, 'a language code or auto'), z.string());

/** `used.json` of the models folder: the names of installed models, by language where a model has languages. */
export const usedNames = z.strictObject({
  recognition: usedByLanguage.optional(),
  voices: usedByLanguage.optional(),
  embedding: z.string().optional(),
  segmentation: z.string().optional(),
  'end-of-turn': z.string().optional(),
});
export type UsedNames = z.infer<typeof usedNames>;

export const USED_FILE = 'used.json';
export const MODEL_FILE = 'model.json';
/** Folders of models that users put in place by themselves. */
const OWN_FOLDERS = ['recognition', 'voices', 'speakers'] as const;
/** Names in the models folder that no installed model can have. */
export const RESERVED_NAMES: readonly string[] = [...OWN_FOLDERS, 'node_modules'];

/**
 * Whether the embedded platform has something to open in this folder; false for a folder that does not exist, and for one with unused models or
 * an end-of-turn model alone. A damaged `used.json` counts, so that the platform reports it.
 */
export async function hasUsedModels(modelsFolder: string): Promise<boolean> {
  const names: readonly string[] = await readdir(modelsFolder).catch(() => []);
  if (OWN_FOLDERS.some((name) => names.includes(name))) return true;
  if (!names.includes(USED_FILE)) return false;
  const used = await readUsedNames(modelsFolder).catch(() => undefined);
  if (used === undefined) return true;
  const { recognition, voices, embedding, segmentation } = used;
  return (recognition ?? voices ?? embedding ?? segmentation) !== undefined;
}

/** Path of the end-of-turn model that is used; undefined when there is none. @throws ModelFolderError */
export async function usedEndOfTurnModel(modelsFolder: string): Promise<string | undefined> {
  const name = (await readUsedNames(modelsFolder))['end-of-turn'];
  return name === undefined ? undefined : (await installedFiles(modelsFolder, name, 'end-of-turn')).files.model;
}

/**
 * Reads which models are used. They are
 * - installed models, in folders of their own with a `model.json`, as far as `used.json` names them, and
 * - the user's own: `recognition/<language>/` (a streaming transducer: encoder, decoder, joiner, tokens), `voices/<language>/` (a VITS
 *   voice: model, tokens, and lexicon or espeak-ng-data where it has one) and `speakers/` (embedding, and segmentation for
 *   diarization), where `used.json` names none for that language. Files begin with these words, as models are published.
 *
 * Models with the same files, links resolved, are one model with the languages of all.
 * @returns absolute paths, which existed
 * @throws ModelFolderError when nothing is used, or something is missing or invalid
 */
export async function readModels(modelsFolder: string): Promise<UsedModels> {
  const names = await listed(modelsFolder);
  const used = await readUsedNames(modelsFolder);
  const recognition = new OneCopy<RecognitionModel>();
  const voices = new OneCopy<VoiceModel>();
  for (const [language, name] of Object.entries(used.recognition ?? {})) {
    recognition.add(await installedFiles(modelsFolder, name, 'recognition'), language);
  }
  for (const [language, name] of Object.entries(used.voices ?? {})) {
    voices.add(await installedFiles(modelsFolder, name, 'voice'), language);
  }
  for (const folder of await languageFolders(modelsFolder, names, 'recognition')) {
    if (used.recognition?.[folder.language] === undefined) recognition.add(await ownTransducer(folder), folder.language);
  }
  for (const folder of await languageFolders(modelsFolder, names, 'voices')) {
    if (used.voices?.[folder.language] === undefined) voices.add(await ownVoice(folder), folder.language);
  }
  const speakers = await speakerModels(modelsFolder, names, used);
  const models = { recognition: recognition.all(), voices: voices.all(), ...speakers };
  if (models.recognition.length + models.voices.length === 0 && speakers.embedding === undefined) {
    throw new ModelFolderError(
      `${modelsFolder}: no model is used; npx offhook models get installs one, and your own go into ${OWN_FOLDERS.join('/, ')}/`,
    );
  }
  return models;
}

/** @returns no names when there is no `used.json` @throws ModelFolderError */
export async function readUsedNames(modelsFolder: string): Promise<UsedNames> {
  const path = join(modelsFolder, USED_FILE);
  const text = await textOf(path);
  return text === undefined ? {} : parsed(usedNames, text, path);
}

/**
 * @param name the folder's
 * @returns its `model.json`; undefined without one, and for an invalid name
 * @throws ModelFolderError when it is invalid, or has another name
 */
export async function readModel(modelsFolder: string, name: string): Promise<ModelDescription | undefined> {
  // Nothing outside of the folder is a model in it.
  if (!modelName.safeParse(name).success) return undefined;
  const path = join(modelsFolder, name, MODEL_FILE);
  const text = await textOf(path);
  if (text === undefined) return undefined;
  const model = parsed(modelDescription, text, path);
  if (model.name !== name) throw new ModelFolderError(`${path}: the name is ${model.name}, expected that of its folder, ${name}`);
  return model;
}

/** The installed model, with absolute paths. @throws ModelFolderError when it is missing, has another role, or lacks a file */
export async function installedFiles<Role extends ModelDescription['role']>(
  modelsFolder: string,
  name: string,
  role: Role,
): Promise<Extract<ModelDescription, { role: Role }>> {
  const again = `install it with npx offhook models get ${name}`;
  const model = await readModel(modelsFolder, name);
  if (model === undefined) {
    throw new ModelFolderError(`${join(modelsFolder, USED_FILE)} names ${name}, which is not installed; ${again}`);
  }
  if (!hasRole(model, role)) {
    throw new ModelFolderError(`${join(modelsFolder, USED_FILE)} names ${name} for ${role}, but it is a model for ${model.role}`);
  }
  return withRealFiles(model, (file) => join(modelsFolder, name, file), again);
}

function hasRole<Role extends ModelDescription['role']>(
  model: ModelDescription,
  role: Role,
): model is Extract<ModelDescription, { role: Role }> {
  return model.role === role;
}

/** @throws ModelFolderError for the first file that is missing */
async function withRealFiles<Model extends ModelDescription>(
  model: Model,
  pathOf: (file: string) => string,
  advice: string,
): Promise<Model> {
  const files: Record<string, string> = {};
  for (const [role, file] of Object.entries(model.files)) {
    if (typeof file !== 'string') continue;
    const path = pathOf(file);
    files[role] = await realpath(path).catch((error: unknown) => {
      const why = hasCode(error, 'ENOENT') ? 'is missing' : `cannot be read: ${errorText(error)}`;
      throw new ModelFolderError(`${path} ${why}, the ${role} of ${model.name}; ${advice}`, { cause: error });
    });
  }
  return { ...model, files };
}

/** Models by their files, so that each is opened once. */
class OneCopy<Model extends ModelDescription> {
  readonly #models = new Map<string, { model: Model; languages: string[] }>();

  add(model: Model, language: string): void {
    const key = JSON.stringify([model.kind, model.files]);
    const known = this.#models.get(key);
    if (known === undefined) this.#models.set(key, { model, languages: [language] });
    else known.languages.push(language);
  }

  all(): Used<Model>[] {
    return [...this.#models.values()];
  }
}

interface LanguageFolder {
  readonly language: string;
  readonly files: FolderFiles;
}

async function languageFolders(
  modelsFolder: string,
  names: readonly string[],
  kind: (typeof OWN_FOLDERS)[number],
): Promise<LanguageFolder[]> {
  if (!names.includes(kind)) return [];
  const folder = join(modelsFolder, kind);
  const languages = await listed(folder);
  if (languages.length === 0) throw new ModelFolderError(`${folder} is empty: expected a folder for each language, such as en`);
  return Promise.all(
    languages.map(async (language) => {
      const path = join(folder, language);
      if (!/^[a-z]{2,3}$/u.test(language)) {
        throw new ModelFolderError(`${path}: the folder's name is not the code of a language, such as en`);
      }
      return { language, files: new FolderFiles(path, await listed(path)) };
    }),
  );
}

function ownTransducer({ language, files }: LanguageFolder): Promise<RecognitionModel> {
  const model: RecognitionModel = {
    name: `recognition-${language}`,
    role: 'recognition',
    kind: 'streaming-transducer',
    languages: [language],
    files: {
      encoder: files.need('encoder', '.onnx'),
      decoder: files.need('decoder', '.onnx'),
      joiner: files.need('joiner', '.onnx'),
      tokens: files.need('tokens', '.txt'),
    },
  };
  return withRealFiles(model, (path) => path, 'put it back');
}

function ownVoice({ language, files }: LanguageFolder): Promise<VoiceModel> {
  const model: VoiceModel = {
    name: `voice-${language}`,
    role: 'voice',
    kind: 'vits',
    languages: [language],
    files: {
      // A voice's model has any name; it is the only one in its folder.
      model: files.need('', '.onnx'),
      tokens: files.need('tokens', '.txt'),
      lexicon: files.find('lexicon', '.txt'),
      dataDir: files.find('espeak-ng-data', ''),
    },
  };
  return withRealFiles(model, (path) => path, 'put it back');
}

async function speakerModels(
  modelsFolder: string,
  names: readonly string[],
  used: UsedNames,
): Promise<Pick<UsedModels, 'embedding' | 'segmentation'>> {
  const folder = join(modelsFolder, 'speakers');
  const own = names.includes('speakers') ? new FolderFiles(folder, await listed(folder)) : undefined;
  const installed = async (name: string): Promise<string> => (await installedFiles(modelsFolder, name, 'speakers')).files.model;
  const segmentation = used.segmentation === undefined ? own?.find('segmentation', '.onnx') : await installed(used.segmentation);
  const embedding = used.embedding === undefined ? own?.need('embedding', '.onnx') : await installed(used.embedding);
  return { ...(embedding === undefined ? {} : { embedding }), ...(segmentation === undefined ? {} : { segmentation }) };
}

class FolderFiles {
  readonly #folder: string;
  readonly #names: readonly string[];

  constructor(folder: string, names: readonly string[]) {
    this.#folder = folder;
    this.#names = names;
  }

  find(beginning: string, ending: string): string | undefined {
    const fitting = this.#names.filter((name) => name.startsWith(beginning) && name.endsWith(ending));
    // The int8 variant, published beside the full one, is the faster one on a CPU.
    const name = fitting.find((each) => each.includes('int8')) ?? fitting[0];
    return name === undefined ? undefined : join(this.#folder, name);
  }

  /** @throws ModelFolderError */
  need(beginning: string, ending: string): string {
    const path = this.find(beginning, ending);
    if (path === undefined) throw new ModelFolderError(`${this.#folder}: no ${beginning}*${ending}`);
    return path;
  }
}

async function listed(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => !name.startsWith('.')).toSorted();
  } catch (error) {
    throw new ModelFolderError(`the folder of models cannot be read: ${errorText(error)}`, { cause: error });
  }
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw new ModelFolderError(`${path} cannot be read: ${errorText(error)}`, { cause: error });
  }
}

function parsed<Value>(schema: z.ZodType<Value>, text: string, path: string): Value {
  const json = parseJson(text);
  if (json === undefined) throw new ModelFolderError(`${path} is not JSON`);
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => `${issue.path.join('.') || 'the document'}: ${issue.message}`);
  throw new ModelFolderError(`${path}: ${issues.slice(0, 3).join('; ')}`);
}

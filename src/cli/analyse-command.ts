import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { audioHostsOf, transcriberOn } from '../hosts/backlog.ts';
import { readEnvironment } from '../config/env.ts';
import { systemClock } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import { prepareProfile, type PreparedProfile, loadProfile } from '../records/analysis/analysis-profiles.ts';
import { AnalysisProfileError } from '../records/errors.ts';
import { Batch, BatchProgress, ItemFetcher } from './analyse/run-batch.ts';
import { type ExportFormat, EXPORTS, Manifest, OutputFolder, writeSubtitles, writeTable } from './analyse/output-folder.ts';
import { type BrokenItem, type Item, itemsOf, watchItems } from './analyse/items.ts';
import { S3Source } from './analyse/s3-source.ts';
import { soundReader } from '../records/analysis/sound-reader.ts';
import { EXIT, printLine, printNote, countOption, UsageError } from './shell/output.ts';
import { type JsonAnswer, runSpeechCommand, type SpeechSession } from './setup/speech-session.ts';

interface AnalyseFlags {
  readonly profile: string;
  readonly out: string;
  readonly concurrency: number;
  readonly column?: string;
  readonly export?: readonly ExportFormat[];
  readonly watch?: boolean;
  readonly json?: boolean;
}

/** `offhook analyse`: analyses recordings, one or a hundred thousand, into documents. */
export function addAnalyseCommand(program: Command): void {
  program
    .command('analyse')
    .description('analyse recordings: transcript, measures, fields, quality, disposition')
    .argument('<recordings...>', 'files, folders, patterns, lists (.csv), https:// addresses, s3:// objects or folders')
    .option('--profile <name>', 'analysis profile, by name or as a YAML file', 'default')
    .option('--out <folder>', 'where the documents go; run it again with the same folder to go on', 'analyses')
    .option('--concurrency <count>', 'recordings at once', countOption, 4)
    .option('--column <name>', 'column of a list that names the recording; else path, file, url and the like')
    .addOption(new Option('--export <formats...>', 'also one table of all results, or subtitles').choices(EXPORTS))
    .option('--watch', 'go on with what comes into the folders, until interrupted')
    .option('--json', 'print one JSON document at the end')
    .action((inputs: readonly string[], flags: AnalyseFlags) =>
      runSpeechCommand('analyse', flags, (session) => analyse(inputs, flags, session), { thrownCode: EXIT.usage }),
    );
}

async function analyse(inputs: readonly string[], flags: AnalyseFlags, session: SpeechSession): Promise<JsonAnswer> {
  const { speech, signal, settings, isEmbedded } = session;
  const prepared = await profileOf(flags.profile, settings.analysis.folder);
  const { profile, hash } = prepared.loaded;
  if (profile.route === 'medical' && !isEmbedded && settings.speech.medUrl === undefined)
    throw new UsageError(`the profile ${profile.name} takes the medical route: set OFFHOOK_MED_URL`);
  const profileKey = `${profile.name}-${hash.slice(0, 8)}`;
  const formats = flags.export ?? [];
  await using out = await OutputFolder.open(flags.out);
  await using manifest = await Manifest.open(out.path);
  const env = readEnvironment();
  const s3 = new S3Source(env, systemClock);
  const audioHosts = audioHostsOf(settings.platform.audioHosts);
  const { workFolder } = out;
  const batch = new Batch({
    ...prepared,
    transcriber: transcriberOn(speech),
    sound: soundReader(),
    fetcher: new ItemFetcher({ clock: systemClock, s3, workFolder, audioHosts }),
    manifest,
    profileKey,
    outFolder: out.path,
    workFolder,
    concurrency: flags.concurrency,
    nowMs: () => systemClock.wallMs(),
    onDone: (document, resultPath) => writeSubtitles(document, resultPath, formats),
  });
  const options = { column: flags.column, s3, outFolder: out.path, signal };
  try {
    const items: (Item | BrokenItem)[] = [];
    for await (const item of itemsOf(inputs, options)) items.push(item);
    if (items.length === 0 && flags.watch !== true) throw new UsageError(`there is no recording in ${inputs.join(' ')}`);
    using _progress = new BatchProgress(systemClock, () => batch.counts);
    await batch.run(items, signal);
    if (flags.watch === true)
      for await (const fresh of watchItems(inputs, items, options, systemClock, changesOnly(printNote)))
        await batch.run(fresh, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const interrupted = signal.aborted && flags.watch !== true;
  const tables: string[] = [];
  for (const format of ['csv', 'jsonl'] as const) {
    if (!formats.includes(format)) continue;
    const paths = manifest
      .entries(profileKey)
      .map(({ result }) => join(out.path, result))
      .filter((path) => existsSync(path));
    tables.push(
      await writeTable(
        out.path,
        `results.${profileKey}`,
        format,
        paths,
        profile.fields.map(({ name }) => name),
      ),
    );
  }
  const { failed, problems, results } = batch;
  const { done, skipped } = batch.counts;
  if (flags.json !== true) {
    printLine(`${done} done, ${skipped} skipped, ${failed.length} failed; documents in ${out.path}`);
    for (const { name, problem } of problems) printNote(`${name}: ${problem}`);
    for (const { name, reason } of failed) printNote(`${name}: ${reason}`);
    for (const table of tables) printNote(`written: ${table}`);
  }
  return {
    ok: failed.length === 0 && !interrupted,
    done,
    skipped,
    failed,
    problems,
    results,
    tables,
    profile: profileKey,
    interrupted,
  };
}

/** Reports a problem only when it changes: a bucket may be unreachable for hours. */
function changesOnly(say: (text: string) => void): (error: unknown) => void {
  let last = '';
  return (error) => {
    const text = `${errorText(error)}; looking again`;
    if (text !== last) say(text);
    last = text;
  };
}

/** Loads a profile by its name in the folder of profiles, or from a file. @throws UsageError */
async function profileOf(named: string, folder: string): Promise<PreparedProfile> {
  const isFile = /\.ya?ml$/iu.test(named);
  const path = isFile ? named : join(folder, `${named}.yaml`);
  if (!existsSync(path)) throw new UsageError(`there is no analysis profile ${path}`);
  try {
    return prepareProfile(await loadProfile(path, readEnvironment()));
  } catch (error) {
    if (error instanceof AnalysisProfileError) throw new UsageError(error.message);
    throw error;
  }
}

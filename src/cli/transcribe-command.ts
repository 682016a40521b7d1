import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import type { AudioFile } from '../speech/asr/audio-source.ts';
import type { TranscriptionOptions, TranscriptionResult } from '../speech/asr/batch.ts';
import { printNote, countOption, numberOption, UsageError } from './shell/output.ts';
import { readInput, requireFile, requireFolderOf, writeOutput } from './shell/files.ts';
import { Progress } from './shell/progress.ts';
import { type JsonAnswer, runSpeechCommand, type SpeechSession } from './setup/speech-session.ts';
import { cuesOf, srtOf, vttOf } from './shell/subtitles.ts';

interface TranscribeFlags {
  readonly output: string;
  readonly format: 'text' | 'json' | 'srt' | 'vtt';
  readonly srt?: string;
  readonly vtt?: string;
  readonly name?: string;
  readonly language?: string;
  readonly speakers?: number;
  readonly identify?: boolean;
  readonly script?: string;
  readonly boost?: readonly string[];
  readonly boostWeight?: number;
  readonly analysis?: boolean;
  readonly summary?: boolean;
  readonly summaryMaxLength?: number;
  readonly sentiment?: boolean;
  readonly intent?: boolean;
  readonly intentChoices?: readonly string[];
  readonly keyterms?: boolean;
  readonly keytermKeywords?: readonly string[];
  readonly emotion?: boolean;
  readonly medicalTerms?: boolean;
  readonly profanity?: boolean;
  readonly hash?: readonly string[];
  readonly codeSwitch?: boolean;
  readonly medical?: boolean;
  readonly diarize?: boolean;
  readonly json?: boolean;
}

/** `offhook transcribe`: transcribes a recording to text, the platform's whole answer, or subtitles. */
export function addTranscribeCommand(program: Command): void {
  program
    .command('transcribe')
    .description('turn a recording into text or subtitles')
    .argument('<audio>', 'a file, an https address that the platform fetches, or - for stdin')
    .option('-o, --output <file>', 'where the transcript goes; - is stdout', '-')
    .addOption(new Option('-f, --format <format>', 'of the transcript').choices(['text', 'json', 'srt', 'vtt']).default('text'))
    .option('--srt <file>', 'also write subtitles as SubRip')
    .option('--vtt <file>', 'also write subtitles as WebVTT')
    .option('--name <name>', 'file name to send for stdin; its ending tells the container', 'audio.wav')
    .option('--language <code>', 'ISO code or English name; found out when absent, which is slower')
    .option('--speakers <count>', 'tell so many speakers apart', countOption)
    .option('--identify', 'name them by their registered profiles; needs --speakers of 2 or more')
    .option('--script <script>', 'script to write in, for example Latin')
    .option('--boost <phrases...>', 'terms to listen for')
    .option('--boost-weight <number>', 'how strongly; 10 when absent, without effect for English', numberOption)
    .option('--analysis', 'intent, sentiment, summary and key terms')
    .option('--summary', 'a summary')
    .option('--summary-max-length <count>', 'longest summary, in the unit of the platform', countOption)
    .option('--sentiment', 'the sentiment')
    .option('--intent', 'the intent')
    .option('--intent-choices <labels...>', 'one of these as the intent')
    .option('--keyterms', 'key terms')
    .option('--keyterm-keywords <terms...>', 'own names, which replace what was heard in their place')
    .option('--emotion', 'emotions by segment')
    .option('--medical-terms', 'correct medical terms')
    .option('--profanity', 'mask profane words')
    .option('--hash <words...>', 'replace these words with asterisks')
    .option('--code-switch', 'write English words in Latin script and numbers as digits')
    .option('--medical', 'by the medical service, which takes English and no option above but -o, -f text or json, and --name')
    .option('--diarize', 'tell speakers apart; of --medical alone')
    .option('--json', 'print one JSON document')
    .action((audio: string, flags: TranscribeFlags) =>
      runSpeechCommand('transcribe', flags, (session) =>
        flags.medical === true ? transcribeMedical(audio, flags, session) : transcribe(audio, flags, session),
      ),
    );
}

const MEDICAL_FLAGS: ReadonlySet<string> = new Set(['medical', 'diarize', 'output', 'format', 'name', 'json']);

async function transcribeMedical(audio: string, flags: TranscribeFlags, { speech, signal }: SpeechSession): Promise<JsonAnswer> {
  const { output, format, diarize = false, json } = flags;
  const [foreign] = Object.keys(flags).filter((flag) => !MEDICAL_FLAGS.has(flag));
  if (foreign !== undefined || (format !== 'text' && format !== 'json'))
    throw new UsageError(`the medical service takes no ${foreign === undefined ? `-f ${format}` : flagOf(foreign)}`);
  requireFolderOf(output);
  const source = await sourceOf(audio, flags);
  if ('url' in source) throw new UsageError('the medical service fetches no address: give a file, or - for stdin');
  const result = await (async () => {
    using _progress = new Progress(`transcribing ${basename(audio)}`);
    return await speech.transcribeMedical(source, { diarize }, signal);
  })();
  const text = format === 'json' ? JSON.stringify(result, undefined, 2) : result.text;
  if (output !== '-' || json !== true) await writeOutput(output, [Buffer.from(`${text}\n`)]);
  return { ...result, files: output === '-' ? [] : [output] };
}

/** An option's name on the command line. */
function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}`;
}

async function transcribe(audio: string, flags: TranscribeFlags, { speech, signal }: SpeechSession): Promise<JsonAnswer> {
  const { output, format, srt, vtt } = flags;
  if (flags.diarize === true) throw new UsageError('--diarize is of --medical; here --speakers tells speakers apart');
  for (const file of [output, srt, vtt]) if (file !== undefined) requireFolderOf(file);
  const source = await sourceOf(audio, flags);
  const result = await (async () => {
    using progress = new Progress(`transcribing ${basename(audio)}`);
    const onProgress = (sentBytes: number, totalBytes: number): void => showUpload(progress, sentBytes, totalBytes);
    return await speech.transcribe(source, optionsOf(flags), signal, { onProgress });
  })();
  if (result.attempts > 1) printNote(`the recording was sent ${result.attempts} times, and may be paid for as often`);
  for (const warning of result.warnings) printNote(warning);
  if (result.text.trim() === '') printNote('no words were heard in it');
  const cues = cuesOf(result);
  if (srt !== undefined) await writeFile(srt, srtOf(cues));
  if (vtt !== undefined) await writeFile(vtt, vttOf(cues));
  if (output !== '-') await writeOutput(output, [Buffer.from(rendered(result, format))]);
  else if (flags.json !== true) await writeOutput('-', [Buffer.from(rendered(result, format))]);
  if (flags.json !== true)
    for (const file of [output, srt, vtt]) if (file !== undefined && file !== '-') printNote(`written: ${file}`);
  const { raw: _raw, ...facts } = result;
  return { ...facts, files: [output, srt, vtt].filter((file) => file !== undefined && file !== '-') };
}

/** Shows a bar during the upload; the duration of the transcription is unknown. */
function showUpload(progress: Progress, sentBytes: number, totalBytes: number): void {
  const mb = (bytes: number): string => (bytes / 1e6).toFixed(1);
  if (sentBytes < totalBytes) progress.update(`${mb(sentBytes)} of ${mb(totalBytes)} MB sent`, sentBytes / totalBytes);
  else progress.update(`${mb(totalBytes)} MB sent, waiting for the transcript`);
}

function rendered(result: TranscriptionResult, format: TranscribeFlags['format']): string {
  switch (format) {
    case 'text':
      return `${result.text}\n`;
    case 'json':
      return `${JSON.stringify(result.raw, undefined, 2)}\n`;
    case 'srt':
      return srtOf(cuesOf(result));
    case 'vtt':
      return vttOf(cuesOf(result));
  }
}

async function sourceOf(audio: string, flags: TranscribeFlags): Promise<AudioFile | { readonly url: string }> {
  if (/^https?:\/\//u.test(audio)) return { url: audio };
  if (audio !== '-') {
    requireFile(audio);
    return { path: audio };
  }
  const bytes = await readInput('-');
  if (bytes.length === 0) throw new UsageError('there is no audio on stdin');
  return { bytes, name: flags.name ?? 'audio.wav' };
}

/** Subtitles and the whole answer need segments and words. */
function optionsOf(flags: TranscribeFlags): TranscriptionOptions {
  const { language, speakers, identify, script, boost, analysis, summary, sentiment, intent, keyterms, emotion } = flags;
  const { medicalTerms, profanity, hash, codeSwitch, format, srt, vtt, json } = flags;
  const { boostWeight, intentChoices, keytermKeywords, summaryMaxLength } = flags;
  const isVerbose = format !== 'text' || srt !== undefined || vtt !== undefined || json === true;
  return {
    ...(isVerbose ? { verbose: true } : {}),
    ...(language === undefined ? {} : { language }),
    ...(speakers === undefined ? {} : { numSpeakers: speakers }),
    ...(identify === undefined ? {} : { identifySpeakers: identify }),
    ...(script === undefined ? {} : { outputScript: script }),
    ...(boost === undefined ? {} : { boostPhrases: boost }),
    ...(boostWeight === undefined ? {} : { boostWeight }),
    ...(intentChoices === undefined ? {} : { intentChoices }),
    ...(keytermKeywords === undefined ? {} : { keytermKeywords }),
    ...(summaryMaxLength === undefined ? {} : { summaryMaxLength }),
    ...(analysis === undefined ? {} : { analysis }),
    ...(summary === undefined ? {} : { summary }),
    ...(sentiment === undefined ? {} : { sentiment }),
    ...(intent === undefined ? {} : { intent }),
    ...(keyterms === undefined ? {} : { keyterms }),
    ...(emotion === undefined ? {} : { emotion }),
    ...(medicalTerms === undefined ? {} : { medical: medicalTerms }),
    ...(profanity === undefined ? {} : { profanity }),
    ...(hash === undefined ? {} : { hashKeywords: hash }),
    ...(codeSwitch === undefined ? {} : { codeSwitch }),
  };
}

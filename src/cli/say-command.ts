import { extname } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import {
  BACKGROUND_PRESETS,
  type BackgroundPreset,
  SPEECH_FORMATS,
  SPEECH_QUALITIES,
  type SpeechFormat,
  type SpeechQuality,
} from '../speech/tts/speech-fields.ts';
import type { BatchSpeechOptions } from '../speech/tts/batch.ts';
import type { SpeechPlatform } from '../speech/platform.ts';
import { printLine, printNote, numberOption, UsageError } from './shell/output.ts';
import { readInput, requireFolderOf, writeOutput } from './shell/files.ts';
import { Progress } from './shell/progress.ts';
import { type JsonAnswer, runSpeechCommand, type SpeechSession } from './setup/speech-session.ts';

interface SayFlags {
  readonly output: string;
  readonly format?: SpeechFormat;
  readonly voice?: string;
  readonly language?: string;
  readonly speed?: number;
  readonly trimSilence?: boolean;
  readonly background?: string;
  readonly backgroundVolume?: number;
  readonly reference?: string;
  readonly referenceText?: string;
  readonly latex?: boolean;
  readonly quality?: SpeechQuality;
  readonly stream?: boolean;
  readonly json?: boolean;
}

/** File endings, and the format each stands for. */
const ENDINGS: Readonly<Record<string, SpeechFormat>> = {
  '.wav': 'wav',
  '.mp3': 'mp3',
  '.ogg': 'ogg_opus',
  '.opus': 'ogg_opus',
  '.flac': 'flac',
  '.pcm': 'pcm',
  '.raw': 'pcm',
  '.ul': 'mulaw',
  '.mulaw': 'mulaw',
  '.al': 'alaw',
  '.alaw': 'alaw',
};

/** `offhook say`: a text as a file of speech. */
export function addSayCommand(program: Command): void {
  program
    .command('say')
    .description('speak a text into a file')
    .argument('[text...]', 'what to say; - or nothing reads it from stdin')
    .option('-o, --output <file>', 'where the audio goes; its ending names the format, - is stdout', 'speech.wav')
    .addOption(new Option('-f, --format <format>', 'in place of the ending').choices(SPEECH_FORMATS))
    .option('--voice <name>', 'one of `offhook voices`; the default voice when absent')
    .option('--language <code>', 'ISO 639 code; told from the script when absent')
    .option('--speed <factor>', '0.25 to 4', numberOption)
    .option('--trim-silence', 'drop the quiet at both ends')
    .option('--background <what>', `${BACKGROUND_PRESETS.join(', ')}, or a WAV or MP3 file`)
    .option('--background-volume <share>', '0 to 1', numberOption)
    .option('--reference <file>', 'a voice to clone: WAV, FLAC or OGG of 1 to 6 seconds')
    .option('--reference-text <text>', 'what is said in it')
    .option('--latex', 'read LaTeX formulas as words')
    .addOption(new Option('--quality <quality>', 'higher is slower').choices(SPEECH_QUALITIES))
    .option('--stream', 'over the socket, as calls do: pcm, mulaw or alaw')
    .option('--json', 'print one JSON document')
    .action((words: readonly string[], flags: SayFlags) =>
      runSpeechCommand('say', flags, (session) => say(words, flags, session)),
    );
}

async function say(words: readonly string[], flags: SayFlags, session: SpeechSession): Promise<JsonAnswer> {
  const { output } = flags;
  if (output === '-' && flags.json === true)
    throw new UsageError('stdout holds either the audio or the JSON document: give -o a file');
  requireFolderOf(output);
  const isFromStdin = words.length === 0 || (words.length === 1 && words[0] === '-');
  const text = (isFromStdin ? await readText(process.stdin) : words.join(' ')).trim();
  if (text === '') throw new UsageError('there is nothing to say: give a text, or one on stdin');
  const options = await optionsOf(text, flags, session);
  const { spoken, bytes } = await written(options, flags, session);
  const { format, sampleRateHz, requestId, warnings } = spoken;
  for (const warning of warnings) printNote(warning);
  if (flags.json !== true && output !== '-')
    printLine(
      `${output}  ${format}${sampleRateHz === undefined ? '' : `, ${sampleRateHz} Hz`}, ${Math.ceil(bytes / 1024)} KB, ${options.voice}`,
    );
  return { file: output, bytes, format, sampleRateHz, requestId, voice: options.voice, warnings };
}

/** Speaks into the output; the progress is gone from the screen afterwards. */
async function written(options: BatchSpeechOptions, flags: SayFlags, session: SpeechSession): Promise<Written> {
  using progress = new Progress('speaking');
  let share: number | undefined;
  const onPiece = (done: number, pieces: number): void => {
    if (pieces === 1) return;
    share = done / pieces;
    progress.update(`part ${done} of ${pieces}`, share);
  };
  const spoken = flags.stream === true ? await streamed(options, flags, session) : await inBatch(options, onPiece, session);
  const onBytes = (bytes: number): void => progress.update(`${Math.round(bytes / 1024)} KB`, share);
  return { spoken, bytes: await writeOutput(flags.output, spoken.audio, onBytes) };
}

interface Written {
  readonly spoken: Spoken;
  readonly bytes: number;
}

interface Spoken {
  readonly format: SpeechFormat;
  readonly sampleRateHz: number | undefined;
  readonly requestId: string | undefined;
  readonly warnings: readonly string[];
  readonly audio: AsyncIterable<Uint8Array>;
}

function inBatch(
  options: BatchSpeechOptions,
  onPiece: NonNullable<BatchSpeechOptions['onPiece']>,
  { speech, signal }: SpeechSession,
): Promise<Spoken> {
  const { format = 'wav' } = options;
  // What cannot be joined is sent as one text, which may have up to 10,000 characters.
  const splitLong = format !== 'flac' && format !== 'ogg_opus';
  return speech.synthesize({ ...options, splitLong, onPiece }, signal);
}

async function streamed(options: BatchSpeechOptions, flags: SayFlags, { speech, signal }: SpeechSession): Promise<Spoken> {
  const others = [flags.background, flags.reference, flags.latex, flags.quality].filter((flag) => flag !== undefined);
  if (others.length > 0) throw new UsageError('the socket takes voice, language, speed and trimming only; leave --stream out');
  const { format = 'pcm', text, voice, language, speed, trimSilence } = options;
  const sampleRateHz = format === 'pcm' ? 24_000 : 8_000;
  const most = { text, voice, format, sampleRateHz, ...(language === undefined ? {} : { language }) };
  const rest = { ...(speed === undefined ? {} : { speed }), ...(trimSilence === undefined ? {} : { trimSilence }) };
  return { format, sampleRateHz, requestId: undefined, warnings: [], audio: speech.stream({ ...most, ...rest }, signal) };
}

async function optionsOf(text: string, flags: SayFlags, { speech, signal }: SpeechSession): Promise<BatchSpeechOptions> {
  const { output, language, speed, trimSilence, backgroundVolume, latex, quality } = flags;
  const format = flags.format ?? ENDINGS[extname(output).toLowerCase()] ?? (output === '-' ? 'wav' : undefined);
  if (format === undefined) throw new UsageError(`${output} does not end like an audio file; name the format with --format`);
  return {
    text,
    format,
    voice: flags.voice ?? (await defaultVoice(speech, signal)),
    ...(language === undefined ? {} : { language }),
    ...(speed === undefined ? {} : { speed }),
    ...(trimSilence === undefined ? {} : { trimSilence }),
    ...(flags.background === undefined ? {} : { background: await background(flags.background) }),
    ...(backgroundVolume === undefined ? {} : { backgroundVolume }),
    ...(flags.reference === undefined
      ? {}
      : {
          reference: {
            audio: await readInput(flags.reference),
            ...(flags.referenceText === undefined ? {} : { text: flags.referenceText }),
          },
        }),
    ...(latex === undefined ? {} : { latex }),
    ...(quality === undefined ? {} : { quality }),
  };
}

async function background(text: string): Promise<BackgroundPreset | { readonly audio: Uint8Array }> {
  const preset = BACKGROUND_PRESETS.find((name) => name === text);
  return preset ?? { audio: await readInput(text) };
}

async function defaultVoice(speech: SpeechPlatform, signal: AbortSignal): Promise<string> {
  const { synthesis } = await speech.health(signal);
  const voice = synthesis?.defaultVoice ?? synthesis?.voices[0];
  if (voice === undefined) throw new UsageError('the platform names no default voice; choose one with --voice');
  return voice;
}

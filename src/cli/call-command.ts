import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Command, Option } from 'commander';
import { activeLevelDb } from '../audio/level.ts';
import { resample } from '../audio/resample.ts';
import { parseWav } from '../audio/wav.ts';
import { followCall } from '../call/log/live-news.ts';
import { proofOf } from '../carriers/open-carriers.ts';
import { carriers } from '../carriers/registry.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Bot } from '../config/bots.ts';
import { didYouMean } from '../config/nearest.ts';
import type { Secret } from '../config/secrets.ts';
import { stayAwake, systemClock } from '../kernel/clock.ts';
import { hasCode, errorTextWithCause, rootCause } from '../kernel/errors.ts';
import { createLogger } from '../observability/logger.ts';
import { openRecords, sealsCalls } from '../hosts/records.ts';
import { CallerTimeout, type CallerStep, ScriptedCaller } from '../sim/caller/caller.ts';
import { simulatedCarriers } from '../sim/carriers.ts';
import { CallRefused } from '../sim/errors.ts';
import type { SimulatedCarrierCall } from '../sim/simulated-carrier.ts';
import { CallerVoice } from '../sim/caller/voice.ts';
import { socketDirOf } from '../records/embedded/socket-server.ts';
import { findCallRecord, type KeptCall, findKeptCall, writeRecording } from './kept-call.ts';
import { requireConfiguration } from './setup/configuration.ts';
import { LiveView } from './live-view.ts';
import { EXIT, coloured, printJson, printLine, printNote, UsageError } from './shell/output.ts';
import { audibleExamples, wordsNotHeard } from './setup/speech-settings.ts';

interface CallFlags {
  readonly url?: string;
  readonly carrier: string;
  readonly to?: string;
  readonly bot?: string;
  readonly lang: string;
  readonly wav?: string;
  readonly say?: readonly string[];
  readonly interactive?: boolean;
  readonly record?: string;
  readonly json?: boolean;
}

/** `offhook call`: a simulated phone call to a running gateway, spoken from text, from a file, or as you type. */
export function addCallCommand(program: Command): void {
  program
    .command('call')
    .description('call a running gateway on this machine, as a phone would through its carrier')
    .option('--url <url>', 'address of the gateway')
    .addOption(
      new Option('--carrier <name>', 'carrier that the call comes through, simulated')
        .choices(simulatedCarriers.map(({ name }) => name))
        .default('twilio'),
    )
    .option('--to <number>', 'dialled number')
    .option('--bot <name>', 'bot to ask for, in place of a number')
    .addOption(new Option('--lang <language>', 'language the caller speaks').choices(['en', 'hi']).default('en'))
    .option('--wav <file>', 'play this WAV file when the bot has greeted')
    .option('--say <text...>', 'say these lines, one each time the bot has finished; #12 presses keys')
    .option('-i, --interactive', 'type what to say, line by line')
    .option('--record <file>', "write the call's recording to this WAV file, plain, whatever the gateway keeps it as")
    .option('--json', 'print one JSON document')
    .action(async (flags: CallFlags) => {
      const modes = [flags.wav, flags.say, flags.interactive].filter((mode) => mode !== undefined);
      if (modes.length !== 1) throw new UsageError('give exactly one of --wav FILE, --say TEXT… and -i');
      try {
        const kept = await stayAwake(placeCall(flags));
        if (flags.json === true) printJson({ ok: kept !== undefined, ...kept });
        process.exit(kept === undefined ? EXIT.failed : EXIT.ok);
      } catch (error) {
        if (flags.json === true) printJson({ ok: false, error: errorTextWithCause(error) });
        const said = error instanceof CallRefused && error.said.length > 0 ? `. The carrier said: "${error.said.join(' ')}"` : '';
        throw said === '' ? error : new Error(`${errorTextWithCause(error)}${said}`);
      }
    });
}

async function placeCall(flags: CallFlags): Promise<KeptCall | undefined> {
  const { config, bots } = requireConfiguration();
  const { settings } = config;
  const here = `http://127.0.0.1:${settings.http.port}`;
  const url = flags.url ?? here;
  const simulated = simulatedCarriers.find(({ name }) => name === flags.carrier);
  if (simulated?.place === undefined) {
    const instead = `npx offhook demo --carrier ${flags.carrier} has a gateway of its own for it`;
    throw new Error(`a call through ${flags.carrier} needs what only a gateway of its own is configured with; ${instead}`);
  }
  const proof = proofAt(flags.carrier, config).reveal();
  const bot =
    flags.bot ??
    (flags.lang === 'en' || flags.to !== undefined ? undefined : bots.find(({ language }) => language === flags.lang)?.name);
  const print = flags.json === true ? printNote : printLine;
  const examples = audibleExamples(config, flags.lang);
  if (examples.length > 0) print(coloured('dim', `The embedded recogniser hears, for example: ${examples.join(' · ')}`));
  const spoken = (flags.say ?? []).filter((line) => keysOf(line) === undefined);
  const unknown = await wordsNotHeard(config, bots, flags.lang, spoken);
  if (unknown.length > 0) print(notHeardText(unknown));
  await using voice = new CallerVoice();
  const carrierCallId = simulated.newCallId?.() ?? randomUUID();
  const view = new LiveView(print);
  const live = await followCall(socketDirOf(settings.dataDir), carrierCallId, (news) => view.show(news));
  const placing = simulated.place({
    carrierCallId,
    // The gateway checks signatures against its public address, which may not be reachable yet.
    ...(flags.url === undefined && settings.publicUrl !== undefined ? { url: settings.publicUrl, connectTo: here } : { url }),
    proof,
    settings: config.carriers.get(flags.carrier)?.settings ?? {},
    clock: systemClock,
    bot,
    to: flags.to,
  });
  const call = await placing.catch((error: unknown): never => {
    live.close();
    throw refusalOf(error, url, flags, bots);
  });
  print(coloured('dim', `— connected to ${url} —`));
  const caller = new ScriptedCaller(call.line, 30_000, (text) => view.caller(text));
  try {
    if (flags.interactive === true) await converse(call, caller, voice, flags.lang, print);
    else await caller.run(await stepsOf(flags, voice, print));
  } catch (error) {
    if (!(error instanceof CallerTimeout) || call.line.open) throw error;
  }
  await call.hangUp();
  const kept = await keptCall(config, call.carrierCallId, flags.record);
  live.close();
  if (kept === undefined) print('The call is over; its record is not in this data folder.');
  else {
    if (!view.ended) printTurns(kept, print);
    print(`recording  ${kept.recordingPath ?? '(none)'}`);
    print(`record     ${kept.path ?? `in the store: ${kept.id}`}`);
  }
  return kept;
}

/** Why no call came about, with what to do. */
function refusalOf(error: unknown, url: string, flags: CallFlags, bots: readonly Bot[]): unknown {
  const known = bots.map(({ name }) => name);
  if (error instanceof CallRefused && flags.bot !== undefined && !known.includes(flags.bot)) {
    const question = didYouMean(flags.bot, known);
    const message = `there is no bot "${flags.bot}"; the bots here are ${known.join(', ')}.${question} (${error.message})`;
    return new Error(message, { cause: error });
  }
  if (error instanceof CallRefused && error.message.endsWith(' 403')) {
    const same = `give this shell the OFFHOOK_PUBLIC_URL, ${proofEnvName(flags.carrier)} and OFFHOOK_DATA_DIR that the gateway has`;
    return new Error(`${error.message}: the gateway does not take what this command signs; ${same}`, { cause: error });
  }
  if (!hasCode(rootCause(error), 'ECONNREFUSED', 'ENOTFOUND')) return error;
  return new Error(`no gateway answers at ${url}; start one with npm start`);
}

/** Prints the turns of a call that could not be watched live. */
function printTurns({ turns, endReason }: KeptCall, print: (line: string) => void): void {
  for (const turn of turns) {
    if (turn.callerText !== '' || turn.index > 0)
      print(`${coloured('yellow', 'heard  ')} ${turn.callerText === '' ? '(not understood)' : turn.callerText}`);
    print(`${coloured('green', 'bot    ')} ${turn.botHeardText}`);
  }
  print(coloured('dim', `— the call is over: ${endReason} —`));
}

/** What proves the simulated carrier to a gateway of this data folder. */
function proofAt(carrier: string, config: LoadedConfig): Secret {
  try {
    return proofOf(carrier, config);
  } catch (cause) {
    const where = `no gateway was started yet with the data folder ${config.settings.dataDir}`;
    const other = `set ${proofEnvName(carrier)} to what another one has`;
    throw new Error(`${where}; start one with npm start, or ${other}`, { cause });
  }
}

function proofEnvName(carrier: string): string {
  return carriers.find(({ name }) => name === carrier)?.proof?.envName ?? '';
}

/**
 * The call's record: its file, or its row in the store when no plain file stays after a call.
 * @param recordPath where to write its recording
 */
async function keptCall(
  config: LoadedConfig,
  carrierCallId: string,
  recordPath: string | undefined,
): Promise<KeptCall | undefined> {
  const clock = systemClock;
  if (recordPath === undefined && !sealsCalls(config)) return findCallRecord(config.settings.dataDir, carrierCallId, clock);
  const records = await openRecords({ config, clock, logger: createLogger({ level: 'error' }), lasting: false });
  try {
    const parts = { ...records, clock, dataDir: config.settings.dataDir };
    const found = await findKeptCall(parts, carrierCallId);
    if (found === undefined) return undefined;
    const { id, endReason = '', digits, turns } = found;
    if (recordPath !== undefined) await writeRecording(parts, id, recordPath);
    return { id, carrierCallId, endReason, digits, turns, recordingPath: recordPath, path: undefined };
  } finally {
    await records.close();
  }
}

async function stepsOf(flags: CallFlags, voice: CallerVoice, print: (line: string) => void): Promise<readonly CallerStep[]> {
  if (flags.wav !== undefined) {
    const { samples, rateHz } = parseWav(readFileSync(flags.wav));
    const pcm = resample(samples[0] ?? new Int16Array(), rateHz, 8_000);
    print(`Playing ${flags.wav}: ${(pcm.length / 8_000).toFixed(1)} s at ${activeLevelDb(pcm, 8_000).toFixed(0)} dBFS.`);
    return [{ kind: 'say', text: flags.wav, pcm }, { kind: 'hang-up' }];
  }
  const steps: CallerStep[] = [];
  for (const text of flags.say ?? []) steps.push(await stepOf(text, voice, flags.lang));
  return [...steps, { kind: 'hang-up' }];
}

/** One step from a line of text: `#12` presses keys, anything else is spoken. */
async function stepOf(text: string, voice: CallerVoice, language: string): Promise<CallerStep> {
  const keys = keysOf(text);
  return keys === undefined ? { kind: 'say', text, pcm: await voice.say(text, { language }) } : { kind: 'press', digits: keys };
}

function keysOf(line: string): string | undefined {
  return /^#([0-9*#]+)$/u.exec(line.trim())?.[1];
}

const MOST_WORDS = 10;

/** For who has the caller say words that nobody will understand; the call goes on. */
function notHeardText(words: readonly string[]): string {
  const named = words.slice(0, MOST_WORDS).map((word) => `"${word}"`);
  const more = words.length > MOST_WORDS ? ` and ${words.length - MOST_WORDS} more` : '';
  const how = "hints in the bot's file, phrases of its flow, or a model (npx offhook models get en) make words known";
  return `The embedded recogniser does not know ${named.join(', ')}${more}: the bot will hear nothing there. It knows the words above; ${how}.`;
}

async function converse(
  call: SimulatedCarrierCall,
  caller: ScriptedCaller,
  voice: CallerVoice,
  language: string,
  print: (line: string) => void,
): Promise<void> {
  print('Type what the caller says, #1 to press a key, an empty line to hang up.');
  const lines = createInterface({ input: process.stdin });
  void call.line.ended.then(() => lines.close());
  for await (const line of lines) {
    if (line.trim() === '') {
      lines.close();
      return;
    }
    await caller.run([await stepOf(line, voice, language)]);
    if (!call.line.open) return;
  }
  // The lines came from a file or a pipe: the last one still gets its answer.
  if (call.line.open) await caller.run([{ kind: 'hang-up' }]);
}

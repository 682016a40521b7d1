import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { controlEnvNames } from '../carriers/open-carriers.ts';
import { withApiKeys } from '../hosts/records.ts';
import { API_KEYS_FILE, type ApiKeyBook, ApiKeys } from '../http/api/system/api-keys.ts';
import { silentLogger } from '../observability/logger.ts';
import { errorTextWithCause, hasCode, rootCause } from '../kernel/errors.ts';
import { stayAwake, systemClock } from '../kernel/clock.ts';
import { type Disposition, PURPOSES } from '../records/dialling.ts';
import { type AttemptView, type DialWish, NotPlaced, placeCall, REMEDIES } from './dial/place.ts';
import { LiveView } from './live-view.ts';
import { requireRunningGateways } from './running-gateways.ts';
import { readConfiguration } from './setup/configuration.ts';
import { coloured, EXIT, numberOption, printJson, printLine, printNote } from './shell/output.ts';

interface DialFlags {
  readonly bot: string;
  readonly from?: string;
  readonly var: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly registration: Readonly<Record<string, string>>;
  readonly profile?: string;
  readonly purpose?: string;
  readonly zone?: string;
  readonly carrier?: string;
  readonly ring?: number;
  readonly idempotencyKey?: string;
  readonly url?: string;
  readonly wait: boolean;
  readonly simulate?: boolean;
  readonly say: readonly string[];
  readonly json?: boolean;
}

/** What comes of a call in which somebody was spoken to. */
const SPOKEN_TO: readonly Disposition[] = ['completed', 'transferred', 'call-back', 'opt-out', 'wrong-number'];

/** `offhook dial`: has a running gateway call somebody. */
export function addDialCommand(program: Command): void {
  program
    .command('dial')
    .description('have the running gateway of the data folder call a number, and watch the call')
    .argument('<number>', 'whom to call: +91…, or a number of dialling.defaultRegion')
    .requiredOption('--bot <name>', 'the bot that speaks')
    .option('--from <number>', 'caller id; the first of dialling.callerIds unless given')
    .option('--var <name=value>', 'a variable of the bot; may be repeated', pair, {})
    .option('--metadata <name=value>', 'kept with the call; may be repeated', pair, {})
    .option('--profile <name>', 'dialling profile; dialling.profile unless given')
    .addOption(new Option('--purpose <purpose>', 'why the call is made').choices(PURPOSES))
    .option('--registration <name=id>', 'an id that the profile asks for; may be repeated', pair, {})
    .option('--zone <zone>', "the person's time zone, such as Asia/Kolkata; those of the number unless given")
    .option('--carrier <name>', 'carrier that places the call')
    .option('--ring <seconds>', 'how long it rings, 5 to 120', ringSeconds)
    .option('--idempotency-key <key>', 'the same command again with the same key places no second call')
    .option('--url <url>', 'address of the gateway, where several run on the data folder')
    .option('--wait', 'follow the call to its end (the default)', true)
    .option('--no-wait', 'end once the carrier has taken the order')
    .option('--simulate', 'call nobody: a simulated person on this machine answers; needs no account and no running gateway')
    .option('--say <text...>', 'with --simulate: what the person says, one line each time the bot has finished', ['yes'])
    .option('--json', 'print one JSON document')
    .action(async (to: string, flags: DialFlags) => {
      const print = flags.json === true ? printNote : printLine;
      try {
        const attempt = await stayAwake(
          flags.simulate === true ? dialSimulated(to, flags, print) : dialRunning(to, flags, print),
        );
        const ok = flags.wait
          ? attempt.disposition !== null && SPOKEN_TO.includes(attempt.disposition)
          : attempt.state !== 'ended' || attempt.disposition === 'completed';
        if (flags.json === true) printJson({ ok, ...attempt });
        process.exit(ok ? EXIT.ok : EXIT.failed);
      } catch (error) {
        const refused = error instanceof NotPlaced ? error : undefined;
        const text = errorTextWithCause(error);
        if (flags.json === true) {
          const { refusal, retryAt } = refused ?? {};
          printJson({ ok: false, error: text, ...(refusal && { refusal }), ...(retryAt && { retryAt }) });
        }
        printNote(`offhook dial: ${refused?.refusal === undefined ? '' : `refused as ${refused.refusal}: `}${text}`);
        for (const hint of hintsFor(refused)) printNote(hint);
        process.exit(EXIT.failed);
      }
    });
}

function hintsFor(refused: NotPlaced | undefined): string[] {
  if (refused === undefined) return [];
  const { refusal, retryAt, message } = refused;
  return [
    ...(refusal === undefined ? [] : [REMEDIES[refusal]]),
    ...(retryAt === undefined ? [] : [`It may be called from ${retryAt} on.`]),
    ...(message.toLowerCase().includes('no carrier account')
      ? [
          `Give the gateway an account (${controlEnvNames()}), or add --simulate: then nobody is called, and no account is needed.`,
        ]
      : []),
  ];
}

async function dialRunning(to: string, flags: DialFlags, print: (line: string) => void): Promise<AttemptView> {
  const { config } = readConfiguration();
  const { dataDir } = config.settings;
  const url = flags.url ?? (await requireRunningGateways(dataDir, ', or add --simulate to call nobody'))[0].url;
  const options = { url, dataDir, idempotencyKey: flags.idempotencyKey, wait: flags.wait, print, view: new LiveView(print) };
  const place = (keys: ApiKeyBook): Promise<AttemptView> => placeCall(wishOf(to, flags), { ...options, keys });
  return withApiKeys(config, systemClock, silentLogger, place).catch((error: unknown): never => {
    if (hasCode(rootCause(error), 'ECONNREFUSED', 'ENOTFOUND')) throw new Error(`no gateway answers at ${url}`, { cause: error });
    throw error;
  });
}

async function dialSimulated(to: string, flags: DialFlags, print: (line: string) => void): Promise<AttemptView> {
  // Loaded here, since it brings a whole gateway.
  const { withSimulatedCarrier } = await import('./dial/place.ts');
  const { bot, from, say: says, idempotencyKey, wait } = flags;
  const view = new LiveView(print);
  const onStage = (stage: string): void => print(coloured('dim', `${stage} …`));
  return withSimulatedCarrier(
    { says, bot, from },
    onStage,
    (text) => view.caller(text),
    (dial) => {
      const { url, dataDir, callerId, zone } = dial;
      const wish = { ...wishOf(to, flags), from: callerId, zone: flags.zone ?? zone };
      const keys = new ApiKeys(join(dataDir, API_KEYS_FILE));
      return placeCall(wish, { url, keys, dataDir, idempotencyKey, wait, print, view });
    },
  );
}

function wishOf(to: string, flags: DialFlags): DialWish {
  const { bot, from, var: variables, metadata, registration: registrations, profile, purpose, zone, carrier, ring } = flags;
  const ringTimeoutMs = ring === undefined ? undefined : ring * 1000;
  return { to, bot, from, variables, metadata, registrations, profile, purpose, zone, carrier, ringTimeoutMs };
}

/** Adds one `name=value` to those before. @throws InvalidArgumentError */
function pair(text: string, before: Readonly<Record<string, string>>): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('it is written name=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

function ringSeconds(text: string): number {
  const seconds = numberOption(text);
  if (seconds < 5 || seconds > 120) throw new InvalidArgumentError('it is 5 to 120 seconds.');
  return Math.round(seconds);
}

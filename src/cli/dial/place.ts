import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { followCall } from '../../call/log/live-news.ts';
import { startGateway } from '../../hosts/app.ts';
import { attemptView } from '../../http/api/calls/call-views.ts';
import type { ApiKeyBook, NewApiKey } from '../../http/api/system/api-keys.ts';
import { systemClock } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import { createLogger } from '../../observability/logger.ts';
import { type RefusalName, REFUSALS } from '../../outbound/gate/facts.ts';
import { socketDirOf } from '../../records/embedded/socket-server.ts';
import { type OnDial, zoneAtNoon } from '../../sim/caller/callee.ts';
import { type CallerLine, type CallerStep, ScriptedCaller } from '../../sim/caller/caller.ts';
import { CallerVoice } from '../../sim/caller/voice.ts';
import { SimulatedTwilioApi } from '../../sim/twilio/api.ts';
import type { LiveView } from '../live-view.ts';
import { requireConfiguration } from '../setup/configuration.ts';
import { speechSource } from '../setup/speech-settings.ts';
import { coloured } from '../shell/output.ts';

export type AttemptView = z.output<typeof attemptView>;

/** As `POST /api/calls` takes it. */
export interface DialWish {
  readonly to: string;
  readonly bot: string;
  readonly from?: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly ringTimeoutMs?: number | undefined;
  readonly profile?: string | undefined;
  readonly purpose?: string | undefined;
  readonly registrations: Readonly<Record<string, string>>;
  readonly zone?: string | undefined;
  readonly carrier?: string | undefined;
}

export interface DialOptions {
  readonly url: string;
  /** Those that the gateway takes. */
  readonly keys: ApiKeyBook;
  readonly dataDir: string;
  readonly idempotencyKey: string | undefined;
  /** Whether to follow the call to its end. */
  readonly wait: boolean;
  readonly print: (line: string) => void;
  readonly view: LiveView;
}

/** The gateway did not place the call, and why. */
export class NotPlaced extends Error {
  override readonly name = 'NotPlaced';
  readonly refusal: RefusalName | undefined;
  readonly retryAt: string | undefined;

  constructor(problem: Problem, status: number) {
    super(problem.detail ?? `the gateway answered with status ${status}`);
    this.refusal = problem.refusal;
    this.retryAt = problem.retryAt ?? undefined;
  }
}

const problemView = z.object({
  detail: z.string().optional(),
  refusal: z.enum(REFUSALS).optional(),
  retryAt: z.string().nullish(),
});
type Problem = z.output<typeof problemView>;

const LOOK_MS = 250;
const KEY_NAME = 'offhook dial, until it ends';
/** A key that a killed command left behind. */
const LEFT_AFTER_MS = 86_400_000;

/**
 * Has a running gateway of this data folder place a call, and follows it.
 * @returns the attempt as it was seen last
 * @throws NotPlaced when the gateway refuses; TypeError of fetch when it does not answer
 */
export async function placeCall(wish: DialWish, options: DialOptions): Promise<AttemptView> {
  const { url, keys, dataDir, idempotencyKey, wait, print, view } = options;
  await using access = await TemporaryKey.make(keys);
  const ask = async (path: string, body?: DialWish): Promise<AttemptView> => {
    const response = await fetch(`${url}/api${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${access.secret}`,
        'content-type': 'application/json',
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new NotPlaced(problemView.parse(answer), response.status);
    return attemptView.parse(answer);
  };
  let attempt = await ask('/calls', wish);
  let live: { readonly close: () => void } | undefined;
  try {
    for (let shown = ''; ; attempt = await ask(`/attempts/${attempt.id}`)) {
      const { state, carrierCallId } = attempt;
      if (state !== shown) print(stateText(attempt));
      shown = state;
      if (state === 'ended' || !wait) return attempt;
      if (carrierCallId !== null) live ??= await followCall(socketDirOf(dataDir), carrierCallId, (news) => view.show(news));
      await sleep(systemClock, LOOK_MS);
    }
  } finally {
    live?.close();
  }
}

/** A key of the API for the time of one command: whoever may write to the data folder may make one. */
class TemporaryKey implements AsyncDisposable {
  readonly secret: string;
  readonly #keys: ApiKeyBook;
  readonly #id: string;
  readonly #end = (): void => void this[Symbol.asyncDispose]().finally(() => process.exit(1));

  private constructor(keys: ApiKeyBook, { secret, key }: NewApiKey) {
    this.#keys = keys;
    this.secret = secret;
    this.#id = key.id;
    process.once('SIGINT', this.#end).once('SIGTERM', this.#end);
  }

  static async make(keys: ApiKeyBook): Promise<TemporaryKey> {
    const nowMs = systemClock.wallMs();
    for (const { id, name, createdAtMs } of await keys.list())
      if (name === KEY_NAME && createdAtMs < nowMs - LEFT_AFTER_MS) await keys.revoke(id);
    const scopes = ['calls:dial', 'dialling:rules', 'calls:read', 'numbers:read'] as const;
    return new TemporaryKey(keys, await keys.create({ name: KEY_NAME, tenantId: 'default', scopes: [...scopes] }, nowMs));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('SIGINT', this.#end).off('SIGTERM', this.#end);
    await this.#keys.revoke(this.#id);
  }
}

function stateText({ id, state, to, carrier, disposition, cause, answeredBy }: AttemptView): string {
  switch (state) {
    case 'queued':
      return coloured('dim', `queued    ${id}`);
    case 'placing':
      return coloured('dim', `placing   ${to} at ${carrier}, call ${id}`);
    case 'ringing':
      return coloured('dim', 'ringing');
    case 'answered':
      return coloured('dim', 'answered');
    case 'ended': {
      const by = answeredBy === null ? '' : `, answered by ${answeredBy}`;
      return `outcome   ${disposition ?? 'unknown'}${cause === null ? '' : ` (${cause})`}${by}`;
    }
  }
}

/** What to do about a refusal, for whoever runs the command. */
export const REMEDIES: Readonly<Record<RefusalName, string>> = {
  'number-invalid': 'Give the number in international form, or set dialling.defaultRegion.',
  suppressed: 'The number is on a do-not-call list (npx offhook suppress). Do not call it.',
  'line-type': 'The profile does not call lines of this kind.',
  'destination-not-allowed': 'Where the call is wanted, add its country or the beginning of the number to dialling.destinations.',
  'purpose-missing': 'Name a purpose with --purpose and the registrations with --registration name=id.',
  'no-consent': 'Enter the consent with its evidence: npx offhook consent.',
  'consent-expired': 'Ask for the consent again: npx offhook consent.',
  'list-too-old': 'Obtain the list anew and import it: npx offhook suppress.',
  'caller-id-not-allowed': 'Name a number of yours with --from; dialling.callerIds lists them.',
  'zone-unknown': "Name the person's time zone with --zone, such as Asia/Kolkata.",
  'cap-campaign': 'The person was called often enough in this campaign.',
  'cap-week': 'Wait: the person was called often enough.',
  'cap-day': 'Wait: the person was called often enough.',
  'ceiling-calls': 'Wait until the next day of UTC, or raise dialling.callsPerDay or dialling.callsPerDayOfKey.',
  'ceiling-cost': 'Wait until the next day of UTC, or raise dialling.costPerDay or dialling.costPerDayOfKey.',
  'ceiling-spend': 'Wait until the next day of UTC, or raise maximumPerDay, of spend or of the bot.',
  holiday: 'Wait until the holiday is over where the person is.',
  'outside-window':
    'Wait for the calling hours where the person is; --zone names their time zone where the number does not tell.',
  'too-soon': 'Wait: the person was called a moment ago, or is being called now.',
};

const ACCOUNT = `AC${'5'.repeat(32)}`;
const AUTH_TOKEN = 'of-the-simulated-account';
/** Numbers of the United Kingdom that are kept for drama. */
const CALLER_ID = '+442079460001';
const RING_MS = 1_500;
/** A person who was not understood hangs up at last. */
const LONGEST_TALK_MS = 60_000;

export interface SimulatedDial {
  readonly url: string;
  readonly dataDir: string;
  /** The caller id, where the command names none. */
  readonly callerId: string;
  /** A zone in which it is noon, where the command names none: nobody is woken. */
  readonly zone: string;
}

/**
 * Runs with a gateway of its own, which knows a simulated carrier with somebody at its other end: no account is needed, and nobody is
 * called.
 * @param says what the person says, one line each time the bot has finished; they greet first, and wait for the bot to hang up
 */
export async function withSimulatedCarrier<Answer>(
  options: { readonly says: readonly string[]; readonly bot: string; readonly from: string | undefined },
  onStage: (stage: string) => void,
  onSaid: (text: string) => void,
  run: (dial: SimulatedDial) => Promise<Answer>,
): Promise<Answer> {
  const { says, bot, from = CALLER_ID } = options;
  await using voice = new CallerVoice();
  const onDial: OnDial = () => ({
    ringMs: RING_MS,
    outcome: { kind: 'answered', fullMedia: true, talk: (line) => talk(line, voice, says, onSaid) },
  });
  await using api = await new SimulatedTwilioApi(ACCOUNT, AUTH_TOKEN, { onDial }).listen();
  const dataDir = await mkdtemp(join(tmpdir(), 'offhook-dial-'));
  const { config, bots } = requireConfiguration({
    OFFHOOK_DATA_DIR: dataDir,
    OFFHOOK_PORT: '0',
    OFFHOOK_PUBLIC_URL: '',
    OFFHOOK_PLATFORM_PORT: '0',
    OFFHOOK_LOG__LEVEL: 'error',
    OFFHOOK_CALL__REFUSE_LAG_MS: '60000',
    OFFHOOK_TWILIO_ACCOUNT_SID: ACCOUNT,
    OFFHOOK_TWILIO_AUTH_TOKEN: AUTH_TOKEN,
    OFFHOOK_TWILIO_API_URL: api.url,
    OFFHOOK_DIALLING__CARRIER: 'twilio',
    OFFHOOK_DIALLING__CALLER_IDS: from,
    // Nobody is called: any number will do.
    OFFHOOK_DIALLING__DESTINATIONS: 'any',
  });
  const logger = createLogger({ level: config.settings.log.level });
  const stop = new AbortController();
  onStage('starting the speech platform (the first start trains its recogniser)');
  await using speech = await speechSource(config, logger, stop.signal);
  onStage('starting the gateway');
  const known = bots.filter(({ name }) => name === bot);
  speech.teach(known);
  await using gateway = await startGateway({
    config,
    // Only this bot's sentences are synthesised ahead; a mistyped name is answered with all there are.
    bots: known.length > 0 ? known : bots,
    speech: speech.settings,
    clock: systemClock,
    logger,
    worker: true,
  });
  await gateway.prepared;
  return await run({ url: gateway.url, dataDir, callerId: from, zone: zoneAtNoon() });
}

/** Greets, as people do who answer, and then takes turns with the bot. */
async function talk(
  line: CallerLine,
  voice: CallerVoice,
  says: readonly string[],
  onSaid: (text: string) => void,
): Promise<void> {
  const language = 'en';
  onSaid('hello');
  line.say(await voice.say('hello', { language }));
  const steps: CallerStep[] = [];
  for (const text of says) steps.push({ kind: 'say', text, pcm: await voice.say(text, { language }) });
  const caller = new ScriptedCaller(line, LONGEST_TALK_MS, onSaid);
  await caller.run([...steps, { kind: 'wait-for-end' }]).catch(() => undefined);
}

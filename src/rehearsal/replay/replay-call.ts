import { type Bot, botSettings } from '../../config/bots.ts';
import { loadVoiceActivity } from '../../audio/voice-activity/voice-activity.ts';
import { inlineJudge } from '../../call/inbound/neural/inline-judge.ts';
import { loadRnnoise } from '../../call/inbound/neural/rnnoise-model.ts';
import { parseKeptAction } from '../../dialog/action-schema.ts';
import { SentenceCutter } from '../../speech/tts/sentences.ts';
import type { Attachment } from '../../carriers/port.ts';
import { Destinations } from '../../config/destinations.ts';
import { createEvents } from '../../observability/events.ts';
import { silentLogger } from '../../observability/logger.ts';
import { createMetrics } from '../../observability/metrics.ts';
import type { CallRecord } from '../../call/log/call-record.ts';
import type { CallServices, CallTiming } from '../../call/services.ts';
import { ANSWER_READER } from '../../call/control/answer-reader.ts';
import { SecretVault } from '../../call/control/secret-vault.ts';
import { CallSession } from '../../call/session.ts';
import { turnMachine } from '../../call/turn/turn.ts';
import { type Decision, DecisionLog } from './decision.ts';
import { replayEndOfTurn } from './end-of-turn.ts';
import { type CallFixture, type Entry, measuresOf, type TurnMeasure } from './fixture.ts';
import { KeptMarks, ReplayedAttachment, replayControl } from './replayed-carrier.ts';
import { type ReadAction, replayDialog } from './replayed-dialog.ts';
import { soundSpeech } from './recorded-speech.ts';
import { replayRecogniser, replaySynthesizer } from './replayed-speech.ts';
import type { NoteStandIn, StandIn } from './replayed-answer.ts';
import { VirtualTime } from './virtual-time.ts';

/** A setting's value; nested names have dots: `interruption.clearAfterMs`. */
export interface NamedSetting {
  readonly name: string;
  readonly value: unknown;
}

/**
 * Makes a change of a bot's settings.
 * @returns a function that throws TypeError, with the reason, for invalid settings
 */
export function settingChange(settings: readonly NamedSetting[]): (bot: Bot) => Bot {
  return (bot) => {
    const {
      folder,
      file: _file,
      version: _version,
      serverUrl: _serverUrl,
      dialogSecret: _secret,
      toolSecrets: _secrets,
      ...plain
    } = bot;
    const changed = settings.reduce<unknown>((document, { name, value }) => withValue(document, name.split('.'), value), plain);
    const parsed = botSettings.safeParse(changed);
    if (parsed.success) return { ...parsed.data, folder };
    const wrong = parsed.error.issues.map(({ path, message }) => [...path.map(String), message].join(': '));
    throw new TypeError(`these are no settings of a bot: ${wrong.join('; ')}`);
  };
}

function withValue(document: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const fields: Record<string, unknown> = typeof document === 'object' && document !== null ? { ...document } : {};
  return { ...fields, [name]: withValue(fields[name], rest, value) };
}

/** External parts of today's code for replays. */
export async function replayParts(): Promise<ReplayParts> {
  return {
    createDetector: await loadVoiceActivity(),
    speechJudge: inlineJudge(await loadRnnoise()),
    createCutter: () => new SentenceCutter(),
    readAction: parseKeptAction,
  };
}

/** External parts of today's code for a replayed call. */
export interface ReplayParts {
  readonly createDetector: CallServices['createDetector'];
  /** For bots that ask for it; must have constant delay. */
  readonly speechJudge?: CallServices['speechJudge'];
  readonly createCutter: CallServices['createCutter'];
  readonly readAction: ReadAction;
}

/** Changes to try in place of the recorded settings. */
export interface ReplayChange {
  readonly bot?: (bot: Bot) => Bot;
  readonly services?: (services: CallServices) => CallServices;
  readonly timing?: Partial<CallTiming>;
  readonly attachment?: (attachment: Attachment) => Attachment;
}

/** Decisions of today's code. */
export interface ReplayedCall {
  readonly decisions: readonly Decision[];
  readonly turns: readonly TurnMeasure[];
  readonly standIns: readonly StandIn[];
}

const TICK_MS = 20;
/** Extra time for a replayed call, which may have more to say now. */
const BEYOND_MS = 20_000;
const NOBODY = '+15550100000';

/** Replays a recorded call through today's code on a virtual clock; has no side effects. */
export async function replayCall(fixture: CallFixture, parts: ReplayParts, change: ReplayChange = {}): Promise<ReplayedCall> {
  const { baseMs, log, truncatedAtMs } = fixture;
  const time = new VirtualTime(baseMs, fixture.recordedAtMs);
  const decisions = new DecisionLog(() => time.nowMs() - baseMs);
  const standIns: StandIn[] = [];
  const standIn: NoteStandIn = (what, said) => void standIns.push({ atMs: Math.round(time.nowMs() - baseMs), what, said });
  let over: CallRecord | undefined;
  const synthesizer = replaySynthesizer(fixture, time, decisions, standIn);
  const services: CallServices = {
    clock: keptTimers(fixture, time),
    logger: silentLogger,
    events: createEvents(silentLogger, createMetrics(), time),
    ticker: decisions.watchTicker(keptTicks(fixture, time)),
    recogniser: replayRecogniser(fixture, time, standIn),
    synthesizer,
    // On the wire only, so silence is enough.
    ambienceOf: ({ ambience }) => (ambience === undefined ? undefined : new Int16Array(8)),
    sounds: { play: (_folder, source, _format, signal) => synthesizer.speak(soundSpeech(source), signal) },
    spareRecognition: keptSpares(fixture),
    createDetector: parts.createDetector,
    speechJudge: parts.speechJudge,
    endOfTurn: replayEndOfTurn(fixture, time),
    createCutter: parts.createCutter,
    vault: new SecretVault(time),
    recordingsFolder: '',
    playout: fixture.playout,
    journal: () => undefined,
    dialling: fixture.placed ?? {},
    // A replay lists no opt-outs.
    refused: () => undefined,
    ended: async (record) => {
      decisions.end(record.endReason);
      over = record;
    },
    news: () => undefined,
    controlOf: () => control,
    destinationsOf: () => Destinations.anywhere,
    machine: turnMachine(ANSWER_READER),
  };
  const control = replayControl(fixture, time, decisions, standIn);
  const changed = change.services?.(services) ?? services;
  const session = new CallSession(
    {
      callId: 'replayed',
      tenantId: 'default',
      inbound: {
        carrier: 'replayed',
        carrierCallId: 'replayed',
        from: NOBODY,
        to: NOBODY,
        direction: fixture.direction,
        botName: undefined,
      },
      outbound: fixture.placed && { variables: {}, metadata: {}, duties: fixture.placed.duties },
      bot: change.bot?.(botOf(fixture)) ?? botOf(fixture),
      dialog: replayDialog(fixture, time, decisions, standIn, parts.readAction),
    },
    {
      ...changed,
      machine: decisions.watchMachine(changed.machine),
      news: decisions.watchNews(changed.news),
    },
    { ...fixture.timing, ...change.timing },
  );
  schedule(fixture, time, session, change.attachment ?? ((attachment) => attachment));
  const untilMs = baseMs + (truncatedAtMs ?? (log.at(-1)?.t ?? 0) + BEYOND_MS);
  await time.run(untilMs, () => over !== undefined);
  // Where the recording is truncated, its end is not the call's.
  const soFar = truncatedAtMs === null ? undefined : decisions.decisions.filter(({ atMs }) => atMs < truncatedAtMs);
  if (over === undefined) session.hangUp('the fixture is over');
  const record = await session.ended;
  return { decisions: soFar ?? decisions.decisions, turns: measuresOf(record), standIns };
}

/** Schedules spontaneous input: the caller's audio and keys, ends by the carrier. */
function schedule(
  fixture: CallFixture,
  time: VirtualTime,
  session: CallSession,
  around: (attachment: Attachment) => Attachment,
): void {
  const marks = new KeptMarks(fixture);
  const attachments = new Map<number, ReplayedAttachment>();
  let from = 0;
  for (const [rank, entry] of fixture.log.entries()) {
    const at = (run: () => void): void => void time.at(fixture.baseMs + entry.t, rank, run);
    if (entry.k === 'attached') {
      const attachment = new ReplayedAttachment(entry, time, marks);
      attachments.set(entry.a, attachment);
      at(() => session.attach(around(attachment)));
    } else if (entry.k === 'audio') {
      const payload = fixture.callerAudio.subarray(from, from + entry.n);
      from += entry.n;
      at(() => attachments.get(entry.a)?.hear(payload, entry.ts ?? undefined));
    } else if (entry.k === 'digit' || entry.k === 'stopped' || entry.k === 'closed') {
      at(() => attachments.get(entry.a)?.emit(carrierEvent(entry)));
    } else if (entry.k === 'ordered') {
      // A refused order is refused again.
      at(() => void session.order(entry.order, 'replay').catch(() => undefined));
    } else if (entry.k === 'witness') {
      at(() => session.witness(entry.witness));
    } else if (entry.k === 'told') {
      at(() => {
        if (entry.what === 'carrier-ended') session.carrierEnded(entry.reason);
        else session.apologise(entry.reason, entry.what === 'shut-down' ? 'shutdown' : 'apology');
      });
    }
  }
}

function carrierEvent(entry: Extract<Entry, { k: 'digit' | 'stopped' | 'closed' }>): Parameters<ReplayedAttachment['emit']>[0] {
  switch (entry.k) {
    case 'digit':
      return { type: 'digit', digit: entry.digit };
    case 'stopped':
      return { type: 'stopped', reason: entry.reason };
    case 'closed':
      return { type: 'closed', code: entry.code, reason: entry.reason };
  }
}

/** Ticks at recorded times, then regularly. */
function keptTicks({ log, baseMs }: CallFixture, time: VirtualTime): CallServices['ticker'] {
  return {
    add(listener) {
      let running = true;
      const tick = (): void => {
        if (running) listener(time.nowMs());
      };
      let lastMs = time.nowMs();
      for (const [rank, entry] of log.entries()) {
        if (entry.k !== 'tick' || baseMs + entry.t < time.nowMs()) continue;
        lastMs = baseMs + entry.t;
        time.at(lastMs, rank, tick);
      }
      const goOn = (): void => {
        tick();
        if (running) time.after(TICK_MS, goOn);
      };
      time.at(lastMs + TICK_MS, undefined, goOn);
      return () => {
        running = false;
      };
    },
  };
}

/** Timers set as recorded fire as late as recorded. */
function keptTimers({ log }: CallFixture, time: VirtualTime): CallServices['clock'] {
  const kept = new Map(log.flatMap((entry, rank) => (entry.k === 'timer' ? [[entry.timer, { ...entry, rank }] as const] : [])));
  let timers = 0;
  return {
    nowMs: () => time.nowMs(),
    wallMs: () => time.wallMs(),
    after(delayMs, run) {
      const same = kept.get(timers);
      timers += 1;
      if (same?.delayMs !== delayMs) return time.after(delayMs, run);
      return time.at(time.nowMs() + same.tookMs, same.rank, run);
    },
  };
}

function keptSpares({ spares }: CallFixture): CallServices['spareRecognition'] {
  const left = [...spares];
  return () => (left.shift() === true ? { release: () => undefined } : undefined);
}

function botOf({ bot }: CallFixture): Bot {
  const dialog = { kind: 'module', file: 'replayed' };
  return { ...botSettings.parse({ ...bot, dialog, recording: 'never' }), folder: '' };
}

import type { CallIdentity, CallRecord } from '../../call/log/call-record.ts';
import { ANSWER_READER } from '../../call/control/answer-reader.ts';
import { SecretVault } from '../../call/control/secret-vault.ts';
import type { CallNews } from '../../call/log/call-news.ts';
import { DEFAULT_LEAD } from '../../call/outbound/playout-pace.ts';
import { TransferQueues } from '../../call/transfer/transfer-queues.ts';
import { findSound } from '../../call/outbound/sounds/sound-place.ts';
import { CallSession } from '../../call/session.ts';
import type { CallServices } from '../../call/services.ts';
import { Ticker } from '../../call/ticker.ts';
import { callerFloor } from '../../call/turn/floor.ts';
import { turnMachine } from '../../call/turn/turn.ts';
import { initialTurn, type TurnState } from '../../call/turn/turn-state.ts';
import type { CallControl } from '../../carriers/port.ts';
import { type Bot, phrasesOf } from '../../config/bots.ts';
import { Destinations } from '../../config/destinations.ts';
import { type DialogHookFactory, soundName } from '../../dialog/port.ts';
import type { DiallingIdentity } from '../../call/control/duties.ts';
import { systemClock } from '../../kernel/clock.ts';
import { withoutCardNumbers } from '../../language/index.ts';
import { errorText, errorTextWithCause } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { sleep } from '../../kernel/waiting.ts';
import { createEvents } from '../../observability/events.ts';
import { type Logger, silentLogger } from '../../observability/logger.ts';
import { createMetrics } from '../../observability/metrics.ts';
import type { VirtualTime } from '../replay/virtual-time.ts';
import type { SynthesisRequest } from '../../speech/port.ts';
import { SentenceCutter } from '../../speech/tts/sentences.ts';
import type { ChatEvent } from './chat-event.ts';
import { DialogWatch } from './dialog-watch.ts';
import { silence, textDetector, TextLine, textSynthesizer } from './text-line.ts';

export interface TextCallOptions {
  readonly bot: Bot;
  /** The bot's dialog, which may hand the call to other bots. */
  readonly dialog: (watch: DialogWatch) => DialogHookFactory;
  readonly from: string;
  readonly to: string;
  /** Initial variables of an outbound call; undefined for an inbound one. */
  readonly outbound: Readonly<Record<string, string>> | undefined;
  readonly dialling: DiallingIdentity;
  readonly time: VirtualTime;
  /** Longest real time for one answer, in ms. */
  readonly deadlineMs: number;
  /** `closed`: the dialog waits for nothing outside, so that its waits pass on virtual time. `patienceMs`: longest virtual wait for a turn. */
  readonly world?: { readonly closed: boolean; readonly patienceMs: number } | undefined;
  readonly onEvent: (event: ChatEvent) => void;
}

const CARRIER = 'chat';
const TICK_MS = 20;
/** Real time between two checks of a working dialog. */
const LOOK_MS = 10;
/** Time between two key presses. */
const KEY_MS = 150;
/** How much an interrupting caller has heard. */
const HEARD_BEFORE_MS = 300;
/** Duration of a called person's hello, and a pause. */
const HELLO_MS = 1_000;
const SLICE_MS = 1_000;
const SOUND_MS = 1_000;

/**
 * A call without audio: the session, turn machine and dialog of a real call, on a virtual clock. It runs as fast as possible while the call only
 * waits for audio, stands still between the caller's acts, and runs in real time while the dialog works, so that a slow bot gets fillers, and is
 * given up, as in a real call.
 */
export class TextCall implements AsyncDisposable {
  readonly #options: TextCallOptions;
  readonly #time: VirtualTime;
  readonly #line: TextLine;
  readonly #session: CallSession;
  readonly #watch: DialogWatch;
  #turn: TurnState = initialTurn();
  /** A filler covers the wait. */
  #covers = false;
  #interrupted = false;
  /** The caller's last words, without card numbers. */
  #said = '';
  /** Number of turns asked. */
  #turns = 0;
  #record: CallRecord | undefined;

  constructor(options: TextCallOptions) {
    this.#options = options;
    this.#time = options.time;
    this.#watch = new DialogWatch((event) => this.#tell(event));
    // A new call id, as servers may keep state by it.
    const callId = newId('call');
    const carrierCallId = `CA${callId.slice('call_'.length)}`;
    this.#line = new TextLine(options.time, carrierCallId);
    const { bot, from, to, outbound } = options;
    const direction = outbound === undefined ? 'inbound' : 'outbound';
    const identity: CallIdentity = {
      callId,
      tenantId: bot.tenant,
      inbound: { carrier: CARRIER, carrierCallId, from, to, direction, botName: bot.name },
      ...(outbound === undefined ? {} : { outbound: { variables: outbound, metadata: {}, duties: [] } }),
      // Text arrives complete, and there is no audio to judge, record or mix.
      bot: { ...bot, askEarly: false, detector: 'energy', recording: 'never', ambience: undefined },
      dialog: options.dialog(this.#watch),
    };
    this.#session = new CallSession(identity, this.#services());
  }

  /** Initial variables of the call. */
  get parameters(): Readonly<Record<string, string>> {
    return this.#options.outbound ?? {};
  }

  /** The record, once the call is over. */
  get record(): CallRecord | undefined {
    return this.#record;
  }

  /** A secret value is expected: only keys are accepted. */
  get expectsSecret(): boolean {
    const { value } = this.#turn.dialog.expectation;
    return value !== undefined && ANSWER_READER.isSecret(value);
  }

  /** The bot answers, and greets. */
  async open(): Promise<void> {
    this.#session.attach(this.#line);
    if (this.#options.outbound !== undefined) {
      // A called party is a person who says hello first: text has no sound by which to detect a mailbox.
      this.#line.say('hello');
      const untilMs = this.#time.nowMs() + HELLO_MS;
      await this.#run(() => this.#time.nowMs() >= untilMs);
      this.#session.witness('person');
    }
    await this.#run(() => this.#isReady());
    this.#line.takeUnheard();
  }

  /** The caller speaks, once the bot has finished. */
  async say(text: string): Promise<void> {
    await this.#botFinishes();
    if (this.#record === undefined) await this.#speak(text);
  }

  /** The caller presses keys, once the bot has finished. */
  async press(keys: string): Promise<void> {
    await this.#botFinishes();
    await this.#press(keys);
  }

  /** The caller stays silent until the bot asks again, or gives up. */
  async silence(): Promise<void> {
    await this.#botFinishes();
    await this.#run(() => this.#turn.phase.name !== 'listening');
    await this.#run(() => this.#isReady());
  }

  /** The caller speaks or presses keys while the bot speaks. @returns false, without effect, where it does not */
  async interrupt(by: { readonly text: string } | { readonly keys: string }): Promise<boolean> {
    if (this.#record !== undefined || this.#turn.phase.name !== 'bot-speaking') return false;
    const untilMs = this.#time.nowMs() + HEARD_BEFORE_MS;
    await this.#run(() => this.#turn.phase.name !== 'bot-speaking' || this.#time.nowMs() >= untilMs);
    this.#interrupted = false;
    await ('keys' in by ? this.#press(by.keys) : this.#speak(by.text));
    if (!this.#interrupted)
      this.#tell({ type: 'warning', message: 'the bot had finished, or does not let itself be interrupted here' });
    return true;
  }

  async hangUp(): Promise<void> {
    await this.#botFinishes();
    if (this.#record !== undefined) return;
    this.#line.stop('the caller hung up');
    await this.#run(() => this.#record !== undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#session.hangUp('cancelled');
    await this.#ended();
    this.#line.close();
  }

  async #speak(text: string): Promise<void> {
    const turnsBefore = this.#turns;
    this.#said = withoutCardNumbers(text);
    this.#line.say(text);
    await this.#run(() => !this.#line.isSpeaking);
    await this.#run(() => this.#isReady());
    const unheard = this.#line.takeUnheard();
    if (this.#record !== undefined || this.#turns > turnsBefore) return;
    this.#tell(
      unheard === ''
        ? { type: 'unheard', because: 'no-turn', text: this.#said }
        : { type: 'unheard', because: 'only-keys', text: '' },
    );
  }

  async #press(keys: string): Promise<void> {
    this.#said = '';
    for (const key of keys) {
      if (this.#record !== undefined) return;
      this.#line.press(key);
      const untilMs = this.#time.nowMs() + KEY_MS;
      await this.#run(() => this.#time.nowMs() >= untilMs);
    }
    await this.#run(() => this.#isReady());
  }

  async #botFinishes(): Promise<void> {
    await this.#run(() => this.#turn.phase.name === 'listening' && this.#isReady());
  }

  /** Whether it is the caller's turn: the bot listens or is speaking its reply, and is not leaving. */
  #isReady(): boolean {
    if (this.#record !== undefined) return true;
    const { phase, farewell, caller } = this.#turn;
    if (farewell.stage !== 'none' || caller.pendingDigits !== '' || this.#watch.answering > 0 || this.#line.isSpeaking)
      return false;
    const listens = phase.name === 'listening' && Number.isFinite(phase.sinceMs);
    return (listens || phase.name === 'bot-speaking') && callerFloor(this.#turn) === undefined;
  }

  /** Lets virtual time pass, or real time while the dialog works, until a condition holds. */
  async #run(until: () => boolean): Promise<void> {
    const done = (): boolean => until() || this.#record !== undefined;
    const { world } = this.#options;
    const deadlineMs = systemClock.nowMs() + this.#options.deadlineMs;
    const patientUntilMs = this.#time.nowMs() + (world?.patienceMs ?? Infinity);
    let worksSince: { readonly realMs: number; readonly virtualMs: number } | undefined;
    while (!done()) {
      const realMs = systemClock.nowMs();
      if (realMs > deadlineMs)
        return this.#giveUp(`the bot had not finished its answer after ${Math.round(this.#options.deadlineMs / 1000)} s`);
      if (this.#time.nowMs() >= patientUntilMs)
        return this.#giveUp(`the caller got no turn for ${Math.round((world?.patienceMs ?? 0) / 1000)} s`);
      if (this.#watch.working === 0) {
        worksSince = undefined;
        await this.#time.run(this.#time.nowMs() + SLICE_MS, () => done() || this.#watch.working > 0);
        continue;
      }
      if (world?.closed === true) {
        await this.#closedWork(done);
        continue;
      }
      worksSince ??= { realMs, virtualMs: this.#time.nowMs() };
      await this.#time.run(worksSince.virtualMs + (realMs - worksSince.realMs), () => done() || this.#watch.working === 0);
      if (this.#watch.working > 0 && !done()) await Promise.race([this.#watch.settled(), sleep(systemClock, LOOK_MS)]);
    }
  }

  /** Work without the outside: virtual time stands still for what takes a moment, such as reading a file, then it is what the dialog waits for. */
  async #closedWork(done: () => boolean): Promise<void> {
    let isSettled = false;
    const settled = this.#watch.settled().then(() => void (isSettled = true));
    await Promise.race([settled, sleep(systemClock, LOOK_MS)]);
    await this.#time.run(this.#time.nowMs() + SLICE_MS, () => isSettled || done());
  }

  async #giveUp(message: string): Promise<void> {
    this.#tell({ type: 'failure', message });
    this.#session.hangUp('deadline');
    await this.#ended();
  }

  /** The dialog has some seconds of real time to clean up. */
  async #ended(): Promise<void> {
    const over = this.#session.ended.then(() => true);
    while (!(await Promise.race([over, sleep(systemClock, LOOK_MS).then(() => false)]))) {
      await this.#time.run(this.#time.nowMs() + LOOK_MS, () => false);
    }
  }

  #tell(event: ChatEvent): void {
    this.#options.onEvent(event);
  }

  #news(news: CallNews): void {
    switch (news.type) {
      case 'turn':
        this.#turns += 1;
        if (news.kind === 'spoken' || news.kind === 'keyed' || news.kind === 'no-input' || news.callerText !== '')
          this.#tell({ type: 'caller', turn: news.turn, kind: kindOf(news.kind), text: news.callerText });
        return;
      case 'heard':
        if (news.heard !== news.text) this.#tell({ type: 'cut', said: news.text, heard: news.heard });
        return;
      case 'answered-by':
        this.#tell({ type: 'answered-by', by: news.by });
        return;
      case 'started':
      case 'partial':
      case 'reply':
      case 'saying':
      case 'floor':
      case 'digit':
      case 'state':
      case 'ordered':
      case 'ended':
        return;
    }
  }

  #services(): CallServices {
    const { dialling, time } = this.#options;
    const warn: Logger['warn'] = ({ error }, message) => {
      const cause = error === undefined ? '' : `: ${errorText(error)}`;
      this.#tell({ type: 'warning', message: `${message}${cause}` });
    };
    const logger: Logger = { ...silentLogger, warn, error: warn };
    const machine = turnMachine(ANSWER_READER);
    const control: CallControl = {
      hangUp: async () => undefined,
      sendDigits: async () => undefined,
      transfer: async () => void time.after(0, () => this.#line.stop('transferred')),
    };
    return {
      clock: time,
      logger,
      events: {
        ...createEvents(silentLogger, createMetrics(), time),
        dialogFailed: ({ error }) => this.#tell({ type: 'failure', message: errorTextWithCause(error) }),
        dialogEmpty: () => this.#tell({ type: 'warning', message: 'the bot answered with nothing: the caller hears silence' }),
      },
      ticker: new Ticker(time, TICK_MS, (error) => warn({ error }, 'the call failed')),
      recogniser: this.#line.recogniser,
      spareRecognition: () => undefined,
      synthesizer: textSynthesizer((request) => this.#says(request)),
      ambienceOf: () => undefined,
      sounds: { play: (folder, source, _format, signal) => this.#play(folder, source, signal) },
      createDetector: () => textDetector,
      createCutter: () => new SentenceCutter(),
      vault: new SecretVault(time),
      recordingsFolder: '',
      playout: DEFAULT_LEAD,
      journal: () => undefined,
      dialling,
      refused: ({ kind }) => this.#tell({ type: 'opted-out', kind, text: this.#said }),
      ended: async (record) => void (this.#record = record),
      news: (news) => this.#news(news),
      controlOf: () => control,
      destinationsOf: () => Destinations.anywhere,
      queues: new TransferQueues(),
      machine: {
        settingsOf: (bot) => machine.settingsOf(bot),
        step: (settings, state, event) => {
          const step = machine.step(settings, state, event);
          this.#turn = step.state;
          this.#covers ||= step.effects.some(({ type }) => type === 'filler');
          this.#interrupted ||= step.effects.some(({ type }) => type === 'clear');
          return step;
        },
      },
    };
  }

  #says({ text, language, voice }: SynthesisRequest): void {
    const says = { type: 'says', text, language, voice } as const;
    this.#covers &&= phrasesOf(this.#options.bot, language).oneMoment.includes(text);
    this.#tell(this.#covers ? { ...says, filler: true } : says);
  }

  /** A sound plays as silence; a missing file fails as in a call. */
  async *#play(folder: string, source: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    if (!URL.canParse(source)) await this.#watch.work(findSound(folder, source));
    this.#tell({ type: 'plays', source: soundName(source) });
    yield* silence(SOUND_MS, signal);
  }
}

function kindOf(kind: string): 'spoken' | 'keyed' | 'no-input' {
  return kind === 'keyed' || kind === 'no-input' ? kind : 'spoken';
}

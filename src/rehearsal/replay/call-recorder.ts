import type { Attachment, CarrierWitness } from '../../carriers/port.ts';
import type { Bot } from '../../config/bots.ts';
import type { DialogAction, DialogHookFactory } from '../../dialog/port.ts';
import type { Clock, Timer } from '../../kernel/clock.ts';
import type { CallIdentity, CallRecord } from '../../call/log/call-record.ts';
import type { PlayoutLead } from '../../call/outbound/playout-pace.ts';
import type { CallServices, CallTiming } from '../../call/services.ts';
import type { CallLegs } from '../../call/transfer/agent-legs.ts';
import type { CallOrder } from '../../call/control/supervision.ts';
import { askedText, inputText, DecisionLog } from './decision.ts';
import { type CallFixture, measuresOf } from './fixture.ts';
import type { FixturePlace } from './fixture-file.ts';
import { FixtureDraft } from './fixture-draft.ts';
import { recordEndOfTurn } from './end-of-turn.ts';
import { recordAnswer, StimulusGate } from './stimulus-gate.ts';
import { keptFormat, RecordedAttachment, recordControl } from './recorded-carrier.ts';
import { recordRecogniser, recordSounds, recordSynthesizer } from './recorded-speech.ts';
import { scrub } from './scrub.ts';

export interface CallRecorderOptions {
  readonly identity: CallIdentity;
  readonly services: CallServices;
  readonly timing: CallTiming;
  /** Life of the fixture; null for ever, for calls without a person. */
  readonly lifeMs: number | null;
  /** Reserves the fixture's place; called before the call counts as over, and can be erased. */
  readonly reserve: () => Promise<FixturePlace>;
  /** Most bytes of audio kept, of both sides. */
  readonly mostBytes?: number;
}

/**
 * Records one call as a fixture. Wraps a call's collaborators: give the call its `identity` and `services`, and pass everything from outside through
 * `attach` and `told`.
 */
export class CallRecorder {
  readonly identity: CallIdentity;
  readonly services: CallServices;
  readonly #options: CallRecorderOptions;
  readonly #gate: StimulusGate;
  readonly #draft: FixtureDraft;
  readonly #decisions: DecisionLog;
  readonly #attachments: RecordedAttachment[] = [];
  readonly #recordedAtMs: number;
  #timers = 0;
  #unwanted = false;

  constructor(options: CallRecorderOptions) {
    const { identity, services } = options;
    this.#options = options;
    this.#gate = new StimulusGate(services.clock);
    this.#draft = new FixtureDraft(this.#gate, options.mostBytes);
    this.#decisions = new DecisionLog(() => this.#draft.t);
    this.#recordedAtMs = services.clock.wallMs();
    this.identity = { ...identity, dialog: this.#dialog(identity.dialog) };
    this.services = this.#around(services);
  }

  /** @param attach hands the socket to the call */
  attach(attachment: Attachment, attach: (attachment: Attachment) => void): void {
    const { carrier, speechFormat, capabilities } = attachment;
    const a = this.#attachments.length;
    const recorded = new RecordedAttachment(attachment, a, this.#gate, this.#draft);
    this.#attachments.push(recorded);
    this.#gate.let(() => {
      const { t } = this.#draft;
      const formats = { format: { ...keptFormat(attachment) }, speechFormat: { ...speechFormat } };
      this.#draft.add({ k: 'attached', t, a, carrier, ...formats, capabilities: { ...capabilities } });
      attach(recorded);
    });
  }

  /** @param tell passes the event to the call */
  told(what: 'carrier-ended' | 'shut-down', reason: string, tell: () => void): void {
    this.#gate.let(() => {
      this.#draft.add({ k: 'told', t: this.#draft.t, what, reason });
      tell();
    });
  }

  /** @param tell passes the carrier's detection to the call */
  witnessed(witness: CarrierWitness, tell: () => void): void {
    this.#gate.let(() => {
      this.#draft.add({ k: 'witness', t: this.#draft.t, witness });
      tell();
    });
  }

  /** @param obey carries out the order */
  ordered(order: CallOrder, obey: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#gate.let(() => {
        this.#draft.add({ k: 'ordered', t: this.#draft.t, order: { ...order } });
        obey().then(resolve, reject);
      });
    });
  }

  #around(services: CallServices): CallServices {
    const [gate, draft, decisions] = [this.#gate, this.#draft, this.#decisions];
    return {
      ...services,
      clock: this.#clock(services.clock),
      ticker: decisions.watchTicker({ add: (listener) => this.#tick(services.ticker, listener) }),
      endOfTurn: recordEndOfTurn(services.endOfTurn, gate, draft),
      recogniser: recordRecogniser(services.recogniser, gate, draft),
      synthesizer: recordSynthesizer(services.synthesizer, gate, draft, decisions),
      sounds: recordSounds(services.sounds, gate, draft, decisions),
      spareRecognition: () => {
        const slot = services.spareRecognition();
        draft.spares.push(slot !== undefined);
        return slot;
      },
      controlOf: (carrier) => {
        const control = services.controlOf(carrier);
        return control === undefined ? undefined : recordControl(control, gate, draft, decisions);
      },
      // Agents' legs are not recorded: the fixture ends where the first one is rung.
      legs: services.legs && watchedLegs(services.legs, () => (draft.truncatedAtMs ??= draft.t)),
      machine: decisions.watchMachine(services.machine),
      news: decisions.watchNews(services.news),
      ended: (record) => this.#ended(record),
    };
  }

  #tick(ticker: CallServices['ticker'], listener: (nowMs: number) => void): () => void {
    let running = true;
    const stop = ticker.add(() =>
      this.#gate.let(() => {
        if (!running) return;
        this.#draft.add({ k: 'tick', t: this.#draft.t });
        listener(this.#gate.nowMs);
      }),
    );
    return () => {
      running = false;
      stop();
    };
  }

  #clock(clock: Clock): Clock {
    const [gate, draft] = [this.#gate, this.#draft];
    return {
      nowMs: () => gate.nowMs,
      wallMs: () => clock.wallMs(),
      after: (delayMs, run): Timer => {
        const timer = this.#timers;
        this.#timers += 1;
        const setMs = draft.t;
        let cancelled = false;
        const inner = clock.after(delayMs, () =>
          gate.let(() => {
            if (cancelled) return;
            draft.add({ k: 'timer', t: draft.t, timer, delayMs, tookMs: draft.t - setMs });
            run();
          }),
        );
        return {
          cancel: () => {
            cancelled = true;
            inner.cancel();
          },
        };
      },
    };
  }

  #dialog(factory: DialogHookFactory): DialogHookFactory {
    const unwanted = (): void => {
      this.#unwanted = true;
    };
    const [gate, draft, decisions] = [this.#gate, this.#draft, this.#decisions];
    return {
      create: (call) => {
        const hook = factory.create(call);
        return {
          get takesAdvice() {
            return hook.takesAdvice ?? false;
          },
          get listener() {
            return hook.listener;
          },
          respond(turn, signal) {
            const kept: CallFixture['answers'][number] = {
              turn: turn.index,
              early: turn.early === true,
              input: inputText(turn.input),
              abortedAfterMs: null,
            };
            const answer = draft.answers.push(kept) - 1;
            decisions.note('dialog', askedText(turn));
            const notes = draft.answerNotes<DialogAction>(
              (action, timing) => {
                // The caller withdrew consent to the recording.
                if (action.type === 'recording' && !action.on) unwanted();
                draft.add({ k: 'action', t: draft.t, ...timing, answer, action: keptAction(action) });
              },
              (timing, failure) => draft.add({ k: 'answered', t: draft.t, ...timing, answer, failure }),
              (afterMs) => void (kept.abortedAfterMs = afterMs),
            );
            return recordAnswer(hook.respond(turn, signal), signal, gate, notes);
          },
          failOver: (failure) => hook.failOver?.(failure),
          dispose: async () => hook.dispose?.(),
        };
      },
    };
  }

  async #ended(record: CallRecord): Promise<void> {
    const { services, reserve, identity } = this.#options;
    const failed = (error: unknown): undefined => {
      services.logger.error({ callId: identity.callId, error }, 'saving a call as a fixture failed');
    };
    this.#decisions.end(record.endReason);
    const isWanted = this.#attachments.length > 0 && !this.#unwanted;
    const place = isWanted ? await reserve().catch(failed) : undefined;
    try {
      await services.ended(record);
    } finally {
      try {
        await using held = place;
        await held?.keep(this.#fixture(record));
      } catch (error) {
        failed(error);
      }
    }
  }

  #fixture(record: CallRecord): CallFixture {
    const { identity, services, timing, lifeMs } = this.#options;
    const draft = this.#draft;
    const { baseMs, log, recognitions, answers, speeches, acts, spares } = draft;
    const truncatedAtMs = draft.truncatedAtMs ?? null;
    return scrub({
      recordedAtMs: this.#recordedAtMs,
      expiresAtMs: lifeMs === null ? null : this.#recordedAtMs + lifeMs,
      baseMs,
      bot: settingsOf(identity.bot),
      playout: leadOf(services.playout),
      timing: { ...timing },
      direction: identity.inbound.direction,
      ...placedOf(identity, services),
      log,
      recognitions,
      answers,
      speeches,
      acts,
      spares,
      lostMarks: this.#attachments.flatMap(({ lostMarks }) => lostMarks),
      decisions: this.#decisions.decisions.filter(({ atMs }) => truncatedAtMs === null || atMs < truncatedAtMs),
      turns: [...measuresOf(record)],
      digitsMasked: false,
      truncatedAtMs,
      callerAudio: Buffer.concat(draft.callerAudio),
      botAudio: Buffer.concat(draft.botAudio),
    });
  }
}

/** Speech of a model is kept by its words, which are all there once the call is over; it is spoken by the bot's voice in a replay. */
function keptAction(action: DialogAction): { readonly type: string; readonly [field: string]: unknown } {
  if (action.type !== 'say' || action.speech === undefined) return { ...action };
  const { speech, ...rest } = action;
  return {
    ...rest,
    get text() {
      return speech.text === '' ? '…' : speech.text;
    },
  };
}

/** The bot settings that affect a call: without its numbers and its dialog's location. */
function settingsOf({
  folder: _folder,
  file: _file,
  version: _version,
  serverUrl: _serverUrl,
  dialogSecret: _secret,
  toolSecrets: _secrets,
  dialog: _dialog,
  numbers: _numbers,
  ...settings
}: Bot): CallFixture['bot'] {
  return settings;
}

function placedOf(
  { outbound }: CallIdentity,
  { dialling: { identityName, callbackNumber } }: CallServices,
): Pick<CallFixture, 'placed'> {
  if (outbound === undefined) return {};
  return { placed: { duties: outbound.duties.map((duty) => ({ ...duty })), identityName, callbackNumber } };
}

function leadOf({ leadLowMs, leadTargetMs, leadMaxMs, messageMs, markEveryMs }: PlayoutLead): CallFixture['playout'] {
  return { leadLowMs, leadTargetMs, leadMaxMs, messageMs, markEveryMs };
}

/** @param opened called when the call has an agent rung */
function watchedLegs(legs: CallLegs, opened: () => void): CallLegs {
  return {
    open: (...asked) => {
      opened();
      return legs.open(...asked);
    },
    placed: (...asked) => legs.placed(...asked),
    close: (leg) => legs.close(leg),
    whileEnding: (ending) => legs.whileEnding(ending),
  };
}

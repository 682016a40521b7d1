import type { Timer } from '../../kernel/clock.ts';
import { partiesOf } from '../../kernel/call-parties.ts';
import type { CallLine } from '../call-line.ts';
import type { RecogniserHandover } from '../inbound/recogniser-handover.ts';
import type { CallLog } from '../log/call-log.ts';
import type { CallerInput } from '../log/call-record.ts';
import type { Media } from '../media.ts';
import type { TimerName, TurnEffect } from '../turn/turn-state.ts';
import type { ExpectedValue } from '../turn/value-reader.ts';
import type { AgentTransfers, CarrierControl } from './carrier-control.ts';
import type { CallLanguage } from './call-language.ts';
import type { DialogDriver, DialogServices } from './dialog-driver.ts';
import type { RefusedCalls } from './refusals.ts';
import type { SecretInput } from './secret-input.ts';
import type { Supervision } from './supervision.ts';

/** The parts of a call that effects act on. */
interface EffectParts {
  readonly dialog: DialogDriver;
  readonly carrier: CarrierControl;
  readonly transfers: AgentTransfers;
  readonly listening: RecogniserHandover;
  readonly language: CallLanguage;
  readonly secret: SecretInput;
  readonly supervision: Supervision;
}

interface EffectServices extends Pick<DialogServices, 'journal'> {
  /** The person wants no more calls: durable when this returns. Never throws. */
  readonly refused: (refused: RefusedCalls) => void;
}

/** Carries out the turn machine's effects in one call, and runs its timers. */
export class TurnEffects {
  readonly #line: CallLine;
  readonly #services: EffectServices;
  readonly #parts: EffectParts;
  readonly #timers = new Map<TimerName, Timer>();

  constructor(line: CallLine, services: EffectServices, parts: EffectParts) {
    this.#line = line;
    this.#services = services;
    this.#parts = parts;
  }

  carryOut(effect: TurnEffect, media: Media): void {
    const { identity, clock, turns, log: callLog } = this.#line;
    const { dialog, carrier, transfers, listening, secret, supervision } = this.#parts;
    const nowMs = clock.nowMs();
    const { conversation } = callLog;
    const { noInputTransfer: transferTo } = identity.bot;
    const { asked, expectation } = turns.state.dialog;
    // The values that the asked turn expected, and that the next one expects.
    const [expected, next] = [asked?.expectation.value, expectation.value];
    if (isFloorEffect(effect)) {
      carryOutFloor(effect, media, callLog, nowMs);
      // Nothing is left to say, so no mark will report the end of the reply.
      if (effect.type === 'restore' && !media.voice.speaking) turns.feed({ type: 'bot-finished', atMs: nowMs });
      return;
    }
    switch (effect.type) {
      case 'commit':
        listening.commit();
        callLog.voicemails.finished();
        callLog.committed(effect);
        return;
      case 'ask-model':
        return media.turnSound?.ask(effect);
      case 'ask-early':
        return dialog.askEarly(secret.hideInWords(effect.text, next), conversation.current + 1, next, media);
      case 'ask':
        callLog.turnOver(conversation.current, media.outbound);
        return this.#ask(secret.hide(effect.input, expected), expected, media);
      case 'ask-again': {
        const input = secret.hide(effect.input, expected);
        conversation.amend(input);
        return this.#ask(input, expected, media, conversation.current);
      }
      case 'amend-history':
        return conversation.amend(amended(asked?.input.kind, secret.hideInWords(effect.text, expected)));
      case 'keep-turn':
        carryOutFloor({ type: 'silence' }, media, callLog, nowMs);
        callLog.turnOver(conversation.current, media.outbound);
        callLog.keptTurn(secret.hide(effect.input, expected));
        return this.#journal();
      case 'filler':
        media.voice.filler();
        callLog.filler(effect.waitingFor);
        return;
      case 'give-up':
        return turns.feed({
          type: 'last-words',
          phrase: transferTo === undefined ? 'goodbye' : 'oneMoment',
          reason: effect.reason,
          transferTo,
        });
      case 'unmuted':
        return supervision.unmuted();
      case 'stalled':
        if (effect.in === 'dialog') dialog.failed(new Error('the dialog stalled in the middle of its answer'), true);
        else this.#line.emit({ type: 'synthesis-stalled' });
        return;
      case 'say-last':
        carrier.forgetKeys();
        supervision.lineNeeded();
        return media.voice.phrase(effect.phrase, conversation.current, 'never');
      case 'opted-out': {
        const { callId, tenantId } = identity;
        this.#services.refused({ callId, tenantId, number: partiesOf(identity.inbound).person, ...callLog.optedOut(effect) });
        return this.#journal();
      }
      case 'start-timer':
        return this.#startTimer(effect.timer, effect.afterMs);
      case 'hang-up':
        return this.#line.hangUp(effect.reason);
      case 'end-call':
        if (effect.atCarrier || (carrier.outlivesStream && effect.reason !== 'transferred')) carrier.endCall();
        return this.#line.emit({ type: 'over', reason: effect.reason });
      case 'silence-caller':
        return media.sound.silenceCaller(effect.fromMs);
      case 'transfer':
        transfers.hold(true);
        void carrier.transfer(effect.to);
        return;
      case 'consult':
        return transfers.start(effect.to);
      case 'dialog-failed':
        return dialog.failed(new Error(effect.reason), true);
    }
  }

  /** The call is over: stops all timers. */
  close(): void {
    for (const timer of this.#timers.values()) timer.cancel();
  }

  #journal(): void {
    this.#services.journal(this.#line.record('in-progress'));
  }

  /** Replaces a timer of the same name. */
  #startTimer(timer: TimerName, afterMs: number): void {
    const { clock, turns } = this.#line;
    this.#timers.get(timer)?.cancel();
    this.#timers.set(
      timer,
      clock.after(afterMs, () => this.#line.guarded(() => turns.feed({ type: timer, atMs: clock.nowMs() }))),
    );
  }

  #ask(
    input: CallerInput,
    expected: ExpectedValue | undefined,
    media: Media,
    turn = this.#line.log.conversation.open(input, this.#line.clock.wallMs()),
  ): void {
    // Drops actions that an earlier attempt at this turn, or the last answer, meant to do after its words.
    this.#parts.carrier.forgetKeys();
    this.#line.log.voicemails.end(media.recording, turn);
    if (input.kind === 'spoken') this.#parts.language.turn(input.text);
    this.#parts.dialog.ask(input, turn, expected, media);
  }
}

/** A better transcript of the turn that is being answered. */
function amended(kind: CallerInput['kind'] | undefined, text: string): CallerInput {
  return kind === 'start' ? { kind, heard: text } : { kind: 'spoken', text };
}

const FLOOR_EFFECTS = ['hold', 'resume', 'clear', 'restore', 'cancel-reply', 'silence'] as const;

/** An effect that takes the floor from the bot, or gives it back. */
type FloorEffect = TurnEffect & { readonly type: (typeof FLOOR_EFFECTS)[number] };

function isFloorEffect(effect: TurnEffect): effect is FloorEffect {
  return FLOOR_EFFECTS.some((type) => type === effect.type);
}

/** Pauses, resumes or clears the outbound audio, and logs it. */
function carryOutFloor(effect: FloorEffect, { outbound, voice, recording }: Media, callLog: CallLog, nowMs: number): void {
  switch (effect.type) {
    case 'hold':
      outbound.playout.hold();
      return callLog.floor('hold', 'voice');
    case 'resume':
      outbound.playout.resume(nowMs);
      outbound.pump(nowMs);
      return callLog.floor('resume', 'quiet');
    case 'clear':
      outbound.clear(nowMs);
      return callLog.interrupted(effect, recording?.positionMs(effect.onsetMs));
    case 'restore':
      outbound.playout.restore();
      outbound.pump(nowMs);
      return callLog.floor('restore', 'words');
    case 'cancel-reply':
      voice.abort();
      outbound.clear(nowMs);
      outbound.playout.discardCut();
      if (!effect.takesBack) return;
      callLog.voicemails.reopen(recording, callLog.conversation.current);
      return callLog.conversation.takeBack();
    case 'silence':
      voice.abort();
      if (outbound.playout.isAudible(nowMs) || !outbound.playout.idle) outbound.clear(nowMs);
      outbound.playout.discardCut();
      outbound.playout.release();
      return;
  }
}

import type { AudibleAction } from '../../dialog/port.ts';
import type { DialogDriver, DialogStanding } from '../control/dialog-driver.ts';
import type { CallLine } from '../call-line.ts';
import type { CallerInput, ResumedCall } from '../log/call-record.ts';
import type { Media } from '../media.ts';
import type { SoundToPlay, Utterance } from '../outbound/reply.ts';
import type { CallServices } from '../services.ts';
import type { WarmTransfers } from '../transfer/warm-transfers.ts';
import type { ResumeState } from './resume-state.ts';

interface WatchedParts {
  readonly dialog: DialogDriver;
  readonly transfers: WarmTransfers;
}

/** Changes within this time are written together. */
const LOOK_MS = 100;

/** Journals what another process needs to continue a call, whenever it changes; and continues a call from it. */
export class StateWatch {
  readonly #line: CallLine;
  readonly #keep: CallServices['keepState'];
  readonly #parts: WatchedParts;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #seen: readonly unknown[] = [];

  constructor(line: CallLine, { keepState }: Pick<CallServices, 'keepState'>, parts: WatchedParts) {
    this.#line = line;
    this.#keep = keepState;
    this.#parts = parts;
  }

  /** Continues a call after a crash, once its media is attached and before any words. */
  goOn(resumed: ResumedCall, media: Media): void {
    const { clock } = this.#line;
    const { next, state } = resumed;
    const { leaves, mutedUntilMs } = state;
    const atMs = clock.nowMs();
    media.voice.switchTo(state.language, state.voice);
    this.#parts.dialog.goOn(resumed, media);
    if (mutedUntilMs !== undefined)
      this.#line.feed({ type: 'muted', atMs, on: true, forMs: Math.max(0, mutedUntilMs - clock.wallMs()) });
    if (leaves === undefined || next.do === 'ask') return;
    const { reason, transferTo, warm } = leaves;
    this.#line.feed({ type: 'leave-after-reply', reason, transferTo, ...(warm ? { warm: true } : {}) });
  }

  /** Checks for changes; called on each tick. */
  tick(nowMs: number, media: Media): void {
    if (nowMs - this.#lookedMs >= LOOK_MS) this.look(media);
  }

  look(media: Media): void {
    if (this.#keep === undefined) return;
    const { clock, log: callLog, turn, identity } = this.#line;
    const { dialog, transfers } = this.#parts;
    this.#lookedMs = clock.nowMs();
    const { farewell, bot, caller, optOut } = turn;
    const { voice, outbound } = media;
    const { standing } = dialog;
    const seen = [
      callLog.conversation.current,
      callLog.conversation.input,
      callLog.memory.changes,
      outbound.ledger.changes,
      voice.reply?.said.length,
      voice.reply?.aborted,
      voice.language,
      farewell,
      bot.muted,
      caller.noInputs,
      optOut.heard,
      standing.changes,
      transfers.seen?.to,
    ];
    if (seen.every((value, place) => Object.is(value, this.#seen[place])) && seen.length === this.#seen.length) return;
    this.#seen = seen;
    this.#keep(identity.callId, this.#state(media, standing));
  }

  #state({ voice, outbound, recording, rates }: Media, { pending, gather, saved }: DialogStanding): ResumeState {
    const { clock, turn: turnState, identity } = this.#line;
    const { farewell, bot, caller, optOut } = turnState;
    const { conversation } = this.#line.log;
    const { current: turn } = conversation;
    const wallOffsetMs = clock.wallMs() - clock.nowMs();
    const { ledger } = outbound;
    const { reply } = voice;
    const isOpen = reply !== undefined && !reply.aborted && reply.turnIndex === turn && !ledger.wasCut(turn);
    const { outbound: placed } = identity;
    return {
      version: 1,
      atMs: clock.wallMs(),
      turn,
      input: inputOf(conversation.input),
      pending,
      settled: isOpen ? undefined : { botText: ledger.sentText(turn), botHeardText: ledger.heardText(turn) },
      sentences: (isOpen ? reply.said : []).map(({ unitId, audible }) => {
        const { startMs, durationMs, played } = ledger.timesOf(unitId);
        return { action: actionOf(audible), played, durationMs, startsAtMs: startMs && startMs + wallOffsetMs };
      }),
      gather,
      leaves:
        farewell.stage === 'after-reply' || farewell.stage === 'last-words'
          ? {
              reason: farewell.reason,
              last: farewell.stage === 'last-words',
              transferTo: farewell.transferTo,
              warm: farewell.warm === true,
            }
          : undefined,
      agent: this.#parts.transfers.seen?.to,
      language: voice.language,
      voice: voice.name,
      noInputs: caller.noInputs,
      mutedUntilMs: bot.muted && Number.isFinite(bot.mutedUntilMs) ? bot.mutedUntilMs + wallOffsetMs : undefined,
      optOutHeard: optOut.heard,
      dialog: saved(),
      outbound: placed && { ...placed, duties: [...placed.duties] },
      rates,
      recording: recording?.earlier,
    };
  }
}

function actionOf(audible: Utterance | SoundToPlay): AudibleAction {
  if ('source' in audible) {
    const { source, loop, preemptible, interruptible, instead } = audible;
    return { type: 'play', source, loop, preemptible, interruptible, ...(instead === undefined ? {} : { text: instead.text }) };
  }
  const { text, language, voice, interruptible } = audible;
  return { type: 'say', text, language, voice, interruptible };
}

/** Without the reading of a secret value, which names its token. */
function inputOf(input: CallerInput | undefined): ResumeState['input'] {
  return input?.kind === 'keyed' ? { kind: 'keyed', digits: input.digits } : input;
}

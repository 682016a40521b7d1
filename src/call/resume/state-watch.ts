import type { AudibleAction } from '../../dialog/port.ts';
import type { DialogDriver, DialogStanding } from '../control/dialog-driver.ts';
import type { CallLog } from '../log/call-log.ts';
import type { CallerInput, CallIdentity } from '../log/call-record.ts';
import type { Media } from '../media.ts';
import type { SoundToPlay, Utterance } from '../outbound/reply.ts';
import type { CallServices } from '../services.ts';
import type { WarmTransfers } from '../transfer/warm-transfers.ts';
import type { TurnLoop } from '../turn/turn.ts';
import type { ResumeState } from './resume-state.ts';

/** The parts of a call that outlive its sockets. */
export interface CallParts {
  readonly callLog: CallLog;
  readonly turns: TurnLoop;
  readonly dialog: DialogDriver;
  readonly warm: WarmTransfers;
}

/** Changes within this time are written together. */
const LOOK_MS = 100;

/** Journals what another process needs to continue a call, whenever it changes. */
export class StateWatch {
  readonly #identity: CallIdentity;
  readonly #services: Pick<CallServices, 'clock' | 'keepState'>;
  readonly #parts: CallParts;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #seen: readonly unknown[] = [];

  constructor(identity: CallIdentity, services: Pick<CallServices, 'clock' | 'keepState'>, parts: CallParts) {
    this.#identity = identity;
    this.#services = services;
    this.#parts = parts;
  }

  /** Checks for changes; called on each tick. */
  tick(nowMs: number, media: Media): void {
    if (nowMs - this.#lookedMs >= LOOK_MS) this.look(media);
  }

  look(media: Media): void {
    const { clock, keepState } = this.#services;
    if (keepState === undefined) return;
    const { callLog, turns, dialog, warm } = this.#parts;
    this.#lookedMs = clock.nowMs();
    const { farewell, bot, caller, optOut } = turns.state;
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
      warm.seen?.to,
    ];
    if (seen.every((value, place) => Object.is(value, this.#seen[place])) && seen.length === this.#seen.length) return;
    this.#seen = seen;
    keepState(this.#identity.callId, this.#state(media, standing));
  }

  #state({ voice, outbound, recording, rates }: Media, { pending, gather, saved }: DialogStanding): ResumeState {
    const { clock } = this.#services;
    const { callLog, turns, warm } = this.#parts;
    const { farewell, bot, caller, optOut } = turns.state;
    const { conversation } = callLog;
    const { current: turn } = conversation;
    const wallOffsetMs = clock.wallMs() - clock.nowMs();
    const { ledger } = outbound;
    const { reply } = voice;
    const isOpen = reply !== undefined && !reply.aborted && reply.turnIndex === turn && !ledger.wasCut(turn);
    const { outbound: placed } = this.#identity;
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
      agent: warm.seen?.to,
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

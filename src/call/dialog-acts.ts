import type { Clock } from '../kernel/clock.ts';
import type { CallLanguage } from './control/call-language.ts';
import type { CarrierControl } from './control/carrier-control.ts';
import type { DialogActs } from './control/dialog-driver.ts';
import type { RecogniserHandover } from './inbound/recogniser-handover.ts';
import type { CallLog } from './log/call-log.ts';
import type { CallIdentity } from './log/call-record.ts';
import type { Media } from './media.ts';
import type { WarmTransfers } from './transfer/warm-transfers.ts';
import { callerFloor } from './turn/floor.ts';
import type { TurnLoop } from './turn/turn.ts';

/** The parts of a call that a dialog's actions reach; some are made after the dialog's driver. */
interface ActParts {
  readonly identity: CallIdentity;
  readonly clock: Clock;
  readonly turns: TurnLoop;
  readonly callLog: CallLog;
  readonly media: () => Media | undefined;
  readonly listening: () => RecogniserHandover;
  readonly language: CallLanguage;
  readonly carrier: () => CarrierControl;
  readonly warm: () => WarmTransfers;
  readonly apologise: (reason: string) => void;
}

/** The effects of dialog actions on a call. */
export function dialogActs({
  identity,
  clock,
  turns,
  callLog,
  media,
  listening,
  language,
  carrier,
  warm,
  apologise,
}: ActParts): DialogActs {
  return {
    expect: (expectation) => turns.feed({ type: 'expect', atMs: clock.nowMs(), expectation }),
    needNotAnswer: () => turns.feed({ type: 'answer-optional' }),
    changeLanguage: (code, voice) => language.change(code, voice),
    keepRecording: (on) => media()?.recording?.consent(on, clock.nowMs()),
    hangUpAfterThis: (reason) => {
      warm().cancel();
      turns.feed({ type: 'leave-after-reply', reason });
    },
    transferAfterThis: (action) => {
      const isWarm = action.warm === undefined ? {} : ({ warm: true } as const);
      warm().prepare(action);
      turns.feed({ type: 'leave-after-reply', reason: 'transferred', transferTo: action.to, ...isWarm });
    },
    cancelTransfer: () => warm().cancel(),
    transferFailed: () => apologise('transfer-failed'),
    transfer: () => warm().standing,
    pressAfterThis: (digits) => carrier().pressAfterThis(digits),
    listenFor: (hints) => listening().listenFor(hints, () => callerFloor(turns.state) === undefined),
    askToWait: () => turns.feed({ type: 'asked-again', atMs: clock.nowMs() }),
    askWhetherThere: () => {
      if (turns.state.farewell.stage !== 'last-words') media()?.voice.phrase('noInput', callLog.conversation.current, 'always');
    },
    giveUp: () => {
      const { failureTransfer: transferTo } = identity.bot;
      turns.feed({ type: 'last-words', phrase: 'apology', reason: 'dialog-failed', transferTo });
    },
  };
}

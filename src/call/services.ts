import type { CallControl, InboundCall } from '../carriers/port.ts';
import type { Bot } from '../config/bots.ts';
import type { DialogHookFactory } from '../dialog/port.ts';
import type { Clock } from '../kernel/clock.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import type { Recogniser, Synthesizer } from '../speech/port.ts';
import type { CallRecord } from './log/call-record.ts';
import type { DetectorParts } from './inbound/neural/detector-of.ts';
import type { PlayoutLead } from './outbound/playout-lead.ts';
import type { RecordingFiles } from './recording/recording-file.ts';
import type { SecretVault } from './control/secret-vault.ts';
import type { Sounds } from './outbound/sounds/port.ts';
import type { Ticker } from './ticker.ts';
import type { TurnMachine } from './turn/turn.ts';

/** What someone watching a call sees as it goes; texts are the callers' and bots' own words. */
export type CallNews =
  | { readonly type: 'started'; readonly callId: string; readonly carrierCallId: string; readonly botName: string }
  | { readonly type: 'partial'; readonly callId: string; readonly text: string }
  | { readonly type: 'turn'; readonly callId: string; readonly turn: number; readonly kind: string; readonly callerText: string }
  | { readonly type: 'reply'; readonly callId: string; readonly turn: number; readonly totalMs: number | undefined }
  /** A sentence of the bot's begins to be heard. */
  | { readonly type: 'saying'; readonly callId: string; readonly turn: number; readonly text: string }
  | { readonly type: 'heard'; readonly callId: string; readonly turn: number; readonly text: string; readonly heard: string }
  | {
      readonly type: 'floor';
      readonly callId: string;
      readonly what: 'hold' | 'resume' | 'clear' | 'restore';
      readonly by: string;
    }
  | { readonly type: 'digit'; readonly callId: string; readonly digit: string }
  | { readonly type: 'ended'; readonly callId: string; readonly reason: string };

/** Gives sentences as soon as nothing that follows can change them. */
export interface SentenceCutter {
  push(text: string): readonly string[];
  flush(): readonly string[];
}

/** What every call of a process shares. */
export interface CallServices extends DetectorParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: BusinessEvents;
  readonly ticker: Pick<Ticker, 'add'>;
  readonly recogniser: Recogniser;
  /** A recognition slot beside those that live calls hold, or undefined when none is free. */
  readonly spareRecognition: () => { release(): void } | undefined;
  readonly synthesizer: Synthesizer;
  /** The room that a bot seems to be in, to be repeated; undefined for none. */
  readonly ambienceOf: (bot: Bot) => Int16Array | undefined;
  /** Audio files that bots play. */
  readonly sounds: Sounds;
  /** Cuts a text that comes in parts into sentences that are synthesized one by one; joined they are the text. */
  readonly createCutter: () => SentenceCutter;
  /** Where card numbers and passwords are, which nothing else keeps. */
  readonly vault: SecretVault;
  readonly recordingsFolder: string;
  /** Where recordings are written; the calls' own thread when absent. */
  readonly recordingFiles?: RecordingFiles;
  /** How far ahead of real time audio is sent, and how it is cut and marked. */
  readonly playout: PlayoutLead;
  /** Keeps the record of a call so far, so that a process that dies loses no turn. Never rejects. */
  readonly journal: (record: CallRecord) => void;
  /** Takes over the record of a call that has ended. */
  readonly ended: (record: CallRecord) => Promise<void>;
  /** Calls of this process that are not over. */
  readonly activeCalls: () => number;
  readonly news: (news: CallNews) => void;
  /** Acts on calls at a carrier; undefined where its account is not configured. */
  readonly controlOf: (carrier: string) => CallControl | undefined;
  /** The rules of turn-taking. */
  readonly machine: TurnMachine;
}

/** What one call is about. */
export interface CallIdentity {
  readonly callId: string;
  readonly tenantId: string;
  readonly inbound: InboundCall;
  readonly bot: Bot;
  readonly dialog: DialogHookFactory;
}

/** Pauses and limits of a call that are the process's, not the bot's. */
export interface CallTiming {
  readonly hangupAfterMarkMs: number;
  /** How long a call whose socket died waits for a new one. */
  readonly reattachMs: number;
  /** How long after a carrier's stop the call may still come back, as it does after a redirect. */
  readonly stopGraceMs: number;
  /** How long a caller waits in silence for a reply that has stopped in its middle. */
  readonly stalledMs: number;
}

export const DEFAULT_CALL_TIMING: CallTiming = {
  hangupAfterMarkMs: 400,
  reattachMs: 10_000,
  stopGraceMs: 1_500,
  stalledMs: 5_000,
};

import type { WireFormat } from '../../audio/format.ts';
import type { InboundCall } from '../../carriers/port.ts';
import type { AnsweredBy } from '../../config/answered-by.ts';
import type { Bot } from '../../config/bots.ts';
import type { AudibleAction, DialogHookFactory } from '../../dialog/port.ts';
import type { InboundAudio } from '../inbound/inbound-audio.ts';
import type { LineRecord } from '../inbound/line-quality.ts';
import type { OutboundAudio } from '../outbound/outbound-audio.ts';
import type { PlayoutCounters, PlayoutSummary } from '../outbound/playout-measures.ts';
import type { HeardSentence } from '../outbound/heard-ledger.ts';
import type { LineRates } from '../resampled-attachment.ts';
import type { EarlierRecording } from '../recording/recording.ts';
import type { RecordingGap } from '../recording/recording-sidecar.ts';
import type { TimelineEvent, TurnLatency } from './timeline.ts';
import type { ResumeState } from '../resume/resume-state.ts';
import type { AnswerReading } from '../../language/index.ts';
import type { UsedUnits } from '../../costs/usage.ts';
import type { AskedInput } from '../turn/turn-state.ts';
import type { TransferRecord } from './transfer-log.ts';
import type { VoicemailRecord } from './voicemail-log.ts';

/** Facts an outbound call starts with. */
export interface OutboundFacts {
  /** Variables the bot's dialog starts with; named as in a flow. */
  readonly variables: Readonly<Record<string, string>>;
  /** Kept with the call's record; the dialog does not see it. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly campaignId?: string | undefined;
  /** The person's time zone, where known. */
  readonly zone?: string | undefined;
  /** Duties that the dialling profile puts on the call: see `Duty` of the dial gate. */
  readonly duties: readonly OutboundDuty[];
}

export interface OutboundDuty {
  readonly duty: string;
  readonly ms?: number | undefined;
}

/** Identity of a call, and what it starts with. */
export interface CallIdentity {
  readonly callId: string;
  readonly tenantId: string;
  /** The call at its carrier; for an outbound call `from` is our caller id, and `to` the person. */
  readonly inbound: InboundCall;
  /** Set for outbound calls. */
  readonly outbound?: OutboundFacts | undefined;
  readonly bot: Bot;
  readonly dialog: DialogHookFactory;
  /** State from before a crash, from which the call continues. */
  readonly resumed?: ResumedCall | undefined;
}

/** The caller's input in a turn, as a record may show it; `reading` where digits were hidden after reading. */
export type CallerInput =
  | Exclude<AskedInput, { readonly kind: 'keyed' }>
  | { readonly kind: 'keyed'; readonly digits: string; readonly reading?: AnswerReading };

/** One exchange: what the caller did, and the reply to it. The greeting is turn 0. */
export interface TurnRecord {
  readonly index: number;
  readonly input: CallerInput;
  /** Joined finals, or the digits keyed. Empty for the greeting and for no input. */
  readonly callerText: string;
  /** What the bot was to say, and the part that was heard; a half-heard word ends in a dash. */
  readonly botText: string;
  readonly botHeardText: string;
  /** Whether the caller cut the reply short. */
  readonly interrupted: boolean;
  readonly latency: TurnLatency;
  /** Recogniser of the caller's words: `platform`, or a speech vendor; absent where there were none. */
  readonly recogniser?: string | undefined;
  /** Synthesizer of the reply, or of its end. */
  readonly synthesizer?: string | undefined;
  /** The dialog's steps to its answer, oldest first; absent where it reported none. */
  readonly steps?: readonly string[] | undefined;
  readonly startedAtWallMs: number;
}

export interface AttachmentRecord {
  readonly id: string;
  readonly streamId: string;
  /** Format on the wire; absent in records of older versions. */
  readonly inbound?: WireFormat;
  readonly outbound?: WireFormat;
  readonly attachedAtWallMs: number;
  readonly detachedAtWallMs: number | undefined;
  readonly reason: string | undefined;
}

export interface InterruptionRecord {
  readonly turn: number;
  readonly by: string;
  /** From the caller's first voiced frame to the clear on the wire. */
  readonly onsetToClearMs: number;
  /** Position in the recording of the first voiced frame, in ms. */
  readonly atMs: number | undefined;
}

/** Facts of an outbound call, beside those every call has. */
export interface OutboundRecord {
  readonly campaignId?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** Who or what answered, by the last opinion; undefined where there was none. */
  readonly answeredBy?: AnsweredBy | undefined;
  /** All opinions, oldest first; `atMs` since the answer. */
  readonly opinions: readonly { readonly by: AnsweredBy; readonly atMs: number; readonly confidence: number }[];
  /** Whether a mailbox message was heard in full; absent where none was left. */
  readonly message?: 'all' | 'part' | undefined;
  /** Whether the first sentence, which says that a machine calls and for whom, was heard to its end. */
  readonly identified: boolean;
}

/** The person asked not to be called again. */
export interface OptOutRecord {
  readonly kind: 'opt-out' | 'wrong-number';
  readonly how: 'spoken' | 'keyed';
  readonly atWallMs: number;
}

/** The part of a call's sound that its standing shows. */
export interface WatchedMedia {
  readonly outbound: OutboundAudio;
  readonly inbound: Pick<InboundAudio, 'missingMs'>;
}

/** A live call at a glance. */
export interface CallStanding {
  readonly startedAtWallMs: number;
  readonly turns: number;
  /** Texts of the last turn; the bot's as intended, heard or not. */
  readonly callerText: string;
  readonly botText: string;
  /** Set for outbound calls. */
  readonly answeredBy: AnsweredBy | undefined;
  /** How long the caller waited for the last reply. */
  readonly lastReplyMs: number | undefined;
  /** How late the carrier plays outbound audio, and how much inbound audio never arrived. */
  readonly lateMs: number;
  readonly holesMs: number;
}

/** The stored record of an ended call; version 1. */
export interface CallRecord {
  readonly version: 1;
  readonly id: string;
  readonly tenantId: string;
  readonly botName: string;
  /** Version of the bot's files; see `botVersion`. */
  readonly botVersion?: string | undefined;
  readonly carrier: string;
  readonly carrierCallId: string;
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
  /** A call between people: the bot's side holds the other party's words. */
  readonly mode?: 'listen' | undefined;
  /** The version of the bot that a person tried out: see `InboundCall`. */
  readonly rehearses?: string | undefined;
  readonly language: string;
  readonly startedAtWallMs: number;
  readonly endedAtWallMs: number;
  readonly durationMs: number;
  readonly endReason: string;
  readonly digits: string;
  readonly turns: readonly TurnRecord[];
  readonly interruptions: readonly InterruptionRecord[];
  /** Contests decided for the bot: coughs, knocks, noise. */
  readonly falseAlarms: number;
  readonly sentences: readonly HeardSentence[];
  readonly attachments: readonly AttachmentRecord[];
  readonly variables: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
  /** Set for outbound calls. */
  readonly outbound?: OutboundRecord | undefined;
  readonly optOut?: OptOutRecord | undefined;
  /** When the person asked to be called back. */
  readonly callBackAtWallMs?: number | undefined;
  /** Oldest first. */
  readonly transfers: readonly TransferRecord[];
  /** Messages after the tone, oldest first; absent where there are none. */
  readonly voicemails?: readonly VoicemailRecord[] | undefined;
  /** What it used of speech vendors and models; its carrier's minutes follow from its times. */
  readonly usage: readonly UsedUnits[];
  readonly recordingPath: string | undefined;
  /** Wall time of the recording's first sample; absent in records of older versions. */
  readonly recordingStartedAtWallMs?: number | undefined;
  readonly recordingFailure: string | undefined;
  readonly recordingGaps: readonly RecordingGap[];
  readonly playout: Readonly<PlayoutCounters> & PlayoutSummary;
  /** The caller's line; absent before it began, in records of older versions, and of calls between people. */
  readonly line?: LineRecord | undefined;
  readonly timeline: readonly TimelineEvent[];
}

/** How a resumed call continues, after an apology for the gap. */
export type NextStep =
  /** Says the unheard rest of the last reply, then listens. */
  | { readonly do: 'say'; readonly sentences: readonly AudibleAction[] }
  /** Asks the dialog the running turn again. `heard`: sentences of its answer that are not repeated. */
  | { readonly do: 'ask'; readonly input: CallerInput; readonly isNew: boolean; readonly heard: readonly string[] };

/** A call that continues in this process. */
export interface ResumedCall {
  readonly revision: number;
  /** For a call of another machine: its address, and where it has the recording so far. */
  readonly missing?: { readonly machine: string; readonly recordingPath?: string } | undefined;
  readonly gapMs: number;
  readonly startedAtWallMs: number;
  readonly turns: readonly TurnRecord[];
  /** Times in ms since the call's start. */
  readonly timeline: readonly TimelineEvent[];
  readonly attachments: readonly AttachmentRecord[];
  readonly digits: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
  readonly optOut: OptOutRecord | undefined;
  readonly callBackAtWallMs: number | undefined;
  readonly voicemails?: readonly VoicemailRecord[] | undefined;
  readonly usage?: readonly UsedUnits[] | undefined;
  readonly found: Pick<OutboundRecord, 'opinions' | 'message' | 'identified'> | undefined;
  readonly outbound: OutboundFacts | undefined;
  readonly recording: EarlierRecording | undefined;
  readonly rates: LineRates;
  readonly next: NextStep;
  readonly state: ResumeState;
}

import type { WireFormat } from '../../audio/format.ts';
import type { InboundCall } from '../../carriers/port.ts';
import type { AnsweredBy } from '../../config/answered-by.ts';
import type { Bot } from '../../config/bots.ts';
import type { AudibleAction, DialogHookFactory } from '../../dialog/port.ts';
import type { InboundAudio } from '../inbound/inbound-audio.ts';
import type { OutboundAudio } from '../outbound/outbound-audio.ts';
import type { PlayoutCounters, PlayoutSummary } from '../outbound/playout-measures.ts';
import type { HeardSentence } from '../outbound/heard-ledger.ts';
import type { LineRates } from '../resampled-attachment.ts';
import type { EarlierRecording } from '../recording/recording.ts';
import type { RecordingGap } from '../recording/recording-sidecar.ts';
import type { TimelineEvent, TurnLatency } from './timeline.ts';
import type { ResumeState } from '../resume/resume-state.ts';
import type { AnswerReading } from '../../language/index.ts';
import type { AskedInput } from '../turn/turn-state.ts';
import type { TransferRecord } from './transfer-log.ts';
import type { VoicemailRecord } from './voicemail-log.ts';

/** What a call that we place begins with. */
export interface OutboundFacts {
  /** Of the bot, from the start of the dialog; names as in a flow. */
  readonly variables: Readonly<Record<string, string>>;
  /** Kept with the call's record; the dialog does not see it. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly campaignId?: string | undefined;
  /** The person's time zone, where it is known. */
  readonly zone?: string | undefined;
  /** What the dialling profile has the call itself do: see `Duty` of the dial gate. */
  readonly duties: readonly OutboundDuty[];
}

export interface OutboundDuty {
  readonly duty: string;
  readonly ms?: number | undefined;
}

/** What one call is about. */
export interface CallIdentity {
  readonly callId: string;
  readonly tenantId: string;
  /** The call as its carrier has it; `from` is our caller id, and `to` the person, where we placed it. */
  readonly inbound: InboundCall;
  /** Of a call that we placed. */
  readonly outbound?: OutboundFacts | undefined;
  readonly bot: Bot;
  readonly dialog: DialogHookFactory;
  /** What a process that died had of it: the call goes on from there. */
  readonly resumed?: ResumedCall | undefined;
}

/** What the caller said or keyed in a turn, as a record may show it; `reading` where digits were hidden after they had been read. */
export type CallerInput =
  | Exclude<AskedInput, { readonly kind: 'keyed' }>
  | { readonly kind: 'keyed'; readonly digits: string; readonly reading?: AnswerReading };

/** One exchange: what the caller did, and the reply to it. The greeting is turn 0. */
export interface TurnRecord {
  readonly index: number;
  readonly input: CallerInput;
  /** Joined finals; for keys, the digits. Empty for the greeting and for no input. */
  readonly callerText: string;
  /** What the bot was to say, and what of it was heard; a half-heard word ends in a dash. */
  readonly botText: string;
  readonly botHeardText: string;
  /** Whether the caller cut the reply short. */
  readonly interrupted: boolean;
  readonly latency: TurnLatency;
  /** Who recognised what the caller said: `platform`, or a speech vendor; absent where nobody did. */
  readonly recogniser?: string | undefined;
  /** Who spoke the reply, or the end of it. */
  readonly synthesizer?: string | undefined;
  /** Steps that the dialog went through to its answer, oldest first; absent where it told none. */
  readonly steps?: readonly string[] | undefined;
  readonly startedAtWallMs: number;
}

export interface AttachmentRecord {
  readonly id: string;
  readonly streamId: string;
  /** What the wire carried; absent in records of older versions. */
  readonly inbound?: WireFormat;
  readonly outbound?: WireFormat;
  readonly attachedAtWallMs: number;
  readonly detachedAtWallMs: number | undefined;
  readonly reason: string | undefined;
}

export interface InterruptionRecord {
  readonly turn: number;
  readonly by: string;
  /** From the first voiced frame of the caller to the clear on the wire. */
  readonly onsetToClearMs: number;
  /** Position in the recording of the first voiced frame, in ms. */
  readonly atMs: number | undefined;
}

/** What is known of an outbound call beside what every call has. */
export interface OutboundRecord {
  readonly campaignId?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** Who or what answered, as it was seen at the end; undefined where nothing told. */
  readonly answeredBy?: AnsweredBy | undefined;
  /** Each opinion on the way there, first one first; `atMs` since the answer. */
  readonly opinions: readonly { readonly by: AnsweredBy; readonly atMs: number; readonly confidence: number }[];
  /** Of the message that was left on a mailbox: whether all of it was heard out. */
  readonly message?: 'all' | 'part' | undefined;
  /** Whether the first sentence was heard to its end: the one that says who calls, and that a machine does. */
  readonly identified: boolean;
}

/** The person asked not to be called again. */
export interface OptOutRecord {
  readonly kind: 'opt-out' | 'wrong-number';
  readonly how: 'spoken' | 'keyed';
  readonly atWallMs: number;
}

/** The sound of a call, as far as its standing is told from it. */
export interface WatchedMedia {
  readonly outbound: OutboundAudio;
  readonly inbound: Pick<InboundAudio, 'missingMs'>;
}

/** A live call at a glance. */
export interface CallStanding {
  readonly startedAtWallMs: number;
  readonly turns: number;
  /** Of the last turn; what the bot means to say, heard or not. */
  readonly callerText: string;
  readonly botText: string;
  /** Of a call that we placed. */
  readonly answeredBy: AnsweredBy | undefined;
  /** How long the caller waited for the last reply. */
  readonly lastReplyMs: number | undefined;
  /** How late the carrier plays what we send, and how much audio of the caller never came. */
  readonly lateMs: number;
  readonly holesMs: number;
}

/** Everything that is kept of a call when it has ended; version 1. */
export interface CallRecord {
  readonly version: 1;
  readonly id: string;
  readonly tenantId: string;
  readonly botName: string;
  /** Of the bot's files; see `botVersion`. */
  readonly botVersion?: string | undefined;
  readonly carrier: string;
  readonly carrierCallId: string;
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
  /** A call between people: what stands for the bot's side was said by whoever the caller talked to. */
  readonly mode?: 'listen' | undefined;
  readonly language: string;
  readonly startedAtWallMs: number;
  readonly endedAtWallMs: number;
  readonly durationMs: number;
  readonly endReason: string;
  readonly digits: string;
  readonly turns: readonly TurnRecord[];
  readonly interruptions: readonly InterruptionRecord[];
  /** Contests that were decided for the bot: coughs, knocks, noise. */
  readonly falseAlarms: number;
  readonly sentences: readonly HeardSentence[];
  readonly attachments: readonly AttachmentRecord[];
  readonly variables: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
  /** Of a call that we placed. */
  readonly outbound?: OutboundRecord | undefined;
  readonly optOut?: OptOutRecord | undefined;
  /** When the person asked to be called. */
  readonly callBackAtWallMs?: number | undefined;
  /** Oldest first. */
  readonly transfers: readonly TransferRecord[];
  /** Messages after the tone, oldest first; absent where none was left. */
  readonly voicemails?: readonly VoicemailRecord[] | undefined;
  readonly recordingPath: string | undefined;
  /** Wall time of the recording's first sample; absent in records of older versions. */
  readonly recordingStartedAtWallMs?: number | undefined;
  readonly recordingFailure: string | undefined;
  readonly recordingGaps: readonly RecordingGap[];
  readonly playout: Readonly<PlayoutCounters> & PlayoutSummary;
  readonly timeline: readonly TimelineEvent[];
}

/** How a call goes on, behind the sentence that says that the caller was lost. */
export type NextStep =
  /** Says what the caller has not heard of the last reply, then listens. */
  | { readonly do: 'say'; readonly sentences: readonly AudibleAction[] }
  /** Asks the dialog the running turn again. `heard`: sentences of its answer that are not said twice. */
  | { readonly do: 'ask'; readonly input: CallerInput; readonly isNew: boolean; readonly heard: readonly string[] };

/** A call that goes on in this process. */
export interface ResumedCall {
  readonly revision: number;
  /** Of a call of another machine: which one, and where that has the recording so far. */
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
  readonly found: Pick<OutboundRecord, 'opinions' | 'message' | 'identified'> | undefined;
  readonly outbound: OutboundFacts | undefined;
  readonly recording: EarlierRecording | undefined;
  readonly rates: LineRates;
  readonly next: NextStep;
  readonly state: ResumeState;
}

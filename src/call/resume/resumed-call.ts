import type { Bot } from '../../config/bots.ts';
import type { InboundCall } from '../../carriers/port.ts';
import type { AudibleAction } from '../../dialog/port.ts';
import type { CallRecord as StoredCall } from '../../records/record.ts';
import type { AttachmentRecord, CallerInput, NextStep, ResumedCall, TurnRecord } from '../log/call-record.ts';
import type { TimelineEvent } from '../log/timeline.ts';
import { cutWords } from '../outbound/heard-ledger.ts';
import { initialTurn, type TurnState } from '../turn/turn-state.ts';
import type { ResumeState } from './resume-state.ts';

/** What is known of a crash. */
export interface Break {
  /** When the carrier's request was handled. */
  readonly nowWallMs: number;
  /** When the carrier asked, possibly earlier. */
  readonly askedAtWallMs?: number | undefined;
  /** The recording file as the process left it. */
  readonly file?: { readonly bytes: number; readonly writtenAtWallMs: number } | undefined;
  /** Set for a call of another machine, which has the recording so far. */
  readonly from?:
    | {
        /** Its address. */
        readonly machine: string;
        /** Where the recording continues here. */
        readonly recordingPath: string;
        /** Bytes this machine itself recorded, before the other one had the call. */
        readonly bytesHere: number;
      }
    | undefined;
}

const HEADER_BYTES = 44;
/** Reason for a silent part that another machine recorded. */
const ELSEWHERE = 'on-another-machine';
/** Delay between hearing and writing a recording. */
const WRITTEN_LATER_MS = 300;
/** A sentence cut this close to its end counts as heard. */
const NEARLY_MS = 300;
/** Assumed speaking rate where a sentence's length is unknown. */
const CHARACTERS_PER_SECOND = 14;

/** Computes what a session continues from, out of the journal of a crashed process's call. Pure. */
export function resumedCall(record: StoredCall, state: ResumeState, at: Break): ResumedCall {
  const { nowWallMs, askedAtWallMs = nowWallMs, file, from } = at;
  const lastSignMs = Math.max(state.atMs, file?.writtenAtWallMs ?? 0);
  // Without a recording, the carrier's request is the earliest known time of the crash.
  const brokeAtMs = file === undefined ? Math.min(askedAtWallMs, nowWallMs) : Math.min(nowWallMs, lastSignMs + WRITTEN_LATER_MS);
  const heard = heardAt(state, brokeAtMs);
  const { recordingPath } = record;
  const { recording, rates, turn } = state;
  const turns = record.turns
    .filter(({ index }) => index <= turn)
    .map((each) => turnOf(each, each.index === turn ? saidOf(state, heard) : undefined));
  return {
    revision: record.revision,
    ...(from === undefined
      ? {}
      : { missing: { machine: from.machine, ...(recordingPath === undefined ? {} : { recordingPath }) } }),
    gapMs: Math.max(0, Math.round(nowWallMs - brokeAtMs)),
    startedAtWallMs: record.startedAtMs,
    turns: withInput(turns, state),
    timeline: record.timeline.filter(isOurs),
    attachments: record.attachments.map((attachment) => attachmentOf(attachment, brokeAtMs)),
    digits: record.digits,
    variables: record.variables ?? {},
    notes: record.notes ?? [],
    optOut: record.optOut && { kind: record.optOut.kind, how: record.optOut.how, atWallMs: record.optOut.atMs },
    callBackAtWallMs: record.callBackAtMs,
    usage: record.usage,
    voicemails: record.voicemails?.map(({ startedAtMs: startedAtWallMs, ...voicemail }) => ({ ...voicemail, startedAtWallMs })),
    found: record.outbound,
    outbound: state.outbound,
    recording:
      recordingPath === undefined || recording === undefined
        ? undefined
        : from !== undefined
          ? recordingElsewhere(recording, rates.rateHz, brokeAtMs, from)
          : {
              path: recordingPath,
              dataBytes: audioBytes(file?.bytes ?? HEADER_BYTES),
              startedAtWallMs: recording.startedAtMs,
              gaps: recording.gaps,
              kept: recording.kept.map(({ fromMs, toMs }) => ({ fromMs, toMs })),
            },
    rates,
    next: nextStep(state, heard),
    state,
  };
}

/** A recording whose earlier part is on another machine: silence here, marked as a gap, until both are joined. */
function recordingElsewhere(
  recording: NonNullable<ResumeState['recording']>,
  rateHz: number,
  brokeAtMs: number,
  { recordingPath, bytesHere }: NonNullable<Break['from']>,
): NonNullable<ResumedCall['recording']> {
  const samplesPerMs = rateHz / 1000;
  const samples = Math.max(0, Math.floor((brokeAtMs - recording.startedAtMs) * samplesPerMs));
  const ownMs = audioBytes(bytesHere) / 4 / samplesPerMs;
  const gaps = recording.gaps.filter(({ reason }) => reason !== ELSEWHERE);
  const toMs = samples / samplesPerMs;
  return {
    path: recordingPath,
    dataBytes: samples * 4,
    startedAtWallMs: recording.startedAtMs,
    gaps: toMs > ownMs ? [...gaps, { fromMs: ownMs, toMs, reason: ELSEWHERE }] : gaps,
    kept: recording.kept.map(({ fromMs, toMs: untilMs }) => ({ fromMs, toMs: untilMs })),
  };
}

/** Audio bytes of a file, in whole stereo samples. */
function audioBytes(fileBytes: number): number {
  return Math.max(0, Math.floor((fileBytes - HEADER_BYTES) / 4) * 4);
}

/** A call left by a dead process. */
export interface LeftBehind {
  readonly record: StoredCall;
  readonly resumed: ResumedCall;
  /** The version of the bot that it began with; that of now where absent. */
  readonly began?: Bot | undefined;
}

/** The resumed call that a carrier asks for; undefined where it belongs to another, or the bot had left it. */
export function leftOf(
  left: LeftBehind | undefined,
  asked: Pick<InboundCall, 'carrier' | 'carrierCallId'>,
): (Omit<LeftBehind, 'record'> & { readonly known: InboundCall; readonly tenantId: string }) | undefined {
  if (left === undefined || hadLeft(left.resumed)) return undefined;
  const { carrier, carrierCallId, from, to, direction, botName, tenantId } = left.record;
  if (carrier !== asked.carrier || carrierCallId !== asked.carrierCallId) return undefined;
  const rehearses = left.record.rehearsal === true ? left.record.botVersion : undefined;
  return {
    known: { carrier, carrierCallId, from, to, direction, botName, rehearses },
    tenantId,
    began: left.began,
    resumed: left.resumed,
  };
}

/** Whether the bot had said its last words when the process died, so that nothing is left to say. */
function hadLeft({ next, state }: ResumedCall): boolean {
  const isSilent = next.do === 'say' && next.sentences.length === 0;
  return isSilent && state.leaves !== undefined && state.leaves.transferTo === undefined;
}

/** The turn state to start from. */
export function resumedTurn({ state, next }: ResumedCall, nowMs: number): TurnState {
  const initial = initialTurn();
  const caller = { ...initial.caller, noInputs: state.noInputs };
  const optOut = { ...initial.optOut, heard: state.optOutHeard };
  const phase = next.do === 'ask' ? ({ name: 'thinking', sinceMs: nowMs, fillerSaid: true } as const) : initial.phase;
  return { ...initial, caller, optOut, phase };
}

interface Heard {
  /** Sentences heard to their end. */
  readonly whole: readonly AudibleAction[];
  /** Heard part of the next sentence. */
  readonly part: string;
  readonly rest: readonly AudibleAction[];
}

function heardAt({ sentences }: ResumeState, atMs: number): Heard {
  const first = sentences.findIndex(({ played, startsAtMs, durationMs, action }) => {
    if (played) return false;
    const endMs = (startsAtMs ?? Number.POSITIVE_INFINITY) + (durationMs ?? estimatedMs(textOf(action)));
    return endMs > atMs + NEARLY_MS;
  });
  const actions = sentences.map(({ action }) => action);
  const cut = sentences[first];
  if (cut === undefined) return { whole: actions, part: '', rest: [] };
  const text = textOf(cut.action);
  const share = (atMs - (cut.startsAtMs ?? atMs)) / (cut.durationMs ?? estimatedMs(text));
  const { heardText, halfHeardWord } = cutWords(text, share);
  const part = halfHeardWord === undefined ? heardText : `${heardText} ${halfHeardWord}—`.trim();
  return { whole: actions.slice(0, first), part, rest: actions.slice(first) };
}

function nextStep({ pending, input, agent, turn }: ResumeState, { whole, rest }: Heard): NextStep {
  const heard = whole.map(textOf);
  if (agent !== undefined) {
    const failed = { kind: 'transfer', outcome: 'dropped', to: agent, cause: 'process-died' } as const;
    return { do: 'ask', input: failed, isNew: true, heard: [] };
  }
  if (turn < 0) return { do: 'ask', input: { kind: 'start' }, isNew: true, heard: [] };
  if (pending && input !== undefined) return { do: 'ask', input: callerInputOf(input), isNew: false, heard };
  return { do: 'say', sentences: rest };
}

function textOf(action: AudibleAction): string {
  return action.text ?? '';
}

function estimatedMs(text: string): number {
  return (text.length / CHARACTERS_PER_SECOND) * 1000;
}

/** What was said and heard of the running turn's reply; repeated parts are not included. */
function saidOf({ settled }: ResumeState, { whole, part }: Heard): Pick<TurnRecord, 'botText' | 'botHeardText'> {
  const botText = whole.map(textOf).join(' ');
  return settled ?? { botText, botHeardText: `${botText} ${part}`.trim() };
}

/** @param said newer than the record */
function turnOf(turn: StoredCall['turns'][number], said?: Pick<TurnRecord, 'botText' | 'botHeardText'>): TurnRecord {
  const { latencies, inputKind, startedAtMs, callerText, steps, recogniser, synthesizer, interrupted } = turn;
  return {
    index: turn.index,
    input: inputOf(inputKind, callerText),
    callerText,
    botText: said?.botText ?? turn.botText,
    botHeardText: said?.botHeardText ?? turn.botHeardText,
    interrupted,
    latency: {
      endpointing: latencies.endpointing,
      asrFinal: latencies.asrFinal,
      dialog: latencies.dialog,
      ttsFirstByte: latencies.ttsFirstByte,
      firstFrame: latencies.firstFrame,
      total: latencies.total,
    },
    ...(recogniser === undefined ? {} : { recogniser }),
    ...(synthesizer === undefined ? {} : { synthesizer }),
    ...(steps === undefined ? {} : { steps }),
    startedAtWallMs: startedAtMs,
  };
}

function inputOf(kind: StoredCall['turns'][number]['inputKind'], text: string): CallerInput {
  switch (kind) {
    case 'start':
      return text === '' ? { kind } : { kind, heard: text };
    case 'spoken':
      return { kind, text };
    case 'keyed':
      return { kind, digits: text };
    case 'no-input':
      return { kind, attempt: 1 };
    case 'tool-result':
      return { kind, tool: '' };
    case 'transfer':
      return { kind, outcome: 'failed', to: '' };
  }
}

function callerInputOf(input: NonNullable<ResumeState['input']>): CallerInput {
  switch (input.kind) {
    case 'start':
      return input.heard === undefined ? { kind: 'start' } : { kind: 'start', heard: input.heard };
    case 'spoken':
      return { kind: 'spoken', text: input.text, ...(input.keys === undefined ? {} : { keys: input.keys }) };
    case 'keyed':
    case 'no-input':
    case 'tool-result':
    case 'transfer':
      return input;
  }
}

/** The running turn from the state, which is newer than the record. */
function withInput(turns: readonly TurnRecord[], { turn, input }: ResumeState): readonly TurnRecord[] {
  return input === undefined
    ? turns
    : turns.map((each) => (each.index === turn ? { ...each, input: callerInputOf(input) } : each));
}

function attachmentOf(attachment: StoredCall['attachments'][number], brokeAtMs: number): AttachmentRecord {
  const { id, streamId, startedAtMs, endedAtMs = brokeAtMs, endReason = 'process-died' } = attachment;
  return { id, streamId, attachedAtWallMs: startedAtMs, detachedAtWallMs: endedAtMs, reason: endReason };
}

/** Journalled events have the form this version writes. */
function isOurs(event: StoredCall['timeline'][number]): event is StoredCall['timeline'][number] & TimelineEvent {
  return Number.isFinite(event.atMs) && event.type !== '';
}

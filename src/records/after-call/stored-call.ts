import type { RecordingFormat } from '../../audio/recording-format.ts';
import type { CallRecord } from '../../call/log/call-record.ts';
import type { TimelineEvent } from '../../call/log/timeline.ts';
import type { NewCallRecord } from '../record.ts';

/**
 * A call's record in the store's form. Rising revisions of one call replace each other.
 * @param recordingAs what its recording is to be turned into; `wav` is what it is
 */
export function storedCall(record: CallRecord, revision: number, recordingAs: RecordingFormat = 'wav'): NewCallRecord {
  const legId = `${record.id}.0`;
  const recordingPath = record.recordingPath;
  const offsetMs = startOf(record);
  const sinceStart = (atMs: number): number => Math.round((atMs - offsetMs) * 10) / 10;
  const wallOf = (atMs: number): number => record.startedAtWallMs + Math.max(0, atMs - offsetMs);
  const ended = record.endReason !== 'in-progress';
  return {
    id: record.id,
    tenantId: record.tenantId,
    revision,
    botName: record.botName,
    botVersion: record.botVersion,
    carrier: record.carrier,
    carrierCallId: record.carrierCallId,
    from: record.from,
    to: record.to,
    direction: record.direction,
    ...(record.mode === undefined ? {} : { mode: record.mode }),
    ...(record.rehearses === undefined ? {} : { rehearsal: true }),
    language: record.language,
    startedAtMs: record.startedAtWallMs,
    answeredAtMs: record.attachments[0]?.attachedAtWallMs,
    endedAtMs: ended ? record.endedAtWallMs : undefined,
    endReason: ended ? record.endReason : undefined,
    digits: record.digits,
    variables: { ...record.variables },
    notes: [...record.notes],
    ...outboundOf(record),
    ...(record.optOut && { optOut: { kind: record.optOut.kind, how: record.optOut.how, atMs: record.optOut.atWallMs } }),
    ...(record.callBackAtWallMs === undefined ? {} : { callBackAtMs: record.callBackAtWallMs }),
    ...(record.transfers.length === 0 ? {} : { transfers: record.transfers.map(transferOf) }),
    ...voicemailsOf(record),
    ...(record.usage.length === 0 ? {} : { usage: [...record.usage] }),
    recordingPath,
    recordingSidecarPath: recordingPath?.replace(/\.wav$/u, '.recording.json'),
    recordingWanted: recordingPath === undefined || recordingAs === 'wav' ? undefined : recordingAs,
    recordingStartedAtMs: record.recordingStartedAtWallMs ?? record.attachments[0]?.attachedAtWallMs,
    summary: {
      durationMs: record.durationMs,
      turns: record.turns.length,
      interruptions: record.interruptions.length,
      falseAlarms: record.falseAlarms,
      ...record.playout,
      ...lineOf(record),
    },
    legs: [{ id: legId, index: 0, startedAtMs: record.startedAtWallMs, endedAtMs: ended ? record.endedAtWallMs : undefined }],
    attachments: record.attachments.map((attachment, index) => ({
      id: attachment.id,
      legId,
      index,
      streamId: attachment.streamId,
      startedAtMs: attachment.attachedAtWallMs,
      endedAtMs: attachment.detachedAtWallMs,
      endReason: attachment.reason,
    })),
    turns: record.turns.map((turn) => {
      const spoken = spokenBetween(record.timeline, turn.index);
      return {
        index: turn.index,
        inputKind: turn.input.kind,
        callerText: turn.callerText,
        botText: turn.botText,
        botHeardText: turn.botHeardText,
        interrupted: turn.interrupted,
        latencies: definedOnly(turn.latency),
        recogniser: turn.recogniser,
        synthesizer: turn.synthesizer,
        ...(turn.steps === undefined ? {} : { steps: [...turn.steps] }),
        startedAtMs: turn.startedAtWallMs,
        botStartedAtMs: spoken.fromMs === undefined ? undefined : wallOf(spoken.fromMs),
        botEndedAtMs: spoken.toMs === undefined ? undefined : wallOf(spoken.toMs),
      };
    }),
    timeline: record.timeline.map((event) => ({
      ...event,
      ...('lastVoicedMs' in event ? { lastVoicedMs: sinceStart(event.lastVoicedMs) } : {}),
      ...('onsetMs' in event ? { onsetMs: sinceStart(event.onsetMs) } : {}),
      atMs: sinceStart(event.atMs),
    })),
  };
}

/** The call's start on the timeline's clock: the first socket's moment is known on both clocks. */
function startOf({ timeline, attachments, startedAtWallMs }: CallRecord): number {
  const attached = timeline.find(({ type }) => type === 'attached');
  const attachedAtWallMs = attachments[0]?.attachedAtWallMs;
  if (attached === undefined || attachedAtWallMs === undefined) return timeline[0]?.atMs ?? 0;
  return attached.atMs - (attachedAtWallMs - startedAtWallMs);
}

function transferOf({
  startedAtWallMs: startedAtMs,
  ringingAtWallMs: ringingAtMs,
  answeredAtWallMs: answeredAtMs,
  acceptedAtWallMs: acceptedAtMs,
  connectedAtWallMs: connectedAtMs,
  endedAtWallMs: endedAtMs,
  ...transfer
}: CallRecord['transfers'][number]): NonNullable<NewCallRecord['transfers']>[number] {
  return { ...transfer, startedAtMs, ringingAtMs, answeredAtMs, acceptedAtMs, connectedAtMs, endedAtMs };
}

function voicemailsOf({ voicemails = [] }: CallRecord): Pick<NewCallRecord, 'voicemails'> {
  if (voicemails.length === 0) return {};
  return { voicemails: voicemails.map(({ startedAtWallMs: startedAtMs, ...voicemail }) => ({ ...voicemail, startedAtMs })) };
}

function outboundOf({ outbound }: CallRecord): Pick<NewCallRecord, 'outbound' | 'metadata'> {
  if (outbound === undefined) return {};
  const { metadata, opinions, ...facts } = outbound;
  return { outbound: { ...facts, opinions: [...opinions] }, metadata: { ...metadata } };
}

/** When the reply of a turn was playing, on the timeline's clock. */
function spokenBetween(
  timeline: readonly TimelineEvent[],
  turn: number,
): { fromMs: number | undefined; toMs: number | undefined } {
  const mine = timeline.filter((event) => 'turn' in event && event.turn === turn);
  const first = mine.find((event) => event.type === 'first-frame');
  const fromMs = first?.type === 'first-frame' ? first.atMs + (first.leadMs ?? 0) : undefined;
  const toMs = mine.findLast(({ type }) => type === 'bot-finished' || type === 'clear')?.atMs;
  return { fromMs, toMs };
}

function definedOnly(latency: object): Record<string, number> {
  return Object.fromEntries(Object.entries(latency).filter(([, valueMs]) => typeof valueMs === 'number' && valueMs >= 0));
}

/** Measures of the caller's line; problems are 1 where they are. */
function lineOf({ line }: CallRecord): Record<string, number> {
  if (line === undefined) return {};
  const { gapsMs, clippedShare, problems } = line;
  const named = { gaps: 'lineGaps', clipping: 'lineClipping' } as const;
  return { lineGapsMs: gapsMs, lineClippedShare: clippedShare, ...Object.fromEntries(problems.map((each) => [named[each], 1])) };
}

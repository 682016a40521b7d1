import { z } from 'zod';
import type { CallRecord } from '../../call/log/call-record.ts';
import { decisionSchema } from './decision.ts';

const stage = z.number().nullable();

/** Measures of a turn that are comparable regardless of earlier turns. */
export const turnMeasureSchema = z.object({
  turn: z.int(),
  kind: z.string(),
  /** The caller's wait by stage, in ms; null where the stage did not happen. */
  endpointing: stage,
  asrFinal: stage,
  dialog: stage,
  ttsFirstByte: stage,
  total: stage,
  holds: z.int(),
  resumes: z.int(),
  clears: z.int(),
  restores: z.int(),
  fillers: z.int(),
});

export type TurnMeasure = z.infer<typeof turnMeasureSchema>;

export function measuresOf({ turns, timeline }: CallRecord): readonly TurnMeasure[] {
  return turns.map(({ index, input, latency }) => {
    const count = (type: string): number =>
      timeline.filter((event) => event.type === type && 'turn' in event && event.turn === index).length;
    return {
      turn: index,
      kind: input.kind,
      endpointing: latency.endpointing ?? null,
      asrFinal: latency.asrFinal ?? null,
      dialog: latency.dialog ?? null,
      ttsFirstByte: latency.ttsFirstByte ?? null,
      total: latency.total ?? null,
      holds: count('hold'),
      resumes: count('resume'),
      clears: count('clear'),
      restores: count('restore'),
      fillers: count('filler'),
    };
  });
}

/**
 * A recorded call for replay: all input in order, with its times, the question of each answer, and all decisions. Times are whole milliseconds since
 * the call's start.
 */

export const FIXTURE_VERSION = 1;

const time = z.int().min(0);
const index = z.int().min(0);
/** Time of an answer's part, since its cause. `abort`: the cause was the cancelling of the request. */
const answer = { t: time, tookMs: time, by: z.enum(['asked', 'abort']) };
const failure = z.string().optional();
/** When an answer was cancelled, since the question; null where it was not. */
const abortedAfterMs = time.nullable();

const recognitionEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('partial'), seg: z.int(), text: z.string() }),
  z.object({
    type: z.literal('final'),
    seg: z.int(),
    text: z.string(),
    endOfUtterance: z.boolean().nullable(),
    language: z.string().nullable(),
  }),
  z.object({ type: z.literal('final-refined'), seg: z.int(), text: z.string() }),
  z.object({ type: z.literal('reconnecting'), reason: z.string() }),
  z.object({ type: z.literal('audio-lost'), fromMs: z.number(), lostMs: z.number(), reason: z.string() }),
  z.object({ type: z.literal('closed'), error: z.string().nullable() }),
]);

export type KeptRecognition = z.infer<typeof recognitionEvent>;

const audioFormat = z.object({ encoding: z.enum(['mulaw', 'alaw', 'pcm16']), rateHz: z.int().positive() });

/** `k` is the kind of input, `t` its time; `a`, `s`, `answer`, `speech` and `act` count what was opened or requested. */
const entry = z.discriminatedUnion('k', [
  z.object({
    k: z.literal('attached'),
    t: time,
    a: index,
    carrier: z.string(),
    /** Format of the recorded caller audio: the leg's own law where the call heard every sample of it, else linear. */
    format: audioFormat,
    /** Format of the bot's audio; the same when absent. */
    speechFormat: audioFormat.optional(),
    capabilities: z.object({
      clear: z.enum(['native', 'none']),
      marks: z.enum(['native', 'none']),
      marksReturnOnClear: z.enum(['yes', 'no', 'unknown']),
      pacing: z.enum(['burst', 'realtime']),
      // Absent in older fixtures, whose carrier takes any length.
      frameMs: z.number().min(0).default(0),
      dtmfOut: z.enum(['message', 'rest', 'reattach', 'inband', 'none']),
      marksWhenIdle: z.literal(true).optional(),
    }),
  }),
  /** `n` bytes of caller audio, taken in order from the audio after this list; `ts` is the carrier's timestamp. */
  z.object({ k: z.literal('audio'), t: time, a: index, n: index, ts: z.number().nullable() }),
  z.object({ k: z.literal('digit'), t: time, a: index, digit: z.string() }),
  /** `lagMs`: since the mark was due, or since the clear that took it back. */
  z.object({ k: z.literal('mark'), t: time, a: index, name: z.string(), by: z.enum(['played', 'clear']), lagMs: z.number() }),
  z.object({ k: z.literal('stopped'), t: time, a: index, reason: z.string() }),
  z.object({ k: z.literal('closed'), t: time, a: index, code: z.int(), reason: z.string() }),
  z.object({ k: z.literal('tick'), t: time }),
  z.object({ k: z.literal('timer'), t: time, timer: index, delayMs: z.number(), tookMs: time }),
  /** `commit`: number of the commit in this session; absent where no commit caused the event. */
  z.object({ k: z.literal('words'), t: time, s: index, event: recognitionEvent, commit: index.optional(), tookMs: time }),
  /** The end-of-turn model answered. */
  z.object({ k: z.literal('end-of-turn'), t: time, tookMs: time, likelihood: z.number() }),
  /** Most hints of the recogniser from here on; 10 without such an entry. */
  z.object({ k: z.literal('recogniser'), t: time, mostHints: index }),
  /** Hints given to an open session; null where it takes none from here on, as without such an entry. */
  z.object({ k: z.literal('hints'), t: time, s: index, phrases: z.array(z.string()).nullable() }),
  z.object({ k: z.literal('action'), ...answer, answer: index, action: z.looseObject({ type: z.string() }) }),
  z.object({ k: z.literal('answered'), ...answer, answer: index, failure }),
  z.object({ k: z.literal('sound'), ...answer, speech: index, n: index }),
  z.object({ k: z.literal('spoken'), ...answer, speech: index, failure }),
  z.object({ k: z.literal('acted'), ...answer, act: index, failure }),
  /** An operator gave an order to the call. */
  z.object({
    k: z.literal('ordered'),
    t: time,
    order: z.discriminatedUnion('type', [
      z.object({ type: z.literal('hang-up') }),
      z.object({ type: z.literal('transfer'), to: z.string() }),
      z.object({ type: z.literal('say'), text: z.string(), interruptible: z.enum(['always', 'keypad', 'never']).optional() }),
      z.object({ type: z.literal('mute'), on: z.boolean(), forMs: z.number().optional() }),
      z.object({ type: z.literal('whisper'), text: z.string() }),
      z.object({ type: z.literal('take-over'), on: z.boolean() }),
    ]),
  }),
  /** The call was ended from outside. */
  z.object({ k: z.literal('told'), t: time, what: z.enum(['carrier-ended', 'apologise', 'shut-down']), reason: z.string() }),
  z.object({ k: z.literal('witness'), t: time, witness: z.enum(['person', 'machine', 'machine-done', 'fax', 'unknown']) }),
]);

export type Entry = z.infer<typeof entry>;

export const fixtureHeader = z.object({
  format: z.literal('offhook-call-fixture'),
  version: z.literal(FIXTURE_VERSION),
  /** Wall time of expiry; null only for a recording without people. */
  expiresAtMs: z.number().nullable(),
  callerBytes: index,
  botBytes: index,
});

export type FixtureHeader = z.infer<typeof fixtureHeader>;

export const fixtureBody = z.object({
  recordedAtMs: z.number(),
  /** Monotonic clock at the call's start. */
  baseMs: z.number(),
  /** The bot's settings, without its numbers and its dialog. */
  bot: z.looseObject({ name: z.string() }),
  playout: z.object({
    leadLowMs: z.number(),
    leadTargetMs: z.number(),
    leadMaxMs: z.number(),
    messageMs: z.number(),
    markEveryMs: z.number(),
  }),
  timing: z.object({
    hangupAfterMarkMs: z.number(),
    reattachMs: z.number(),
    stopGraceMs: z.number(),
    stalledMs: z.number(),
  }),
  direction: z.enum(['inbound', 'outbound']),
  /** Facts of an outbound call: its duties and on whose behalf. */
  placed: z
    .object({
      duties: z.array(z.object({ duty: z.string(), ms: z.number().optional() })),
      identityName: z.string().optional(),
      callbackNumber: z.string().optional(),
    })
    .optional(),
  log: z.array(entry),
  recognitions: z.array(z.object({ language: z.string(), boostPhrases: z.array(z.string()), commits: z.array(time) })),
  answers: z.array(z.object({ turn: z.int(), early: z.boolean(), input: z.string(), abortedAfterMs })),
  speeches: z.array(z.object({ text: z.string(), voice: z.string(), language: z.string(), speed: z.number(), abortedAfterMs })),
  /** Sent marks that never returned, as `attachment:name`. */
  lostMarks: z.array(z.string()),
  acts: z.array(z.object({ what: z.string() })),
  /** Whether each requested spare recognition slot was available. */
  spares: z.array(z.boolean()),
  decisions: z.array(decisionSchema),
  turns: z.array(turnMeasureSchema),
  /** The call contained numbers that may be personal: every digit is replaced by 9, so checks of digits differ. */
  digitsMasked: z.boolean(),
  /** The recording reached its limit; later input is missing. */
  truncatedAtMs: time.nullable(),
});

export type FixtureBody = z.infer<typeof fixtureBody>;

/** A recorded call with its audio, in the formats of its attachments. */
export interface CallFixture extends FixtureBody {
  readonly expiresAtMs: number | null;
  readonly callerAudio: Uint8Array;
  readonly botAudio: Uint8Array;
}

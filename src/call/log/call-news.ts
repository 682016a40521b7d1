import { z } from 'zod';
import { ANSWERED_BY } from '../../config/answered-by.ts';

const callId = z.string();
const turn = z.number();

/** How long the caller waited for a reply, by stage, in ms; a stage that did not happen is absent. */
const replyStages = z.object({
  endpointing: z.number().optional(),
  asrFinal: z.number().optional(),
  dialog: z.number().optional(),
  ttsFirstByte: z.number().optional(),
  firstFrame: z.number().optional(),
});

/** Each kind of news; texts are the callers' and bots' own words. */
export const NEWS = {
  started: z.object({ type: z.literal('started'), callId, carrierCallId: z.string(), botName: z.string() }),
  partial: z.object({ type: z.literal('partial'), callId, text: z.string() }),
  turn: z.object({ type: z.literal('turn'), callId, turn, kind: z.string(), callerText: z.string() }),
  /** First audio of a reply. `totalMs`: since the caller's last voiced sample. */
  reply: z.object({ type: z.literal('reply'), callId, turn, totalMs: z.number().optional(), stages: replyStages.optional() }),
  /** A sentence of the bot begins to be heard. */
  saying: z.object({ type: z.literal('saying'), callId, turn, text: z.string() }),
  heard: z.object({ type: z.literal('heard'), callId, turn, text: z.string(), heard: z.string() }),
  floor: z.object({
    type: z.literal('floor'),
    callId,
    what: z.enum(['hold', 'resume', 'clear', 'restore']),
    by: z.string(),
  }),
  /** The current opinion of who answered an outbound call. */
  'answered-by': z.object({ type: z.literal('answered-by'), callId, by: z.enum(ANSWERED_BY), confidence: z.number() }),
  digit: z.object({ type: z.literal('digit'), callId, digit: z.string() }),
  /** Position of the dialog: the step of a flow (null for other dialogs), and the variables so far; a flow's are its slots. */
  state: z.object({
    type: z.literal('state'),
    callId,
    step: z.string().nullable(),
    slots: z.record(z.string(), z.string()),
  }),
  /** An operator's order was carried out, such as `mute`, `take-over` or `whisper`. */
  ordered: z.object({ type: z.literal('ordered'), callId, order: z.string(), by: z.string() }),
  ended: z.object({ type: z.literal('ended'), callId, reason: z.string() }),
} as const;

/** What a follower of a call receives. */
export const callNews = z.discriminatedUnion('type', [
  NEWS.started,
  NEWS.partial,
  NEWS.turn,
  NEWS.reply,
  NEWS.saying,
  NEWS.heard,
  NEWS.floor,
  NEWS['answered-by'],
  NEWS.digit,
  NEWS.state,
  NEWS.ordered,
  NEWS.ended,
]);
export type CallNews = z.output<typeof callNews>;

/** News with its time. */
export interface TimedNews {
  readonly atWallMs: number;
  readonly news: CallNews;
}

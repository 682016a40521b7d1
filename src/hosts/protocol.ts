import { z } from 'zod';
import { callNews } from '../call/log/call-news.ts';
import { liveCall } from '../call/admission/live-calls.ts';
import { metricsSnapshot, REFUSAL_CAUSES } from '../observability/metrics.ts';

/*
 * What the front process and its media processes say to each other, over the channel that Node opens between a process and
 * its child; and what the machines of one gateway say to each other, over a WebSocket. Messages are JSON and keep their order.
 */

const texts = z.record(z.string(), z.string());

const inboundCall = z.object({
  carrier: z.string(),
  carrierCallId: z.string(),
  from: z.string(),
  to: z.string(),
  direction: z.enum(['inbound', 'outbound']),
  botName: z.string().optional(),
  callId: z.string().optional(),
  isRepeat: z.boolean().optional(),
  goesOnOnly: z.enum(['dialled', 'replayed']).optional(),
  next: z.string().optional(),
  askedAtWallMs: z.number().optional(),
  mode: z.literal('listen').optional(),
});

const callAnswer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('accept'), callId: z.string(), attachmentId: z.string() }),
  z.object({ kind: z.literal('attached') }),
  z.object({ kind: z.literal('over') }),
  z.object({
    kind: z.literal('refuse'),
    say: z.string(),
    language: z.string(),
    cause: z.enum(REFUSAL_CAUSES),
    reason: z.string(),
  }),
]);

const refusal = callAnswer.options[3];

const speechPlace = z.object({ vendor: z.string(), lane: z.int() });

/** A vendor of speech that failed in a call. Names of vendors are short. */
const speechFailure = z.object({ service: z.enum(['recognition', 'synthesis']), vendor: z.string().min(1).max(64) });

const outboundCall = z.object({
  callId: z.string(),
  tenantId: z.string(),
  carrier: z.string(),
  from: z.string(),
  to: z.string(),
  botName: z.string(),
  variables: texts,
  metadata: texts,
  campaignId: z.string().optional(),
  zone: z.string().optional(),
  duties: z.array(z.object({ duty: z.string(), ms: z.number().optional() })).readonly(),
});

const carrierCall = inboundCall.pick({ carrier: true, carrierCallId: true });

const outboundReport = carrierCall.extend({
  progress: z
    .discriminatedUnion('state', [
      z.object({ state: z.enum(['queued', 'ringing', 'answered']) }),
      z.object({
        state: z.literal('ended'),
        outcome: z.enum(['completed', 'busy', 'no-answer', 'rejected', 'failed', 'cancelled']),
        cause: z.string().optional(),
      }),
    ])
    .optional(),
  witness: z.enum(['person', 'machine', 'machine-done', 'fax', 'unknown']).optional(),
});

const callOrder = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hang-up') }),
  z.object({ type: z.literal('transfer'), to: z.string() }),
  z.object({ type: z.literal('say'), text: z.string(), interruptible: z.enum(['always', 'keypad', 'never']).optional() }),
  z.object({ type: z.literal('mute'), on: z.boolean(), forMs: z.number().optional() }),
  z.object({ type: z.literal('whisper'), text: z.string() }),
  z.object({ type: z.literal('take-over'), on: z.boolean() }),
]);

const streamGrant = z.object({
  carrier: z.string(),
  carrierCallId: z.string().optional(),
  callId: z.string(),
  attachmentId: z.string(),
});

/** Of an agent who is rung for the caller of `callId`. */
const openLeg = z.object({ legId: z.string(), attachmentId: z.string(), callId: z.string(), carrier: z.string() });

const spareSlots = z.record(z.string(), z.int().min(0));

/** What a media process is told before anything else. */
export const assignment = z.object({
  /** 1 for the first. */
  number: z.int(),
  /** How many there are. */
  processes: z.int(),
  /** Addresses and key of the embedded speech platform, where the settings name no other. */
  platform: z.record(z.string(), z.string()).optional(),
  /** Recognition slots beside those of calls that this process may hold, by vendor. */
  spareSlots,
  gatewayUrl: z.string(),
  /** The front's, among the machines of the gateway. */
  memberId: z.string().optional(),
});
export type Assignment = z.infer<typeof assignment>;

const nothing = z.null();
const orderOf = <Asked extends z.ZodType, Given extends z.ZodType>(asked: Asked, given: Given) => ({ asked, given });

/** What a media process or a machine can be asked: what with, and what it gives. */
export const ORDERS = {
  assign: orderOf(assignment, nothing),
  /** `place`: the recognition slot that is counted for the call; of a machine, which counts its own, none. */
  answer: orderOf(z.object({ inbound: inboundCall, place: speechPlace.optional() }), callAnswer),
  /** Another attachment for a call that is alive; null where it is over. */
  again: orderOf(
    inboundCall.pick({ carrier: true, carrierCallId: true, mode: true, isRepeat: true, next: true }),
    callAnswer.nullable(),
  ),
  /** Holds a place for a call that is about to be dialled; `place` as of `answer`. */
  reserve: orderOf(
    z.object({ call: outboundCall, place: speechPlace }),
    z.discriminatedUnion('kind', [z.object({ kind: z.literal('reserved'), attachmentId: z.string() }), refusal]),
  ),
  release: orderOf(z.object({ callId: z.string(), reason: z.string() }), nothing),
  reported: orderOf(z.object({ callId: z.string(), report: outboundReport }), nothing),
  expect: orderOf(z.object({ callId: z.string(), attachmentId: z.string(), withinMs: z.number() }), nothing),
  abandon: orderOf(z.object({ callId: z.string().optional(), attachmentId: z.string(), reason: z.string() }), nothing),
  'key-reported': orderOf(carrierCall.extend({ digit: z.string() }), nothing),
  'carrier-ended': orderOf(carrierCall, nothing),
  /** Comes with the socket. Given when its media has started or was given up. */
  media: orderOf(
    z.object({
      grant: streamGrant,
      transport: z.enum(['websocket', 'tcp']),
      headers: z.record(z.string(), z.string()),
      /** Base64. */
      early: z.string(),
      answered: z.boolean(),
      address: z.string(),
    }),
    nothing,
  ),
  list: orderOf(nothing, z.array(liveCall)),
  find: orderOf(z.object({ callId: z.string() }), liveCall.nullable()),
  order: orderOf(z.object({ callId: z.string(), order: callOrder, by: z.string() }), liveCall),
  /** Has the news of a call told from now on; null for no such call. Given: what was told so far. */
  follow: orderOf(
    z.object({ callId: z.string() }),
    z.object({ number: z.int(), soFar: z.array(z.object({ atWallMs: z.number(), news: callNews })) }).nullable(),
  ),
  unfollow: orderOf(z.object({ callId: z.string() }), nothing),
  /** Comes with the socket of who listens to a call. Given when that socket is closed. */
  listen: orderOf(
    z.object({
      order: z.object({ listenerId: z.string(), callId: z.string(), by: z.string(), mayControl: z.boolean() }),
      headers: z.record(z.string(), z.string()),
      /** Base64. */
      early: z.string(),
    }),
    z.object({ heardMs: z.number(), tookOverMs: z.number() }),
  ),
  dismiss: orderOf(z.object({ listenerId: z.string() }), nothing),
  redeem: orderOf(z.object({ bots: z.array(z.string()), token: z.string() }), z.string().nullable()),
  /** Of a machine: whether Redis is away for it too. */
  'shared-state': orderOf(nothing, z.object({ isAway: z.boolean() })),
  metrics: orderOf(nothing, metricsSnapshot),
  /** A vendor failed in another media process. */
  'speech-failed': orderOf(speechFailure, nothing),
  /** Reads the bots again, without using them. */
  'load-bots': orderOf(nothing, nothing),
  /** Gives the bots that were read last to new calls; `spareSlots` as of `assign`, for these bots. */
  'use-bots': orderOf(z.object({ spareSlots }), nothing),
  /** The answer to a `leg` report. */
  'leg-addresses': orderOf(z.object({ legId: z.string(), streamUrl: z.string(), statusUrl: z.string() }), nothing),
  /** The front could not make the addresses that a `leg` report asked for. */
  'leg-refused': orderOf(z.object({ legId: z.string(), problem: z.string() }), nothing),
  /** Says goodbye to all calls; the process ends by itself. */
  drain: orderOf(nothing, nothing),
} as const;

export type OrderName = keyof typeof ORDERS;
/** What only machines are asked is not among them. */
export type ProcessOrderName = Exclude<OrderName, 'shared-state'>;
export type Asked<Name extends OrderName> = z.output<(typeof ORDERS)[Name]['asked']>;
export type Given<Name extends OrderName> = z.output<(typeof ORDERS)[Name]['given']>;

export const ask = z.object({
  id: z.int(),
  name: z.string().refine((name): name is ProcessOrderName => Object.hasOwn(ORDERS, name) && name !== 'shared-state'),
  asked: z.unknown(),
});

/** What one machine can ask another, of the calls that are there. */
export const PEER_ORDERS = [
  'answer',
  'again',
  'reported',
  'expect',
  'abandon',
  'key-reported',
  'carrier-ended',
  'media',
  'list',
  'find',
  'order',
  'follow',
  'unfollow',
  'listen',
  'dismiss',
  'redeem',
  'shared-state',
] as const satisfies readonly OrderName[];
export type PeerOrderName = (typeof PEER_ORDERS)[number];

/** `socket`: the id of the request that opened the socket which goes with it. */
export const peerAsk = ask.extend({ name: z.enum(PEER_ORDERS), socket: z.string().optional() });

/** What a media process says by itself, and its answers. */
export const report = z.discriminatedUnion('type', [
  z.object({ type: z.literal('given'), id: z.int(), given: z.unknown() }),
  z.object({ type: z.literal('refused'), id: z.int(), code: z.string(), message: z.string() }),
  /** It takes calls. */
  z.object({ type: z.literal('up') }),
  /** It takes no more calls, and ends when those that it has are over. */
  z.object({ type: z.literal('leaving') }),
  z.object({ type: z.literal('load'), lagMs: z.number(), shedding: z.boolean() }),
  /** The media of a call that was dialled has come. */
  z.object({ type: z.literal('begun'), callId: z.string(), carrierKey: z.string() }),
  /** A call that was dialled is given up before its media came: `over` follows. */
  z.object({ type: z.literal('given-up'), callId: z.string(), why: z.enum(['no-media', 'stopping', 'process-died', 'hung-up']) }),
  /** A call is over, its record in the outbox where it had media, and its place free. */
  z.object({ type: z.literal('over'), callId: z.string(), carrierKey: z.string().optional() }),
  /** An agent is about to be rung for a call of this process, to which media and reports of the leg are to come: `leg-addresses` or `leg-refused` follows. */
  z.object({ type: z.literal('leg'), ...openLeg.shape, ringMs: z.number() }),
  /** The carrier's id of the leg is known. */
  z.object({ type: z.literal('leg-placed'), legId: z.string(), carrier: z.string(), carrierCallId: z.string() }),
  z.object({ type: z.literal('leg-over'), legId: z.string() }),
  /** A vendor failed in a call: the front gives no call to it first for a while, nor do other processes. */
  z.object({ type: z.literal('speech-failed'), ...speechFailure.shape }),
  /** News of a call that is followed. */
  z.object({ type: z.literal('news'), number: z.int(), atWallMs: z.number(), news: callNews }),
  /** Something is in the outbox. */
  z.object({ type: z.literal('kept') }),
]);
export type Report = z.infer<typeof report>;

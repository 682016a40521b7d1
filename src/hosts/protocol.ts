import type { Socket } from 'node:net';
import { z } from 'zod';
import { liveKey } from '../call/live-session.ts';
import { callNews } from '../call/log/call-news.ts';
import { liveCall } from '../call/admission/live-calls.ts';
import { metricsSnapshot, REFUSAL_CAUSES } from '../observability/metrics.ts';

/*
 * The one description of what holders of calls are asked: media processes by their front, over the channel that Node opens between a
 * process and its child, and machines of a gateway by each other, over a WebSocket. Messages are JSON and keep their order.
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
  rehearses: z.string().max(64).optional(),
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

/** The leg of an agent who is rung for the caller of `callId`. */
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

/** By what a call is found: its id (a leg's, too), or its carrier's (`liveKey`). */
export type CallName = { readonly callId: string } | { readonly carrierKey: string };

type Asks<Asked extends z.ZodType, Given extends z.ZodType> = { readonly asked: Asked; readonly given: Given };
type Tells<Asked extends z.ZodType> = Asks<Asked, typeof nothing> & {
  readonly about: (asked: z.output<Asked>) => readonly CallName[];
};

const asks = <Asked extends z.ZodType, Given extends z.ZodType>(asked: Asked, given: Given): Asks<Asked, Given> => ({
  asked,
  given,
});
const tells = <Asked extends z.ZodType>(asked: Asked, about: Tells<Asked>['about']): Tells<Asked> => ({
  asked,
  given: nothing,
  about,
});

const ofCall = z.object({ callId: z.string() });
const ofAttachment = z.object({ callId: z.string().optional(), attachmentId: z.string(), reason: z.string() });
const byId = ({ callId }: { readonly callId?: string | undefined }): CallName[] => (callId === undefined ? [] : [{ callId }]);

/**
 * What is told to the holder of a call, without an answer; the same for media processes and machines. `about`: the calls that it is
 * about; none where only the holder knows.
 */
export const TELLS = {
  reported: tells(z.object({ callId: z.string(), report: outboundReport }), byId),
  expect: tells(z.object({ callId: z.string(), attachmentId: z.string(), withinMs: z.number() }), byId),
  abandon: tells(ofAttachment, byId),
  'key-reported': tells(carrierCall.extend({ digit: z.string() }), (call) => [{ carrierKey: liveKey(call) }]),
  'carrier-ended': tells(carrierCall, (call) =>
    ([undefined, 'listen'] as const).map((mode) => ({ carrierKey: liveKey({ ...call, mode }) })),
  ),
  unfollow: tells(ofCall, byId),
  dismiss: tells(z.object({ listenerId: z.string() }), () => []),
} as const;

/** What the holder of a call is asked; the same for media processes and machines. */
const QUESTIONS = {
  /** `place`: the recognition slot that the front has counted for the call; a machine counts its own. */
  answer: asks(
    z.object({ inbound: inboundCall.transform((call) => ({ ...call, botName: call.botName })), place: speechPlace.optional() }),
    callAnswer,
  ),
  /** Another attachment for a call that is alive; null where it is over. */
  again: asks(
    inboundCall.pick({ carrier: true, carrierCallId: true, mode: true, isRepeat: true, next: true }),
    callAnswer.nullable(),
  ),
  /** Comes with the socket. Answered when its media has started or was given up. */
  media: asks(
    z.object({
      grant: streamGrant,
      transport: z.enum(['websocket', 'tcp']),
      headers: texts,
      /** Base64. */
      early: z.string(),
      answered: z.boolean(),
      address: z.string(),
    }),
    nothing,
  ),
  list: asks(nothing, z.array(liveCall)),
  find: asks(ofCall, liveCall.nullable()),
  order: asks(z.object({ callId: z.string(), order: callOrder, by: z.string() }), liveCall),
  /** Has the news of a call told from now on; null for no such call. Gives the news so far. */
  follow: asks(
    ofCall,
    z.object({ number: z.int(), soFar: z.array(z.object({ atWallMs: z.number(), news: callNews })) }).nullable(),
  ),
  /** Comes with a listener's socket. Answered when that socket is closed. */
  listen: asks(
    z.object({
      order: z.object({ listenerId: z.string(), callId: z.string(), by: z.string(), mayControl: z.boolean() }),
      headers: texts,
      /** Base64. */
      early: z.string(),
    }),
    z.object({ heardMs: z.number(), tookOverMs: z.number() }),
  ),
  redeem: asks(z.object({ bots: z.array(z.string()), token: z.string() }), z.string().nullable()),
} as const;

/** Everything that a holder of calls is asked and told about them. */
const CALL_ORDERS = { ...TELLS, ...QUESTIONS } as const;

/** What only the front asks of its media processes. */
const PROCESS_ORDERS = {
  assign: asks(assignment, nothing),
  /** Holds a place for a call that is about to be dialled; `place` as in `answer`. */
  reserve: asks(
    z.object({ call: outboundCall, place: speechPlace }),
    z.discriminatedUnion('kind', [z.object({ kind: z.literal('reserved'), attachmentId: z.string() }), refusal]),
  ),
  release: asks(z.object({ callId: z.string(), reason: z.string() }), nothing),
  metrics: asks(nothing, metricsSnapshot),
  /** A vendor failed in another media process. */
  'speech-failed': asks(speechFailure, nothing),
  /** Bots whose calls have reached a limit of the day's costs. */
  'spend-reached': asks(z.object({ bots: z.array(z.string()) }), nothing),
  /** Reads the bots again, without using them. */
  'load-bots': asks(nothing, nothing),
  /** Gives the bots that were read last to new calls; `spareSlots` as in `assign`, for these bots. */
  'use-bots': asks(z.object({ spareSlots }), nothing),
  /** The answer to a `leg` report. */
  'leg-addresses': asks(z.object({ legId: z.string(), streamUrl: z.string(), statusUrl: z.string() }), nothing),
  /** The front could not make the addresses that a `leg` report asked for. */
  'leg-refused': asks(z.object({ legId: z.string(), problem: z.string() }), nothing),
  /** Says goodbye to all calls; the process ends by itself. */
  drain: asks(nothing, nothing),
} as const;

/** What only machines ask each other. */
const MACHINE_ORDERS = {
  /** Whether Redis is away for that machine too. */
  'shared-state': asks(nothing, z.object({ isAway: z.boolean() })),
} as const;

export const ORDERS = { ...CALL_ORDERS, ...PROCESS_ORDERS, ...MACHINE_ORDERS } as const;

export type OrderName = keyof typeof ORDERS;
export type TellName = keyof typeof TELLS;
export type CallOrderName = keyof typeof CALL_ORDERS;
export type ProcessOrderName = CallOrderName | keyof typeof PROCESS_ORDERS;
export type PeerOrderName = CallOrderName | keyof typeof MACHINE_ORDERS;
export type Asked<Name extends OrderName> = z.output<(typeof ORDERS)[Name]['asked']>;
export type Given<Name extends OrderName> = z.output<(typeof ORDERS)[Name]['given']>;

const namesOf = <Orders extends object>(orders: Orders) =>
  z.string().refine((name): name is Extract<keyof Orders, string> => Object.hasOwn(orders, name));

/** What the front asks of a media process. */
export const ask = z.object({ id: z.int(), name: namesOf({ ...CALL_ORDERS, ...PROCESS_ORDERS }), asked: z.unknown() });

/** What one machine asks another. `socket`: the id of the request that opened the socket which goes with it. */
export const peerAsk = ask.extend({ name: namesOf({ ...CALL_ORDERS, ...MACHINE_ORDERS }), socket: z.string().optional() });

/** Obeys orders, one function a name. `socket`: the one that came with the order. */
export type Handlers<Names extends OrderName> = {
  readonly [Name in Names]: (asked: Asked<Name>, socket?: Socket) => Given<Name> | Promise<Given<Name>>;
};

/** Has a handler do what it was asked. @throws what it throws, and ZodError for a question of another form */
export async function obey<Name extends OrderName>(
  handlers: Handlers<Name>,
  name: Name,
  asked: unknown,
  socket: Socket | undefined,
): Promise<Given<Name>> {
  return await handlers[name](ORDERS[name].asked.parse(asked) as Asked<Name>, socket);
}

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

import type { InboundCall } from '../../carriers/port.ts';
import { versionForCall } from '../../config/bot-trials.ts';
import { type Bot, botsOfTenant, findBot, phrasesOf } from '../../config/bots.ts';
import { DEFAULT_TENANT, tenantOfAccount } from '../../config/tenant-id.ts';
import type { RefusalCause } from '../../observability/metrics.ts';
import { partiesOf } from '../../kernel/call-parties.ts';
import { roomFor } from './admission.ts';

/** A recognition slot at the provider of a call's bot; taken when the call is answered, before `start`. */
export interface SpeechReservation {
  release(): void;
}

/** The slot that another process has counted for a call: the speech vendor and which of its keys. */
export interface SpeechPlace {
  readonly vendor: string;
  readonly lane: number;
}

/** A recognition slot together with its vendor and key. */
export interface KeyedSlot extends SpeechPlace, SpeechReservation {}

/** The part of a slot that another process needs. */
export function placeOf({ vendor, lane }: KeyedSlot): SpeechPlace {
  return { vendor, lane };
}

export interface DoorOptions<Reservation extends SpeechReservation> {
  readonly bots: readonly Bot[];
  /** Live calls at once. */
  readonly maximum: number;
  /** Calls at once of one tenant, where it has fewer than `maximum`. */
  readonly maximumOf?: ((tenantId: string) => number | undefined) | undefined;
  /** Whether new calls are refused because the event loop is late. */
  readonly shedding: () => boolean;
  /** Undefined when no slot is free. @param place the one that was counted for this call; any when absent */
  readonly reserveSpeech: (bot: Bot, place?: SpeechPlace) => Reservation | undefined;
  /** Whether a recogniser and a synthesizer for this bot both answer; a call needs both. */
  readonly speechIsUp: (bot: Bot) => boolean;
  /** Places of `maximum`, and slots, that outbound calls leave free for callers; 0 when absent. */
  readonly keepFree?: number | undefined;
  /** Whether today's calls of this bot cost too much for another caller; never where absent. */
  readonly spendReached?: ((bot: Bot) => boolean) | undefined;
  /** Slots that could be reserved now for this bot; asked where some are to stay free. */
  readonly freeSpeech?: ((bot: Bot) => number) | undefined;
}

/**
 * Outbound calls that could be let in now, for the bot with the most slots.
 * @param active calls that are alive, and calls that are being dialled
 */
export function outboundRoom(
  { bots, maximum, keepFree = 0, freeSpeech, shedding, speechIsUp }: Omit<DoorOptions<SpeechReservation>, 'reserveSpeech'>,
  active: number,
): number {
  const served = bots.filter((bot) => speechIsUp(bot));
  if (shedding() || served.length === 0) return 0;
  const free = freeSpeech === undefined ? Number.POSITIVE_INFINITY : Math.max(...served.map((bot) => freeSpeech(bot)));
  return Math.max(0, Math.min(maximum - active, free) - keepFree);
}

/** The caller hears `say` in the carrier's own voice, then the call ends. `cause` is counted, `reason` is for the log. */
export interface CallRefusal {
  readonly kind: 'refuse';
  readonly say: string;
  readonly language: string;
  readonly cause: RefusalCause;
  readonly reason: string;
}

export type CallAnswer =
  | {
      readonly kind: 'accept';
      readonly callId: string;
      /** New for every answer, also when a call that is alive is answered again. */
      readonly attachmentId: string;
    }
  /** A webhook was repeated while the call's media socket is open: no second attachment is given. */
  | { readonly kind: 'attached' }
  /** The carrier asked what comes after a call's stream, and the call is over. */
  | { readonly kind: 'over' }
  | CallRefusal;

/**
 * Lets a call in or says why not. Nothing is half-served: the slot at the speech platform is held when this returns.
 * @param at the calls that are alive, the slot that the call is to have (any when absent), why no call is taken now, and whether
 * some places and slots are left to callers, as by calls that we are about to place; a call that goes on here has had its place already
 */
export function admit<Reservation extends SpeechReservation>(
  options: DoorOptions<Reservation>,
  inbound: InboundCall,
  at: {
    /** Tenants of the calls that hold a place, one for each call. */
    readonly active: readonly string[];
    readonly place?: SpeechPlace | undefined;
    readonly closed?: 'stopping' | 'process' | undefined;
    readonly leavesFree?: true;
    readonly goesOn?: boolean;
    /** The tenant of the placed call; the account's tenant when absent. */
    readonly tenantId?: string | undefined;
    /** Decides which version of its bot the call gets; the current one when absent. */
    readonly callId?: string | undefined;
    /** The version that the call began with, where it goes on. */
    readonly began?: Bot | undefined;
  },
): CallRefusal | { readonly kind: 'admit'; readonly bot: Bot; readonly reservation: Reservation } {
  const { bots, maximum, shedding, speechIsUp, reserveSpeech } = options;
  const keepFree = at.leavesFree === true ? (options.keepFree ?? 0) : 0;
  const tenant = at.tenantId ?? tenantOfAccount(inbound.carrier);
  const found = findBot(bots, { pathName: inbound.botName, dialledNumber: partiesOf(inbound).ours, tenantId: tenant });
  const bot = found && (at.began ?? (at.callId === undefined ? found : versionForCall(found, at.callId)));
  // The refusal is spoken in the language of one of the tenant's bots.
  if (bot === undefined) return refusal(botsOfTenant(bots, tenant ?? DEFAULT_TENANT)[0], 'nobody', 'no-bot');
  if (inbound.goesOnOnly !== undefined)
    return refusal(bot, 'apology', inbound.goesOnOnly === 'dialled' ? 'dialled-over' : 'replayed');
  if (at.closed !== undefined) return refusal(bot, at.closed === 'stopping' ? 'shutdown' : 'apology', at.closed);
  const room = roomFor({ maximum: maximum - keepFree }, { active: at.active.length, shedding: shedding() });
  if (room !== 'room' && at.goesOn !== true) return refusal(bot, 'overflow', room);
  const most = options.maximumOf?.(bot.tenant);
  if (most !== undefined && at.goesOn !== true && at.active.filter((tenantId) => tenantId === bot.tenant).length >= most)
    return refusal(bot, 'overflow', 'tenant-calls');
  const isCaller = at.leavesFree !== true && at.goesOn !== true;
  if (isCaller && options.spendReached?.(bot) === true) return refusal(bot, 'overflow', 'spend');
  if (!speechIsUp(bot)) return refusal(bot, 'apology', 'speech-down');
  const isKept = keepFree > 0 && (options.freeSpeech?.(bot) ?? Number.POSITIVE_INFINITY) <= keepFree;
  const reservation = isKept ? undefined : reserveSpeech(bot, at.place);
  return reservation === undefined ? refusal(bot, 'overflow', 'speech-slots') : { kind: 'admit', bot, reservation };
}

const reasons = {
  'no-bot': 'no bot answers this number',
  calls: 'the maximum number of calls is live',
  'tenant-calls': 'the maximum number of calls of this tenant is live',
  'loop-lag': 'the event loop is late',
  spend: 'the limit of what the calls of a day may cost is reached',
  'speech-down': 'no recogniser or synthesizer for this bot answers',
  'speech-slots': 'no recognition slot is free',
  lease: 'another process owns this call',
  'dialled-over': 'the call that we placed is over',
  replayed: 'the webhook was answered before, and its call is over',
  process: 'no media process is available',
  stopping: 'the gateway is stopping',
} as const satisfies Partial<Record<RefusalCause, string>>;

/** What a refused caller hears. @param bot gives the words; undefined where no bot is known */
export function refusal(
  bot: Bot | undefined,
  phrase: 'nobody' | 'overflow' | 'apology' | 'shutdown',
  cause: keyof typeof reasons,
): CallRefusal {
  const phrases = bot === undefined ? undefined : phrasesOf(bot);
  const say = phrases?.[phrase] ?? 'Sorry, this number is not in service. Goodbye.';
  return { kind: 'refuse', say, language: bot?.language ?? 'en', cause, reason: reasons[cause] };
}

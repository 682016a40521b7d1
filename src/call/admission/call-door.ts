import type { InboundCall } from '../../carriers/port.ts';
import { type Bot, findBot, phrasesOf } from '../../config/bots.ts';
import type { RefusalCause } from '../../observability/metrics.ts';
import { partiesOf } from '../../kernel/call-parties.ts';
import { roomFor } from './admission.ts';

/** A promise of the speech platform to serve one more call; taken when the call is answered, before `start`. */
export interface SpeechReservation {
  release(): void;
}

export interface DoorOptions<Reservation extends SpeechReservation> {
  readonly bots: readonly Bot[];
  /** Live calls at once. */
  readonly maximum: number;
  /** Whether new calls are refused because the event loop is late. */
  readonly shedding: () => boolean;
  /** Undefined when no slot is free, or none of that key where one is named. */
  readonly reserveSpeech: (lane?: number) => Reservation | undefined;
  /** Whether the speech platform answers; a call is not half-served. */
  readonly speechIsUp: () => boolean;
  /** Places of `maximum`, and slots, that outbound calls leave to callers; none when absent. */
  readonly keepFree?: number | undefined;
  /** Slots that could be reserved now; asked where some are to stay free. */
  readonly freeSpeech?: (() => number) | undefined;
}

/** Outbound calls that could be let in now. @param active the calls that are alive, and those that are dialled */
export function outboundRoom(
  { maximum, keepFree = 0, freeSpeech, shedding, speechIsUp }: Omit<DoorOptions<SpeechReservation>, 'bots' | 'reserveSpeech'>,
  active: number,
): number {
  if (shedding() || !speechIsUp()) return 0;
  return Math.max(0, Math.min(maximum - active, freeSpeech?.() ?? Number.POSITIVE_INFINITY) - keepFree);
}

/** The caller hears `say` in the carrier's own voice, then the call ends. `cause` is counted, `reason` is for the log. */
export interface CallRefusal {
  readonly kind: 'refuse';
  readonly say: string;
  readonly language: string;
  readonly cause: RefusalCause;
  readonly reason: string;
}

/**
 * Lets a call in or says why not. Nothing is half-served: the slot at the speech platform is held when this returns.
 * @param at the calls that are alive, the key whose slot the call is to have (any when absent), why no call is taken now, and whether
 * some places and slots are left to callers, as by calls that we are about to place
 */
export function admit<Reservation extends SpeechReservation>(
  options: DoorOptions<Reservation>,
  inbound: InboundCall,
  at: {
    readonly active: number;
    readonly lane?: number | undefined;
    readonly closed?: 'stopping' | 'process' | undefined;
    readonly leavesFree?: true;
  },
): CallRefusal | { readonly kind: 'admit'; readonly bot: Bot; readonly reservation: Reservation } {
  const { bots, maximum, shedding, speechIsUp, reserveSpeech } = options;
  const keepFree = at.leavesFree === true ? (options.keepFree ?? 0) : 0;
  const bot = findBot(bots, { pathName: inbound.botName, dialledNumber: partiesOf(inbound).ours });
  if (bot === undefined) return refusal(bots[0], 'nobody', 'no-bot');
  if (inbound.isDialled === true) return refusal(bot, 'apology', 'dialled-over');
  if (at.closed !== undefined) return refusal(bot, at.closed === 'stopping' ? 'shutdown' : 'apology', at.closed);
  const room = roomFor({ maximum: maximum - keepFree }, { active: at.active, shedding: shedding() });
  if (room !== 'room') return refusal(bot, 'overflow', room);
  if (!speechIsUp()) return refusal(bot, 'apology', 'speech-down');
  const isKept = keepFree > 0 && (options.freeSpeech?.() ?? Number.POSITIVE_INFINITY) <= keepFree;
  const reservation = isKept ? undefined : reserveSpeech(at.lane);
  return reservation === undefined ? refusal(bot, 'overflow', 'speech-slots') : { kind: 'admit', bot, reservation };
}

const reasons = {
  'no-bot': 'no bot answers this number',
  calls: 'the maximum number of calls is live',
  'loop-lag': 'the event loop is late',
  'speech-down': 'the speech platform is down',
  'speech-slots': 'no recognition slot is free',
  lease: 'another process owns this call',
  'dialled-over': 'the call that we placed is over',
  process: 'no media process is available',
  stopping: 'the gateway is stopping',
} as const satisfies Partial<Record<RefusalCause, string>>;

/** What a caller hears who is not let in. @param bot whose words it is said in; undefined where there is none */
export function refusal(
  bot: Bot | undefined,
  phrase: 'nobody' | 'overflow' | 'apology' | 'shutdown',
  cause: keyof typeof reasons,
): CallRefusal {
  const phrases = bot === undefined ? undefined : phrasesOf(bot);
  const say = phrases?.[phrase] ?? 'Sorry, this number is not in service. Goodbye.';
  return { kind: 'refuse', say, language: bot?.language ?? 'en', cause, reason: reasons[cause] };
}

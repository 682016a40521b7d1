import type { Bot } from './bots.ts';
import type { Destinations } from './destinations.ts';
import { type DialNumber, readNumber } from './phone-number.ts';

declare const isAllowed: unique symbol;

/**
 * A number or `sip:` address that a carrier may be told to call. The two checks of this file alone make one, so that the compiler refuses any
 * other way to a number.
 */
export type AllowedTarget = string & { readonly [isAllowed]: true };

/** `not-allowed`: the bot's file does not have the target. `destination-not-allowed`: the settings do not. */
export const TARGET_REFUSALS = ['not-allowed', 'destination-not-allowed'] as const;

/** Why a number is not called. */
export interface RefusedTarget {
  readonly refusal: (typeof TARGET_REFUSALS)[number];
  /** For people, without the number. */
  readonly detail: string;
}

type Checked = { readonly target: AllowedTarget } | RefusedTarget;
type TransferringBot = Pick<Bot, 'transfers' | 'noInputTransfer' | 'failureTransfer' | 'whenDown' | 'dialog'>;

export interface TransferCheck {
  readonly bot: TransferringBot;
  /** An agent is rung, in a call of our own. */
  readonly isWarm: boolean;
  readonly destinations: Destinations;
  /** The number of ours in the call. */
  readonly line: string | undefined;
}

/** Whether a call may be placed to a number in E.164. */
export function checkDial(to: string, destinations: Destinations): Checked {
  const number = readNumber(to);
  if ('reason' in number) return { refusal: 'destination-not-allowed', detail: number.reason };
  const detail = destinations.refusalOf(number);
  return detail === undefined ? allowed(number.e164) : { refusal: 'destination-not-allowed', detail };
}

/**
 * Whether a caller may be connected to a target, by a bot, over the API, or as a fallback. Both dialogs and people can be talked into numbers that
 * cost money.
 * @param to a number in E.164 form, or a `sip:` address
 */
export function checkTransfer(to: string, check: TransferCheck): Checked {
  const detail = listRefusal(to, check);
  if (detail !== undefined) return { refusal: 'not-allowed', detail };
  const number = numberIn(to);
  const elsewhere = number === undefined ? undefined : destinationRefusal(number, to, check);
  return elsewhere === undefined ? allowed(to) : { refusal: 'destination-not-allowed', detail: elsewhere };
}

/** Shorter ones are extensions. */
const NUMBER_DIGITS = 7;

/** The number that a target calls in the end: a `sip:` address may have one as its user, which its host then dials. */
function numberIn(to: string): string | undefined {
  if (to.startsWith('+')) return to;
  const user = to.slice(to.indexOf(':') + 1).split(/[@:;]/u, 1)[0] ?? '';
  const dialled = user.replaceAll(/%2b/giu, '+').replaceAll(/[-.()]/gu, '');
  const digits = /^(?:\+|00|011)?(\d+)$/u.exec(dialled)?.[1] ?? '';
  return digits.length < NUMBER_DIGITS ? undefined : `+${digits}`;
}

function allowed(to: string): { readonly target: AllowedTarget } {
  return { target: to as AllowedTarget };
}

/** Why the bot's file does not have a target; undefined where it does. */
function listRefusal(to: string, { bot, isWarm }: TransferCheck): string | undefined {
  const { allow } = bot.transfers;
  if (isWarm && !to.startsWith('+')) return 'a warm transfer calls a number in E.164 form';
  if (!isWarm && ownTargets(bot).some((own) => isSame(own, to))) return undefined;
  if (allow !== undefined)
    return allow.some((pattern) => matches(pattern, to))
      ? undefined
      : "transfers.allow of the bot's file does not have this target";
  if (isWarm) return "the bot's file allows no warm transfers: set transfers.allow";
  return to.startsWith('+') ? undefined : "a sip: address has to be in the bot's file: set transfers.allow";
}

/**
 * Targets in the bot's file, allowed beside `transfers.allow`. Sources that a dialog controls cannot widen that list; `whenDown` and a model's names
 * are included.
 */
function ownTargets({ noInputTransfer, failureTransfer, whenDown = [], dialog, transfers }: TransferringBot): string[] {
  const last = [noInputTransfer, failureTransfer].filter((to) => to !== undefined);
  if (transfers.allow !== undefined) return last;
  const steps = whenDown.flatMap((step) => (step.kind === 'transfer' ? step.to : []));
  return [...last, ...steps, ...('transfers' in dialog ? Object.values(dialog.transfers).map(({ to }) => to) : [])];
}

/**
 * Why the destinations do not have a number. One that stands whole in the bot's file may be of any country, and need not be of a numbering plan; costly lines have to
 * be named in the settings in any case.
 */
function destinationRefusal(written: string, to: string, { bot, destinations, line }: TransferCheck): string | undefined {
  const named = [...ownTargets(bot), ...(bot.transfers.allow ?? [])].some((each) => isSame(each, to));
  const number = readTarget(written);
  if ('reason' in number) return named ? undefined : number.reason;
  return destinations.refusalOf(number, named ? written : line);
}

/** North America's area code 555 is unassigned, for examples. */
const EXAMPLE = /^\+1555\d+$/u;

function readTarget(written: string): DialNumber | { readonly reason: string } {
  const number = readNumber(written);
  const isExample = 'reason' in number && EXAMPLE.test(written);
  return isExample ? { e164: written, country: 'US', lineType: 'fixed-line-or-mobile' } : number;
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function matches(pattern: string, to: string): boolean {
  const [allow, target] = [pattern.toLowerCase(), to.toLowerCase()];
  if (allow.startsWith('sip') && allow.includes(':*@')) {
    const [scheme = '', host = ''] = allow.split(':*@');
    const [user, at, ...others] = target.split('@');
    // With two of them, carriers may take another part for the host than we do.
    return user?.startsWith(`${scheme}:`) === true && at === host && others.length === 0;
  }
  return allow.endsWith('*') ? target.startsWith(allow.slice(0, -1)) : target === allow;
}

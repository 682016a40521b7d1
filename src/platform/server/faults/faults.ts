import { seededRandom } from '../../../audio/tone.ts';
import { nearest } from '../../../config/nearest.ts';
import { OffhookError } from '../../../kernel/errors.ts';

/** A range of milliseconds that times are drawn from, both ends included. */
interface Span {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** A fault that hits a share of cases, with a random time. */
interface TimedShare extends Span {
  /** 0 (never) to 1 (always). */
  readonly share: number;
}

/** Injected faults, for testing clients. Each is drawn independently; shares are 0 to 1. */
export interface Faults {
  /** Seed: the same seed and order of requests give the same faults. Random when absent. */
  readonly seed?: number;
  /** Delay before a request or the opening of a socket is processed. */
  readonly latency?: Span;
  /** Share of requests and socket openings that are answered with `status`. */
  readonly errors?: { readonly share: number; readonly status: number };
  /** Share of commits, segments and syntheses on sockets that end in an error event and a close. */
  readonly failedTurns?: number;
  /** Sockets that are cut without a close frame, and their life. */
  readonly droppedSockets?: TimedShare;
  /** Finals with text that are delayed, with all finals behind them. */
  readonly lateFinals?: TimedShare;
  /** Share of finals with text that are sent twice. */
  readonly repeatedFinals?: number;
  /** Share of finals with text that are never sent. */
  readonly lostFinals?: number;
}

type Knob = Exclude<keyof Faults, 'seed'>;

/**
 * Draws injected faults. Each fault has a random source of its own, so that changing one does not change the others.
 */
export class FaultDice {
  readonly #faults: Faults;
  readonly #random: Readonly<Record<Knob, () => number>>;

  constructor(faults: Faults, seed: number) {
    this.#faults = faults;
    const source = (index: number): (() => number) => seededRandom((seed + Math.imul(index, 0x9e37_79b9)) >>> 0);
    this.#random = {
      latency: source(0),
      errors: source(1),
      failedTurns: source(2),
      droppedSockets: source(3),
      lateFinals: source(4),
      repeatedFinals: source(5),
      lostFinals: source(6),
    };
  }

  /** Delay of the next request or opening; 0 for none. */
  latencyMs(): number {
    const span = this.#faults.latency;
    return span === undefined ? 0 : drawn(span, this.#random.latency);
  }

  /** Status that the next request or opening fails with; undefined when it does not fail. */
  errorStatus(): number | undefined {
    const { errors } = this.#faults;
    return errors !== undefined && this.#random.errors() < errors.share ? errors.status : undefined;
  }

  /** Whether the next commit, segment or synthesis fails. */
  failsTurn(): boolean {
    return hits(this.#faults.failedTurns, this.#random.failedTurns);
  }

  /** Life of the next socket; undefined when it is not cut. */
  dropAfterMs(): number | undefined {
    return timed(this.#faults.droppedSockets, this.#random.droppedSockets);
  }

  /** Delay of the next final with text; 0 for none. */
  finalDelayMs(): number {
    return timed(this.#faults.lateFinals, this.#random.lateFinals) ?? 0;
  }

  /** Times the next final with text is sent: 0, 1 or 2. */
  finalCopies(): 0 | 1 | 2 {
    if (hits(this.#faults.lostFinals, this.#random.lostFinals)) return 0;
    return hits(this.#faults.repeatedFinals, this.#random.repeatedFinals) ? 2 : 1;
  }
}

/** No injected faults. */
export const noFaults = new FaultDice({}, 0);

function hits(share: number | undefined, random: () => number): boolean {
  return share !== undefined && random() < share;
}

function timed(fault: TimedShare | undefined, random: () => number): number | undefined {
  return fault !== undefined && hits(fault.share, random) ? drawn(fault, random) : undefined;
}

function drawn({ leastMs, mostMs }: Span, random: () => number): number {
  return leastMs + Math.floor(random() * (mostMs - leastMs + 1));
}

/** An invalid fault setting; the message says which one and what is accepted. */
export class FaultSettingError extends OffhookError {
  readonly code = 'OFFHOOK_PLATFORM_FAULT';
  readonly retryable = false;
}

/** Ten minutes: longer than any client waits. */
const longestMs = 600_000;
const statuses = [429, 500, 502, 503, 504];
const usualLateness: Span = { leastMs: 3000, mostMs: 3000 };
const usualLife: Span = { leastMs: 200, mostMs: 5000 };

/** The syntax of each fault. `read` returns undefined for an invalid value. */
const settings: Readonly<Record<string, { readonly form: string; readonly read: (value: string) => Faults | undefined }>> = {
  seed: {
    form: 'a whole number below 4294967296',
    read: (value) => (/^\d{1,10}$/.test(value) && Number(value) < 2 ** 32 ? { seed: Number(value) } : undefined),
  },
  latency: {
    form: `milliseconds up to ${longestMs}, 300 or 100-800`,
    read: (value) => {
      const latency = spanOf(value);
      return latency && { latency };
    },
  },
  errors: {
    form: `a share from 0 to 1, then a status if not 500: 0.1 or 0.1:503 (${statuses.join(', ')})`,
    read: (value) => {
      const [share, status = 500, ...rest] = value.split(':');
      const errors = { share: shareOf(share), status: Number(status) };
      if (errors.share === undefined || !statuses.includes(errors.status) || rest.length > 0) return undefined;
      return { errors: { share: errors.share, status: errors.status } };
    },
  },
  'failed-turns': shareSetting((failedTurns) => ({ failedTurns })),
  'dropped-sockets': timedSetting(usualLife, (droppedSockets) => ({ droppedSockets })),
  'late-finals': timedSetting(usualLateness, (lateFinals) => ({ lateFinals })),
  'repeated-finals': shareSetting((repeatedFinals) => ({ repeatedFinals })),
  'lost-finals': shareSetting((lostFinals) => ({ lostFinals })),
};

/**
 * Parses fault settings.
 * @param text `name=value` pairs with commas between, as in `latency=100-800,errors=0.1:503,seed=7`; empty: no faults
 * @throws FaultSettingError for an unknown name, a value out of its form, or a name given twice
 */
export function readFaults(text: string): Faults {
  const seen = new Set<string>();
  let faults: Faults = {};
  for (const pair of text.split(',').map((part) => part.trim())) {
    if (pair === '') continue;
    const [name = '', value] = pair.split(/=(.*)/s, 2);
    const setting = Object.hasOwn(settings, name) ? settings[name] : undefined;
    if (setting === undefined) throw new FaultSettingError(unknownName(name));
    if (seen.has(name)) throw new FaultSettingError(`The fault ${name} is given twice`);
    seen.add(name);
    const read = value === undefined ? undefined : setting.read(value.trim());
    if (read === undefined)
      throw new FaultSettingError(`The fault ${name} must be ${setting.form}, as ${name}=…; got ${shown(pair)}`);
    faults = { ...faults, ...read };
  }
  return faults;
}

function unknownName(name: string): string {
  const meant = nearest(name, Object.keys(settings));
  const hint = meant === undefined ? `there are ${Object.keys(settings).join(', ')}` : `did you mean ${meant}?`;
  return `There is no fault named ${shown(name)}: ${hint}`;
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

function shareSetting(add: (share: number) => Faults): (typeof settings)[string] {
  return {
    form: 'a share from 0 to 1',
    read: (value) => {
      const share = shareOf(value);
      return share === undefined ? undefined : add(share);
    },
  };
}

function timedSetting(usual: Span, add: (timed: Span & { share: number }) => Faults): (typeof settings)[string] {
  return {
    form: `a share from 0 to 1, then milliseconds if not ${usual.leastMs}-${usual.mostMs}: 0.1 or 0.1:500-3000`,
    read: (value) => {
      const [first, time, ...rest] = value.split(':');
      const share = shareOf(first);
      const span = time === undefined ? usual : spanOf(time);
      return share === undefined || span === undefined || rest.length > 0 ? undefined : add({ share, ...span });
    },
  };
}

function shareOf(text = ''): number | undefined {
  if (!/^\d(\.\d{1,9})?$/.test(text)) return undefined;
  const share = Number(text);
  return share <= 1 ? share : undefined;
}

function spanOf(text: string): Span | undefined {
  const match = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(text);
  if (match === null) return undefined;
  const leastMs = Number(match[1]);
  const mostMs = Number(match[2] ?? match[1]);
  return leastMs <= mostMs && mostMs <= longestMs ? { leastMs, mostMs } : undefined;
}

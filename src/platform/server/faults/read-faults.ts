import { nearest } from '../../../config/nearest.ts';
import { OffhookError } from '../../../kernel/errors.ts';
import type { Faults, Span } from './faults.ts';

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

import { z } from 'zod';

/** What a call used of one vendor. */
export const usedUnits = z.object({
  /** A speech vendor, a carrier, or whoever serves a model. */
  vendor: z.string().min(1).max(200),
  /** Set for models. */
  model: z.string().min(1).max(200).optional(),
  /** A unit that has a price, `cached-characters`, or another one that a model's server counts. */
  unit: z.string().min(1).max(60),
  amount: z.number().min(0),
  /** Used after the call, by an analysis. */
  job: z.literal('analysis').optional(),
});

export type UsedUnits = z.output<typeof usedUnits>;

/** Units, and the number that was called for minutes at a carrier: prices depend on it. No cost keeps the number. */
export interface PricedUse extends UsedUnits {
  readonly calledNumber?: string | undefined;
}

/** Answers of a model that were cut off before its server said how many tokens they took: their cost is unknown. */
export const UNREPORTED_ANSWERS = 'unreported-answers';

/** Most different units a call can use; further ones are dropped. */
const MOST_KINDS = 200;

/** Adds up amounts by vendor, model and unit. */
export class UsageCount {
  readonly #used = new Map<string, UsedUnits>();

  /** Ignores an amount that is not a number above 0. */
  add({ amount, ...kind }: UsedUnits): void {
    if (!Number.isFinite(amount) || amount <= 0) return;
    const key = JSON.stringify([kind.vendor, kind.model, kind.unit, kind.job]);
    const before = this.#used.get(key)?.amount ?? 0;
    if (before === 0 && this.#used.size >= MOST_KINDS) return;
    this.#used.set(key, { ...kind, amount: before + amount });
  }

  /** In the order of first use; amounts in thousandths. */
  get all(): readonly UsedUnits[] {
    return [...this.#used.values()].map((used) => ({ ...used, amount: Math.round(used.amount * 1000) / 1000 }));
  }
}

const SERVED_BY: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\.)api\.openai\.com$/u, 'openai'],
  [/\.openai\.azure\.com$/u, 'azure'],
  [/^generativelanguage\.googleapis\.com$/u, 'google'],
  [/^api\.anthropic\.com$/u, 'anthropic'],
];

/** The vendor of a model behind an OpenAI-compatible address: `openai`, `azure`, `google`, `anthropic`, else the host. */
export function modelVendor(baseUrl: string): string {
  const { hostname, host } = new URL(baseUrl);
  return SERVED_BY.find(([pattern]) => pattern.test(hostname))?.[1] ?? host;
}

/** The fields of an OpenAI-compatible answer's `usage` (API reference, "Chat completion object"). */
export interface CompletionUsage {
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number | null; readonly audio_tokens?: number | null } | null;
  readonly completion_tokens_details?: { readonly audio_tokens?: number | null } | null;
}

/** Token counts as units that each have a price: cached and audio tokens are not counted as text too. */
export function tokenUnits(usage: CompletionUsage): Readonly<Record<string, number>> {
  const whole = (count: number | null | undefined): number =>
    typeof count === 'number' && Number.isFinite(count) && count > 0 ? Math.round(count) : 0;
  const input = whole(usage.prompt_tokens);
  const cached = Math.min(input, whole(usage.prompt_tokens_details?.cached_tokens));
  const heard = Math.min(input - cached, whole(usage.prompt_tokens_details?.audio_tokens));
  const output = whole(usage.completion_tokens);
  const spoken = Math.min(output, whole(usage.completion_tokens_details?.audio_tokens));
  return {
    'input-text-tokens': input - cached - heard,
    'cached-tokens': cached,
    'input-audio-tokens': heard,
    'output-text-tokens': output - spoken,
    'output-audio-tokens': spoken,
  };
}

/** The times of a call that its carriers charge for, in milliseconds since the Unix epoch. */
export interface CarriedCall {
  readonly carrier: string;
  readonly direction: 'inbound' | 'outbound';
  /** The number that was called. */
  readonly to?: string | undefined;
  readonly answeredAtMs?: number | undefined;
  readonly endedAtMs?: number | undefined;
  readonly transfers?:
    | readonly {
        readonly to?: string | undefined;
        readonly legId?: string | undefined;
        readonly answeredAtMs?: number | undefined;
        readonly endedAtMs?: number | undefined;
      }[]
    | undefined;
}

/** Minutes at the carrier, one entry for the call and for each agent's leg, since each leg is rounded up by itself. */
export function carriedMinutes(call: CarriedCall): PricedUse[] {
  const { carrier, direction, to, answeredAtMs, endedAtMs, transfers = [] } = call;
  // A tenant's own account is `twilio@acme`.
  const vendor = carrier.replace(/@.*$/u, '');
  const legs = [
    { direction, to, answeredAtMs, endedAtMs },
    ...transfers
      .filter(({ legId }) => legId !== undefined)
      .map((leg) => ({ ...leg, direction: 'outbound', endedAtMs: leg.endedAtMs ?? endedAtMs })),
  ];
  return legs.flatMap((leg) => {
    const { answeredAtMs: fromMs, endedAtMs: toMs } = leg;
    if (fromMs === undefined || toMs === undefined || toMs <= fromMs) return [];
    const amount = Math.round((toMs - fromMs) / 0.06) / 1e6;
    return [{ vendor, unit: `${leg.direction}-carrier-minutes`, amount, calledNumber: leg.to }];
  });
}

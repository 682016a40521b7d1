import type { BotPathsView } from '../../../http/api/bots/bot-views.ts';

type Hop = BotPathsView['hops'][number];

/** What calls did in a flow, by step. */
export interface Traffic {
  readonly hops: ReadonlyMap<string, Hop>;
  /** Calls that came to a step, and how many of them ended there without the bot's own end or a transfer. */
  readonly of: (step: string) => { readonly calls: number; readonly lost: number };
  readonly endsAt: (step: string) => BotPathsView['ends'];
}

/** Endings that the bot wanted. */
const WANTED: ReadonlySet<string> = new Set(['finished', 'transferred']);

export function trafficOf(paths: BotPathsView | undefined): Traffic {
  const steps = new Map(paths?.steps.map((each) => [each.step, each.calls]));
  const endsAt = (step: string): BotPathsView['ends'] => paths?.ends.filter((end) => end.step === step) ?? [];
  return {
    hops: new Map(paths?.hops.map((hop) => [`${hop.from ?? ''}>${hop.to}`, hop])),
    of: (step) => ({
      calls: steps.get(step) ?? 0,
      lost: endsAt(step).reduce((sum, { ending, calls }) => sum + (WANTED.has(ending) ? 0 : calls), 0),
    }),
    endsAt,
  };
}

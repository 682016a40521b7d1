import { UNREPORTED_ANSWERS, UsageCount, type UsedUnits } from '../../costs/usage.ts';
import type { DialogAction } from '../../dialog/port.ts';
import type { SpeechUsage } from '../../speech/port.ts';

export interface UsageServices {
  /** What the call has asked of speech vendors so far; not counted where absent. */
  readonly usedSpeech?: (() => readonly SpeechUsage[]) | undefined;
}

/** Units that a model's answer may name; others are dropped. */
const UNIT = /^[a-z][a-z0-9-]{0,59}$/u;
const MOST_NAME = 200;

/** What one call has used of speech vendors and models. */
export class UsageLog {
  readonly #speech: UsageServices['usedSpeech'];
  readonly #count = new UsageCount();
  /** Answers that were begun and whose tokens were not reported yet, by model. */
  readonly #open = new Map<string, UsedUnits>();

  /** @param earlier used before a crash, by the process that had the call */
  constructor({ usedSpeech }: UsageServices, earlier: readonly UsedUnits[] = []) {
    this.#speech = usedSpeech;
    for (const used of earlier) this.#count.add(used);
  }

  /** A model's server reported what an answer used. */
  model({ vendor, model, units }: DialogAction & { readonly type: 'usage' }): void {
    const names = {
      vendor: vendor.slice(0, MOST_NAME) || 'unknown',
      ...(model === '' ? {} : { model: model.slice(0, MOST_NAME) }),
    };
    for (const [unit, amount] of Object.entries(units)) if (UNIT.test(unit)) this.#count.add({ ...names, unit, amount });
    const key = JSON.stringify(names);
    const reported = Object.keys(units).some((unit) => unit.endsWith('-tokens')) ? 1 : 0;
    const open = (this.#open.get(key)?.amount ?? 0) + (units['requests'] ?? 0) - reported;
    this.#open.set(key, { ...names, unit: UNREPORTED_ANSWERS, amount: Math.max(0, open) });
  }

  /** So far, speech and models together. */
  get all(): readonly UsedUnits[] {
    const all = new UsageCount();
    for (const used of [...(this.#speech?.() ?? []), ...this.#count.all, ...this.#open.values()]) all.add({ ...used });
    return all.all;
  }
}

import { BANDS, BandPowers, WINDOW_SAMPLES } from './band-powers.ts';
import { EchoSearch, HISTORY_SAMPLES } from './echo-search.ts';

/** Scratch memory shared by a process's calls: half a megabyte, with nothing kept between frames. */
export interface EchoWorkbench {
  readonly search: EchoSearch;
  readonly powers: BandPowers;
  readonly history: Int16Array;
  readonly window: Int16Array;
  readonly otherWindow: Int16Array;
  readonly powersHere: Float64Array;
  readonly powersThere: Float64Array;
  readonly budget: SearchBudget;
}

/** Searches a second for a first echo, over all calls of a process: a twentieth of a core. */
const SEARCHES_A_SECOND = 25;
export const MOST_SAVED = 50;

/** Shares the process's search budget among its calls. */
export class SearchBudget {
  #left = MOST_SAVED;
  #atMs = Number.NEGATIVE_INFINITY;

  /** Takes one search, if any is left. @param leaving searches that have to be left for others */
  take(nowMs: number, leaving = 0): boolean {
    const passedMs = Math.max(0, nowMs - this.#atMs);
    this.#atMs = nowMs;
    this.#left = Math.min(MOST_SAVED, this.#left + (passedMs / 1000) * SEARCHES_A_SECOND);
    if (this.#left < 1 + leaving) return false;
    this.#left -= 1;
    return true;
  }
}

let shared: EchoWorkbench | undefined;

export function echoWorkbench(): EchoWorkbench {
  shared ??= {
    search: new EchoSearch(),
    powers: new BandPowers(),
    history: new Int16Array(HISTORY_SAMPLES),
    window: new Int16Array(WINDOW_SAMPLES),
    otherWindow: new Int16Array(WINDOW_SAMPLES),
    powersHere: new Float64Array(BANDS),
    powersThere: new Float64Array(BANDS),
    budget: new SearchBudget(),
  };
  return shared;
}

import { BANDS, BandPowers, WINDOW_SAMPLES } from './band-powers.ts';
import { EchoSearch, HISTORY_SAMPLES } from './echo-search.ts';

/** Memory that the calls of a process share: half a megabyte in which nothing outlives the judgement of one frame. */
export interface EchoWorkbench {
  readonly search: EchoSearch;
  readonly powers: BandPowers;
  readonly history: Int16Array;
  readonly window: Int16Array;
  readonly otherWindow: Int16Array;
  readonly powersHere: Float64Array;
  readonly powersThere: Float64Array;
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
  };
  return shared;
}

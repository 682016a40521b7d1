/** Amplitude from which a sample may be clipped: the highest steps of mu-law and A-law, and of 16 bits with little to spare. */
const FULL_SCALE = 32_000;
/** So many of them in a row are a cut-off wave: a single one may be its peak. */
const RUN = 3;
/** Share of the caller's speech from which a line is bad: fewer clipped samples, and less missing sound, are not heard. */
const CLIPPED_SHARE = 0.005;
const MISSING_SHARE = 0.02;
/** A gap in a short call is no bad line. */
const LEAST_GAPS_MS = 200;

/** What the caller's line did to their words. */
export interface LineRecord {
  /** Audio that never arrived, in ms; silence that the carrier did not send is part of it. */
  readonly gapsMs: number;
  /** Clipped samples of the caller's speech, 0 to 1. */
  readonly clippedShare: number;
  /** `gaps`: sound was missing within speech; `clipping`: it was cut off at full scale. Empty for a good line. */
  readonly problems: readonly ('gaps' | 'clipping')[];
}

/** Measures one caller's line. */
export class LineQuality {
  #gapsMs = 0;
  /** Missing after a voiced frame: a carrier that sends no silence stops later. */
  #cutMs = 0;
  #spoken = 0;
  #spokenMs = 0;
  #clipped = 0;
  #wasVoiced = false;

  get gapsMs(): number {
    return this.#gapsMs;
  }

  gap(ms: number): void {
    this.#gapsMs += ms;
    if (this.#wasVoiced) this.#cutMs += ms;
    this.#wasVoiced = false;
  }

  /** @param frame 20 ms, of any rate */
  hear(frame: Int16Array, voiced: boolean): void {
    this.#wasVoiced = voiced;
    if (!voiced) return;
    this.#spoken += frame.length;
    this.#spokenMs += 20;
    let run = 0;
    for (const sample of frame) {
      run = sample >= FULL_SCALE || sample <= -FULL_SCALE ? run + 1 : 0;
      if (run === RUN) this.#clipped += RUN;
      else if (run > RUN) this.#clipped += 1;
    }
  }

  get record(): LineRecord {
    const clippedShare = this.#spoken === 0 ? 0 : this.#clipped / this.#spoken;
    const hasGaps = this.#cutMs >= LEAST_GAPS_MS && this.#cutMs >= MISSING_SHARE * (this.#spokenMs + this.#cutMs);
    const problems = [...(hasGaps ? (['gaps'] as const) : []), ...(clippedShare >= CLIPPED_SHARE ? (['clipping'] as const) : [])];
    return { gapsMs: Math.round(this.#gapsMs), clippedShare: Math.round(clippedShare * 10_000) / 10_000, problems };
  }
}

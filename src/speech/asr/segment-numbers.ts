interface Final {
  readonly wireSeg: number | undefined;
  readonly seg: number;
  readonly text: string;
  refined: boolean;
}

/** Latest finals that a correction can replace. */
const MOST_REMEMBERED = 64;

/**
 * Numbers the recogniser's segments in rising order across sessions, each of which starts at 0, and detects a repeated final.
 */
export class SegmentNumbers {
  /** The number of the session's segment 0. */
  #base = 0;
  #highest = -1;
  #finals: Final[] = [];

  /** Starts a new session's numbers above all that were used, partials included. */
  newSession(): void {
    this.#base = this.#highest + 1;
    this.#finals = [];
  }

  partial(wireSeg: number | undefined): number {
    return this.#told(wireSeg === undefined ? this.#next() : this.#base + wireSeg);
  }

  /** @returns undefined for a repeated final */
  final(wireSeg: number | undefined, text: string): number | undefined {
    const same = wireSeg === undefined ? undefined : this.#finals.find((final) => final.wireSeg === wireSeg);
    if (same?.text === text) return undefined;
    // A second text under one number is another part of the turn, not a correction.
    if (same !== undefined) this.#base += 1;
    const seg = this.#told(wireSeg === undefined ? this.#next() : this.#base + wireSeg);
    this.#finals.push({ wireSeg, seg, text, refined: false });
    if (this.#finals.length > MOST_REMEMBERED) this.#finals.shift();
    return seg;
  }

  /** The number for an empty final that the platform did not send. */
  own(): number {
    const seg = this.#told(this.#next());
    this.#base += 1;
    this.#finals.push({ wireSeg: undefined, seg, text: '', refined: true });
    return seg;
  }

  /** The number after the last final, for a platform without numbers. */
  #next(): number {
    return (this.#finals.at(-1)?.seg ?? this.#base - 1) + 1;
  }

  #told(seg: number): number {
    this.#highest = Math.max(this.#highest, seg);
    return seg;
  }

  /** The final that a correction replaces: by its number, or the oldest uncorrected one; undefined when there is none. */
  refined(wireSeg: number | undefined): number | undefined {
    const final = this.#finals.find((candidate) =>
      wireSeg === undefined ? !candidate.refined && candidate.text !== '' : candidate.wireSeg === wireSeg,
    );
    if (final !== undefined) final.refined = true;
    return final?.seg;
  }
}

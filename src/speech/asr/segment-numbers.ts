interface Final {
  readonly wireSeg: number | undefined;
  readonly seg: number;
  readonly text: string;
  refined: boolean;
}

/** Finals that a late correction can still be matched with. */
const MOST_REMEMBERED = 64;

/**
 * Gives the recogniser's segments numbers that go on rising where a new session begins again at 0, and recognises a final
 * that is sent twice.
 */
export class SegmentNumbers {
  /** The number of the session's segment 0. */
  #base = 0;
  #highest = -1;
  #finals: Final[] = [];

  /** A new socket counts anew, and goes on above everything that was told, partials included. */
  newSession(): void {
    this.#base = this.#highest + 1;
    this.#finals = [];
  }

  partial(wireSeg: number | undefined): number {
    return this.#told(wireSeg === undefined ? this.#next() : this.#base + wireSeg);
  }

  /** @returns undefined for a repeat of a final that was given already */
  final(wireSeg: number | undefined, text: string): number | undefined {
    const same = wireSeg === undefined ? undefined : this.#finals.find((final) => final.wireSeg === wireSeg);
    if (same?.text === text) return undefined;
    // A second text under one number is a second piece of the turn, not a correction: nothing must be lost.
    if (same !== undefined) this.#base += 1;
    const seg = this.#told(wireSeg === undefined ? this.#next() : this.#base + wireSeg);
    this.#finals.push({ wireSeg, seg, text, refined: false });
    if (this.#finals.length > MOST_REMEMBERED) this.#finals.shift();
    return seg;
  }

  /** The number of an empty final that the platform did not send, between those it sends. */
  own(): number {
    const seg = this.#told(this.#next());
    this.#base += 1;
    this.#finals.push({ wireSeg: undefined, seg, text: '', refined: true });
    return seg;
  }

  /** Where the platform numbers nothing: the segment after the last final. */
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

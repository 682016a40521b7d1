/**
 * How a recognition socket behaves where the documents leave room, and the faults it can be told to have. `plain` is the
 * tidy reading of the documents; `hosted-like` is what clients of a hosted platform must survive.
 */
export interface Behaviour {
  /** Put `end_of_utterance` on finals; true on the last one of a commit. */
  readonly endOfUtterance: boolean;
  /** Audio between two partials while there is speech. */
  readonly partialEveryMs: number;
  /** Delays between a final's making and its sending, taken in turn. */
  readonly finalDelaysMs: readonly number[];
  /** Silence after speech at which the platform makes a final by itself, racing the client's commit; undefined: never. */
  readonly endpointSilenceMs: number | undefined;
  /** An empty final for each such stretch of silence in which nothing was said; undefined: never. */
  readonly emptyFinalEveryMs: number | undefined;
  /** Faults, off by default. */
  readonly faults: Faults;
}

export interface Faults {
  /** Cut the socket without a close frame, this long after `ready`. */
  readonly dropSocketAfterMs: number | undefined;
  /** Every n-th non-empty final is never sent. */
  readonly loseFinalEvery: number | undefined;
  /** Every n-th non-empty final is sent twice. */
  readonly repeatFinalEvery: number | undefined;
  /** Answer every n-th commit with an error event and close code 1008. */
  readonly failCommitEvery: number | undefined;
  /** Share of HTTP requests answered 500, 0 to 1; which ones is decided by counting, so that tests are exact. */
  readonly httpErrorShare: number;
}

export type ProfileName = 'plain' | 'hosted-like';

export const noFaults: Faults = {
  dropSocketAfterMs: undefined,
  loseFinalEvery: undefined,
  repeatFinalEvery: undefined,
  failCommitEvery: undefined,
  httpErrorShare: 0,
};

const profiles: Readonly<Record<ProfileName, Behaviour>> = {
  plain: {
    endOfUtterance: true,
    partialEveryMs: 200,
    finalDelaysMs: [0],
    endpointSilenceMs: undefined,
    emptyFinalEveryMs: undefined,
    faults: noFaults,
  },
  'hosted-like': {
    endOfUtterance: false,
    partialEveryMs: 640,
    finalDelaysMs: [300, 1200, 3000],
    endpointSilenceMs: 700,
    emptyFinalEveryMs: 800,
    faults: noFaults,
  },
};

export type BehaviourKnobs = Partial<Omit<Behaviour, 'faults'>> & { readonly faults?: Partial<Faults> };

/** The profile with single knobs turned. */
export function behaviourOf(profile: ProfileName, knobs: BehaviourKnobs = {}): Behaviour {
  const base = profiles[profile];
  return { ...base, ...knobs, faults: { ...base.faults, ...knobs.faults } };
}

/** The delay of final number `index`, counted from 0 over a session: the list is taken round and round. */
export function finalDelayMs(behaviour: Behaviour, index: number): number {
  const delays = behaviour.finalDelaysMs;
  return delays[index % Math.max(1, delays.length)] ?? 0;
}

/** Whether number `index` (from 0) is hit by an every-n-th fault: the n-th, the 2n-th and so on. */
export function isNth(every: number | undefined, index: number): boolean {
  return every !== undefined && every > 0 && (index + 1) % every === 0;
}

/** Whether request number `index` (from 0) fails, so that `share` of any long run does. */
export function failsByShare(share: number, index: number): boolean {
  return Math.floor((index + 1) * share) > Math.floor(index * share);
}

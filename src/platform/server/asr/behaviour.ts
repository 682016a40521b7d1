/**
 * How a recognition socket behaves where the documents leave room. `plain` is the tidy reading of the documents;
 * `hosted-like` is what clients of a hosted platform must survive.
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
}

export type ProfileName = 'plain' | 'hosted-like';

const profiles: Readonly<Record<ProfileName, Behaviour>> = {
  plain: {
    endOfUtterance: true,
    partialEveryMs: 200,
    finalDelaysMs: [0],
    endpointSilenceMs: undefined,
    emptyFinalEveryMs: undefined,
  },
  'hosted-like': {
    endOfUtterance: false,
    partialEveryMs: 640,
    finalDelaysMs: [300, 1200, 3000],
    endpointSilenceMs: 700,
    emptyFinalEveryMs: 800,
  },
};

/** The profile with single knobs turned. */
export function behaviourOf(profile: ProfileName, knobs: Partial<Behaviour> = {}): Behaviour {
  return { ...profiles[profile], ...knobs };
}

/** The delay of final number `index`, counted from 0 over a session: the list is taken round and round. */
export function finalDelayMs(behaviour: Behaviour, index: number): number {
  const delays = behaviour.finalDelaysMs;
  return delays[index % Math.max(1, delays.length)] ?? 0;
}

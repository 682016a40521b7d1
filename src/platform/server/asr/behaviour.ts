/**
 * Behaviour of a recognition socket where the documents leave it open. `plain` is the simplest reading of the documents; `hosted-like`
 * is what clients of a hosted platform meet.
 */
export interface Behaviour {
  /** Put `end_of_utterance` on finals; true on the last one of a commit. */
  readonly endOfUtterance: boolean;
  /** Audio between two partials while there is speech. */
  readonly partialEveryMs: number;
  /** Delays before finals are sent, used in turn. */
  readonly finalDelaysMs: readonly number[];
  /** Silence after speech at which the platform sends a final itself, racing the client's commit; undefined: never. */
  readonly endpointSilenceMs: number | undefined;
  /** Silence without speech after which an empty final is sent, repeatedly; undefined: never. */
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

/** A profile with single settings changed. */
export function behaviourOf(profile: ProfileName, changes: Partial<Behaviour> = {}): Behaviour {
  return { ...profiles[profile], ...changes };
}

/** The delay of final number `index` of a session, from 0; the list repeats. */
export function finalDelayMs(behaviour: Behaviour, index: number): number {
  const delays = behaviour.finalDelaysMs;
  return delays[index % Math.max(1, delays.length)] ?? 0;
}

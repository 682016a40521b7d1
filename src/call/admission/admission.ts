/** When a gateway stops taking calls, and when it takes them again. */
export interface AdmissionLimits {
  /** Live calls at once. */
  readonly maximum: number;
  /** Lag of the event loop, in ms, from which new calls are refused. */
  readonly refuseLagMs: number;
  /** Lag down to which they are refused still; not above `refuseLagMs`, so that a gateway at its limit does not flicker. */
  readonly acceptLagMs: number;
}

/** How full the process is when a call asks to be taken. */
export interface Load {
  readonly active: number;
  /** What `nextShedding` said last. */
  readonly shedding: boolean;
}

/** Whether there is room for one more call; where there is none, which limit was reached. */
export function roomFor(limits: Pick<AdmissionLimits, 'maximum'>, load: Load): 'room' | 'calls' | 'loop-lag' {
  if (load.active >= limits.maximum) return 'calls';
  return load.shedding ? 'loop-lag' : 'room';
}

/** Whether calls are refused for the lag of the event loop, from one measurement of it to the next. */
export function nextShedding(limits: Omit<AdmissionLimits, 'maximum'>, shedding: boolean, lagMs: number): boolean {
  return shedding ? lagMs > limits.acceptLagMs : lagMs >= limits.refuseLagMs;
}

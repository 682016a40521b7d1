/** Seconds rounded to the millisecond. */
export function milli(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

/** A confidence between 0 and 1, to three places. */
export function share(confidence: number): number {
  return Math.round(Math.min(1, Math.max(0, confidence)) * 1000) / 1000;
}

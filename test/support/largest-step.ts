/** The largest change from one sample to the next. */
export function largestStep(pcm: Int16Array): number {
  let [largest, before] = [0, pcm[0] ?? 0];
  for (const sample of pcm) {
    largest = Math.max(largest, Math.abs(sample - before));
    before = sample;
  }
  return largest;
}

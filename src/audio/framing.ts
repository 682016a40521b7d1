/**
 * Cuts audio into whole frames; keeps the tail for the next call.
 * @param pending bytes left over from the last call, fewer than `frameBytes`
 * @param chunk bytes just received, any length
 * @returns frames of exactly `frameBytes`, oldest first, in memory of their own, and the new tail
 */
export function cutFrames(
  pending: Uint8Array,
  chunk: Uint8Array,
  frameBytes: number,
): { frames: Uint8Array[]; pending: Uint8Array } {
  if (frameBytes < 1) throw new RangeError(`a frame has at least one byte, not ${frameBytes}`);
  const joined = new Uint8Array(pending.length + chunk.length);
  joined.set(pending);
  joined.set(chunk, pending.length);
  const whole = joined.length - (joined.length % frameBytes);
  const frames: Uint8Array[] = [];
  for (let at = 0; at < whole; at += frameBytes) frames.push(joined.subarray(at, at + frameBytes));
  return { frames, pending: joined.slice(whole) };
}

const FADE_IN_MS = 10;

/** The same audio, its first 10 ms rising from silence. */
export function fadedIn(audio: Int16Array, rateHz: number): Int16Array {
  const pcm = Int16Array.from(audio);
  const fade = Math.min((FADE_IN_MS * rateHz) / 1000, pcm.length);
  for (let index = 0; index < fade; index += 1) pcm[index] = ((pcm[index] ?? 0) * index) / fade;
  return pcm;
}

/** The same audio, falling to silence over its whole length. */
export function fadedOut(audio: Int16Array): Int16Array {
  const pcm = Int16Array.from(audio);
  for (let index = 0; index < pcm.length; index += 1) pcm[index] = (pcm[index] ?? 0) * (1 - (index + 1) / pcm.length);
  return pcm;
}

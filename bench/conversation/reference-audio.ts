const SAMPLES_PER_MS = 8;
const TEMPLATE_SAMPLES = 60 * SAMPLES_PER_MS;
/** A match is the same sound at any level; a fade in the middle of the template is less, and so is another vowel. */
const LEAST_LIKENESS = 0.97;

/**
 * Finds where in what was said a stretch of sound was, whatever its level.
 * @param heard up to the moment of interest; when its end cannot be placed (a fade, a silence), what is before it is
 * @param fromMs where to look in the reference, in ms
 * @returns ms into the reference of the last sample, as it would be had everything gone on evenly
 */
export function locate(reference: Int16Array, heard: Int16Array, fromMs: number, toMs: number): number | undefined {
  for (let end = heard.length; end >= TEMPLATE_SAMPLES && heard.length - end < 3_200; end -= TEMPLATE_SAMPLES / 2) {
    const template = heard.subarray(end - TEMPLATE_SAMPLES, end);
    const at = bestMatch(reference, template, Math.max(0, Math.floor(fromMs * SAMPLES_PER_MS)), Math.ceil(toMs * SAMPLES_PER_MS));
    if (at !== undefined) return (at + heard.length - end + TEMPLATE_SAMPLES) / SAMPLES_PER_MS;
  }
  return undefined;
}

/** First sample of the stretch of the reference that is most like the template, if it is like it at all. */
function bestMatch(reference: Int16Array, template: Int16Array, from: number, to: number): number | undefined {
  const length = template.length;
  const templatePower = template.reduce((sum, sample) => sum + sample * sample, 0);
  if (templatePower === 0) return undefined;
  let power = 0;
  for (let index = 0; index < length; index += 1) power += (reference[from + index] ?? 0) ** 2;
  let best = LEAST_LIKENESS;
  let bestAt: number | undefined;
  for (let at = from; at + length <= Math.min(to, reference.length); at += 1) {
    let product = 0;
    for (let index = 0; index < length; index += 1) product += reference[at + index]! * template[index]!;
    const likeness = power === 0 ? 0 : product / Math.sqrt(power * templatePower);
    if (likeness > best) {
      best = likeness;
      bestAt = at;
    }
    power += (reference[at + length] ?? 0) ** 2 - reference[at]! ** 2;
  }
  return bestAt;
}

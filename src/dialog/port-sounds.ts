/**
 * What a sound is called in texts and logs: the last part of its file name or address, without what an address asks for, which
 * may hold a key.
 */
export function soundName(source: string): string {
  const path = URL.canParse(source) ? new URL(source).pathname : source;
  const name = path.split('/').findLast((part) => part !== '') ?? 'sound';
  return name.replaceAll(/[[\]\p{Cc}]/gu, '').slice(0, 100);
}

const LABEL = /\[audio [^\]]*\]/gu;

/** What stands in the history for a sound that was heard and has no words. */
export function soundLabel(source: string): string {
  return `[audio ${soundName(source)}]`;
}

/** A text of the history without the labels of sounds. */
export function withoutSounds(text: string): string {
  return text.replaceAll(LABEL, '').trim();
}

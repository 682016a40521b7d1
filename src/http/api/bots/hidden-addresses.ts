const HIDDEN = '[hidden]';

/** A configuration text without the credentials and queries of its addresses. */
export function hideAddresses(text: string): string {
  return text
    .replaceAll(/\b((?:https?|wss?):\/\/)[^\s/@"']+@/giu, `$1${HIDDEN}@`)
    .replaceAll(/\b((?:https?|wss?):\/\/[^\s?"']+\?)[^\s"']+/giu, `$1${HIDDEN}`);
}

/**
 * Puts back what `hideAddresses` took out, in order of appearance. Where an address was changed its hidden part stays hidden, and the check of the
 * draft refuses it.
 * @param original has the addresses as they are
 */
export function restoreAddresses(draft: string, original: string): string {
  const address = /\b(?:https?|wss?):\/\/[^\s"']+/giu;
  const known = [...original.matchAll(address)].map(([whole]) => ({ whole, hidden: hideAddresses(whole) }));
  return draft.replaceAll(address, (found) => {
    if (!found.includes(HIDDEN)) return found;
    const at = known.findIndex(({ whole, hidden }) => whole !== hidden && hidden === found);
    return at === -1 ? found : (known.splice(at, 1)[0]?.whole ?? found);
  });
}

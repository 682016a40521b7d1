/** A formula is never longer than this; what stands behind a lone `$` must not wait for ever for another. */
const MOST_UNITS = 200;

/** `$5`, `$1,200.50`: money, when no letter or operator follows at once. */
const PRICE = /^\$\d[\d.,]*(?:[\s)\]'"”’?!;:%-]|$)/u;
// Nothing that combines with the closing sign may follow it.
const INLINE = /^\$[^$]*(?<!\s)\$(?![\d\p{M}\p{EMod}\u200c\u200d])/u;
const DISPLAY = /^\$\$[^$]+\$\$(?![\p{M}\p{EMod}\u200c\u200d])/u;

/**
 * How many UTF-16 units of the text, which begins with `$`, are one formula `$…$` or `$$…$$`; 0 when it is a lone sign or a
 * price. Opens before a character that is no space, closes behind one, and a digit never follows it.
 * @param isEnd whether nothing follows the text
 * @returns undefined when what follows decides it
 */
export function formulaUnits(text: string, isEnd: boolean): number | undefined {
  const head = text.slice(0, MOST_UNITS + 2);
  const isWhole = isEnd || text.length > head.length;
  if (head.length < 2) return isWhole ? 0 : undefined;
  const price = PRICE.exec(head);
  // At the very end of an unfinished text more digits may follow.
  if (price !== null) return isWhole || price[0].length < head.length ? 0 : undefined;
  const isDisplay = head.startsWith('$$');
  if (!isDisplay && /^\s/u.test(head.slice(1))) return 0;
  const formula = (isDisplay ? DISPLAY : INLINE).exec(head);
  if (formula !== null) return isWhole || formula[0].length < head.length ? formula[0].length : undefined;
  const closed = head.indexOf('$', isDisplay ? 2 : 1);
  const isDecided = isWhole || (closed !== -1 && closed + 1 < head.length);
  return isDecided ? 0 : undefined;
}

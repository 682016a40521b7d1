/** `[shown](address)` and `![shown](address)`: what is shown is said. */
const LINK = /!?\[([^\]\n]*)\]\([^)\n]*\)/gu;
const BARE_ADDRESS = /\bhttps?:\/\/(?:www\.)?([^\s/?#]+)\S*/giu;
const HEADING_OR_BULLET = /^[ \t]*(?:#{1,6}[ \t]+|[-*+•][ \t]+|>[ \t]?)/gmu;
const RULE = /^[ \t]*(?:[-*_][ \t]*){3,}$/gmu;
const EMPHASIS = /(\*\*|__|~~|`{1,3})/gu;
/** A lone `*` or `_` at the edge of a word; inside a word or between numbers it stays. */
const EDGE_EMPHASIS = /(?<![\p{L}\p{N}])[*_](?=\S)|(?<=\S)[*_](?![\p{L}\p{N}])/gu;
/** Emoji with what varies and joins them; a joiner between letters is part of a Hindi word. */
const PICTURE =
  /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u{FE0F}|\u{20E3}|(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u{FE0F})\u{200D}/gu;
/** Marks that count as pictographs and are words of a text all the same. */
const SAID_MARKS = /^[©®™]/u;

/**
 * What a voice can say of a written sentence: without markup, pictures and addresses. A model writes for readers, and a
 * voice that says "asterisk asterisk" has lost the caller. Formulas (`$…$`) are left as they are.
 * @returns the text with single spaces; empty when nothing of it can be said
 */
export function speakable(text: string): string {
  return text
    .split(/(\$[^$\n]+\$)/u)
    .map((part, index) => (index % 2 === 1 ? part : withoutMarkup(part)))
    .join('')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}

function withoutMarkup(text: string): string {
  return text
    .replaceAll(LINK, '$1')
    .replaceAll(BARE_ADDRESS, '$1')
    .replaceAll(RULE, '')
    .replaceAll(HEADING_OR_BULLET, '')
    .replaceAll(EMPHASIS, '')
    .replaceAll(EDGE_EMPHASIS, '')
    .replaceAll(PICTURE, (picture) => (SAID_MARKS.test(picture) ? picture : ''));
}

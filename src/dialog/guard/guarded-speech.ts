import type { DialogAction } from '../port.ts';
import type { Guard, Sources } from './guard.ts';

/** A sentence without an end is checked at this length: more is not held back. */
const MOST_HELD_CHARACTERS = 600;
/** A sentence mark and what closes it; a mark before more text without a blank may be inside a number. */
const SENTENCE_END = /[.!?।？！。]+["'”’)\]]*\s+/gu;

/**
 * Checks the words of an answer, sentence by sentence, before they are spoken. In place of the refused ones the caller hears one sentence; the record
 * gets a note for each.
 * @param sourcesNow at the time of each sentence, since tools run in between
 */
export async function* guarded(
  actions: AsyncIterable<DialogAction>,
  guard: Guard,
  language: string,
  sourcesNow: () => Sources,
): AsyncIterable<DialogAction> {
  let held = '';
  let excused = false;
  const checked = function* (sentences: readonly string[], more: boolean): Iterable<DialogAction> {
    for (const text of sentences) {
      const refusal = text.trim() === '' ? undefined : guard.refusalOf(text, sourcesNow());
      if (refusal === undefined) {
        yield { type: 'say', text, more: true };
        continue;
      }
      yield { type: 'note', text: `guard refused (${refusal.rule}: ${refusal.about}): ${text.trim()}` };
      if (!excused) yield { type: 'say', text: `${guard.insteadIn(language, refusal)} `, more: true };
      excused = true;
    }
    if (!more) yield { type: 'say', text: '' };
  };
  for await (const action of actions) {
    if (action.type !== 'say') {
      if (held !== '') yield* checked([held], false);
      held = '';
      yield action;
      continue;
    }
    const { sentences, rest } = cut(held + action.text);
    held = action.more === true && rest.length < MOST_HELD_CHARACTERS ? rest : '';
    const whole = held === '' && rest !== '' ? [...sentences, rest] : sentences;
    if (whole.length > 0 || action.more !== true) yield* checked(whole, action.more === true);
  }
  if (held !== '') yield* checked([held], true);
}

/** Whole sentences with the blanks behind them, and the unfinished rest. */
export function cut(text: string): { readonly sentences: string[]; readonly rest: string } {
  const sentences: string[] = [];
  let from = 0;
  for (const { 0: mark, index } of text.matchAll(SENTENCE_END)) {
    sentences.push(text.slice(from, index + mark.length));
    from = index + mark.length;
  }
  return { sentences, rest: text.slice(from) };
}

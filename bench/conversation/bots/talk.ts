import type { DialogTurn } from '../../../src/dialog/port.ts';
import { LONG_REPLY, SENTENCES, SHORT_REPLIES } from './words.ts';

/**
 * Talks at length, so that there is always something to interrupt. What the caller's first words ask for decides how: "short"
 * gives short answers from then on, "minute" answers of about a minute.
 */
export async function* respond({ input, index, variables }: DialogTurn): AsyncGenerator<object> {
  const asked = input.kind === 'spoken' ? input.text : '';
  const manner = /\bshort\b/u.test(asked) ? 'short' : /\bminute\b/u.test(asked) ? 'minute' : (variables['manner'] ?? 'long');
  if (manner !== variables['manner']) yield { type: 'set', variables: { manner } };
  if (manner === 'short') yield { type: 'say', text: SHORT_REPLIES[index % SHORT_REPLIES.length] };
  else if (manner === 'minute') yield { type: 'say', text: LONG_REPLY };
  else for (let place = 0; place < 3; place += 1) yield { type: 'say', text: SENTENCES[(3 * index + place) % SENTENCES.length] };
}

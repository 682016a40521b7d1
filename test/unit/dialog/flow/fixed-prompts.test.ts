import { expect, it } from 'vitest';
import { fixedPrompts, sentencesOf } from '../../../../src/dialog/bot-dialog.ts';
import { small } from './talk.ts';

it('lists the sentences that never change, each once', () => {
  const sentences = fixedPrompts(small);
  expect(sentences).toContain('Repair or buy?');
  expect(sentences).toContain('Press one or two.');
  expect(sentences).toContain('Thank you for calling.');
  expect(sentences).toContain('Are you still there?');
  expect(new Set(sentences).size).toBe(sentences.length);
});

it('leaves out sentences with a placeholder, and texts that are parts of others', () => {
  const sentences = fixedPrompts(small);
  expect(sentences.filter((sentence) => sentence.includes('{{'))).toEqual([]);
  expect(sentences).not.toContain('the bike shop');
  expect(sentences).not.toContain('a repair');
});

it('cuts as the call does', () => {
  const sentences = fixedPrompts(small, { cutSentences: (text) => [` ${text} `] });
  expect(sentences).toContain('Thank you for calling. Goodbye.');
});

it.each([
  ['One. Two? Three!', ['One.', 'Two?', 'Three!']],
  ['नमस्ते। कैसे हैं?', ['नमस्ते।', 'कैसे हैं?']],
  ['  folded\n  lines ', ['folded lines']],
  ['', []],
])('cuts %j into sentences', (prompt, sentences) => expect(sentencesOf(prompt)).toEqual(sentences));

import { expect, it } from 'vitest';
import {
  foldNews,
  noTranscript,
  outcomeOf,
  settledLines,
  type Told,
  type Transcript,
} from '../../../../src/console/live/transcript.ts';
import type { NewsView } from '../../../../src/http/api/calls/watch-messages.ts';

function transcript(...items: NewsView[]): Transcript {
  return foldNews(
    noTranscript,
    items.map((news, index): Told => ({ type: 'news', at: `t${index}`, news })),
  );
}

it('shows a bot’s sentences as they begin, its reply time, and what of it was never heard', () => {
  const { lines, replies } = transcript(
    { type: 'turn', turn: 1, kind: 'spoken', callerText: 'Thursday' },
    { type: 'saying', turn: 1, text: 'Thursday it is.' },
    { type: 'reply', turn: 1, totalMs: 640 },
    { type: 'floor', what: 'hold', by: 'voice' },
    { type: 'saying', turn: 1, text: 'At which hour?' },
    { type: 'floor', what: 'clear', by: 'words' },
    { type: 'heard', turn: 1, text: 'Thursday it is. At which hour?', heard: 'Thursday it is. At wh—' },
  );
  expect(lines).toMatchObject([
    { type: 'caller', turn: 1, text: 'Thursday' },
    {
      type: 'bot',
      sentences: ['Thursday it is.', 'At which hour?'],
      outcome: { heard: 'Thursday it is. At wh', unheard: 'ich hour?' },
      replyMs: 640,
      marks: [{ what: 'hold' }, { what: 'clear' }],
    },
  ]);
  expect(replies).toEqual([{ turn: 1, ms: 640 }]);
});

it('grows the caller’s partial, and drops it when the turn is there', () => {
  expect(transcript({ type: 'partial', text: 'on' }, { type: 'partial', text: 'on Thu' }).partial).toBe('on Thu');
  const after = transcript(
    { type: 'partial', text: 'on Thu' },
    { type: 'turn', turn: 2, kind: 'spoken', callerText: 'On Thursday' },
  );
  expect(after.partial).toBe('');
  expect(after.lines).toMatchObject([{ type: 'caller', text: 'On Thursday' }]);
});

it('shows a turn once that grew while the bot was asked', () => {
  const { lines } = transcript(
    { type: 'turn', turn: 1, kind: 'spoken', callerText: 'On Thursday' },
    { type: 'state', step: 'day', slots: null },
    { type: 'turn', turn: 1, kind: 'spoken', callerText: 'On Thursday at ten' },
    { type: 'saying', turn: 1, text: 'Thursday at ten it is.' },
  );
  expect(lines).toMatchObject([{ type: 'caller', text: 'On Thursday at ten' }, { type: 'bot' }]);
});

it('shows words once while a turn that was taken for over grows', () => {
  const grown = transcript(
    { type: 'turn', turn: 1, kind: 'spoken', callerText: 'On Thursday.' },
    { type: 'partial', text: 'on Thursday at' },
  );
  expect(settledLines(grown)).toEqual([]);
  const next = transcript(
    { type: 'turn', turn: 1, kind: 'spoken', callerText: 'On Thursday.' },
    { type: 'partial', text: 'At ten' },
  );
  expect(settledLines(next)).toHaveLength(1);
});

it('begins a new line for what is said after a turn was over, as a text that an operator typed', () => {
  const { lines } = transcript(
    { type: 'turn', turn: 0, kind: 'start', callerText: '' },
    { type: 'saying', turn: 0, text: 'Hello.' },
    { type: 'heard', turn: 0, text: 'Hello.', heard: 'Hello.' },
    { type: 'saying', turn: 0, text: 'A colleague will be with you.' },
  );
  expect(lines).toMatchObject([
    { type: 'bot', outcome: { heard: 'Hello.', unheard: '' } },
    { type: 'bot', sentences: ['A colleague will be with you.'] },
  ]);
});

it('joins keys, marks the floor where the bot said nothing, and tells of a line between people', () => {
  const { lines, ended } = transcript(
    { type: 'floor', what: 'restore', by: 'silence' },
    { type: 'digit', digit: '4' },
    { type: 'digit', digit: '2' },
    { type: 'heard', turn: 3, text: 'Good morning.', heard: 'Good morning.' },
    { type: 'answered-by', by: 'person', confidence: 0.9 },
    { type: 'ended', reason: 'caller-hangup' },
  );
  expect(lines).toMatchObject([
    { type: 'mark', mark: { what: 'restore' } },
    { type: 'keys', digits: '42' },
    { type: 'bot', sentences: [], outcome: { heard: 'Good morning.' } },
    { type: 'answered-by', by: 'person' },
    { type: 'ended', reason: 'caller-hangup' },
  ]);
  expect(ended).toBe('caller-hangup');
  expect(new Set(lines.map(({ key }) => key)).size).toBe(lines.length);
});

it('tells a reader without texts what happens, and where the dialog is to who may see it', () => {
  const bare = transcript(
    { type: 'turn', turn: 1, kind: 'spoken', callerText: null },
    { type: 'digit', digit: null },
    { type: 'saying', turn: 1, text: null },
    { type: 'heard', turn: 1, text: null, heard: null },
    { type: 'state', step: 'day', slots: null },
    { type: 'ordered', order: 'mute', by: 'key-1' },
  );
  expect(bare.lines).toMatchObject([
    { type: 'caller', text: null },
    { type: 'keys', digits: null },
    { type: 'bot', sentences: [null], outcome: { heard: null } },
    { type: 'ordered', order: 'mute', by: 'key-1' },
  ]);
  expect(bare.state).toEqual({ step: 'day', slots: null });
});

it.each([
  { note: 'all of it', text: 'Yes. Good.', heard: 'Yes. Good.', outcome: { heard: 'Yes. Good.', unheard: '' } },
  { note: 'nothing', text: 'Yes.', heard: '', outcome: { heard: '', unheard: 'Yes.' } },
  { note: 'half a word', text: 'Thursday morning', heard: 'Thurs—', outcome: { heard: 'Thurs', unheard: 'day morning' } },
  { note: 'a word with its own dash', text: 'well- known', heard: 'well-', outcome: { heard: 'well-', unheard: ' known' } },
  { note: 'other words', text: 'One. Two. Three.', heard: 'One. Three.', outcome: { heard: 'One. Three.', unheard: '' } },
])('splits what was said from what was never heard: $note', ({ text, heard, outcome }) => {
  expect(outcomeOf(text, heard)).toEqual(outcome);
});

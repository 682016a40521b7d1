import { expect, it } from 'vitest';
import { TurnSound } from '../../../../../src/call/inbound/end-of-turn/turn-sound.ts';
import type { TurnEvent } from '../../../../../src/call/turn/turn-state.ts';

/** A line whose samples count its frames, and a model that answers when it is told to. */
function line(seconds: number) {
  const asked: Int16Array[] = [];
  const events: TurnEvent[] = [];
  let answer: (likelihood: number) => void = () => undefined;
  const sound = new TurnSound(
    {
      ask(pcm, answered) {
        asked.push(pcm);
        answer = answered;
      },
    },
    (event) => events.push(event),
  );
  for (let frame = 1; frame <= seconds * 50; frame += 1) sound.hear(new Int16Array(160).fill(frame), frame * 20);
  return { asked, events, sound, answer: (likelihood: number) => answer(likelihood) };
}

it('asks about the turn from a little before its first sound on', () => {
  const { asked, sound } = line(5);
  sound.ask({ type: 'ask-model', sinceMs: 4_000, lastVoicedMs: 4_820 });
  expect(asked.map(({ length }) => length / 8)).toEqual([1_200]);
  expect([asked[0]?.[0], asked[0]?.at(-1)]).toEqual([191, 250]);
});

it('asks about the last 8 s of a longer turn, and about what there is of a young call', () => {
  const { asked, sound } = line(20);
  sound.ask({ type: 'ask-model', sinceMs: 1_000, lastVoicedMs: 19_820 });
  const young = line(1);
  young.sound.ask({ type: 'ask-model', sinceMs: 100, lastVoicedMs: 820 });
  expect([...asked, ...young.asked].map(({ length }) => length / 8)).toEqual([8_000, 1_000]);
});

it('names the pause in the answer', () => {
  const { sound, events, answer } = line(2);
  sound.ask({ type: 'ask-model', sinceMs: 500, lastVoicedMs: 1_820 });
  answer(0.25);
  expect(events).toEqual([{ type: 'model-answered', lastVoicedMs: 1_820, likelihood: 0.25 }]);
});

it('asks nothing before anything was heard', () => {
  const { sound, asked } = line(0);
  sound.ask({ type: 'ask-model', sinceMs: 0, lastVoicedMs: 0 });
  expect(asked).toEqual([]);
});

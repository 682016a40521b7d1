import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type FrameReader, SharedFrames } from '../../../../../src/call/inbound/neural/shared-frames.ts';

/** A frame that says who it is. */
const frameOf = (number: number): Int16Array => new Int16Array(160).fill(number);

/** Judges one frame, if there is one, as its number in thousandths. */
function judgeOne(reader: FrameReader): void {
  const frame = reader.next();
  if (frame !== undefined) reader.answer(frame[159]! / 1000);
}

it('answers every frame it took once and in order, with its own answer or none, however both sides take turns', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('write', 'judge', 'read'), { maxLength: 300 }), (turns) => {
      const shared = new SharedFrames(3);
      const other = new SharedFrames(3, shared.memory);
      const writer = shared.open(1);
      const reader = other.reader(1);
      expect(reader.use()).toBe('opened');
      const taken: number[] = [];
      const answers: (number | 'none')[] = [];
      const read = (): boolean => {
        const answer = writer.read();
        if (answer !== undefined) answers.push(answer);
        return answer !== undefined;
      };
      turns.forEach((turn, number) => {
        if (turn === 'write' && writer.write(frameOf(number))) taken.push(number);
        else if (turn === 'judge') judgeOne(reader);
        else if (turn === 'read') read();
      });
      for (let count = 0; count < 40; count += 1) judgeOne(reader);
      while (read());
      expect(answers).toHaveLength(taken.length);
      answers.forEach((answer, index) => expect(['none', taken[index]! / 1000]).toContain(answer));
    }),
  );
});

it('takes no more than its ring holds while no frame is judged, and then skips all but the last few', () => {
  const shared = new SharedFrames(1);
  const writer = shared.open(0);
  const reader = shared.reader(0);
  expect(reader.use()).toBe('opened');
  const taken = Array.from({ length: 40 }, (_, number) => writer.write(frameOf(number)));
  expect(taken.filter(Boolean)).toHaveLength(32);
  expect(taken.lastIndexOf(true)).toBe(31);
  expect(writer.read()).toBeUndefined();
  judgeOne(reader);
  const answers = Array.from({ length: 32 }, () => writer.read());
  expect(answers.slice(0, 29)).toEqual(Array(29).fill('none'));
  expect(answers.slice(29)).toEqual([0.029, undefined, undefined]);
  expect(writer.write(frameOf(32))).toBe(true);
});

it('gives a call nothing of the call that had its line before', () => {
  const shared = new SharedFrames(2);
  const reader = shared.reader(1);
  const first = shared.open(1);
  reader.use();
  first.write(frameOf(1));
  first.write(frameOf(2));
  judgeOne(reader);
  first.close();
  const second = shared.open(1);
  expect(second.read()).toBeUndefined();
  second.write(frameOf(3));
  expect(reader.use()).toBe('opened');
  judgeOne(reader);
  expect([second.read(), second.read()]).toEqual([0.003, undefined]);
  second.write(frameOf(4));
  second.close();
  expect(reader.use()).toBe('closed');
  expect(reader.use()).toBe('same');
  expect(reader.next()).toBeUndefined();
});

it('tells the other side of every change, and that it is over', () => {
  const shared = new SharedFrames(1);
  const other = new SharedFrames(1, shared.memory);
  const before = other.changes();
  const writer = shared.open(0);
  writer.write(frameOf(1));
  expect(other.changes()).not.toBe(before);
  // There were more changes since: this returns at once.
  other.sleep(before);
  expect(other.stopped).toBe(false);
  shared.stop();
  expect(other.stopped).toBe(true);
});

import { describe, expect, it } from 'vitest';
import type { DialogTurn } from '../../../src/dialog/port.ts';
import { CallBench, type DialogScript } from './call-bench.ts';

const APOLOGY = 'Sorry, something went wrong on our side.';

/** Greets; then fails at the first `failures` askings of each turn. */
function faulty(failures: number, fail: (turn: DialogTurn, signal: AbortSignal) => Promise<unknown>): DialogScript {
  const asked = new Map<number, number>();
  return async function* (turn, signal) {
    if (turn.input.kind === 'start') {
      yield { type: 'say', text: 'Hello.' };
      return;
    }
    const times = (asked.get(turn.index) ?? 0) + 1;
    asked.set(turn.index, times);
    if (times <= failures) await fail(turn, signal);
    yield { type: 'say', text: 'You are booked for Tuesday.' };
  };
}

const throws = async (): Promise<never> => {
  throw new Error('no such table');
};
const hangs = (): Promise<never> => new Promise(() => undefined);

async function saysTuesday(bench: CallBench, waitMs: number): Promise<void> {
  await bench.start(1_500);
  await bench.says(0, 'on tuesday please', waitMs);
}

async function heardBy(bench: CallBench): Promise<string> {
  const { turns } = await bench.hangUp('done');
  return turns.map(({ botHeardText }) => botHeardText).join(' | ');
}

/** Sentences that were spoken, fillers too. */
const spokenBy = (bench: CallBench): string[] => bench.news.flatMap((each) => (each.type === 'saying' ? [each.text] : []));

describe.each([
  { note: 'breaks', fail: throws, waitMs: 4_500 },
  { note: 'says nothing for ten seconds', fail: hangs, waitMs: 15_000 },
])('a dialog that $note', ({ fail, waitMs }) => {
  it('is asked the same turn once more, and the caller is told to wait and not to repeat', async () => {
    using bench = new CallBench(faulty(1, fail));
    await saysTuesday(bench, waitMs);
    const [, first, second, ...others] = bench.asked;
    expect(others).toEqual([]);
    expect(second).toEqual({ ...first, again: true });
    expect(spokenBy(bench)).toContain('One moment, please.');
    expect(spokenBy(bench).join(' ')).not.toContain('say it again');
    expect(await heardBy(bench)).toBe('Hello. | You are booked for Tuesday.');
  });

  it('has the caller hear the apology when it fails a second time, and the call ends', async () => {
    using bench = new CallBench(faulty(2, fail));
    await saysTuesday(bench, 2 * waitMs + 9_000);
    expect((await bench.session.ended).endReason).toBe('dialog-failed');
    const said = spokenBy(bench).join(' ');
    expect(said).toContain('One moment, please.');
    expect(said).toContain(APOLOGY);
    expect(said).not.toContain('say it again');
    expect(bench.asked).toHaveLength(3);
  });
});

it('connects the caller to failureTransfer behind the apology of a dialog that failed twice', async () => {
  using bench = new CallBench(faulty(2, throws), { failureTransfer: '+15550100' });
  const to: string[] = [];
  bench.control = {
    hangUp: async () => undefined,
    sendDigits: async () => undefined,
    transfer: async (_call, target) => void to.push(target),
  };
  await saysTuesday(bench, 12_000);
  expect(to).toEqual(['+15550100']);
});

it('goes on behind what was said when an answer breaks off in its middle, and repeats nothing of it', async () => {
  let asked = 0;
  using bench = new CallBench(async function* ({ input }) {
    if (input.kind === 'start') {
      yield { type: 'say', text: 'Hello.' };
      return;
    }
    asked += 1;
    yield { type: 'say', text: 'Let me see.' };
    if (asked === 1) {
      yield { type: 'say', text: 'You are booked', more: true };
      throw new Error('broke off');
    }
    yield { type: 'say', text: 'You are booked for Tuesday.' };
  });
  await saysTuesday(bench, 8_000);
  expect(spokenBy(bench)).toEqual(['Hello.', 'Let me see.', 'One moment, please.', 'You are booked for Tuesday.']);
  expect(await heardBy(bench)).toBe('Hello. | Let me see. You are booked for Tuesday.');
});

it('asks once more, with all the words, a caller who goes on speaking while the turn is asked again', async () => {
  using bench = new CallBench(faulty(1, throws));
  await saysTuesday(bench, 100);
  await bench.voice(600);
  bench.partial(1, 'in the morning if you can');
  await bench.quiet(660);
  bench.recognised(1, 'in the morning if you can');
  await bench.quiet(5_000);
  expect(bench.asked.at(-1)).toMatchObject({ index: 1, input: { text: 'on tuesday please in the morning if you can' } });
  expect(await heardBy(bench)).toContain('You are booked for Tuesday.');
});

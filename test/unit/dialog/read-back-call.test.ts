import { expect, it } from 'vitest';
import { readingBack } from '../../../src/dialog/read-back-hook.ts';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { CallBench } from '../call/call-bench.ts';

it('reads a typed number back in a call, and gives it to the bot after a spoken yes', async () => {
  const turns: DialogTurn[] = [];
  async function* dialog(turn: DialogTurn): AsyncIterable<DialogAction> {
    turns.push(turn);
    yield { type: 'say', text: 'Well.' };
    yield { type: 'gather', contract: { kind: 'phone', region: 'US', readBack: 'always' } };
  }
  const said: string[] = [];
  const facts = { callId: 'c', botName: 'b', from: '', to: '', direction: 'inbound', language: 'en' } as const;
  const hook = readingBack({ create: () => ({ respond: dialog }) }, new ManualClock(), 'UTC').create(facts);
  using bench = new CallBench(async function* overheard(turn) {
    for await (const action of hook.respond(turn, new AbortController().signal)) {
      if (action.type === 'say') said.push(action.text);
      yield action;
    }
  });
  await bench.start();
  await bench.quiet(500);
  for (const digit of '4155550132') {
    bench.attachment.emit({ type: 'digit', digit });
    await bench.quiet(100);
  }
  expect(said.at(-1)).toBe('four one five, five five five, zero one three two. Is that right?');
  expect(turns).toHaveLength(1);
  await bench.quiet(800);
  await bench.voice(600);
  await bench.quiet(660);
  bench.recognised(0, 'yes');
  await bench.quiet(400);
  expect(turns.at(-1)?.input).toMatchObject({ text: '+14155550132', answer: { status: 'complete', value: '+14155550132' } });
});

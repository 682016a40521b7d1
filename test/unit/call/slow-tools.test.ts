import { expect, it } from 'vitest';
import { z } from 'zod';
import type { SlowInput } from '../../../src/config/bot-tools.ts';
import type { DialogHook } from '../../../src/dialog/port.ts';
import { defineTool } from '../../../src/dialog/define-bot.ts';
import { llmHooks } from '../../../src/dialog/llm/llm-hook.ts';
import type { Clock } from '../../../src/kernel/clock.ts';
import { sleep } from '../../../src/kernel/waiting.ts';
import { type ModelAnswer, type ModelAsked, ScriptedModel } from '../../support/scripted-model.ts';
import { CallBench } from './call-bench.ts';

const SAY = { en: ['I am checking the stock.', 'Still checking.'] };

/** A call of a bot whose tool takes twelve seconds; its model answers by script. */
class SlowCall implements Disposable {
  readonly bench: CallBench;
  readonly model: ScriptedModel;
  /** What became of the tool. */
  readonly outcomes: string[] = [];
  hook: DialogHook | undefined;

  constructor(slow: SlowInput, answer: (asked: ModelAsked, number: number) => ModelAnswer | Promise<ModelAnswer>) {
    let clock: Clock | undefined;
    this.model = new ScriptedModel(answer);
    const check = defineTool({
      name: 'check_stock',
      description: 'How many are left',
      parameters: z.object({ item: z.string() }),
      slow,
      run: async ({ item }, { signal }) => {
        signal.addEventListener('abort', () => void this.outcomes.push('cancelled'));
        await sleep(this.bench.clock, 12_000, signal);
        this.outcomes.push('finished');
        return `${item}: 7 left`;
      },
    });
    const settings = {
      baseUrl: 'http://model.test/v1',
      model: 'quick',
      secret: undefined,
      instructions: 'Sell.',
      greeting: 'Hello.',
      maxTokens: 100,
      timeoutMs: 8_000,
      turnTimeoutMs: 30_000,
      tools: [],
      codeTools: [check],
      transfers: {},
    };
    const dialog = {
      create: (...[call, saved]: Parameters<ReturnType<typeof llmHooks>['create']>) =>
        (this.hook = llmHooks(settings, clock ?? this.bench.clock).create(call, saved)),
    };
    this.bench = new CallBench(
      async function* () {},
      { noInputAttempts: 1, noInputMs: 3_000 },
      { dialog },
      (own) => {
        clock = own;
        return {};
      },
    );
  }

  async says(seg: number, text: string): Promise<void> {
    await this.bench.says(seg, text, 200, 600);
  }

  /** The bot's sentences, as the caller heard them begin. */
  get said(): readonly string[] {
    return this.bench.news.flatMap((news) => (news.type === 'saying' ? [news.text.trim()] : []));
  }

  [Symbol.dispose](): void {
    this.bench[Symbol.dispose]();
    this.model[Symbol.dispose]();
  }
}

const stock: ModelAnswer = [{ name: 'check_stock', args: { item: 'lamp' } }];
const isTold = (asked: ModelAsked | undefined): boolean =>
  asked?.messages.at(-1)?.content?.includes('result that you were waiting') === true;
const callsFirst = (asked: ModelAsked, number: number): ModelAnswer =>
  number === 0 ? stock : isTold(asked) ? 'There are seven left.' : 'We open at nine.';

it('says a filler, answers another question meanwhile, and tells the result in the next pause', async () => {
  using call = new SlowCall({ say: SAY }, callsFirst);
  await call.bench.start(1_500);
  await call.says(0, 'how many lamps are left');
  await call.bench.quiet(2_500);
  expect(call.said.slice(1)).toEqual(['I am checking the stock.']);
  await call.says(1, 'and when do you open');
  await call.bench.quiet(1_500);
  expect(call.said.slice(2)).toEqual(['We open at nine.']);
  expect(call.model.asked[1]?.messages.some(({ content }) => content?.includes('has been running for') === true)).toBe(true);
  await call.bench.quiet(9_000);
  expect(call.said.at(-1)).toBe('There are seven left.');
  expect(call.model.asked.at(-1)?.messages.find(({ content }) => content?.includes('lamp: 7 left') === true)).toBeDefined();
  expect(call.bench.news.findLast(({ type }) => type === 'turn')).toMatchObject({ kind: 'tool-result', callerText: '' });
});

it('keeps a silent caller who waits, beyond the silences that end a call, with the next filler', async () => {
  using call = new SlowCall({ say: SAY }, callsFirst);
  await call.bench.start(1_500);
  await call.says(0, 'how many lamps are left');
  await call.bench.quiet(15_500);
  expect(call.said.slice(1)).toEqual([
    'I am checking the stock.',
    'Still checking.',
    'I am checking the stock.',
    'There are seven left.',
  ]);
  expect(call.bench.session.over).toBe(false);
});

it.each([
  { begins: 'before the pause is over', afterMs: 0 },
  { begins: 'before the answer with it is heard', afterMs: 700 },
])('tells a result with the answer to a caller who begins $begins, and only once', async ({ afterMs }) => {
  using call = new SlowCall({ say: SAY }, async (asked, number) => {
    if (number === 0) return stock;
    if (asked.messages.at(-1)?.content === 'do you deliver') return 'Seven left, and we deliver.';
    if (!isTold(asked)) return 'Yes?';
    await sleep(call.bench.clock, 3_000);
    return 'There are seven left.';
  });
  await call.bench.start(1_500);
  await call.says(0, 'how many lamps are left');
  while (call.outcomes.length === 0 || call.bench.attachment.playing) await call.bench.quiet(20);
  await call.bench.quiet(afterMs);
  expect(isTold(call.model.asked.at(-1))).toBe(afterMs > 0);
  await call.says(1, 'do you deliver');
  await call.bench.quiet(3_500);
  expect(call.said.slice(-1)).toEqual(['Seven left, and we deliver.']);
  expect(call.model.asked.at(-1)?.messages.find(({ content }) => content?.includes('lamp: 7 left') === true)).toBeDefined();
  expect(call.said).not.toContain('There are seven left.');
  expect(call.hook?.due).toBeUndefined();
});

it('lets the model find the words where the file has none, and stop the tool for a caller who does not want it', async () => {
  using call = new SlowCall(true, (asked, number) => {
    if (number === 0) return stock;
    if (asked.messages.at(-1)?.content === 'never mind') return [{ name: 'stop_waiting', args: { name: 'check_stock' } }];
    return asked.messages.at(-1)?.content === 'stopped' ? 'All right.' : 'Let me look.';
  });
  await call.bench.start(1_500);
  await call.says(0, 'how many lamps are left');
  await call.bench.quiet(2_000);
  expect(call.said.at(-1)).toBe('Let me look.');
  expect(call.model.asked[1]?.messages.at(-1)?.content).toContain('do not guess');
  await call.says(1, 'never mind');
  await call.bench.quiet(1_000);
  expect(call.said.at(-1)).toBe('All right.');
  expect(call.outcomes).toEqual(['cancelled']);
});

it.each([
  { onHangup: 'cancel', outcome: 'cancelled' },
  { onHangup: 'finish', outcome: 'finished' },
] as const)('does what the tool declares when the caller hangs up: $onHangup', async ({ onHangup, outcome }) => {
  using call = new SlowCall({ say: SAY, onHangup }, callsFirst);
  await call.bench.start(1_500);
  await call.says(0, 'how many lamps are left');
  await call.bench.quiet(1_000);
  await call.bench.hangUp('caller-hangup');
  await call.bench.settle();
  call.bench.clock.advance(13_000);
  await call.bench.settle();
  expect(call.outcomes).toEqual([outcome]);
});

it('gives a quick result at once', async () => {
  using call = new SlowCall({ say: SAY, waitMs: 5_000, timeoutMs: 2_000 }, (asked, number) =>
    number === 0 ? stock : `It failed: ${asked.messages.at(-1)?.content ?? ''}`,
  );
  await call.bench.start(1_500);
  await call.says(0, 'how many lamps are left');
  await call.bench.quiet(3_000);
  expect(call.said.at(-1)).toContain('It failed: error: the tool said nothing for 2000 ms');
});

it('tells a process that goes on with the call what was lost', () => {
  using call = new SlowCall({ say: SAY }, callsFirst);
  const saved = { notes: [], turn: 3, calls: [], slow: [{ name: 'check_stock', args: '{}' }] };
  const create = call.bench.session.identity.dialog.create.bind(call.bench.session.identity.dialog);
  const facts = { callId: 'c', botName: 'b', from: '+1', to: '+2', direction: 'inbound', language: 'en' } as const;
  expect(create(facts, saved).due).toBe('check_stock');
});

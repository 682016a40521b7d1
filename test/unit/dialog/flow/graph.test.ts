import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stepFlow } from '../../../../src/dialog/flow/flow.ts';
import { newFlowState } from '../../../../src/dialog/flow/flow-state.ts';
import { type FlowGraph, flowGraph } from '../../../../src/dialog/flow/graph.ts';
import { parseFlow } from '../../../../src/dialog/flow/load.ts';
import { inputOf, small, TODAY } from './talk.ts';

function reachable({ start, edges, entries }: FlowGraph): Set<string> {
  const seen = new Set<string>();
  const open = [start, ...entries.map(({ to }) => to)];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    open.push(...edges.filter(({ from }) => from === at).map(({ to }) => to));
  }
  return seen;
}

it('says of each state what is heard and asked there, and where it leads', () => {
  const { steps, edges, start } = flowGraph(small, 'en');
  expect(start).toBe('hello');
  expect(steps[0]).toEqual({
    id: 'hello',
    kind: 'ask',
    prompts: ['This is {{ shop }}.', 'Repair or buy?'],
    slots: ['want', 'day', 'time'],
    target: undefined,
  });
  expect(edges.filter(({ from }) => from === 'hello')).toEqual([
    { from: 'hello', to: 'when', when: [{ kind: 'answer', value: 'repair' }] },
    { from: 'hello', to: 'story', when: [{ kind: 'answer', value: 'buy' }] },
  ]);
});

it('puts every reason to go the same way on one edge', () => {
  const flow = parseFlow(
    {
      start: 'ask',
      slots: { ok: { kind: 'yes-no' }, ref: { kind: 'text' } },
      states: {
        ask: {
          ask: { slot: 'ok', prompt: 'Well?', giveUp: 'end' },
          next: [{ when: { ok: 'yes', ref: { filled: false } }, go: 'book' }, { go: 'end' }],
        },
        book: { request: { failed: { timeout: 'end', otherwise: 'desk' }, unset: 'end' }, next: 'end' },
        desk: { say: 'A colleague helps you.', transfer: '+15550100' },
        end: { say: 'Goodbye.', hangup: 'done' },
      },
    },
    { language: 'en', hasServer: true },
  );
  const { steps, edges } = flowGraph(flow, 'en');
  expect(steps.map(({ id, kind, target }) => [id, kind, target])).toEqual([
    ['ask', 'ask', undefined],
    ['book', 'request', ''],
    ['desk', 'transfer', '+15550100'],
    ['end', 'hangup', 'done'],
  ]);
  expect(edges).toEqual([
    { from: 'ask', to: 'book', when: [{ kind: 'when', value: 'ok = yes, ref empty' }] },
    { from: 'ask', to: 'end', when: [{ kind: 'otherwise' }, { kind: 'gave-up' }] },
    {
      from: 'book',
      to: 'end',
      when: [{ kind: 'next' }, { kind: 'failed', value: 'timeout' }, { kind: 'unset' }],
    },
    { from: 'book', to: 'desk', when: [{ kind: 'failed', value: 'otherwise' }] },
  ]);
});

it('has every state that a conversation can come to, on a way that it has', () => {
  const graph = flowGraph(small, 'en');
  const ways = new Set(graph.edges.map(({ from, to }) => `${from} ${to}`));
  const jumps = new Set(graph.entries.map(({ to }) => to));
  const known = reachable(graph);
  expect(new Set(graph.steps.map(({ id }) => id))).toEqual(known);
  const line = fc.constantFrom('repair', 'buy', 'yes', 'no', 'Tuesday at ten', 'nine', 'the day', 'purple', '#0', '-', 'goodbye');
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
      let state = newFlowState('en');
      let at: string | undefined;
      for (const each of [null, ...lines]) {
        state = stepFlow(small, state, inputOf(each), { today: TODAY }).state;
        for (const name of state.entered ?? []) {
          expect(known).toContain(name);
          if (at === undefined) expect(name).toBe(graph.start);
          else if (!jumps.has(name) && at !== name) expect(ways).toContain(`${at} ${name}`);
          at = name;
        }
      }
    }),
  );
});

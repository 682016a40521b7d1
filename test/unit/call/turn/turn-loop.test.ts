import { expect, it } from 'vitest';
import { TurnLoop } from '../../../../src/call/turn/turn-loop.ts';
import { turnMachine, type TurnMachine } from '../../../../src/call/turn/turn-machine.ts';
import { NO_VALUES } from '../../../../src/call/turn/value-reader.ts';
import type { TurnEvent } from '../../../../src/call/turn/turn-state.ts';
import { botSettings } from '../../../../src/config/bots.ts';

const settings = botSettings.parse({ name: 'bench', voice: 'Nisha', dialog: { kind: 'module', file: 'bench.js' } });

/** A loop around a machine that writes down when what it is told of was, and decides something at each key. */
class LoopBench {
  readonly told: (readonly [type: string, atMs: number])[] = [];
  readonly #loop: TurnLoop;

  constructor() {
    const machine: TurnMachine = {
      settingsOf: (bot) => turnMachine(NO_VALUES).settingsOf(bot),
      step: (_, state, event) => {
        this.told.push([event.type, event.type === 'frame' ? event.frame.atMs : 'atMs' in event ? event.atMs : 0]);
        return { state, effects: event.type === 'digit' ? [{ type: 'hold' }] : [] };
      },
    };
    this.#loop = new TurnLoop(machine, settings, () => undefined);
  }

  feed(...events: TurnEvent[]): this {
    for (const event of events) this.#loop.feed(event);
    return this;
  }
}

const tick = (atMs: number): TurnEvent => ({ type: 'tick', atMs });
const frame = (atMs: number, cameMs = atMs): TurnEvent => ({
  type: 'frame',
  frame: { atMs, cameMs, voiced: false, speechLike: 0 },
});
const partial = (atMs: number): TurnEvent => ({ type: 'partial', atMs, seg: 0, text: 'tuesday' });
const key = (atMs: number): TurnEvent => ({ type: 'digit', atMs, digit: '1' });

it('lets no tick through from 60 to 500 ms after the last frame', () => {
  const bench = new LoopBench().feed(tick(0), frame(20), tick(80), tick(81), tick(519), tick(520));
  expect(bench.told).toEqual([
    ['tick', 0],
    ['frame', 20],
    ['tick', 80],
    ['tick', 520],
  ]);
});

it('lets no tick through while the frames that come were said long ago', () => {
  const bench = new LoopBench().feed(tick(600), frame(140, 600), tick(620), frame(162, 620), tick(640), tick(1_119), tick(1_120));
  expect(bench.told).toEqual([
    ['tick', 600],
    ['frame', 140],
    ['frame', 162],
    ['tick', 1_120],
  ]);
});

it('lets frames be dated before words, which tell of no time of their own', () => {
  const bench = new LoopBench().feed(frame(20), partial(240), frame(40), frame(60));
  expect(bench.told).toEqual([
    ['frame', 20],
    ['partial', 240],
    ['frame', 40],
    ['frame', 60],
  ]);
});

it('dates no frame before what was decided meanwhile', () => {
  const bench = new LoopBench().feed(frame(20), key(240), frame(40), frame(240), frame(260));
  expect(bench.told).toEqual([
    ['frame', 20],
    ['digit', 240],
    ['frame', 240],
    ['frame', 240],
    ['frame', 260],
  ]);
});

import { expect, it } from 'vitest';
import { dated, isLate, timeOf, withDecision } from '../../../../src/call/turn/voice.ts';
import { DEFAULT_LINE } from '../../../../src/call/turn/turn-settings.ts';
import { initialTurn, type TurnEvent } from '../../../../src/call/turn/turn-state.ts';

/** What the rules are told of when events come over a line, and something is decided at each key. */
class LineBench {
  readonly told: string[] = [];
  #state = initialTurn();

  feed(...events: TurnEvent[]): this {
    for (const came of events) {
      const { line } = this.#state;
      if (came.type === 'tick' && isLate(DEFAULT_LINE, line, came.atMs)) continue;
      const event = dated(line, came);
      this.told.push(`${event.type} ${timeOf(event)}`);
      const state = came.type === 'frame' ? { ...this.#state, line: { ...line, frame: came.frame } } : this.#state;
      this.#state = withDecision({ state, effects: event.type === 'digit' ? [{ type: 'hold' }] : [] }, event).state;
    }
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
  const bench = new LineBench().feed(tick(0), frame(20), tick(80), tick(81), tick(519), tick(520));
  expect(bench.told).toEqual(['tick 0', 'frame 20', 'tick 80', 'tick 520']);
});

it('lets no tick through while the frames that come were said long ago', () => {
  const bench = new LineBench().feed(tick(600), frame(140, 600), tick(620), frame(162, 620), tick(640), tick(1_119), tick(1_120));
  expect(bench.told).toEqual(['tick 600', 'frame 140', 'frame 162', 'tick 1120']);
});

it('lets frames be dated before words, which tell of no time of their own', () => {
  const bench = new LineBench().feed(frame(20), partial(240), frame(40), frame(60));
  expect(bench.told).toEqual(['frame 20', 'partial 240', 'frame 40', 'frame 60']);
});

it('dates no frame before what was decided meanwhile', () => {
  const bench = new LineBench().feed(frame(20), key(240), frame(40), frame(240), frame(260));
  expect(bench.told).toEqual(['frame 20', 'digit 240', 'frame 240', 'frame 240', 'frame 260']);
});

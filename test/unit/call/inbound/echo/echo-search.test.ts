import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../../../src/audio/tone.ts';
import {
  EchoSearch,
  HISTORY_SAMPLES,
  MOST_LAG_SAMPLES,
  SEGMENT_SAMPLES,
} from '../../../../../src/call/inbound/echo/echo-search.ts';

const random = seededRandom(1);
const history = Int16Array.from({ length: HISTORY_SAMPLES }, () => (random() * 2 - 1) * 5_000);
const search = new EchoSearch();

/** What came from `lag` samples back, at half its level. */
const echo = (lag: number): Int16Array =>
  history.slice(HISTORY_SAMPLES - lag - SEGMENT_SAMPLES, HISTORY_SAMPLES - lag).map((sample) => sample / 2);

describe('a search for the echo', () => {
  it.each([0, 1, 320, 7_777, MOST_LAG_SAMPLES])('finds it %i samples back', (lag) => {
    const match = search.find(echo(lag), history);
    expect(match.lag).toBe(lag);
    expect(match.likeness).toBeGreaterThan(0.99);
  });

  it.each([0, 50, 7_777, MOST_LAG_SAMPLES])('finds it near where it was, %i samples back, by its last part', (lag) => {
    const match = search.findNear(echo(lag), history, Math.min(MOST_LAG_SAMPLES, lag + 30), 100, 200);
    expect(match.lag).toBe(lag);
    expect(match.likeness).toBeGreaterThan(0.99);
  });

  it('finds nothing alike in what was never played', () => {
    const other = seededRandom(2);
    const segment = Int16Array.from({ length: SEGMENT_SAMPLES }, () => (other() * 2 - 1) * 5_000);
    expect(search.find(segment, history).likeness).toBeLessThan(0.25);
  });

  it('takes silence on either side for unlike', () => {
    const silence = new Int16Array(HISTORY_SAMPLES);
    expect(search.find(silence.subarray(0, SEGMENT_SAMPLES), history).likeness).toBeLessThan(1e-6);
    expect(search.find(echo(0), silence).likeness).toBeLessThan(1e-6);
    expect(search.findNear(echo(0), silence, 400, 100, 200).likeness).toBeLessThan(1e-6);
  });
});

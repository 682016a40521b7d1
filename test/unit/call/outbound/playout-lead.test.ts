import { describe, expect, it } from 'vitest';
import { Playout } from '../../../../src/call/outbound/playout.ts';
import { DEFAULT_LEAD, leadFor } from '../../../../src/call/outbound/playout-pace.ts';
import type { CarrierCapabilities } from '../../../../src/carriers/port.ts';

const eager: CarrierCapabilities = {
  clear: 'native',
  marks: 'native',
  marksReturnOnClear: 'yes',
  pacing: 'burst',
  frameMs: 0,
  dtmfOut: 'none',
};

describe('how far ahead a carrier is sent audio', () => {
  it('is as configured where it takes bursts and can take them back', () => {
    expect(leadFor(eager, DEFAULT_LEAD)).toBe(DEFAULT_LEAD);
  });

  it('has messages of whole frames where the carrier has frames', () => {
    expect(leadFor({ ...eager, marksAtEndsOnly: true }, DEFAULT_LEAD).markEveryMs).toBeGreaterThan(86_400_000);
    expect(leadFor({ ...eager, frameMs: 20 }, DEFAULT_LEAD)).toEqual(DEFAULT_LEAD);
    expect(leadFor({ ...eager, frameMs: 60 }, DEFAULT_LEAD)).toEqual({ ...DEFAULT_LEAD, messageMs: 120 });
  });

  it.each([100, 200, 400])(
    'has messages of %i ms where the carrier wants them so, one of which waits while another is played',
    (messageMs) => {
      const lead = leadFor({ ...eager, frameMs: 20, messageMs }, DEFAULT_LEAD);
      expect(lead.leadMaxMs - lead.leadLowMs).toBeGreaterThanOrEqual(messageMs);
      const playout = new Playout({ ...lead, rateHz: 8000, marks: 'none', frameSamples: 160 });
      playout.begin('a');
      playout.push('a', new Int16Array(24_000).fill(900));
      playout.end('a');
      const lengths = new Set<number>();
      for (let nowMs = 0; nowMs < 3_000; nowMs += 20)
        for (const sent of playout.pump(nowMs)) if (sent.type === 'audio') lengths.add(sent.pcm.length / 8);
      // What is left of three seconds is the last message.
      expect([...lengths].toSorted((a, b) => b - a)[0]).toBe(messageMs);
      expect(lengths.size).toBeLessThanOrEqual(2);
      expect(playout.counters).toMatchObject({ starvedByGateway: 0, starvedBySource: 0 });
    },
  );

  it('waits for whole messages of a sentence that still comes, until the carrier would run dry', () => {
    const lead = leadFor({ ...eager, frameMs: 20, messageMs: 200 }, DEFAULT_LEAD);
    const playout = new Playout({ ...lead, rateHz: 8000, marks: 'none', frameSamples: 160 });
    playout.begin('a');
    const sentMs: number[] = [];
    for (let nowMs = 0; nowMs < 1_000; nowMs += 20) {
      // Speech is made twice as fast as it is spoken, and comes in pieces of 160 and 40 ms.
      if (nowMs % 100 === 0) playout.push('a', new Int16Array(1_280).fill(900));
      if (nowMs % 100 === 20) playout.push('a', new Int16Array(320).fill(900));
      for (const sent of playout.pump(nowMs)) if (sent.type === 'audio') sentMs.push(sent.pcm.length / 8);
    }
    expect(sentMs).toEqual([200, 200, 200, 200, 200, 200, 200]);
    expect(playout.counters).toMatchObject({ starvedByGateway: 0, starvedBySource: 0 });
  });

  it.each([
    ['plays in real time', { pacing: 'realtime' }],
    ['takes back nothing', { clear: 'none' }],
  ] as const)('is two frames where it %s', (_, which) => {
    const lead = leadFor({ ...eager, frameMs: 20, ...which }, DEFAULT_LEAD);
    const playout = new Playout({ ...lead, rateHz: 8000, marks: 'none', frameSamples: 160 });
    playout.begin('a');
    playout.push('a', new Int16Array(8_000).fill(900));
    const sentMs: number[] = [];
    for (let nowMs = 0; nowMs < 200; nowMs += 20)
      sentMs.push(playout.pump(nowMs).reduce((sum, sent) => sum + (sent.type === 'audio' ? sent.pcm.length / 8 : 0), 0));
    expect(sentMs).toEqual([40, 20, 20, 20, 20, 20, 20, 20, 20, 20]);
    expect(playout.counters).toMatchObject({ starvedByGateway: 0, starvedBySource: 0 });
  });
});

it('a carrier without marks is sent none, and has played a sentence by the clock alone', () => {
  const playout = new Playout({ ...DEFAULT_LEAD, rateHz: 8000, marks: 'none', frameSamples: 1 });
  playout.begin('a');
  playout.push('a', new Int16Array(1_600).fill(900));
  playout.end('a');
  expect(playout.pump(0).map(({ type }) => type)).toEqual(['audio', 'audio']);
  playout.pump(199);
  expect(playout.takePlayed()).toEqual([]);
  playout.pump(200);
  expect(playout.takePlayed()).toEqual([{ unitId: 'a', byMark: false }]);
});

describe('an interruption at a carrier that takes back nothing', () => {
  it('counts as heard what the carrier still has, and plays what comes next behind it', () => {
    const playout = new Playout({ ...DEFAULT_LEAD, rateHz: 8000, marks: 'none', frameSamples: 160 });
    playout.begin('a');
    playout.push('a', new Int16Array(16_000).fill(900));
    playout.pump(0);
    expect(playout.clear(100, true)).toEqual([{ unitId: 'a', sureSamples: 0, likelySamples: 400 * 8 }]);
    playout.discardCut();
    playout.begin('b');
    playout.push('b', new Int16Array(1_600).fill(900));
    playout.end('b');
    const [next] = playout.pump(120).concat(playout.pump(200));
    expect(next).toMatchObject({ unitId: 'b', startMs: 400 });
  });
});

import { describe, expect, it } from 'vitest';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { CallBench } from './call-bench.ts';

const LONG =
  'We have an offer for you today that you will surely not want to miss and that is so good that you listen to its end.';

/** Greets at length, which nobody may interrupt, and repeats what was said. */
async function* seller(turn: DialogTurn): AsyncIterable<DialogAction> {
  if (turn.input.kind === 'start') yield { type: 'say', text: LONG, interruptible: 'never' };
  else if (turn.input.kind === 'spoken') yield { type: 'say', text: `You said ${turn.input.text}.` };
  yield { type: 'set', variables: { asked: String(turn.index) } };
}

const said = (bench: CallBench): readonly string[] => bench.news.flatMap((news) => (news.type === 'saying' ? [news.text] : []));

describe('a caller who wants no more calls', () => {
  it('is acknowledged within 2 s over an uninterruptible bot, and hung up on', async () => {
    using bench = new CallBench(seller);
    await bench.start(1_000);
    const fromMs = bench.clock.nowMs();
    bench.partial(0, 'please do not call me again');
    await bench.quiet(1_200);
    expect(said(bench)).toEqual([LONG, 'All right, we will not call you again.']);
    expect(bench.attachment.clears).toBe(1);
    expect(bench.refused).toMatchObject([
      { tenantId: 'default', callId: 'call_bench', number: '+1', kind: 'opt-out', how: 'spoken' },
    ]);
    expect(bench.clock.nowMs() - fromMs).toBeLessThan(2_000);
    bench.recognised(0, 'please do not call me again');
    await bench.quiet(6_000);
    expect(bench.asked).toHaveLength(1);
    expect(bench.attachment.closedBecause).toBe('opt-out');
    expect(await bench.session.ended).toMatchObject({ endReason: 'opt-out', optOut: { kind: 'opt-out', how: 'spoken' } });
    expect(bench.record?.optOut?.atWallMs).toBe(bench.refused[0]?.atWallMs);
  });

  it('is written to the journal at once', async () => {
    using bench = new CallBench(seller);
    await bench.start();
    bench.recognised(0, 'take me off your list');
    expect(bench.refused).toHaveLength(1);
    expect(bench.journal.at(-1)).toMatchObject({ endReason: 'in-progress', optOut: { kind: 'opt-out' } });
  });

  it('hears the words of the bot in the language of the call', async () => {
    using bench = new CallBench(seller, { language: 'hi' });
    await bench.start();
    bench.recognised(0, 'मुझे दोबारा फ़ोन मत करना');
    await bench.quiet(800);
    expect(said(bench).at(-1)).toBe('ठीक है, अब हम आपको फ़ोन नहीं करेंगे।');
  });

  it('hears what the bot words itself', async () => {
    using bench = new CallBench(seller, { phrases: { en: { optedOut: 'Understood, Acme will not ring you again.' } } });
    await bench.start();
    bench.recognised(0, 'stop calling me');
    await bench.quiet(800);
    expect(said(bench).at(-1)).toBe('Understood, Acme will not ring you again.');
  });

  it('can press the key that the bot declares', async () => {
    using bench = new CallBench(seller, { optOutKey: '9' });
    await bench.start();
    bench.attachment.emit({ type: 'digit', digit: '9' });
    await bench.quiet(6_000);
    expect(await bench.session.ended).toMatchObject({ endReason: 'opt-out', optOut: { how: 'keyed' } });
  });

  it('has no key where none was declared', async () => {
    using bench = new CallBench(seller);
    await bench.start();
    bench.attachment.emit({ type: 'digit', digit: '9' });
    await bench.quiet(12_000);
    expect(bench.refused).toEqual([]);
  });

  it('is hung up on with the same reason where the platform cannot speak', async () => {
    using bench = new CallBench(seller);
    await bench.start();
    bench.synthesisFails = true;
    bench.recognised(0, 'never call me again');
    await bench.quiet(2_000);
    expect(await bench.session.ended).toMatchObject({ endReason: 'opt-out' });
  });

  it('is ignored where the bot says so and the person has called', async () => {
    using bench = new CallBench(seller, { optOut: 'off', optOutKey: '9' });
    await bench.start(8_000);
    await bench.says(0, 'do not call me again', 400, 600, 700);
    expect(bench.asked.at(-1)?.input).toMatchObject({ kind: 'spoken', text: 'do not call me again' });
    expect(bench.refused).toEqual([]);
  });

  it('is no wrong number where the person has called', async () => {
    using bench = new CallBench(seller);
    await bench.start();
    bench.recognised(0, 'sorry I have the wrong number');
    await bench.quiet(9_000);
    expect(bench.refused).toEqual([]);
    expect(bench.session.attached).toBe(true);
  });
});

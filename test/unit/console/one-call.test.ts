import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallRecord } from '../../../src/call/log/call-record.ts';
import {
  type Call,
  drawnAt,
  heardWords,
  type Sound,
  spread,
  stretches,
  transcriptText,
  utterancesOf,
} from '../../../src/console/pages/call/call-model.ts';
import { groupOf, holdsOf, signsOf } from '../../../src/console/pages/call/call-events.ts';
import { waterfalls } from '../../../src/console/pages/call/timing.tsx';
import { detailView } from '../../../src/http/api/calls/call-views.ts';
import { API_SCOPES } from '../../../src/http/api/system/api-keys.ts';
import { storedCall } from '../../../src/records/after-call/stored-call.ts';
import { callRecord } from '../../../src/records/record.ts';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { CallBench } from '../call/call-bench.ts';

/** As the API shows it. */
function shown(record: CallRecord): Call {
  const keeping = {
    analysisState: 'none',
    legalHold: false,
    recordingObject: undefined,
    recordingFormat: 'wav',
    audioErasedAtMs: undefined,
    textErasedAtMs: undefined,
  } as const;
  const stored = { ...callRecord.parse(storedCall(record, 1)), disposition: undefined, keeping };
  return detailView(stored, { id: 'key', tenantId: 'default', scopes: [...API_SCOPES] });
}

async function* dialog({ input }: DialogTurn): AsyncIterable<DialogAction> {
  if (input.kind === 'start') yield { type: 'say', text: 'Hello, how can I help you?' };
  else if (input.kind === 'keyed') yield { type: 'say', text: `You pressed ${input.digits}.` };
  else yield { type: 'say', text: 'You said something, and this is a long answer to what you said just now.' };
}

/** A call with a greeting, a spoken turn whose answer the caller cuts short, another one, and a key. */
async function heldCall(settings: ConstructorParameters<typeof CallBench>[1] = {}): Promise<Call> {
  using bench = new CallBench(dialog, settings);
  await bench.start();
  await bench.quiet(3_000);
  await bench.voice(600);
  await bench.quiet(200);
  bench.partial(0, 'good morning');
  await bench.quiet(500);
  bench.recognised(0, 'good morning');
  await bench.quiet(1_500);
  await bench.voice(700);
  await bench.quiet(700);
  bench.recognised(1, 'no wait');
  await bench.quiet(5_000);
  bench.attachment.emit({ type: 'digit', digit: '7' });
  await bench.quiet(5_000);
  bench.session.hangUp('done');
  return shown(await bench.session.ended);
}

describe('the wait for each reply', () => {
  it.each([
    { note: 'as usual', settings: {}, early: undefined },
    { note: 'where the dialog is asked early', settings: { askEarly: true }, early: 'used' },
  ])('is split into stages that add up to the total of the record, $note', async ({ settings, early }) => {
    const call = await heldCall(settings);
    const falls = waterfalls(call);
    expect(falls.map(({ turn }) => turn)).toEqual(call.turns.map(({ index }) => index));
    for (const { turn, stages, totalMs } of falls) {
      const sum = stages.reduce((total, { ms }) => total + ms, 0);
      expect(sum, `turn ${turn}`).toBeCloseTo(call.turns[turn]?.latencies.total ?? Number.NaN, 5);
      expect(totalMs).toBeCloseTo(sum, 5);
      expect(stages.every(({ ms }) => ms >= 0)).toBe(true);
    }
    expect(falls[1]?.early).toBe(early);
    const spoken = falls.find(({ kind }) => kind === 'spoken');
    expect(spoken?.slowest).toBe('endpointing');
    expect(spoken?.stages.find(({ name }) => name === 'endpointing')?.ms).toBe(call.turns[1]?.latencies.endpointing);
  });

  it('has no stage without a name but what the record does not tell', async () => {
    const call = await heldCall();
    const blind = { ...call, timeline: call.timeline.filter(({ type }) => type !== 'tts-asked' && type !== 'tts-first-byte') };
    for (const [index, { stages, totalMs }] of waterfalls(blind).entries()) {
      expect(stages.at(-1)?.name).toBe('other');
      expect(totalMs).toBe(waterfalls(call)[index]?.totalMs);
    }
  });
});

describe('the words of a call', () => {
  it.each([
    { sent: 'We are open.', heard: 'We are open.', words: 'heard heard heard' },
    { sent: 'We are open from eight.', heard: 'We are op—', words: 'heard heard unheard unheard unheard' },
    { sent: 'We are open from eight.', heard: 'We are open—', words: 'heard heard half unheard unheard' },
    { sent: 'Yes. We are open. On Monday.', heard: '', words: 'unheard unheard unheard unheard unheard unheard' },
    { sent: 'a — b', heard: 'a — b', words: 'heard heard heard' },
  ])('says of $sent that "$heard" was heard', ({ sent, heard, words }) => {
    expect(
      heardWords(sent, heard)
        .map((word) => word.heard)
        .join(' '),
    ).toBe(words);
  });

  it('has the words that were sent, in their order, each once', () => {
    const text = fc.array(fc.constantFrom('we', 'are', 'open', 'now.'), { maxLength: 12 });
    fc.assert(
      fc.property(text, fc.nat(12), (words, count) => {
        const found = heardWords(words.join(' '), words.slice(0, count).join(' '));
        expect(found.map((word) => word.text)).toEqual(words);
        expect(found.filter(({ heard }) => heard === 'heard')).toHaveLength(Math.min(count, words.length));
      }),
    );
  });

  it('stands where the record says it was said, and is cut where the caller cut in', async () => {
    const call = await heldCall();
    const said = utterancesOf(call, undefined);
    expect(said.map(({ side, turn }) => `${turn} ${side}`)).toEqual([
      '0 bot',
      '1 caller',
      '1 bot',
      '2 caller',
      '2 bot',
      '3 caller',
      '3 bot',
    ]);
    const [greeting, , cut] = said;
    expect(greeting?.words.every(({ heard }) => heard === 'heard')).toBe(true);
    expect(cut?.words.some(({ heard }) => heard === 'unheard')).toBe(true);
    expect(cut?.words.filter(({ span }) => span !== undefined).every(({ heard }) => heard !== 'unheard')).toBe(true);
    const clear = call.timeline.find(({ type }) => type === 'clear');
    expect(cut?.span?.toMs).toBeCloseTo(drawnAt(call, clear?.atMs ?? Number.NaN), 0);
    for (const { words, span } of said) {
      const times = words.flatMap((word) => (word.span === undefined ? [] : [word.span.fromMs, word.span.toMs]));
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(times[0]).toBeCloseTo(span?.fromMs ?? 0, 3);
    }
  });

  it('takes the times of words that were recognised again in the recording', async () => {
    const call = await heldCall();
    const [, plain] = utterancesOf(call, undefined);
    const atS = (plain?.span?.fromMs ?? 0) / 1000 + 0.1;
    const [, timed] = utterancesOf(call, undefined, [
      { word: 'Good', startS: atS, endS: atS + 0.2 },
      { word: 'morning.', startS: atS + 0.2, endS: atS + 0.4 },
    ]);
    expect(timed?.words.map(({ span }) => span?.fromMs)).toEqual([atS * 1000, (atS + 0.2) * 1000]);
  });

  it('is shared among the time in which there was sound, and none of it falls into silence', () => {
    const levels = Float32Array.from({ length: 100 }, (_, at) => (at < 20 || (at >= 60 && at < 80) ? 0.5 : 0));
    const sound: Sound = { durationMs: 2_000, intervalMs: 20, caller: levels, bot: new Float32Array(100) };
    expect(stretches(sound, 'caller', { fromMs: 0, toMs: 2_000 })).toEqual([
      { fromMs: 0, toMs: 400 },
      { fromMs: 1_200, toMs: 1_600 },
    ]);
    const [first, second] = spread(['abcd', 'efgh'], { fromMs: 0, toMs: 2_000 }, sound, 'caller');
    expect([first, second]).toEqual([
      { fromMs: 0, toMs: 400 },
      { fromMs: 1_200, toMs: 1_600 },
    ]);
  });

  it('is copied as text with what was not heard in brackets', async () => {
    const call = await heldCall();
    const text = transcriptText(
      utterancesOf(call, undefined),
      { caller: 'Caller', bot: 'Bot', unheard: 'not heard' },
      () => '0:00',
    );
    expect(text.split('\n')[0]).toBe('0:00 Bot: Hello, how can I help you?');
    expect(text).toMatch(/^0:00 Bot: You said .* \[not heard: .* just now\.\]$/mu);
  });
});

it('draws each hold to what ended it, and every clear and key where it happened', async () => {
  const call = await heldCall();
  const holds = holdsOf(call, 60_000);
  expect(holds.at(-1)).toMatchObject({ ended: 'clear' });
  expect(signsOf(call).map(({ kind }) => kind)).toEqual(expect.arrayContaining(['clear', 'key', 'played']));
  const clear = signsOf(call).find(({ kind }) => kind === 'clear');
  expect(clear?.atMs).toBe(holds.at(-1)?.toMs);
  expect(call.timeline.map((event) => groupOf(event))).toEqual(
    expect.arrayContaining(['floor', 'caller', 'dialog', 'voice', 'keys', 'line']),
  );
});

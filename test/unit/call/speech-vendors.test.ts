import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { botSettings } from '../../../src/config/bots.ts';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import type { ManualClock } from '../../support/manual-clock.ts';
import { Slots } from '../../../src/speech/client/slots.ts';
import { SpeechRouter } from '../../../src/speech/routing/router.ts';
import { ScriptedRecogniser } from '../speech/routing/scripted-recogniser.ts';
import { ScriptedSynthesizer, type SpeechStep } from '../speech/routing/scripted-synthesizer.ts';
import { CallBench } from './call-bench.ts';

const LOUD_BYTE = 0x10;
/** Half a second of speech. */
const SPOKEN: readonly SpeechStep[] = [{ waitMs: 100 }, { bytes: 4_000 }];
const { speech } = botSettings.parse({
  name: 'clinic',
  voice: 'Nisha',
  dialog: { kind: 'module', file: 'x.js' },
  speech: { recogniser: ['acme', 'platform'], synthesizer: ['acme', 'platform'] },
});

async function* answers(turn: DialogTurn): AsyncIterable<DialogAction> {
  yield { type: 'say', text: turn.input.kind === 'start' ? 'Hello.' : `That was ${turn.index}.` };
}

/** A call whose bot speaks and hears by a vendor, with the speech platform standing by. */
function startCall() {
  const vendor = {
    recogniser: undefined as unknown as ScriptedRecogniser,
    synthesizer: undefined as unknown as ScriptedSynthesizer,
  };
  const bench = new CallBench(answers, { speech }, {}, (clock: ManualClock) => {
    vendor.recogniser = new ScriptedRecogniser(clock);
    vendor.synthesizer = new ScriptedSynthesizer(clock, LOUD_BYTE, SPOKEN);
    const slots = new Slots(4);
    const router = new SpeechRouter({
      platform: {
        recogniser: new ScriptedRecogniser(clock),
        synthesizer: new ScriptedSynthesizer(clock, LOUD_BYTE, SPOKEN),
        isUp: true,
        freeSlots: 4,
        slotGauges: [],
        reserveLive: () => slots.tryReserve('live'),
        readyLive: () => slots.ready(),
        warm: () => undefined,
        prepare: async () => undefined,
      },
      vendors: [
        {
          name: 'acme',
          title: 'Acme',
          settings: z.object({}),
          secrets: z.object({}),
          services: ['recognition', 'synthesis'],
          prices: [],
          needs: 'a key',
          open: () => ({ ...vendor, [Symbol.asyncDispose]: async () => undefined }),
        },
      ],
      configs: new Map([['acme', { settings: {}, secrets: {} }]]),
      defaults: { recogniser: ['platform'], synthesizer: ['platform'] },
      clock,
      logger: silentLogger,
    });
    const call = router.reserve({ language: 'en', voice: 'Nisha', speech });
    if (call === undefined) throw new Error('no slot is free');
    return {
      recogniser: call.recogniser,
      synthesizer: call.synthesizer,
      spareRecognition: () => call.spareRecognition(),
      watchSpeech: (listener) => call.listen(listener),
    };
  });
  return { bench, vendor };
}

/** The longest silence that the caller hears from here on until the bot has answered, in ms. */
async function silenceAfter(bench: CallBench, saying: () => Promise<unknown>): Promise<number> {
  await saying();
  const fromMs = bench.clock.nowMs();
  await bench.quiet(4_000);
  const heard = bench.attachment.heard.subarray(Math.round(fromMs * 8));
  const first = heard.findIndex((sample) => Math.abs(sample) > 1_000);
  return first === -1 ? Number.POSITIVE_INFINITY : first / 8;
}

describe('a call whose vendor fails', () => {
  it.each([
    {
      note: 'closes the recognition session',
      fail: ({ vendor }: ReturnType<typeof startCall>) =>
        vendor.recogniser.last.emit({ type: 'closed', error: new Error('gone') }),
      switches: ['recognition: acme to platform, closed'],
    },
    {
      note: 'says nothing to a commit',
      fail: ({ vendor }: ReturnType<typeof startCall>) => void (vendor.recogniser.last.script = {}),
      switches: ['recognition: acme to platform, final-late'],
    },
    {
      note: 'refuses to speak',
      fail: ({ vendor }: ReturnType<typeof startCall>) => void (vendor.synthesizer.script = ['fail']),
      switches: ['synthesis: acme to platform, failed'],
    },
    {
      note: 'stays silent',
      fail: ({ vendor }: ReturnType<typeof startCall>) => void (vendor.synthesizer.script = ['hang']),
      switches: ['synthesis: acme to platform, first-audio-late'],
    },
    {
      note: 'stops in mid-sentence',
      fail: ({ vendor }: ReturnType<typeof startCall>) => void (vendor.synthesizer.script = [{ bytes: 1_600 }, 'hang']),
      switches: ['synthesis: acme to platform, stalled'],
    },
    {
      note: 'does neither any more',
      fail: ({ vendor }: ReturnType<typeof startCall>) => {
        vendor.recogniser.last.script = {};
        vendor.synthesizer.script = ['hang'];
      },
      switches: ['recognition: acme to platform, final-late', 'synthesis: acme to platform, first-audio-late'],
    },
  ])('is answered within two seconds of silence when it $note', async ({ fail, switches }) => {
    const call = startCall();
    using bench = call.bench;
    await bench.start(2_000);
    // Three answers tell what is usual.
    for (let turn = 0; turn < 3; turn += 1) await silenceAfter(bench, () => bench.voice(600));
    fail(call);
    expect(await silenceAfter(bench, () => bench.voice(600))).toBeLessThan(2_000);
    expect(await silenceAfter(bench, () => bench.voice(600))).toBeLessThan(2_000);
    expect(bench.asked.map(({ input }) => input.kind)).toEqual(['start', ...Array.from({ length: 5 }, () => 'spoken')]);
    const { turns, timeline } = await bench.hangUp('over');
    const told = timeline.flatMap((event) =>
      event.type === 'speech' && event.before !== undefined
        ? [`${event.service}: ${event.before} to ${event.by}, ${event.reason}`]
        : [],
    );
    expect(told.toSorted()).toEqual(switches);
    const recognises = switches.some((each) => each.startsWith('recognition'));
    const speaks = switches.some((each) => each.startsWith('synthesis'));
    expect(turns.map(({ recogniser, synthesizer }) => [recogniser, synthesizer])).toEqual([
      [undefined, 'acme'],
      ...Array.from({ length: 3 }, () => ['acme', 'acme']),
      ...turns.slice(4).map(() => [recognises ? 'platform' : 'acme', speaks ? 'platform' : 'acme']),
    ]);
  });
});

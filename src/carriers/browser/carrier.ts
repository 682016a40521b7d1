import { z } from 'zod';
import { linearSpeech, WIDE_RATE_HZ } from '../../audio/format.ts';
import { millis, minute } from '../../config/setting.ts';
import { defineCarrier, startTimeoutMs } from '../carrier.ts';
import { BrowserCodec, FRAME_MS } from './codec.ts';

const settings = z.object({
  // A page opens its socket at once; until then a call's place is held.
  streamTokenMs: millis(
    1000,
    10 * minute,
    20_000,
    'Time in which a page has to open the media socket of the call that it asked for',
  ),
  startTimeoutMs: startTimeoutMs(5000),
});

/** A browser: the console's Talk page, or a button on a customer's own site. Calls come only to addresses that this gateway gave out. */
export const browser = defineCarrier({
  name: 'browser',
  title: 'Browser',
  capabilities: {
    clear: 'native',
    marks: 'native',
    // A page returns a mark only after playing it.
    marksReturnOnClear: 'no',
    pacing: 'burst',
    frameMs: FRAME_MS,
    // A page has no line to press keys on.
    dtmfOut: 'none',
    closeEndsCall: true,
  },
  offers: {
    audio: { from: 'PCM 8, 16, 24, 48 kHz', to: 'as it comes' },
    proof: { webhook: 'none', socket: 'token in the path' },
    dials: false,
    detectsMachines: false,
    transfer: 'none',
    joins: false,
    listens: false,
    ownPremises: true,
  },
  speechFormat: linearSpeech(WIDE_RATE_HZ),
  settings,
  secrets: z.object({}),
  codec: () => new BrowserCodec(),
  door: (config) => ({ kind: 'page', streamTokenMs: config.settings.streamTokenMs }),
  control: () => undefined,
});

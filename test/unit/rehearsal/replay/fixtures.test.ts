import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadVoiceActivity } from '../../../../src/audio/voice-activity/voice-activity.ts';
import { compareCalls, type ReplayReport } from '../../../../src/rehearsal/replay/compare.ts';
import { replayCall, type ReplayChange, type ReplayParts } from '../../../../src/rehearsal/replay/replay-call.ts';
import { ANSWER_READER } from '../../../../src/call/control/answer-reader.ts';
import { turnMachine, type TurnMachine } from '../../../../src/call/turn/turn.ts';
import type { TurnSettings } from '../../../../src/call/turn/turn-settings.ts';
import type { Attachment, MediaEvent } from '../../../../src/carriers/port.ts';
import { keptCall, keptCallsFolder } from './kept-calls.ts';
import { parts as scriptedParts } from './recorded-call.ts';

/** Calls of a simulated caller with a whole gateway over real sockets; made anew by `npm run record:fixtures`. */
const calls = ['appointment', 'interrupted', 'cough', 'keys', 'noisy'] as const;
type Call = (typeof calls)[number];

const ourMachine = turnMachine(ANSWER_READER);
let parts: ReplayParts;

beforeAll(async () => {
  parts = { ...scriptedParts, createDetector: await loadVoiceActivity() };
});

async function replay(call: Call, change?: ReplayChange): Promise<ReplayReport> {
  const fixture = await keptCall(call);
  return compareCalls(fixture, await replayCall(fixture, parts, change));
}

/** The machine with settings of its own that no bot can choose. */
function withSettings(change: (settings: TurnSettings) => TurnSettings): ReplayChange {
  const machine: TurnMachine = { ...ourMachine, settingsOf: (bot) => change(ourMachine.settingsOf(bot)) };
  return { services: (services) => ({ ...services, machine }) };
}

/** The carrier's messages as a reader would deliver them that loses some. */
function losing(isLost: (event: MediaEvent) => boolean): ReplayChange {
  return {
    attachment: (inner: Attachment): Attachment => ({
      id: inner.id,
      carrier: inner.carrier,
      started: inner.started,
      capabilities: inner.capabilities,
      rateHz: inner.rateHz,
      speechFormat: inner.speechFormat,
      bufferedBytes: 0,
      listen: (listener) => inner.listen((event) => (isLost(event) ? undefined : listener(event))),
      sendAudio: (pcm) => inner.sendAudio(pcm),
      sendMark: (name) => inner.sendMark(name),
      sendClear: () => inner.sendClear(),
      close: (reason) => inner.close(reason),
    }),
  };
}

describe('the calls that are kept beside the tests', () => {
  it.each(calls)('%s: the code of today decides what it decided', async (call) => {
    const { divergence, standIns } = await replay(call);
    // Meant to decide otherwise? See docs/replay.md, "Calls that are tests".
    expect(divergence).toBeUndefined();
    expect(standIns).toEqual([]);
  });

  it('are small, and no others', () => {
    const names = readdirSync(keptCallsFolder).filter((name) => name.endsWith('.gz'));
    expect(names.sort()).toEqual(calls.map((call) => `${call}.fixture.gz`).sort());
    for (const name of names) expect(statSync(join(keptCallsFolder, name)).size).toBeLessThan(600 * 1024);
  });
});

describe('a change for the worse', () => {
  let digits = 0;
  const noResume: TurnMachine = {
    ...ourMachine,
    step(settings, state, event) {
      const { state: next, effects } = ourMachine.step(settings, state, event);
      return { state: next, effects: effects.filter(({ type }) => type !== 'resume') };
    },
  };
  it.each<{ what: string; call: Call; change: ReplayChange; decision: string }>([
    {
      what: 'turns that end after 900 ms of silence',
      call: 'appointment',
      change: { bot: (bot) => ({ ...bot, endpointingMs: 900 }) },
      decision: 'commit',
    },
    {
      what: 'interruptions that take twice the evidence',
      call: 'interrupted',
      change: {
        bot: (bot) => ({
          ...bot,
          interruption: { ...bot.interruption, clearAfterMs: 2 * bot.interruption.clearAfterMs },
        }),
      },
      decision: 'clear',
    },
    {
      what: 'a bot that does not go on after a cough',
      call: 'cough',
      change: { services: (services) => ({ ...services, machine: noResume }) },
      decision: 'resume',
    },
    {
      what: 'a key that gets lost',
      call: 'keys',
      change: losing((event) => event.type === 'digit' && (digits += 1) === 3),
      decision: 'ask',
    },
    {
      what: 'words that are waited for no longer than 300 ms',
      call: 'noisy',
      change: withSettings((settings) => ({
        ...settings,
        endpointing: { ...settings.endpointing, settleFloorMs: 300, settleCapMs: 300 },
      })),
      decision: 'ask',
    },
    {
      what: 'silence that is asked about 2 s too early',
      call: 'noisy',
      change: { bot: (bot) => ({ ...bot, noInputMs: bot.noInputMs - 2_000 }) },
      decision: 'ask',
    },
    {
      what: 'a filler that comes late',
      call: 'noisy',
      change: withSettings((settings) => ({ ...settings, settlingFillerMs: 2_000 })),
      decision: 'filler',
    },
    { what: 'marks that nobody reads', call: 'keys', change: losing(({ type }) => type === 'mark'), decision: 'ask' },
    {
      what: 'a hold that comes one frame late',
      call: 'cough',
      change: withSettings((settings) => ({
        ...settings,
        interruption: { ...settings.interruption, holdAfterMs: settings.interruption.holdAfterMs + 20 },
      })),
      decision: 'hold',
    },
    {
      what: 'sentences that are not cut',
      call: 'appointment',
      change: {
        services: (services) => ({
          ...services,
          createCutter: () => {
            let whole = '';
            return {
              push: (text) => {
                whole += text;
                return [];
              },
              flush: () => [whole],
            };
          },
        }),
      },
      decision: 'speak',
    },
  ])('$what is noticed', async ({ call, change, decision }) => {
    const { divergence, equal } = await replay(call, change);
    expect(equal).toBe(false);
    expect([divergence?.was?.type, divergence?.is?.type]).toContain(decision);
  });
});

import { PLATFORM_RECOGNITION } from '../../../../src/speech/platform-capabilities.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { compareCalls } from '../../../../src/rehearsal/replay/compare.ts';
import type { CallFixture } from '../../../../src/rehearsal/replay/fixture.ts';
import { decodeFixture, encodeFixture } from '../../../../src/rehearsal/replay/fixture-file.ts';
import { replayCall, type ReplayChange } from '../../../../src/rehearsal/replay/replay-call.ts';
import type { CallControl } from '../../../../src/carriers/port.ts';
import type { DialogAction, DialogTurn } from '../../../../src/dialog/port.ts';
import type { Recogniser } from '../../../../src/speech/port.ts';
import { parts, recordCall, type Script } from './recorded-call.ts';

async function* parrot({ input }: DialogTurn): AsyncIterable<DialogAction> {
  if (input.kind === 'start') yield { type: 'say', text: 'Hello, how can I help you today? Please speak after the tone.' };
  else if (input.kind === 'spoken') {
    yield { type: 'say', text: `You said ${input.text}. That is a good thing to say.` };
    yield { type: 'gather', noInputMs: 3_000 };
  } else if (input.kind === 'keyed') yield { type: 'say', text: `You pressed ${input.digits}.` };
  else yield { type: 'say', text: 'Are you there?' };
  if (input.kind === 'keyed' && input.digits === '7') yield { type: 'hangup', reason: 'pressed seven' };
}

const script: Script = {
  dialog: parrot,
  caller: [
    { quietMs: 5_000 },
    { voiceMs: 700, says: 'next tuesday please' },
    { quietMs: 2_200 },
    // A cough, then an interruption.
    { voiceMs: 80 },
    { quietMs: 1_200 },
    { voiceMs: 900, says: 'no wednesday' },
    { quietMs: 8_000 },
    { key: '4' },
    { key: '2' },
    { quietMs: 6_000 },
    { key: '7' },
    { quietMs: 4_000 },
  ],
};

/** The same recogniser, where it is written down what it is asked for. */
function watched(recogniser: Recogniser, asked: string[]): Recogniser {
  return {
    get capabilities() {
      return recogniser.capabilities;
    },
    open(options, listener) {
      asked.push(`open ${options.boostPhrases?.length ?? 0}`);
      const session = recogniser.open(options, listener);
      return {
        send: (pcm) => session.send(pcm),
        commit: () => session.commit(),
        end: () => session.end(),
        abort: () => session.abort(),
        get listenFor() {
          if (session.listenFor === undefined) return undefined;
          return (phrases: readonly string[]) => {
            asked.push(`hints ${phrases.length}`);
            session.listenFor?.(phrases);
          };
        },
      };
    },
  };
}

async function replay(fixture: CallFixture, change: ReplayChange = {}) {
  return compareCalls(fixture, await replayCall(fixture, parts, change));
}

describe('a call that is kept and run again', () => {
  it('decides the same where a model heard when turns were over', async () => {
    const { dialog } = script;
    const caller: Script['caller'] = [
      { quietMs: 5_000 },
      { voiceMs: 700, says: 'next tuesday please' },
      { quietMs: 6_000 },
      { voiceMs: 700, says: 'no wednesday' },
      { quietMs: 6_000 },
    ];
    const waits = async (heard: readonly number[]): Promise<readonly (string | undefined)[]> => {
      const fixture = await recordCall({ dialog, caller, heard, jitterMs: 11 });
      expect((await replay(fixture)).divergence).toBeUndefined();
      expect(fixture.log.filter(({ k }) => k === 'end-of-turn')).toHaveLength(heard.length);
      return fixture.decisions
        .filter(({ type }) => type === 'commit')
        .map(({ detail }) => /lastVoicedMs −(\d+)/.exec(detail)?.[1]);
    };
    const [silent, sure] = [await waits([]), await waits([0.99, 0.01])];
    expect(Number(sure[0])).toBeLessThan(Number(silent[0]));
    expect(Number(sure[1])).toBeGreaterThan(Number(silent[1]));
  });

  it('decides the same at the same moments, as often as it is run', async () => {
    for (const seed of [1, 2]) {
      const fixture = await recordCall({ ...script, seed, jitterMs: 11 });
      expect(fixture.decisions.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['ask', 'speak', 'reply', 'hold', 'resume', 'clear', 'commit', 'end']),
      );
      for (let time = 0; time < 2; time += 1) {
        const report = await replay(fixture);
        expect(report.divergence).toBeUndefined();
        expect(report.standIns).toEqual([]);
        expect(
          report.turns.every(({ standing, was, is }) => standing === 'equal' && JSON.stringify(was) === JSON.stringify(is)),
        ).toBe(true);
      }
    }
  });

  it.each([
    ['alaw', { encoding: 'alaw', rateHz: 8_000 }, { encoding: 'alaw', rateHz: 8_000 }],
    ['linear, as a wideband leg has it,', { encoding: 'pcm16', rateHz: 16_000 }, { encoding: 'pcm16', rateHz: 16_000 }],
    ['linear in network order', { encoding: 'pcm16be', rateHz: 8_000 }, { encoding: 'pcm16', rateHz: 8_000 }],
  ] as const)('decides the same over a leg that is %s and keeps its audio so', async (_, wire, kept) => {
    const fixture = await recordCall({ ...script, wire: { inbound: wire, outbound: wire } });
    expect(fixture.log.find(({ k }) => k === 'attached')).toMatchObject({ format: kept, speechFormat: kept });
    const frame = fixture.log.find((entry) => entry.k === 'audio');
    expect(frame).toMatchObject({ n: (kept.rateHz / 50) * (kept.encoding === 'pcm16' ? 2 : 1) });
    const read = await decodeFixture(await encodeFixture(fixture), fixture.recordedAtMs);
    const report = await replay(read);
    expect(report.divergence).toBeUndefined();
    expect(report.standIns).toEqual([]);
  });

  it.each([true, undefined])(
    'decides the same where our account ended the call at its carrier (a flow goes on there: %s)',
    async (goesOn) => {
      const asked: string[] = [];
      const control: CallControl = {
        ...(goesOn && { flowGoesOn: goesOn }),
        hangUp: async (call) => void asked.push(call),
        transfer: async () => undefined,
        sendDigits: async () => undefined,
      };
      const fixture = await recordCall({ ...script, control });
      expect(asked).toHaveLength(goesOn === true ? 0 : 1);
      expect((await replay(fixture)).divergence).toBeUndefined();
    },
  );

  it('repeats operators’ orders, without the numbers', async () => {
    const fixture = await recordCall({
      dialog: parrot,
      caller: [
        { quietMs: 5_000 },
        { order: { type: 'say', text: 'A colleague listens. Call 555 0123 456 for more.' } },
        { quietMs: 1_000 },
        { order: { type: 'mute', on: true } },
        { voiceMs: 700, says: 'is anybody there' },
        { quietMs: 12_000 },
        { order: { type: 'mute', on: false } },
        { voiceMs: 700, says: 'hello again' },
        { quietMs: 3_000 },
        { order: { type: 'hang-up' } },
      ],
      seed: 3,
      jitterMs: 11,
    });
    const types = fixture.decisions.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['silence', 'keep-turn', 'ask', 'end']));
    // The mute came before the number was said; it stands in the order alone.
    expect(JSON.stringify(fixture.log).includes('555 0123')).toBe(false);
    expect(fixture.digitsMasked).toBe(true);
    const { divergence, standIns } = await replay(fixture);
    expect(divergence).toBeUndefined();
    expect(standIns).toEqual([]);
  });

  it('decides the same of a call that we placed: who answered, what it had to say, and when the bot greeted', async () => {
    const fixture = await recordCall({
      dialog: parrot,
      outbound: {
        variables: { name: 'Asha' },
        metadata: { order: 'A-7' },
        duties: [{ duty: 'say-identity-first' }],
      },
      caller: [
        { quietMs: 600 },
        { voiceMs: 500, says: 'hello' },
        { witness: 'person' },
        { quietMs: 9_000 },
        { voiceMs: 700, says: 'yes of course' },
        { quietMs: 4_000 },
        { order: { type: 'hang-up' } },
      ],
      seed: 5,
      jitterMs: 9,
    });
    expect(fixture.speeches[0]?.text).toContain('Lakeside Clinic');
    expect(JSON.stringify(fixture)).not.toMatch(/Asha|A-7/u);
    const read = await decodeFixture(await encodeFixture(fixture), fixture.recordedAtMs);
    const { divergence, standIns } = await replay(read);
    expect(divergence).toBeUndefined();
    expect(standIns).toEqual([]);
  });

  it('decides the same where a room was heard under the voice', async () => {
    const fixture = await recordCall({ ...script, bot: { ambience: { room: 'office' } }, jitterMs: 11 });
    const report = await replay(fixture);
    expect(report.divergence).toBeUndefined();
    expect(report.standIns).toEqual([]);
  });

  it('decides the same where sounds were played, and where they were not there', async () => {
    async function* jukebox({ input }: DialogTurn): AsyncIterable<DialogAction> {
      if (input.kind === 'start') {
        yield { type: 'play', source: 'https://example.org/music.wav?key=12345', loop: 2 };
        yield { type: 'play', source: 'missing.wav', text: 'Welcome.' };
      } else yield* parrot({ input } as DialogTurn);
    }
    const fixture = await recordCall({ ...script, dialog: jukebox, caller: [{ quietMs: 3_000 }, ...script.caller] });
    expect(fixture.speeches.map(({ text }) => text)).toEqual(
      expect.arrayContaining(['[audio music.wav]', '[audio missing.wav]', 'Welcome.']),
    );
    expect(JSON.stringify(fixture.log)).not.toContain('12345');
    const report = await replay(fixture);
    expect(report.divergence).toBeUndefined();
    expect(report.standIns).toEqual([]);
  });

  it('gives hints to the open session of a recogniser that takes them, and as many as it takes', async () => {
    const asked: string[] = [];
    let switched = false;
    let questions = 0;
    const fixture = await recordCall({
      ...script,
      async *dialog(turn) {
        questions += 1;
        yield* parrot(turn);
        yield { type: 'gather', hints: Array.from({ length: 15 }, (_, index) => `${questions} of ${index}`) };
      },
      recogniser: (inner) =>
        watched(
          {
            get capabilities() {
              // Who stands by takes fewer, when a session opens alone.
              switched ||= questions > 3;
              return { ...inner.capabilities, mostHints: switched ? 5 : 100 };
            },
            open(options, listener) {
              const session = inner.open(options, listener);
              return {
                send: (pcm) => session.send(pcm),
                commit: () => session.commit(),
                end: () => session.end(),
                abort: () => session.abort(),
                get listenFor() {
                  return switched ? undefined : () => undefined;
                },
              };
            },
          },
          asked,
        ),
    });
    expect(asked.slice(0, 4)).toEqual(['open 0', 'hints 15', 'hints 15', 'hints 15']);
    expect(asked.slice(4)).toContain('open 5');
    expect(asked.slice(4).every((each) => each === 'open 5')).toBe(true);
    const again: string[] = [];
    const read = await decodeFixture(await encodeFixture(fixture), fixture.recordedAtMs);
    const { divergence, standIns } = await replay(read, {
      services: (services) => ({ ...services, recogniser: watched(services.recogniser, again) }),
    });
    expect(divergence).toBeUndefined();
    expect(standIns).toEqual([]);
    expect(again).toEqual(asked);
  });

  it('says that hints were others then, and takes ten where the fixture does not say how many', async () => {
    const dialog = async function* (turn: DialogTurn): AsyncIterable<DialogAction> {
      yield* parrot(turn);
      yield { type: 'gather', hints: Array.from({ length: 15 }, (_, index) => `${index}`) };
    };
    const taking = (inner: Recogniser): Recogniser => ({
      capabilities: { ...inner.capabilities, mostHints: 100 },
      open: (options, listener) => Object.assign(inner.open(options, listener), { listenFor: () => undefined }),
    });
    const fixture = await recordCall({ ...script, dialog, recogniser: taking });
    const silent = { ...fixture, log: fixture.log.filter(({ k }) => k !== 'recogniser') };
    const asked: string[] = [];
    const { standIns } = await replay(silent, {
      services: (services) => ({ ...services, recogniser: watched(services.recogniser, asked) }),
    });
    expect(asked).toEqual(['open 0', 'hints 10']);
    expect(standIns.map(({ what, said }) => [what, said])).toEqual([
      ['words', 'the recogniser was given other hints then; it hears what it heard with those'],
    ]);
  });

  it('decides the same when it was read back from a file', async () => {
    const fixture = await recordCall(script);
    const read = await decodeFixture(await encodeFixture(fixture), 0);
    expect((await replay(read)).divergence).toBeUndefined();
  });

  it('is kept so far when it grows too large, and is compared so far', async () => {
    const fixture = await recordCall({ ...script, mostBytes: 100_000 });
    expect(fixture.truncatedAtMs).toBeGreaterThan(3_000);
    expect(fixture.callerAudio.length + fixture.botAudio.length).toBeLessThan(120_000);
    const report = await replay(fixture);
    expect(report).toMatchObject({ equal: true, truncatedAtMs: fixture.truncatedAtMs });
    expect(report.decisions.was).toBeGreaterThan(5);
  });
});

describe('a kept call under other code', () => {
  let fixture: CallFixture;
  beforeAll(async () => {
    fixture = await recordCall(script);
  });

  it('is exact up to the first difference, which is told; later turns are counterfactual', async () => {
    const report = await replay(fixture, { bot: (bot) => ({ ...bot, endpointingMs: 900 }) });
    const { divergence, turns } = report;
    const commit = fixture.decisions.find(({ type }) => type === 'commit');
    expect(report.equal).toBe(false);
    expect(divergence).toMatchObject({ turn: 1, atMs: commit?.atMs, was: commit, is: { type: 'commit', turn: 1 } });
    expect(divergence!.is!.atMs - divergence!.was!.atMs).toBeGreaterThan(220);
    expect(fixture.decisions[divergence!.after]).toEqual(divergence!.was);
    expect(turns.map(({ standing }) => standing).slice(0, 3)).toEqual(['equal', 'diverges', 'counterfactual']);
    expect(turns[1]!.is!.endpointing! - turns[1]!.was!.endpointing!).toBeGreaterThan(220);
    // The words were the same, so the same was answered: nothing had to be made up for this turn.
    expect(report.standIns.filter(({ what }) => what === 'dialog')).toEqual([]);
  });

  it('says silence for a sentence that was not spoken then, and does so every time', async () => {
    const whole: ReplayChange = {
      services: (services) => ({
        ...services,
        createCutter: () => {
          let text = '';
          return { push: (part) => ((text += part), []), flush: () => [text] };
        },
      }),
    };
    const [first, second] = [await replay(fixture, whole), await replay(fixture, whole)];
    expect(first.divergence?.is?.type).toBe('speak');
    expect(first.standIns.map(({ what }) => what)).toContain('voice');
    expect(first.standIns[0]!.said).toMatch(/was not spoken then; it is \d+ ms of silence/u);
    expect(second).toEqual(first);
    // The conversation goes on behind it, to the same end.
    expect(first.turns.length).toBeGreaterThanOrEqual(3);
  });

  it('gives what was answered in a turn to other words in it', async () => {
    const deaf: ReplayChange = {
      services: (services) => ({
        ...services,
        recogniser: {
          capabilities: PLATFORM_RECOGNITION,
          open: (options, listener) =>
            services.recogniser.open(options, (event) =>
              listener(event.type === 'final' ? { ...event, text: event.text.replace('tuesday', 'thursday') } : event),
            ),
        },
      }),
    };
    const { divergence, standIns } = await replay(fixture, deaf);
    expect(divergence).toMatchObject({ is: { type: 'ask' } });
    expect(divergence!.is!.detail).toContain('next thursday please');
    expect(standIns[0]).toMatchObject({ what: 'dialog' });
    expect(standIns[0]!.said).toContain('what was answered in turn 1');
  });

  it('hears no words where nothing was committed then', async () => {
    // 600 ms of voice where the caller was silent.
    let frames = 0;
    const imagines: ReplayChange = {
      services: (services) => ({
        ...services,
        createDetector: () => {
          const detector = services.createDetector();
          return {
            close: () => detector.close(),
            process: (frame) => {
              frames += 1;
              return frames > 700 && frames <= 730 ? { voiced: true, speechLike: 1 } : detector.process(frame);
            },
          };
        },
      }),
    };
    const { divergence, standIns } = await replay(fixture, imagines);
    expect(divergence!.atMs).toBeGreaterThan(13_000);
    expect(standIns.map(({ what }) => what)).toContain('words');
  });
});
